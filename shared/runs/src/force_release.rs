//! Ending a transaction of which a person knows that nobody works on it any more.

use crate::edit::Editor;
use crate::error::RunError;
use engine::identifiers::{PlanId, Principal, RunId};
use values::address::ResourceInstance;

/// A transaction that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// Its plan.
    pub plan: PlanId,
    /// Its run.
    pub run: RunId,
    /// Who started it.
    pub principal: Principal,
}

/// No transaction can be told by what was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchTransaction {
    /// Nobody's plan or run begins so.
    #[error(
        "no plan or run that is under way here begins with {name:?}, and nothing was changed. {}",
        match others.is_empty() {
            true => "Nothing is under way: nothing has to be released".to_owned(),
            false => format!("Under way: {}", others.join(", ")),
        }
    )]
    None {
        /// What was given.
        name: String,
        /// Those that are under way.
        others: Vec<String>,
    },
    /// Several do.
    #[error("{name:?} is the beginning of several: {}. Nothing was changed", found.join(", "))]
    Several {
        /// What was given.
        name: String,
        /// The plans.
        found: Vec<String>,
    },
}

/// The transaction under way whose plan or run begins with `name`.
///
/// # Errors
/// Where there is none, or more than one.
pub async fn find(editor: &Editor<'_>, name: &str) -> Result<UnderWay, RunError> {
    let header = editor.estate.read_header().await?;
    let mut all = Vec::new();
    for plan in header.map(|header| header.under_way).unwrap_or_default() {
        if let Some(body) = editor.estate.transaction(&plan).await? {
            all.push(UnderWay { plan, run: body.run, principal: body.principal });
        }
    }
    let plans = |found: &[UnderWay]| found.iter().map(|one| one.plan.to_string()).collect();
    let others = plans(&all);
    // An empty name is what is left of a variable that nobody has set, and means nobody's.
    all.retain(|one| {
        !name.is_empty()
            && (one.plan.as_str().starts_with(name) || one.run.as_str().starts_with(name))
    });
    let several = plans(&all);
    match (all.pop(), all.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(NoSuchTransaction::None { name: name.to_owned(), others }.into()),
        (Some(_), false) => {
            Err(NoSuchTransaction::Several { name: name.to_owned(), found: several }.into())
        }
    }
}

/// Ends a transaction, whatever its lease says. Answers the instances whose creates are in doubt since.
///
/// # Errors
/// Where it has ended, its process lives on this machine, or the store fails.
pub async fn force_release(
    editor: &Editor<'_>,
    plan: &PlanId,
) -> Result<Vec<ResourceInstance>, RunError> {
    let mut transaction = editor.begin().await?;
    transaction.waive([format!("the lease of the plan {plan}")]);
    match transaction.force_release(plan).await {
        Ok(doubted) => {
            let reading = editor.estate.read().await?;
            transaction.execute(reading, None).await?.commit().await?;
            Ok(doubted)
        }
        Err(error) => {
            // The first error is told.
            let _ = transaction.reject().await;
            Err(error.into())
        }
    }
}
