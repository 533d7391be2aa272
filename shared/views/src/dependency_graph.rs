//! The resources of a configuration and what they depend on, in the DOT language.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use values::address::ConfigResource;

/// Writes a graph: a box for each resource, gathered by module, and an arrow to each that it depends on.
///
/// # Errors
/// Those of the writer.
pub fn write_dependency_graph(
    dependencies: &BTreeMap<ConfigResource, BTreeSet<ConfigResource>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(
        b"digraph G {\n  rankdir = \"RL\";\n  node [shape = rect, fontname = \"sans-serif\"];\n",
    )?;
    if dependencies.is_empty() {
        out.write_all(b"  /* This configuration does not contain any resources. */\n")?;
    }
    let mut modules = BTreeMap::<String, Vec<(String, &ConfigResource)>>::new();
    for resource in dependencies.keys() {
        let resources = modules.entry(resource.module.to_string()).or_default();
        resources.push((resource.resource.to_string(), resource));
    }
    for (module, resources) in &mut modules {
        resources.sort();
        if module.is_empty() {
            boxes(resources, "  ", out)?;
            continue;
        }
        writeln!(out, "  subgraph {} {{", quoted(&format!("cluster_{module}")))?;
        writeln!(out, "    label = {}\n    fontname = \"sans-serif\"", quoted(module))?;
        boxes(resources, "    ", out)?;
        out.write_all(b"  }\n")?;
    }
    for (_, resource) in modules.values().flatten() {
        let on: BTreeSet<String> =
            dependencies.get(resource).into_iter().flatten().map(ToString::to_string).collect();
        for on in on {
            writeln!(out, "  {} -> {};", quoted(&resource.to_string()), quoted(&on))?;
        }
    }
    out.write_all(b"}\n")
}

fn boxes(
    resources: &[(String, &ConfigResource)],
    indent: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (name, resource) in resources {
        let (address, name) = (quoted(&resource.to_string()), quoted(name));
        writeln!(out, "{indent}{address} [label={name}];")?;
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
