//! Deleting the current or a deposed object of an instance.

use super::ApplyWalk;
use super::answer::{Answer, STOPPED};
use super::instance_records::{put, stored};
use super::members::{Part, Place};
use super::provisioning::{Provisioned, Unprovisioned};
use crate::changes::{Action, ResourceInstanceChange};
use crate::evaluation::RepetitionData;
use crate::graph::Walked;
use crate::hooks::HookObject;
use crate::object::{DeposedKey, Object, ObjectStatus, StoredObject};
use crate::object_codec::{decode, resource_schema};
use crate::object_read::read_object;
use crate::provider_diagnostics::{failed_call, in_body};
use crate::provider_meta::running_at;
use crate::record::body::ClaimedAction;
use crate::recorder::{Call, CallRefused, NothingMore};
use language::diagnostics::Diagnostic;
use language::module::Provisioner;
use language::source::Span;
use providers::{ApplyResourceRequest, Provider, TypedSchema};
use std::sync::Arc;
use values::address::{ModuleInstance, ResourceInstance};

pub(crate) async fn visit(
    walk: Arc<ApplyWalk>,
    address: ResourceInstance,
    deposed: Option<DeposedKey>,
) -> Walked {
    let _turn = walk.members.turn(&address).await;
    let Some(_permit) = walk.context.permit().await else { return Walked::Failed };
    if !walk.may_begin() {
        return Walked::Failed;
    }
    let deleted = delete(&walk, &address, deposed.as_ref()).await;
    walk.members.end_part(&address);
    match deleted {
        true => Walked::Done,
        false => Walked::Failed,
    }
}

async fn delete(
    walk: &Arc<ApplyWalk>,
    address: &ResourceInstance,
    deposed: Option<&DeposedKey>,
) -> bool {
    let Some(change) = planned_change(walk, address, deposed) else { return true };
    let place = walk.place(change, Part::Destroy(deposed));
    match place {
        Place::Failed => {
            walk.members.note_earlier_failure(address);
            return false;
        }
        Place::Done => {
            walk.count_deletion(change);
            return true;
        }
        Place::ToDo { .. }
        | Place::InFlight(_)
        | Place::Unfinished(_)
        | Place::ToProvision
        | Place::Provisioning(_) => {}
    }
    let state = walk.records.get(address);
    let recorded = match deposed {
        Some(key) => state.deposed.get(key),
        None => state.current.as_ref(),
    };
    // A create that failed has put the object back: then there is nothing to delete.
    let Some(recorded) = recorded else { return true };
    let deletion = Deletion { walk, address, deposed, change };
    if change.action == Action::Forget {
        let forgotten = deletion.remove_record().await;
        if forgotten {
            walk.count_deletion(change);
        }
        return forgotten;
    }
    let provider = running_at(&walk.context, &change.provider, address);
    let schemas = walk.context.pool.schema(&change.provider.provider);
    let schema = schemas
        .as_ref()
        .and_then(|s| resource_schema(s, address.resource.mode, &address.resource.ty));
    let (Some(provider), Some(schema)) = (provider, schema) else {
        deletion.fail(
            "Provider not available",
            format!("The provider {} of {address} is not running.", change.provider),
        );
        return false;
    };
    match deletion.subject(&*provider, schema, recorded, &place).await {
        Subject::Nothing => false,
        Subject::Gone => deletion.accept(schema).await,
        Subject::Object(object) => deletion.call(&*provider, schema, recorded, *object).await,
    }
}

/// One deletion.
struct Deletion<'a> {
    walk: &'a Arc<ApplyWalk>,
    address: &'a ResourceInstance,
    deposed: Option<&'a DeposedKey>,
    change: &'a ResourceInstanceChange,
}

/// What there is to delete.
enum Subject {
    /// This.
    Object(Box<Object>),
    /// It is gone already: an earlier call came to it.
    Gone,
    /// It cannot be told, or may not be deleted; reported.
    Nothing,
}

impl Deletion<'_> {
    fn source(&self) -> Option<Span> {
        self.walk.context.configuration.resource(&self.address.config()).map(|b| b.span)
    }
    fn fail(&self, summary: &str, detail: String) {
        let diagnostic = Diagnostic::error(summary, detail).for_address(self.address.to_string());
        self.walk.context.report([match self.source() {
            Some(place) => diagnostic.at(place),
            None => diagnostic,
        }]);
    }
    fn hooked(&self) -> HookObject<'_> {
        HookObject { address: self.address, deposed: self.deposed }
    }

    /// What there is to delete. It is read from the world where an earlier invocation may have deleted it,
    /// and where the world may have moved since the plan was checked.
    async fn subject(
        &self,
        provider: &dyn Provider,
        schema: &TypedSchema,
        recorded: &StoredObject,
        place: &Place,
    ) -> Subject {
        let object = current_object(self, provider, schema, recorded).await;
        let object = match object {
            Ok(object) => object,
            Err(errors) => {
                self.walk.context.report(errors);
                return Subject::Nothing;
            }
        };
        // What waits for its deletion after its replacement was looked at before that.
        let own = self.deposed.is_some() && self.walk.deposed_key(self.address) == self.deposed;
        let again = matches!(place, Place::ToDo { again: true });
        if matches!(place, Place::ToDo { .. }) && (own || !again) {
            return Subject::Object(Box::new(object));
        }
        if let Place::InFlight(claim) = place
            && !self.walk.may_settle(self.address, claim).await
        {
            return Subject::Nothing;
        }
        let environment = &self.walk.context.environment;
        let now = match read_object(environment, provider, schema, &self.hooked(), &object).await {
            Ok((now, _)) => now,
            Err(failure) => {
                let shown = self.address.to_string();
                self.walk.context.report(failure.into_diagnostics(None, self.source(), &shown));
                if !again {
                    self.walk.leave();
                }
                return Subject::Nothing;
            }
        };
        let (address, deposed) = (self.address, self.deposed);
        if again && self.walk.has_moved(address, deposed, schema, &object, now.as_ref()) {
            return Subject::Nothing;
        }
        match now {
            Some(now) => Subject::Object(Box::new(now)),
            None => Subject::Gone,
        }
    }

    async fn remove_record(&self) -> bool {
        let put = |state: &mut _| put(state, self.deposed, None);
        let step = self.walk.members.step(self.address, true);
        let recorder = &*self.walk.recorder;
        match self.walk.records.write(recorder, self.address, step, put).await {
            Ok(()) => true,
            Err(e) => {
                self.fail(&e.summary, e.detail);
                false
            }
        }
    }

    /// Records that an earlier call has deleted the object.
    async fn accept(&self, schema: &TypedSchema) -> bool {
        let (object, null) = (self.hooked(), schema.null());
        let hooks = &self.walk.context.environment;
        hooks.hook(|h| h.pre_apply(&object, Action::Delete, &self.change.before, &null));
        let removed = self.remove_record().await;
        hooks.hook(|h| h.post_apply(&object, Action::Delete, &null, None));
        if removed {
            self.walk.count_deletion(self.change);
        }
        removed
    }

    async fn call(
        &self,
        provider: &dyn Provider,
        schema: &TypedSchema,
        recorded: &StoredObject,
        object: Object,
    ) -> bool {
        let (walk, context) = (self.walk, &self.walk.context);
        let announced = Call {
            reaches_outside: provider.reaches_outside() || self.provisioners(recorded).is_some(),
            ..Call::new(self.deposed.into(), ClaimedAction::Delete)
        };
        match walk.recorder.begin(self.address, &announced).await {
            Ok(()) => {}
            Err(CallRefused::Unrecorded(e)) => {
                self.fail(&e.summary, e.detail);
                return false;
            }
            Err(CallRefused::NothingMore(_)) => {
                walk.leave();
                return false;
            }
        }
        let (hooked, null) = (self.hooked(), schema.null());
        context.environment.hook(|h| h.pre_apply(&hooked, Action::Delete, &object.value, &null));
        if let Err(unprovisioned) = self.provision(recorded, &object).await {
            return self.keep(&object, unprovisioned).await;
        }
        let request = ApplyResourceRequest {
            ty: self.address.resource.ty.clone(),
            prior_state: object.value.unmark_deep(),
            planned_state: null.clone(),
            config: null.clone(),
            planned_private: match self.change.action {
                Action::Delete => self.change.private.clone(),
                _ => object.private.clone(),
            },
            provider_meta: None,
            planned_identity: object.identity.clone(),
        };
        let answer = walk.answer(provider.apply_resource(request)).await;
        let Some((left, error)) = self.left(provider, &object, answer) else {
            // The record keeps saying that the call is in flight.
            walk.leave();
            context
                .environment
                .hook(|h| h.post_apply(&hooked, Action::Delete, &object.value, Some(STOPPED)));
            return false;
        };
        let mut ok = error.is_none();
        let kept = left.as_ref().map(|object| stored(&recorded.provider, schema, object));
        let written = match kept.transpose() {
            Ok(object) => {
                let step = walk.members.step(self.address, ok);
                let put = |state: &mut _| put(state, self.deposed, object);
                walk.records.write(&*walk.recorder, self.address, step, put).await
            }
            Err(e) => Err(e),
        };
        if let Err(e) = written {
            self.fail(&e.summary, e.detail);
            ok = false;
        }
        let after = left.map_or(null, |object| object.value);
        context
            .environment
            .hook(|h| h.post_apply(&hooked, Action::Delete, &after, error.as_deref()));
        if ok {
            walk.count_deletion(self.change);
        }
        ok
    }

    /// The provisioners that precede the deletion of a current object that is whole, and the module whose they are.
    fn provisioners(&self, recorded: &StoredObject) -> Option<(ModuleInstance, Vec<Provisioner>)> {
        let whole = self.deposed.is_none() && recorded.status != ObjectStatus::Tainted;
        whole.then(|| self.walk.destruction_provisioners(self.address)).flatten()
    }

    /// Runs the provisioners that precede the deletion. Then the lease is looked at
    /// again, since they may have taken long.
    async fn provision(
        &self,
        recorded: &StoredObject,
        object: &Object,
    ) -> Result<(), Unprovisioned> {
        let Some((scope, provisioners)) = self.provisioners(recorded) else { return Ok(()) };
        let on = Provisioned {
            address: self.address.clone(),
            scope,
            data: RepetitionData::of_key(&self.address.key),
            object: object.value.clone(),
        };
        self.walk.provision(on, provisioners).await?;
        match self.walk.recorder.may_begin() {
            Ok(()) | Err(NothingMore::TimeIsUp) => Ok(()),
            Err(_) => Err(Unprovisioned::NothingMore),
        }
    }

    /// The object stays, since its provisioners have not done what precedes its deletion.
    async fn keep(&self, object: &Object, why: Unprovisioned) -> bool {
        let error = match why {
            Unprovisioned::Failed(error) => {
                let step = self.walk.members.step(self.address, false);
                let recorder = &*self.walk.recorder;
                let kept = self.walk.records.write(recorder, self.address, step, |_| {}).await;
                if let Err(e) = kept {
                    self.fail(&e.summary, e.detail);
                }
                error
            }
            Unprovisioned::NothingMore => {
                self.walk.leave();
                STOPPED.to_owned()
            }
        };
        let hooks = &self.walk.context.environment;
        let hooked = self.hooked();
        hooks.hook(|h| h.post_apply(&hooked, Action::Delete, &object.value, Some(&error)));
        false
    }

    /// What the call has left of the object, and an error; `None` where the call was cut short by us.
    fn left(
        &self,
        provider: &dyn Provider,
        object: &Object,
        answer: Answer,
    ) -> Option<(Option<Object>, Option<String>)> {
        let context = &self.walk.context;
        let cut_short = self.walk.has_cut_short();
        let shown = self.address.to_string();
        let response = match answer? {
            Err(_) if cut_short => return None,
            Err(e) => {
                context.report([failed_call(&e, self.source(), &shown)]);
                return Some((Some(object.clone()), Some(e.to_string())));
            }
            Ok(response) => response,
        };
        let first = response.diagnostics.iter().find(|d| d.is_error());
        let mut error = first.map(|d| d.summary.clone());
        if error.is_some() && cut_short {
            return None;
        }
        context.report(in_body(response.diagnostics, None, self.source(), &shown));
        let left = match response.value {
            None => Some(object.clone()),
            Some(answer) => match answer.new_state {
                Some(state) if !state.is_null() => {
                    Some(Object { value: state, private: answer.private, ..object.clone() })
                }
                Some(_) => None,
                // An answer without a state: gone if it is no error, else as it was.
                None => error.is_some().then(|| object.clone()),
            },
        };
        if error.is_none() && left.is_some() {
            let name = provider.address().to_string();
            self.fail(
                "Provider returned invalid result object after apply",
                format!(
                    "After applying a delete, provider {name:?} returned an object for {} instead of null. This is always a bug in the provider and should be reported in the provider's own repository. The object stays recorded.",
                    self.address
                ),
            );
            error = Some("an object was returned after a delete".into());
        }
        Some((left, error))
    }
}

impl ApplyWalk {
    fn count_deletion(&self, change: &ResourceInstanceChange) {
        self.count(|summary| match change.action {
            Action::Forget => summary.forget += 1,
            _ => summary.destroy += 1,
        });
    }
}

/// The change that this deletion is, or is a part of.
fn planned_change<'w>(
    walk: &'w ApplyWalk,
    address: &ResourceInstance,
    deposed: Option<&DeposedKey>,
) -> Option<&'w ResourceInstanceChange> {
    match deposed {
        Some(key) if walk.deposed_key(address) != Some(key) => walk.change_of(address, Some(key)),
        _ => walk.change(address),
    }
}

/// The object to delete, as it was read from the world while planning where it was.
async fn current_object(
    deletion: &Deletion<'_>,
    provider: &dyn Provider,
    schema: &TypedSchema,
    recorded: &StoredObject,
) -> Result<Object, Vec<Diagnostic>> {
    let Deletion { walk, address, deposed, .. } = deletion;
    let refreshed = walk.plan.refreshed.get(*address);
    let planned = refreshed.and_then(|r| match deposed {
        Some(key) if walk.deposed_key(address) != Some(key) => r.deposed.get(*key),
        _ => r.current.as_ref(),
    });
    match planned {
        Some(object) => Ok(object.clone()),
        None => decode(provider, schema, address, recorded).await.map(|(object, _)| object),
    }
}
