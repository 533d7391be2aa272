//! The runs of an estate: who did what, when, and what came of it.

use engine::clock::moment;
use engine::estate::RunHistory;
use engine::record::body::{Decided, JournalBody, JournalOutcome};
use serde_json::{Map, Value as Json, json};
use std::io::{self, Write};

/// Writes one line for each run, the first to begin first.
///
/// # Errors
/// Those of the writer.
pub fn write_list(runs: &[RunHistory], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 5]> = runs.iter().map(row).collect();
    let head = ["RUN", "BEGAN", "BY", "STATE", "CHANGES"].map(str::to_owned);
    let width = |column: usize| {
        let cells = rows.iter().chain([&head]).map(|row| row[column].chars().count());
        cells.max().unwrap_or_default()
    };
    let widths = [width(0), width(1), width(2), width(3)];
    for row in [&head].into_iter().chain(&rows) {
        for (cell, width) in row.iter().zip(widths) {
            write!(out, "{cell:<width$}  ")?;
        }
        writeln!(out, "{}", row[4])?;
    }
    Ok(())
}

fn row(run: &RunHistory) -> [String; 5] {
    let changes = match &run.decision {
        Some(decision) => decided(&decision.decision, &decision.address),
        None => {
            let entries = run.attempts.iter().flat_map(|attempt| &attempt.entries);
            let (recorded, other) =
                entries.fold((0, 0), |(recorded, other), entry| match entry.outcome {
                    JournalOutcome::Recorded => (recorded + 1, other),
                    _ => (recorded, other + 1),
                });
            match other {
                0 => format!("{recorded} recorded"),
                _ => format!("{recorded} recorded, {other} not"),
            }
        }
    };
    [
        run.run.to_string(),
        run.began().map_or_else(|| "-".to_owned(), moment),
        principal(run),
        state(run),
        changes,
    ]
}

/// Writes all that is known of one run.
///
/// # Errors
/// Those of the writer.
pub fn write_run(run: &RunHistory, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "run          {}", run.run)?;
    writeln!(out, "started by   {}", principal(run))?;
    if let Some(decision) = &run.decision {
        writeln!(out, "decided      {}", moment(decision.decided))?;
        return writeln!(out, "decision     {}", decided(&decision.decision, &decision.address));
    }
    if let Some(plan) = plan(run) {
        writeln!(out, "plan         {plan}")?;
    }
    let transaction = run.transaction.as_ref();
    let approved = transaction.and_then(|t| t.approved_by.as_ref());
    let approved = approved.or_else(|| run.attempts.iter().find_map(|a| a.approved_by.as_ref()));
    if let Some(approved) = approved {
        writeln!(out, "approved by  {approved}")?;
    }
    writeln!(out, "state        {}", state(run))?;
    if let Some(transaction) = transaction {
        writeln!(out, "attempts     {}", transaction.attempt)?;
    }
    for attempt in &run.attempts {
        write_attempt(attempt, out)?;
    }
    let begun = transaction.map_or(0, |transaction| transaction.attempt as usize);
    if begun > run.attempts.len() {
        let missing = begun - run.attempts.len();
        writeln!(
            out,
            "\n{missing} of its attempts left no journal: under way, given up before a change, or dead."
        )?;
    }
    Ok(())
}

fn write_attempt(attempt: &JournalBody, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\nattempt {}, {} to {}",
        attempt.attempt,
        moment(attempt.started),
        moment(attempt.ended)
    )?;
    for entry in &attempt.entries {
        let deposed = entry.deposed.as_ref().map(|key| format!(" (deposed object {key})"));
        writeln!(
            out,
            "  {:<14}{}{}: {}",
            entry.action.join("/"),
            entry.address,
            deposed.unwrap_or_default(),
            match entry.outcome {
                JournalOutcome::Begun => "begun, and no result was recorded",
                JournalOutcome::Recorded => "recorded",
                JournalOutcome::Failed => "failed, and what is left is recorded",
                JournalOutcome::Unfinished =>
                    "stopped while its provider worked; the next attempt goes on",
                JournalOutcome::InDoubt => "in doubt: whether it was done could not be found out",
                JournalOutcome::Stray => "kept beside its record, which another run had changed",
                JournalOutcome::Unrecorded => "not recorded, since the store could not be written",
            }
        )?;
    }
    if !attempt.outputs.is_empty() {
        writeln!(out, "  outputs       {}", attempt.outputs.join(", "))?;
    }
    Ok(())
}

/// All runs, for programs.
pub fn list_json(runs: &[RunHistory]) -> Json {
    json!({ "format_version": "1.0", "runs": runs.iter().map(run_json).collect::<Vec<_>>() })
}

/// One run, for programs.
pub fn run_json(run: &RunHistory) -> Json {
    let mut object = Map::new();
    object.insert("run".into(), run.run.as_str().into());
    object.insert("principal".into(), principal(run).into());
    object.insert("state".into(), state(run).into());
    object.insert("began".into(), run.began().map_or(Json::Null, |began| moment(began).into()));
    if let Some(plan) = plan(run) {
        object.insert("plan".into(), plan.into());
    }
    if let Some(transaction) = &run.transaction {
        let approved = transaction.approved_by.as_ref().map(|by| by.as_str());
        object.insert("approved_by".into(), json!(approved));
        object.insert("attempts_begun".into(), transaction.attempt.into());
        object.insert("lease_until".into(), moment(transaction.lease_until).into());
    }
    if let Some(decision) = &run.decision {
        object.insert("address".into(), decision.address.clone().into());
        object.insert("decision".into(), json!(decision.decision));
    }
    if !run.attempts.is_empty() {
        let attempts = run.attempts.iter().map(|attempt| {
            let mut attempt = json!(attempt);
            if let Some(fields) = attempt.as_object_mut() {
                // What concerns the store alone.
                fields.remove("format");
                fields.remove("write_id");
            }
            attempt
        });
        object.insert("attempts".into(), attempts.collect());
    }
    Json::Object(object)
}

fn plan(run: &RunHistory) -> Option<&str> {
    let transaction = run.transaction.as_ref().map(|transaction| transaction.plan.as_str());
    transaction.or_else(|| run.attempts.first().map(|attempt| attempt.plan.as_str()))
}

fn principal(run: &RunHistory) -> String {
    let transaction = run.transaction.as_ref().map(|t| &t.principal);
    let attempt = run.attempts.first().map(|attempt| &attempt.principal);
    let decision = run.decision.as_ref().map(|decision| &decision.principal);
    let known = transaction.or(attempt).or(decision);
    known.map_or_else(String::new, ToString::to_string)
}

fn state(run: &RunHistory) -> String {
    match (&run.transaction, &run.decision) {
        (Some(transaction), _) => transaction.phase.to_string(),
        (None, Some(_)) => "decided".to_owned(),
        // Its transaction was swept, which only an ended one is.
        (None, None) => "ended".to_owned(),
    }
}

fn decided(decision: &Decided, address: &str) -> String {
    match decision {
        Decided::AdoptStray(run) => format!("adopted the result of run {run} for {address}"),
        Decided::AdoptFile(file) => format!("adopted the result in {file} for {address}"),
        Decided::AdoptObject(id) => format!("adopted the object {id:?} as {address}"),
        Decided::DismissStray(run) => format!("dismissed the result of run {run} for {address}"),
        Decided::DismissDoubt => format!("dismissed the doubt about {address}"),
        Decided::PushState(file) => format!("pushed the state {file}"),
    }
}
