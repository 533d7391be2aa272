//! How long 10 MB of configuration, 100 000 blocks, take to parse: below 0.5 s of CPU and 150 MB.
//!
//! `cargo bench -p language --bench parsing`

#![expect(clippy::print_stdout, reason = "this is a program for people")]

use language::source::Sources;
use language::syntax::parse_body;
use std::time::Instant;

const BLOCKS: usize = 100_000;
const ROUNDS: usize = 5;

fn main() {
    let mut text = String::with_capacity(BLOCKS * 110);
    for at in 0..BLOCKS {
        text.push_str(&format!(
            "resource \"test_thing\" \"n{at}\" {{\n  name  = \"thing-{at}\"\n  size  = {at}\n  owner = var.owner\n  tags  = [1, 2]\n}}\n"
        ));
    }
    let sources = Sources::new();
    let file = sources.add("main.tf", text.as_bytes());
    let mut best = f64::INFINITY;
    let before = cpu_time();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let (body, diagnostics) = parse_body(&sources, file);
        best = best.min(begun.elapsed().as_secs_f64());
        assert!(diagnostics.is_empty() && body.blocks.len() == BLOCKS);
    }
    println!("{:.1} MB, {BLOCKS} blocks: {best:.3} s at best", text.len() as f64 / 1e6);
    if let (Some(before), Some(after)) = (before, cpu_time()) {
        println!("{:.3} s of CPU on average", (after - before) / ROUNDS as f64);
    }
    if let Some(peak) = peak_memory() {
        println!("at most {peak:.0} MB of memory");
    }
}

/// The CPU time that this process has used, in seconds, where the system tells: in hundredths.
fn cpu_time() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name in parentheses: fields 3 and on; 14 and 15 are the times as user and in the system.
    let fields: Vec<&str> = status.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// The most memory that this process had, in MB, where the system tells.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024.0 / 1e6)
}
