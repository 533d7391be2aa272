//! CPU time of validating configuration beside Terraform on the same machine:
//! `cargo bench -p local --bench validation [-- BLOCKS]`.
//!
//! Without BLOCKS a megabyte of 10 000 blocks is validated by both, and ten megabytes of 100 000 blocks by plumb alone,
//! since Terraform's time grows faster than their number. Prints a ratio where `terraform` is on the PATH. Asserts nothing.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod processes;

use processes::{cpu_time, is_on_path};
use std::path::Path;
use std::time::Duration;

fn main() {
    // Cargo hands `--bench` to every bench.
    match std::env::args().skip(1).find_map(|argument| argument.parse().ok()) {
        Some(blocks) => measure(blocks, true),
        None => {
            measure(10_000, true);
            measure(100_000, false);
        }
    }
}

fn measure(blocks: usize, beside: bool) {
    let folder = tempfile::tempdir().unwrap();
    let text = configuration(blocks);
    std::fs::write(folder.path().join("main.tf"), &text).unwrap();
    let validate = |program: &Path| -> Duration {
        cpu_time(program, &["init", "-input=false"], folder.path());
        cpu_time(program, &["validate"], folder.path())
    };
    let own = validate(Path::new(env!("CARGO_BIN_EXE_plumb"))).as_secs_f64();
    print!("{:.1} MB, {blocks} blocks: plumb {own:.2} s CPU", text.len() as f64 / 1e6);
    if beside && is_on_path("terraform") {
        let other = validate(Path::new("terraform")).as_secs_f64();
        print!(", terraform {other:.2} s CPU, ratio {:.1}", other / own);
    }
    println!();
}

fn configuration(blocks: usize) -> String {
    let mut text = "variable \"owner\" {\n  default = \"me\"\n}\n".to_owned();
    for at in 0..blocks {
        text.push_str(&format!(
            "resource \"terraform_data\" \"n{at}\" {{\n  input = {{\n    name  = \"n-{at}\"\n    owner = var.owner\n  }}\n}}\n"
        ));
    }
    text
}
