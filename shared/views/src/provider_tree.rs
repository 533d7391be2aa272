//! Which module requires which providers, and which the records need.

use language::module::{Configuration, ModuleNode};
use providers::install::VersionConstraints;
use std::collections::BTreeSet;
use std::fmt::Write;
use values::address::ProviderAddress;

/// What an entry begins with, and what stands before those below it.
const BRANCH: (&str, &str) = ("├── ", "│\u{a0}\u{a0} ");
/// The same for the last entry.
const LAST: (&str, &str) = ("└── ", "    ");

/// The modules of a configuration with the providers that each requires, as a tree; the answer is text.
pub fn provider_tree(configuration: &Configuration) -> String {
    let mut text = "\nProviders required by configuration:\n.\n".to_owned();
    // Depth is that of modules, which loading has bounded.
    push_module(&configuration.root, "", &mut text);
    text.push('\n');
    text
}

/// The providers that recorded instances need; no text where there are none.
pub fn recorded_providers(providers: &BTreeSet<ProviderAddress>) -> String {
    if providers.is_empty() {
        return String::new();
    }
    let mut text = "Providers required by state:\n\n".to_owned();
    for provider in providers {
        // Writing to a string cannot fail.
        let _ = write!(text, "    provider[{provider}]\n\n");
    }
    text
}

fn push_module(node: &ModuleNode, before: &str, text: &mut String) {
    let requirements = node.module.provider_requirements();
    let mut left = requirements.len() + node.children.len();
    let mut entry = || {
        left -= 1;
        if left == 0 { LAST } else { BRANCH }
    };
    for (provider, wanted) in &requirements {
        let parsed = wanted.iter().filter_map(|wanted| wanted.text.parse().ok());
        let all = parsed.fold(VersionConstraints::default(), |all, one| all.and(&one));
        let (begin, _) = entry();
        let _ = write!(text, "{before}{begin}provider[{provider}]");
        if !all.is_empty() {
            let _ = write!(text, " {all}");
        }
        text.push('\n');
    }
    let mut children: Vec<_> = node.children.iter().collect();
    children.sort_by_key(|(name, _)| *name);
    for (name, child) in children {
        let (begin, below) = entry();
        let _ = writeln!(text, "{before}{begin}module.{name}");
        push_module(child, &format!("{before}{below}"), text);
    }
}
