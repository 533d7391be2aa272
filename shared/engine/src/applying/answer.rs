//! What a provider answered to a change: checked and recorded.

use super::ApplyWalk;
use super::target::{FinalPlan, Target};
use crate::changes::{Action, ResourceInstanceChange};
use crate::object::{ObjectStatus, StoredObject};
use crate::object_change::{assert_object_compatible, without_unknowns};
use crate::object_codec::mark_by_configuration;
use crate::provider_diagnostics::CallFailure;
use crate::recorder::Step;
use crate::stop::{StopCause, StopLevel};
use providers::{ApplyResourceResponse, ProviderError, Response};
use std::future::Future;
use std::sync::Arc;
use values::Value;

/// A provider's answer; `None` where it was waited for no longer.
pub(super) type Answer = Option<Result<Response<ApplyResourceResponse>, ProviderError>>;

/// What hooks are told of a call that we stopped.
pub(super) const STOPPED: &str = "stopped before its end: the next part of this apply goes on";

/// What a change came to.
pub(super) struct Taken {
    pub(super) ok: bool,
    /// The object now.
    pub(super) value: Value,
    /// An error, for hooks.
    pub(super) error: Option<String>,
}

impl Taken {
    fn failed(value: Value, error: impl Into<String>) -> Taken {
        Taken { ok: false, value, error: Some(error.into()) }
    }
}

impl ApplyWalk {
    /// Waits for a provider's answer for as long as there is time.
    pub(super) async fn answer<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            answer = call => Some(answer),
            () = self.context.stop.reached(StopLevel::Hard) => None,
        }
    }

    /// Whether what comes back half done may be so because we asked the provider to stop, and another
    /// invocation goes on with it.
    pub(super) fn has_cut_short(&self) -> bool {
        let stop = &self.context.stop;
        stop.level() >= StopLevel::Graceful && stop.cause() == Some(StopCause::Deadline)
    }
}

impl Target {
    /// Checks and records what the provider returned.
    pub(super) async fn take_answer(
        self: &Arc<Self>,
        change: &ResourceInstanceChange,
        plan: &FinalPlan,
        answer: Answer,
    ) -> Taken {
        let cut_short = self.walk.has_cut_short();
        let (mut ok, error, returned) = match answer {
            None => return self.put_off(plan),
            Some(Err(_)) if cut_short => return self.put_off(plan),
            Some(Err(e)) => {
                let (text, in_flight) = (e.to_string(), e.leaves_doubt());
                self.report_failure(CallFailure::Call(e));
                if in_flight {
                    return self.leave_in_flight(plan, text);
                }
                (false, Some(text), None)
            }
            Some(Ok(response)) => {
                let first = response.diagnostics.iter().find(|d| d.is_error());
                let error = first.map(|d| d.summary.clone());
                // Why a call failed that we stopped is no news.
                if error.is_none() || !cut_short {
                    self.report(response.diagnostics);
                }
                (error.is_none(), error, response.value)
            }
        };
        let legacy = returned.as_ref().is_some_and(|value| value.legacy_type_system);
        let (new_state, private) = match returned {
            Some(value) => (value.new_state, value.private),
            None => (None, plan.private.clone()),
        };
        let unfinished = !ok && cut_short;
        if unfinished && new_state.as_ref().is_none_or(Value::is_null) {
            return self.put_off(plan);
        }
        let Some(state) = new_state else {
            // Nothing came back: an update leaves what was there, a create nothing that is known.
            self.restore(plan).await;
            let error = error.unwrap_or_else(|| "no object returned".into());
            return Taken::failed(plan.prior.clone(), error);
        };
        let mut state = mark_by_configuration(&self.schema, &plan.planned, &state);
        if unfinished {
            let value = without_unknowns(&state);
            // Whoever finds it so and has no plan of it must not take it for finished.
            let status = match self.is_provisioned(change) {
                true => ObjectStatus::Tainted,
                false => ObjectStatus::Ready,
            };
            let object = self.object(change, value.clone(), private, status);
            self.walk.leave();
            self.record(&object, Step::Unfinished).await;
            return Taken::failed(value, STOPPED);
        }
        if !state.is_wholly_known() {
            self.fail(
                "Provider returned invalid result object after apply",
                format!("After the apply operation, the provider still indicated an unknown value for {}. All values must be known after apply, so this is always a bug in the provider and should be reported in the provider's own repository. The other values are recorded all the same.", self.address),
            );
            state = without_unknowns(&state);
            ok = false;
        }
        if ok && !legacy {
            let violations = assert_object_compatible(&self.schema.block, &plan.planned, &state);
            for violation in &violations {
                self.fail(
                    "Provider produced inconsistent result after apply",
                    format!(
                        "When applying changes to {}, provider {:?} produced an unexpected new value: {violation}.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
                        self.address,
                        self.provider_name(),
                    ),
                );
            }
            ok = violations.is_empty();
        }
        if state.is_null() {
            self.restore(plan).await;
            return Taken { ok: false, value: state, error };
        }
        let status = match !ok && change.action != Action::Update {
            true => ObjectStatus::Tainted,
            false => ObjectStatus::Ready,
        };
        let object = self.object(change, state.clone(), private, status);
        if !ok {
            self.record(&object, self.walk.members.step(&self.address, false)).await;
            return Taken { ok: false, value: state, error };
        }
        match self.record_made(change, object).await {
            Ok(()) => Taken { ok: true, value: state, error },
            Err(unprovisioned) => Taken { ok: false, value: state, error: unprovisioned },
        }
    }

    /// The call was cut off and left nothing to hold on to: its record keeps saying that it is in flight, and
    /// the next invocation finds out what came of it.
    fn put_off(&self, plan: &FinalPlan) -> Taken {
        self.walk.leave();
        Taken::failed(plan.prior.clone(), STOPPED)
    }

    /// The provider may have done what it was asked to, and nobody knows: its record keeps saying that the call is in
    /// flight, which the next invocation settles, or the end of the transaction.
    fn leave_in_flight(&self, plan: &FinalPlan, error: String) -> Taken {
        self.walk.members.step(&self.address, false);
        Taken::failed(plan.prior.clone(), error)
    }

    /// After a call that made nothing: an object that was put aside for it is current again.
    async fn restore(&self, plan: &FinalPlan) {
        let step = self.walk.members.step(&self.address, false);
        let aside = self.walk.deposed_key(&self.address).filter(|_| plan.creates());
        let records = &self.walk.records;
        let written = records.write(&*self.walk.recorder, &self.address, step, |state| {
            let aside: Option<StoredObject> = aside.and_then(|key| state.deposed.remove(key));
            state.current = state.current.take().or(aside);
        });
        if let Err(e) = written.await {
            self.fail(&e.summary, e.detail);
        }
    }
}
