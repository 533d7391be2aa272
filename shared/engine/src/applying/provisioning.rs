//! Provisioners: after an object is made, and before one is destroyed.
//!
//! What is made is recorded as tainted, in the same write that says that its provisioners run, and as ready once they have
//! ended. Whoever finds it in between knows that they may have run, and never runs them again for that object.

use super::ApplyWalk;
use super::target::Target;
use crate::changes::{Action, ResourceInstanceChange};
use crate::evaluation::{RepetitionData, blocking};
use crate::hooks::{Hook, HookObject};
use crate::object::{Object, ObjectStatus};
use crate::planning::removed_subject;
use crate::provisioning::{LocalExec, Outcome, schema};
use crate::record::body::{Claim, ClaimedAction, ClaimedObject, ProvisionersStanding};
use crate::recorder::{Call, NothingMore, Step};
use crate::stop::{StopCause, StopLevel};
use language::diagnostics::Diagnostic;
use language::module::{
    Configuration, Provisioner, ProvisionerOnFailure, ProvisionerWhen, RemovedSubject,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use values::address::{ConfigResource, ModuleInstance, ModulePath, ResourceInstance};

/// What hooks are told of a change whose provisioners are left to the next invocation.
const LEFT: &str = "its provisioners are left to the next part of this apply";

/// What provisioners run on.
pub(super) struct Provisioned {
    pub(super) address: ResourceInstance,
    /// Where their arguments are evaluated.
    pub(super) scope: ModuleInstance,
    pub(super) data: RepetitionData,
    /// `self`
    pub(super) object: Value,
}

/// Not all provisioners have run to their end.
pub(super) enum Unprovisioned {
    /// One failed, or was stopped; reported. The error, for hooks.
    Failed(String),
    /// The lease is over: nothing more is begun here.
    NothingMore,
}

impl ApplyWalk {
    /// Runs provisioners one after the other, until one fails.
    pub(super) async fn provision(
        self: &Arc<Self>,
        on: Provisioned,
        provisioners: Vec<Provisioner>,
    ) -> Result<(), Unprovisioned> {
        let on = Arc::new(on);
        for provisioner in provisioners {
            // They are one piece of work: it goes on while there is time, and no longer than the lease.
            match self.recorder.may_begin() {
                Ok(()) | Err(NothingMore::TimeIsUp) => {}
                Err(nothing_more) => {
                    self.context.report([not_run(&on.address, &nothing_more)]);
                    return Err(Unprovisioned::NothingMore);
                }
            }
            self.run_provisioner(&on, &Arc::new(provisioner)).await?;
        }
        Ok(())
    }

    async fn run_provisioner(
        self: &Arc<Self>,
        on: &Arc<Provisioned>,
        provisioner: &Arc<Provisioner>,
    ) -> Result<(), Unprovisioned> {
        let (kind, address) = (&*provisioner.kind, &on.address);
        let Some(config) = self.arguments(on, provisioner).await else {
            return Err(Unprovisioned::Failed("invalid provisioner configuration".into()));
        };
        let environment = &self.context.environment;
        environment.hook(|h| h.pre_provision(address, kind));
        let show = |line: &str| {
            let show = |hook: &Arc<dyn Hook>| hook.provision_output(address, kind, line);
            environment.hooks.iter().for_each(show);
        };
        let outcome = match environment.providers.commands() {
            Some(commands) if !self.is_told_to_stop() => {
                let here = &environment.working_directory;
                let stop = Box::pin(self.context.stop.reached(StopLevel::Graceful));
                LocalExec::new(&config).run(&*commands, here, &show, stop).await
            }
            Some(_) => Outcome::Stopped { detail: "It was not begun.".into() },
            None => Outcome::Failed {
                summary: "Commands cannot be run here",
                detail: "This program was set up to start no processes, so that no provisioner can be run.".into(),
            },
        };
        environment.hook(|h| h.post_provision(address, kind, outcome == Outcome::Done));
        let error = match outcome {
            Outcome::Done => return Ok(()),
            Outcome::Failed { detail, .. }
                if provisioner.on_failure == ProvisionerOnFailure::Continue =>
            {
                tracing::warn!(%address, "a provisioner failed, and the apply continues as configured: {detail}");
                return Ok(());
            }
            Outcome::Failed { summary, detail } => Diagnostic::error(summary, detail),
            Outcome::Stopped { detail } => self.stopped(&detail),
        };
        let summary = error.summary.clone();
        let place = provisioner.config.missing_item_span();
        self.context.report([error.at(place).for_address(address.to_string())]);
        Err(Unprovisioned::Failed(summary))
    }

    fn is_told_to_stop(&self) -> bool {
        self.context.stop.level() >= StopLevel::Graceful
    }

    fn stopped(&self, detail: &str) -> Diagnostic {
        let why = match self.context.stop.cause() {
            Some(StopCause::Deadline) => {
                "The time of this part of the apply was up, so the provisioner was stopped: it may have done a part of its work, and is not run again by this plan."
            }
            _ => "The apply was interrupted, so the provisioner was stopped.",
        };
        Diagnostic::error("local-exec provisioner error", format!("{why} {detail}"))
    }

    /// The arguments with what is known now; `None` after an error.
    async fn arguments(
        self: &Arc<Self>,
        on: &Arc<Provisioned>,
        provisioner: &Arc<Provisioner>,
    ) -> Option<Value> {
        let (walk, on, provisioner) = (self.clone(), on.clone(), provisioner.clone());
        let config = blocking(move || {
            let schema = schema(&provisioner.kind)?;
            let this = Some(on.object.clone());
            walk.context
                .evaluate(&on.scope, &on.data, this, |e| e.body(&provisioner.config, schema))
        });
        config.await
    }
}

fn not_run(address: &ResourceInstance, why: &NothingMore) -> Diagnostic {
    Diagnostic::error(
        "Provisioners were not run",
        format!("Not all provisioners of {address} were run: {why}."),
    )
    .for_address(address.to_string())
}

/// Provisioners of `removed` blocks, by the resources that these name, with the module that says so.
#[derive(Default)]
pub(super) struct RemovedProvisioners(BTreeMap<ConfigResource, (ModulePath, Vec<Provisioner>)>);

impl RemovedProvisioners {
    pub(super) fn find(configuration: &Configuration) -> RemovedProvisioners {
        let mut found = BTreeMap::new();
        for node in configuration.modules() {
            let removed = node.module.removed.iter().filter(|r| !r.provisioners.is_empty());
            for removed in removed {
                if let RemovedSubject::Resource(resource) =
                    removed_subject(&node.path, &removed.from)
                {
                    let provisioners = (node.path.clone(), removed.provisioners.clone());
                    found.entry(resource).or_insert(provisioners);
                }
            }
        }
        RemovedProvisioners(found)
    }
}

impl ApplyWalk {
    /// What runs before an instance is destroyed, and where it is evaluated; `None` where nothing does.
    pub(super) fn destruction_provisioners(
        &self,
        address: &ResourceInstance,
    ) -> Option<(ModuleInstance, Vec<Provisioner>)> {
        let resource = address.config();
        let Some(block) = self.context.configuration.resource(&resource) else {
            let (declaring, provisioners) = self.removed.0.get(&resource)?;
            // The module that says so is around the instance's own, which may be gone.
            let scope =
                ModuleInstance(address.module.0.iter().take(declaring.0.len()).cloned().collect());
            return Some((scope, provisioners.clone()));
        };
        let wanted = block.provisioners.iter().filter(|p| p.when == ProvisionerWhen::Destroy);
        let wanted: Vec<Provisioner> = wanted.cloned().collect();
        (!wanted.is_empty()).then(|| (address.module.clone(), wanted))
    }
}

impl Target {
    fn creation_provisioners(&self) -> Vec<Provisioner> {
        let provisioners = self.block().map_or(&[][..], |block| block.provisioners.as_slice());
        let wanted = provisioners.iter().filter(|p| p.when == ProvisionerWhen::Create);
        wanted.cloned().collect()
    }

    /// Whether provisioners run once this change has made its object.
    pub(super) fn is_provisioned(&self, change: &ResourceInstanceChange) -> bool {
        change.action.creates() && !self.creation_provisioners().is_empty()
    }

    /// How far the provisioners are before the object is made.
    pub(super) fn provisioners_standing(
        &self,
        change: &ResourceInstanceChange,
    ) -> Option<ProvisionersStanding> {
        self.is_provisioned(change).then_some(ProvisionersStanding::Pending)
    }

    /// Records an object that was made or changed, and runs the provisioners that follow; an error is for hooks.
    pub(super) async fn record_made(
        self: &Arc<Self>,
        change: &ResourceInstanceChange,
        object: Object,
    ) -> Result<(), Option<String>> {
        if !self.is_provisioned(change) {
            let step = self.walk.members.step(&self.address, true);
            return self.record(&object, step).await.then_some(()).ok_or(None);
        }
        let tainted = Object { status: ObjectStatus::Tainted, ..object.clone() };
        if !self.walk.may_begin() {
            self.record(&tainted, Step::BeforeProvisioners).await;
            if self.walk.context.stop.cause() == Some(StopCause::Interrupt) {
                self.fail(
                    "Provisioners were not run",
                    format!("The apply was interrupted before the provisioners of {} were begun, so that it is recorded as tainted: the next plan replaces it.", self.address),
                );
            }
            return Err(Some(LEFT.into()));
        }
        if !self.record(&tainted, Step::Provisioning).await {
            return Err(None);
        }
        self.provision(object).await
    }

    /// Runs the provisioners of an object whose record says that they run, and records what came of it.
    async fn provision(self: &Arc<Self>, object: Object) -> Result<(), Option<String>> {
        let on = Provisioned {
            address: self.address.clone(),
            scope: self.address.module.clone(),
            data: self.data.clone(),
            object: object.value.clone(),
        };
        let done = self.walk.provision(on, self.creation_provisioners()).await;
        let status = match done {
            Ok(()) => ObjectStatus::Ready,
            Err(_) => ObjectStatus::Tainted,
        };
        let step = self.walk.members.step(&self.address, done.is_ok());
        let recorded = self.record(&Object { status, ..object }, step).await;
        match done {
            Ok(()) => recorded.then_some(()).ok_or(None),
            Err(Unprovisioned::Failed(error)) => Err(Some(error)),
            Err(Unprovisioned::NothingMore) => Err(None),
        }
    }

    /// Runs the provisioners that an earlier invocation had no time to begin.
    pub(super) async fn provision_left(self: &Arc<Self>, change: &ResourceInstanceChange) -> bool {
        let Ok(Some(object)) = self.recorded().await else { return false };
        let call = Call {
            provisioners: Some(ProvisionersStanding::Begun),
            ..Call::new(ClaimedObject::Current, ClaimedAction::Create)
        };
        if !self.begin(&call).await {
            return false;
        }
        let environment = &self.walk.context.environment;
        let hooked = HookObject { address: &self.address, deposed: None };
        let action = Action::Create;
        environment.hook(|h| h.pre_apply(&hooked, action, &change.before, &object.value));
        let value = object.value.clone();
        let done = self.provision(object).await;
        let error = done.as_ref().err().map(|error| error.as_deref().unwrap_or(LEFT));
        environment.hook(|h| h.post_apply(&hooked, action, &value, error));
        done.is_ok() && self.made(change, value).await
    }

    /// Provisioners were at work when an earlier invocation died: nobody knows how far they came.
    pub(super) async fn provisioners_were_cut_off(&self, claim: &Claim) {
        if !self.walk.may_settle(claim).await {
            return;
        }
        let step = self.walk.members.step(&self.address, false);
        let recorder = &*self.walk.recorder;
        if let Err(e) = self.walk.records.write(recorder, &self.address, step, |_| {}).await {
            self.fail(&e.summary, e.detail);
        }
        self.fail(
            "Provisioners were cut off",
            format!("An earlier part of this apply died while the provisioners of {} ran. They may have run, wholly or in part, and are not run again for this object: it is recorded as tainted, so that the next plan replaces it.", self.address),
        );
    }
}
