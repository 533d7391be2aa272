//! Configuration for objects that are imported without any.

use crate::plan::first_reading;
use crate::source::Source;
use crate::{RunError, Workplace};
use engine::existing_state::NewEstate;
use engine::{GeneratedResource, PlanOptions, Variables};
use language::diagnostics::Diagnostics;

/// Writes a resource block for each object that an import block names and nothing declares. Observers hear nothing of it,
/// since planning reads the objects again.
///
/// # Errors
/// Where the records cannot be read, or state may exist elsewhere.
pub async fn generate(
    workplace: &Workplace,
    source: &Source,
    variables: Variables,
    options: PlanOptions,
    new_estate: NewEstate,
) -> Result<(Vec<GeneratedResource>, Diagnostics), RunError> {
    let (reading, _) = first_reading(workplace, source, new_estate).await?;
    let (configuration, state) = (&source.configuration, reading.state.clone());
    Ok(workplace.unobserved().generate(configuration, variables, state, options).await)
}
