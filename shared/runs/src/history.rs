//! The runs of an estate, as its transactions and its journal tell them.

use crate::error::RunError;
use engine::estate::{Estate, RunHistory};

/// Every run that is known, in the order in which they began.
///
/// # Errors
/// Where the records cannot be read.
pub async fn list(estate: &Estate) -> Result<Vec<RunHistory>, RunError> {
    Ok(estate.history().await?)
}

/// The runs whose name, or whose plan's name, begins with `name`: one, where enough of it was given.
///
/// # Errors
/// Where the records cannot be read.
pub async fn find(estate: &Estate, name: &str) -> Result<Vec<RunHistory>, RunError> {
    let named = |run: &RunHistory| {
        let plan = run.transaction.as_ref().map(|transaction| &transaction.plan);
        let plan = plan.or_else(|| run.attempts.first().map(|attempt| &attempt.plan));
        run.run.as_str().starts_with(name) || plan.is_some_and(|p| p.as_str().starts_with(name))
    };
    let mut found: Vec<RunHistory> = estate.history().await?.into_iter().filter(named).collect();
    if let Some(exact) = found.iter().position(|run| run.run.as_str() == name) {
        found = vec![found.swap_remove(exact)];
    }
    Ok(found)
}
