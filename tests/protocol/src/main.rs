//! Explores cases by name, with or without a rule taken away, and prints the way to a violation.
#![expect(clippy::print_stdout, reason = "a program whose output is its purpose")]

use std::time::Instant;

use protocol::{Case, Model, Mutation, cases, large_cases};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let all: Vec<Case> = cases().into_iter().chain(large_cases()).collect();
    let chosen: Vec<&Case> = match arguments.first() {
        Some(name) if name != "all" => all.iter().filter(|case| case.name == name).collect(),
        Some(_) => all.iter().collect(),
        None => {
            println!("protocol all | CASE [MUTATION [LIMIT]]\n\ncases:");
            all.iter().for_each(|case| println!("  {:<20} {}", case.name, case.about));
            println!("\nmutations:");
            Mutation::ALL.iter().for_each(|mutation| println!("  {mutation:?}"));
            return;
        }
    };
    let mutations: Vec<Option<Mutation>> = match arguments.get(1).map(String::as_str) {
        None | Some("none") => vec![None],
        Some("each") => Mutation::ALL.map(Some).to_vec(),
        Some(name) => {
            Mutation::ALL.into_iter().filter(|one| format!("{one:?}") == name).map(Some).collect()
        }
    };
    let limit = arguments.get(2).and_then(|limit| limit.parse().ok()).unwrap_or(u64::MAX);
    for case in chosen {
        for &mutation in &mutations {
            let begun = Instant::now();
            let outcome = Model::new(case.clone(), mutation).explore_up_to(limit);
            println!(
                "{:<20} {:<26} {:>9} states {:>10} steps {:>8} ends, depth {:>3}, {:>6.1} s  {}",
                case.name,
                mutation.map_or_else(|| "-".to_owned(), |mutation| format!("{mutation:?}")),
                outcome.states,
                outcome.steps,
                outcome.finals,
                outcome.depth,
                begun.elapsed().as_secs_f64(),
                outcome.violation.as_ref().map_or_else(
                    || "holds".to_owned(),
                    |violation| format!("{:?}", violation.invariant)
                ),
            );
            if mutations.len() == 1
                && let Some(violation) = outcome.violation
            {
                violation.trace.iter().for_each(|step| println!("  {step}"));
            }
        }
    }
}
