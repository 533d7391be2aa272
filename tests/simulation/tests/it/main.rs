//! The engine under simulation.

#![expect(clippy::unwrap_used, reason = "a simulation that cannot go on fails")]

mod breakages;
mod seeds;

use simulation::Simulation;
use simulation::breakage::Breakage;
use std::ops::Range;

/// What is wrong with the simulations that fail, each with the command that shows its course.
fn failures(seeds: Range<u64>, breakage: Option<Breakage>) -> impl Iterator<Item = String> {
    seeds.filter_map(move |seed| {
        let report = Simulation { seed, breakage, traced: false }.run().unwrap();
        let found = (!report.violations.is_empty()).then(|| report.violations.join("\n    "))?;
        let rule = breakage.map_or_else(String::new, |breakage| format!(" {breakage:?}"));
        Some(format!(
            "seed {seed} ({} steps): {found}\n  cargo run -p simulation -- {seed}{rule}",
            report.steps
        ))
    })
}
