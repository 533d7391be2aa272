//! The engine under simulation.

#![expect(clippy::unwrap_used, reason = "a simulation that cannot go on fails")]

mod breakages;
mod seeds;

use simulation::Simulation;
use simulation::breakage::Breakage;

/// What is wrong with a simulation that fails, with the command that shows its course.
fn failure(seed: u64, breakage: Option<Breakage>) -> Option<String> {
    let report = Simulation { seed, breakage, traced: false }.run().unwrap();
    let found = (!report.violations.is_empty()).then(|| report.violations.join("\n    "))?;
    let rule = breakage.map_or_else(String::new, |breakage| format!(" {breakage:?}"));
    Some(format!(
        "seed {seed} ({} steps): {found}\n  cargo run -p simulation -- {seed}{rule}",
        report.steps
    ))
}
