//! The lines above a change: what is to be done with which object, and why.

use crate::colour::Colour;
use crate::plan_view::{Import, is_moved};
use crate::product::NAME;
use engine::changes::{Action, ActionReason, ResourceInstanceChange};
use values::address::InstanceKey;

/// Whether a change is proposed, or happened already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    Proposed,
    Drift,
}

/// The comment lines of a change, each with its newline.
pub(super) fn comment(
    change: &ResourceInstanceChange,
    import: Option<&Import>,
    cause: Cause,
    colour: Colour,
) -> String {
    let address = match &change.deposed {
        Some(key) => format!("{} (deposed object {key})", change.address),
        None => change.address.to_string(),
    };
    let previous = change.previous_address.as_ref().map(ToString::to_string).unwrap_or_default();
    let only_moved = change.action == Action::NoOp && is_moved(change);
    let mut out = match only_moved {
        true => {
            let template = "[bold]  # {}[reset] has moved to [bold]{}[reset]";
            colour.paint_part(template, &[&previous, &address])
        }
        false => {
            let mut template = headline(change, cause).to_owned();
            if change.action == Action::NoOp && import.is_some_and(|i| i.generated_config.is_some())
            {
                template.push_str("\n  #[reset] (config will be generated)");
            }
            let mut line = colour.paint_part(&template, &[&address, NAME]);
            if let Some(reason) = reason(change) {
                line.push_str(&reason);
            }
            line
        }
    };
    out.push('\n');
    if is_moved(change) && !only_moved {
        out.push_str(&colour.paint_part("  # [reset](moved from {})\n", &[&previous]));
    }
    // "will be imported" says it already.
    let only_imported = change.action == Action::NoOp && !only_moved;
    if let Some(import) = import.filter(|_| !only_imported) {
        out.push_str(&match &import.id {
            Some(id) => colour.paint_part("  # [reset](imported from \"{}\")\n", &[id]),
            None => colour.paint_part("  # [reset](will be imported first)\n", &[]),
        });
        if change.action.is_replace() {
            let template =
                "  # [reset][yellow]Warning: this will destroy the imported resource[reset]\n";
            out.push_str(&colour.paint_part(template, &[]));
        }
    }
    out.push_str(colour.reset());
    out
}

fn headline(change: &ResourceInstanceChange, cause: Cause) -> &'static str {
    match (change.action, cause) {
        (Action::Create, _) => "[bold]  # {}[reset] will be created",
        (Action::Read, _) => "[bold]  # {}[reset] will be read during apply",
        (Action::Update, Cause::Proposed) => "[bold]  # {}[reset] will be updated in-place",
        (Action::Update, Cause::Drift) => "[bold]  # {}[reset] has changed",
        (Action::CreateThenDelete | Action::DeleteThenCreate, _) => match change.reason {
            Some(ActionReason::ReplaceBecauseTainted) => {
                "[bold]  # {}[reset] is tainted, so must be [bold][red]replaced[reset]"
            }
            Some(ActionReason::ReplaceByRequest) => {
                "[bold]  # {}[reset] will be [bold][red]replaced[reset], as requested"
            }
            Some(ActionReason::ReplaceByTriggers) => {
                "[bold]  # {}[reset] will be [bold][red]replaced[reset] due to changes in \
                 replace_triggered_by"
            }
            _ => "[bold]  # {}[reset] must be [bold][red]replaced[reset]",
        },
        (Action::Delete, Cause::Proposed) => {
            "[bold]  # {}[reset] will be [bold][red]destroyed[reset]"
        }
        (Action::Delete, Cause::Drift) => "[bold]  # {}[reset] has been deleted",
        (Action::Forget, _) => {
            "[bold] # {}[reset] will no longer be managed by {}, but [bold][red]will not be \
             destroyed[reset]"
        }
        (Action::NoOp, _) => "[bold]  # {}[reset] will be imported",
    }
}

/// The lines that say why, each after a newline.
fn reason(change: &ResourceInstanceChange) -> Option<String> {
    let left_over = match change.deposed {
        Some(_) => "\n  # (left over from a partially-failed replacement of this instance)",
        None => "",
    };
    let why = match change.action {
        Action::Read | Action::Delete => change.reason.and_then(|r| because(change, r)),
        Action::Forget => {
            let margin = "\n # (destroy = false is set in the configuration)";
            return Some(format!("{margin}{}", left_over.replacen("\n  #", "\n #", 1)));
        }
        _ => return None,
    };
    match (why, change.action) {
        (Some(why), Action::Delete) => Some(format!("\n  # ({why}){left_over}")),
        (Some(why), _) => Some(format!("\n  # ({why})")),
        (None, Action::Delete) => Some(left_over.to_owned()),
        (None, _) => None,
    }
}

/// Why an object is read or goes away, in words.
pub(crate) fn because(change: &ResourceInstanceChange, reason: ActionReason) -> Option<String> {
    let address = &change.address;
    let previous = change.previous_address.as_ref().unwrap_or(address);
    Some(match reason {
        ActionReason::ReadBecauseConfigUnknown => "config refers to values not yet known".into(),
        ActionReason::ReadBecauseDependencyPending => {
            "depends on a resource or a module with changes pending".into()
        }
        ActionReason::ReadBecauseCheckNested => {
            "config will be reloaded to verify a check block".into()
        }
        ActionReason::DeleteBecauseNoResourceConfig => {
            let (ty, name) = (&address.resource.ty, &address.resource.name);
            format!("because {ty}.{name} is not in configuration")
        }
        ActionReason::DeleteBecauseNoMoveTarget => {
            format!("because {previous} was moved to {address}, which is not in configuration")
        }
        ActionReason::DeleteBecauseNoModule => {
            format!("because {} is not in configuration", address.module)
        }
        ActionReason::DeleteBecauseWrongRepetition => match address.key {
            InstanceKey::None => "because resource uses count or for_each".into(),
            InstanceKey::Int(_) => "because resource does not use count".into(),
            InstanceKey::String(_) => "because resource does not use for_each".into(),
        },
        ActionReason::DeleteBecauseCountIndex => {
            format!("because index {} is out of range for count", address.key)
        }
        ActionReason::DeleteBecauseEachKey => {
            format!("because key {} is not in for_each map", address.key)
        }
        ActionReason::ReplaceBecauseTainted
        | ActionReason::ReplaceByRequest
        | ActionReason::ReplaceByTriggers
        | ActionReason::ReplaceBecauseCannotUpdate => return None,
    })
}
