//! Why a plan does what it does with one resource instance: which attribute differs, what its value
//! comes from, what changes with it, and what is checked before it is applied.
//!
//! References are followed as they are written, from declaration to declaration, up to resources and
//! the root module's variables. What the plan says of those is then put beside them. A reference is
//! where a value may come from; that a value differs, and how, is the plan's word alone.

mod difference;
mod known_addresses;
mod neighbours;
mod one_line;
mod origins;
mod reasons;
mod rendering;
mod scene;

pub use scene::GivenVariables;

use crate::json::Json;
use crate::plan_view::PlanView;
use difference::AttributeDifference;
use engine::changes::Action;
use engine::plan::PlanMode;
use engine::saved_plan::SavedPlan;
use engine::verdict::Stage;
use language::module::Configuration;
use neighbours::Neighbour;
use origins::Origin;
use scene::{Place, Scene};
use std::fmt;
use values::address::{InstanceKey, ResourceInstance};

/// Version of the JSON.
pub const FORMAT_VERSION: &str = "1.0";

/// Why a plan does what it does with one resource instance.
#[derive(Clone, Debug)]
pub struct Explanation {
    address: ResourceInstance,
    declared: Option<Place>,
    /// What is done with the current object.
    action: Action,
    reason: Option<&'static str>,
    /// Whether only the record is brought up to the world.
    refresh_only: bool,
    /// Where its object is recorded, if it moves.
    moved_from: Option<ResourceInstance>,
    because: Vec<String>,
    attributes: Vec<ExplainedAttribute>,
    depends_on: Vec<Neighbour>,
    dependents: Vec<Neighbour>,
    /// Root outputs that change and refer to it.
    outputs: Vec<String>,
    checks: Vec<(Stage, String)>,
}

/// An attribute that differs, and where its value comes from.
#[derive(Clone, Debug)]
struct ExplainedAttribute {
    difference: AttributeDifference,
    /// Where the configuration sets it.
    place: Option<Place>,
    /// What decides it, where the configuration does not.
    decided: Option<&'static str>,
    /// What it was changed to and from behind the records.
    outside: Option<(String, String)>,
    from: Vec<Origin>,
}

/// There is nothing to explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unexplained {
    /// Neither the configuration nor the records have it.
    Unknown {
        /// What was asked for.
        address: String,
        /// What may have been meant.
        suggestion: Option<String>,
    },
    /// Its object has another address in the configuration.
    Moved {
        /// What was asked for.
        address: String,
        /// Where its object is now.
        to: String,
    },
    /// It has instances, and one of them has to be named.
    Several {
        /// What was asked for.
        address: String,
        /// Some of its instances, those that change first.
        instances: Vec<String>,
        /// How many there are.
        count: usize,
    },
}

impl fmt::Display for Unexplained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unexplained::Unknown { address, suggestion } => {
                write!(f, "Neither the configuration nor the records have {address}.")?;
                match suggestion {
                    Some(near) => write!(f, " Did you mean {near}?"),
                    None => Ok(()),
                }
            }
            Unexplained::Moved { address, to } => {
                write!(f, "What is recorded as {address} moves to {to}: ask for that.")
            }
            Unexplained::Several { address, instances, count } => {
                write!(
                    f,
                    "{address} has {count} instances. Name one of them: {}",
                    instances.join(", ")
                )?;
                f.write_str(if instances.len() < *count { ", …" } else { "." })
            }
        }
    }
}

impl std::error::Error for Unexplained {}

/// Explains what a plan does with an instance. `given` says where root variables have their values from,
/// as far as that is known.
///
/// # Errors
/// Where there is no such instance, or an address without a key has several.
pub fn explain(
    configuration: &Configuration,
    saved: &SavedPlan,
    given: &GivenVariables,
    address: &ResourceInstance,
) -> Result<Explanation, Unexplained> {
    let scene = Scene::new(configuration, saved, given);
    let address = known_addresses::meant(&scene, address)?;
    let change = scene.change(&address);
    let refresh_only = saved.plan.mode == PlanMode::RefreshOnly;
    let shown = match refresh_only {
        true => scene.drift(&address),
        false => change,
    };
    let action = shown.map_or(Action::NoOp, |change| change.action);
    let attributes = shown.map(|change| scene.attributes(change, refresh_only)).unwrap_or_default();
    let because = reasons::because(&scene, &address, shown, &attributes);
    let declared = scene.block(&address.config()).map(|block| scene.place(block.span));
    let (depends_on, dependents, outputs) = match refresh_only {
        true => Default::default(),
        false => (
            scene.depends_on(&address, change),
            scene.dependents(&address),
            scene.changed_outputs(&address),
        ),
    };
    Ok(Explanation {
        declared,
        action,
        reason: change.and_then(|change| change.reason).map(|reason| reason.as_str()),
        refresh_only,
        moved_from: change
            .and_then(|change| change.previous_address.clone())
            .filter(|from| *from != address),
        because,
        attributes,
        depends_on,
        dependents,
        outputs,
        checks: reasons::checks(&scene, &address),
        address,
    })
}

impl Explanation {
    /// As JSON, for programs.
    pub fn to_json(&self) -> Json {
        rendering::json(self)
    }
}

/// Whether an address stands for all instances of a resource.
fn is_whole(address: &ResourceInstance) -> bool {
    address.key == InstanceKey::None
}

/// What the plan says of an object: what `PlanView` makes of it.
fn view(saved: &SavedPlan) -> PlanView<'_> {
    PlanView::new(&saved.plan)
}
