//! Whether the world has moved since the plan was checked against it, in an invocation that is not the first.

use super::ApplyWalk;
use crate::changes::Action;
use crate::object::{DeposedKey, Object};
use crate::plan::Seen;
use crate::planning::ignored_paths;
use crate::reads::LookedAt;
use crate::stages::Subject;
use crate::verdict::{RejectCode, Stage, Verdict};
use language::diagnostics::Diagnostic;
use providers::TypedSchema;
use values::address::ResourceInstance;

impl ApplyWalk {
    /// Whether an object is not as the plan saw it, which was reported.
    pub(super) fn has_moved(
        &self,
        address: &ResourceInstance,
        deposed: Option<&DeposedKey>,
        schema: &TypedSchema,
        planned: &Object,
        now: Option<&Object>,
    ) -> bool {
        let ignored = self.context.configuration.resource(&address.config()).map(|block| {
            ignored_paths(&block.lifecycle.ignore_changes, &schema.block, &planned.value)
        });
        let action = self.change_of(address, deposed).map(|change| change.action);
        let subject = Subject {
            stage: Stage::Resources,
            code: RejectCode::Drifted,
            address,
            thing: "the object",
            looked_at: &LookedAt::Whole,
            is_changed: true,
            is_deleted: action.is_some_and(|a| a == Action::Delete || a.is_replace()),
            block: Some(&schema.block),
            ignored: ignored.as_deref().unwrap_or_default(),
            waivers: &self.waivers,
        };
        let seen = self.plan.refreshed.get(address).map(|refreshed| refreshed.seen);
        let values = seen == Some(Seen::InTheWorld);
        let verdicts = subject.objects(deposed, Some(planned), now, values);
        let mut rejects = verdicts.iter().filter(|verdict| verdict.is_reject()).peekable();
        let moved = rejects.peek().is_some();
        self.context.report(rejects.map(moved_under_the_plan));
        moved
    }
}

fn moved_under_the_plan(verdict: &Verdict) -> Diagnostic {
    let path = verdict.path.as_deref().unwrap_or_default();
    let address = verdict.address.clone().unwrap_or_default();
    let mut detail = format!("{address}{path}: {}", verdict.message);
    if let (Some(planned), Some(actual)) = (&verdict.planned, &verdict.actual) {
        detail.push_str(&format!(" (planned {planned}, found {actual})"));
    }
    detail.push_str(
        ". It was left alone, with what depends on it; everything else goes on. Run \"plumb plan\" to see what is left.",
    );
    Diagnostic::error("The world moved under the plan", detail).for_address(address)
}
