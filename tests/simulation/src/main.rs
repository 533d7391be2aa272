//! Runs simulations by their seeds, and prints what happened in those that are named alone.
#![expect(clippy::print_stdout, reason = "a program whose output is its purpose")]

use simulation::{Report, Simulation, breakage::Breakage};
use std::time::Instant;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| arguments.get(place).and_then(|text| text.parse::<u64>().ok());
    let named = arguments.last().and_then(|text| {
        Breakage::ALL.into_iter().find(|breakage| format!("{breakage:?}") == *text)
    });
    let Some(first) = number(0) else {
        println!("simulation FIRST [LAST] [RULE TAKEN AWAY]\n\nrules:");
        Breakage::ALL.iter().for_each(|breakage| println!("  {breakage:?}"));
        return Ok(());
    };
    let traced = number(1).is_none();
    let begun = Instant::now();
    let (mut failed, mut steps) = (0, 0);
    let last = number(1).unwrap_or(first);
    for seed in first..=last {
        let Report { violations, trace, lasted, steps: taken } =
            Simulation { seed, breakage: named, traced }.run()?;
        steps += taken;
        trace.lines().iter().for_each(|line| println!("{line}"));
        if traced {
            println!("{taken} steps, {} s of simulated time", lasted.as_secs());
        }
        if let Some(violation) = violations.first() {
            failed += 1;
            println!("seed {seed}: {violation}");
            violations.iter().skip(1).for_each(|violation| println!("    {violation}"));
        }
    }
    let (count, took) = (last - first + 1, begun.elapsed().as_secs_f64());
    println!("{failed} of {count} fail; {steps} steps, {took:.1} s");
    Ok(())
}
