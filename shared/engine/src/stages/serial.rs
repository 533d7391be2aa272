use crate::estate::EstateReading;
use crate::saved_plan::SavedPlan;
use crate::verdict::{Outcome, Stage, Verdict};
use records::Version;
use std::collections::BTreeSet;

/// Whether other runs wrote to the estate meanwhile. They may have touched nothing of the plan's:
/// that is for the records stage to say.
pub fn check_serial(plan: &SavedPlan, reading: &EstateReading) -> Vec<Verdict> {
    let (actual, ours) = match &reading.header {
        Some(header) => (header.serial, header.under_way.contains(&plan.id)),
        None => (0, false),
    };
    // Our own transaction has raised it once.
    let expected = plan.serial + u64::from(ours);
    if actual == expected {
        let message = format!("the estate's serial is {actual}, as planned");
        return vec![Verdict::new(Stage::Serial, Outcome::Pass, message)];
    }
    let planned = |address| {
        let instance = plan.plan.previous.instances.get(address);
        instance.and_then(|i| i.version.clone()).unwrap_or_else(Version::absent)
    };
    let runs: BTreeSet<String> = reading
        .records
        .iter()
        .filter(|(address, facts)| {
            facts.version != planned(address)
                && facts.written_at >= plan.created
                && facts.written_by.transaction.as_ref() != Some(&plan.id)
        })
        .map(|(_, facts)| format!("{} of {}", facts.written_by.run, facts.written_by.principal))
        .collect();
    let between = match runs.is_empty() {
        true => "no record still shows which".to_owned(),
        false => runs.into_iter().collect::<Vec<_>>().join(", "),
    };
    let message = format!("other runs wrote to the estate since it was planned: {between}");
    vec![
        Verdict::new(Stage::Serial, Outcome::Warn, message)
            .compared(expected, actual)
            .remedy("nothing needs to be done where the records stage passes"),
    ]
}
