//! CPU time of plan and apply beside Terraform on the same machine:
//! `cargo bench -p local --bench beside_terraform [-- INSTANCES]`.
//!
//! Prints a ratio where `terraform` is on the PATH, and plumb's own times otherwise. Asserts nothing.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod processes;

use processes::{cpu_time, is_on_path};
use std::path::Path;
use std::time::Duration;

const SHAPES: [&str; 3] = ["blocks", "count", "chain"];
const STEPS: [(&str, &[&str]); 3] = [
    ("plan", &["plan", "-input=false", "-no-color"]),
    ("apply", &["apply", "-auto-approve", "-input=false", "-no-color"]),
    ("second plan", &["plan", "-input=false", "-no-color"]),
];

fn main() {
    // Cargo hands `--bench` to every bench.
    let instances = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(1000);
    let terraform = is_on_path("terraform");
    if !terraform {
        println!("terraform is not on the PATH: plumb's own times alone");
    }
    for shape in SHAPES {
        let ours = measure(Path::new(env!("CARGO_BIN_EXE_plumb")), shape, instances);
        let theirs = terraform.then(|| measure(Path::new("terraform"), shape, instances.min(1000)));
        for (i, (step, _)) in STEPS.iter().enumerate() {
            let own = ours[i].as_secs_f64();
            match &theirs {
                Some(theirs) if instances <= 1000 => {
                    let other = theirs[i].as_secs_f64();
                    println!(
                        "{shape:7} {instances:6} {step:12} plumb {own:7.2} s CPU, terraform {other:7.2} s CPU, ratio {:.1}",
                        other / own
                    );
                }
                _ => println!("{shape:7} {instances:6} {step:12} plumb {own:7.2} s CPU"),
            }
        }
    }
}

fn configuration(shape: &str, instances: usize) -> String {
    match shape {
        "blocks" => (0..instances)
            .map(|i| {
                format!("resource \"terraform_data\" \"r{i}\" {{\n  input = \"value-{i}\"\n}}\n")
            })
            .collect(),
        "count" => format!(
            "resource \"terraform_data\" \"r\" {{\n  count = {instances}\n  input = \"value-${{count.index}}\"\n}}\n"
        ),
        _ => (0..instances)
            .map(|i| {
                let input = match i {
                    0 => "\"value-0\"".to_owned(),
                    i => format!("terraform_data.r{}.output", i - 1),
                };
                format!("resource \"terraform_data\" \"r{i}\" {{\n  input = {input}\n}}\n")
            })
            .collect(),
    }
}

fn measure(program: &Path, shape: &str, instances: usize) -> Vec<Duration> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("main.tf"), configuration(shape, instances)).unwrap();
    cpu_time(program, &["init", "-input=false"], folder.path());
    STEPS.iter().map(|(_, arguments)| cpu_time(program, arguments, folder.path())).collect()
}
