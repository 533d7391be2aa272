//! What a saved plan changes and what it looked at: its write set and its read set.

use crate::json::{Escape, Json};
use crate::value_json::known;
use engine::reads::{LookedAt, ReadPath};
use engine::saved_plan::{SavedPlan, SetMember};
use std::collections::BTreeMap;
use std::io::{self, Write};
use values::address::ResourceInstance;
use values::{Kind, Path, PathStep, Value};

/// The key under which the sets stand in the JSON of a plan.
pub const KEY: &str = "plumbline_sets";

/// Writes both sets, a line for each instance and one for each path.
///
/// # Errors
/// Those of the writer.
pub fn write_sets(plan: &SavedPlan, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "The plan changes {}, and looked at {} beside them.",
        instances(plan.write_set.len()),
        instances(plan.read_set.len())
    )?;
    if !plan.write_set.is_empty() {
        writeln!(out, "\nChanges (write set):")?;
        for (address, member) in &plan.write_set {
            writeln!(out, "  {address}  {}", record(member))?;
        }
    }
    if !plan.read_set.is_empty() {
        writeln!(out, "\nLooked at (read set):")?;
        for (address, member) in &plan.read_set {
            write_member(address, member, out)?;
        }
    }
    if !plan.key_sets.is_empty() {
        writeln!(out, "\nLooked at for which instances there are:")?;
        for resource in &plan.key_sets {
            writeln!(out, "  {resource}")?;
        }
    }
    Ok(())
}

fn write_member(
    address: &ResourceInstance,
    member: &SetMember,
    out: &mut dyn Write,
) -> io::Result<()> {
    let record = record(member);
    match &member.looked_at {
        LookedAt::Whole => writeln!(out, "  {address}  {record}: all of it"),
        LookedAt::Paths(paths) if paths.is_empty() => {
            writeln!(out, "  {address}  {record}: whether it is there")
        }
        LookedAt::Paths(paths) => {
            writeln!(out, "  {address}  {record}")?;
            paths.iter().try_for_each(|read| {
                let planned = match &read.planned {
                    None => "nothing".to_owned(),
                    Some(value) => shown(value),
                };
                writeln!(out, "    {} = {planned}", read.path)
            })
        }
        LookedAt::Configuring(paths) => {
            writeln!(
                out,
                "  {address}  {record}: for a provider or an ephemeral value, evaluated again"
            )?;
            let parts = paths.iter().filter(|path| !path.is_root());
            parts.into_iter().try_for_each(|path| writeln!(out, "    {path}"))
        }
    }
}

fn instances(count: usize) -> String {
    match count {
        1 => "1 instance".to_owned(),
        count => format!("{count} instances"),
    }
}

fn record(member: &SetMember) -> String {
    match member.revision.0.is_empty() {
        true => "(no record)".to_owned(),
        false => format!("(revision {})", member.revision.0),
    }
}

/// A value in one line.
fn shown(value: &Value) -> String {
    if value.deep_marks().is_sensitive() {
        return "(sensitive value)".to_owned();
    }
    match value.kind() {
        Kind::Unknown(..) => "(known after apply)".to_owned(),
        _ => known(value).to_text(Escape::Minimal),
    }
}

/// Both sets as JSON: what stands under [`KEY`].
pub fn sets_json(plan: &SavedPlan) -> Json {
    let keys = plan.key_sets.iter().map(|resource| Json::string(resource.to_string()));
    Json::object([
        ("write_set", set(&plan.write_set)),
        ("read_set", set(&plan.read_set)),
        ("key_sets", Json::array(keys.collect())),
    ])
}

fn set(members: &BTreeMap<ResourceInstance, SetMember>) -> Json {
    let member = |(address, member): (&ResourceInstance, &SetMember)| {
        let (looked_at, paths) = match &member.looked_at {
            LookedAt::Whole => ("whole", Vec::new()),
            LookedAt::Paths(paths) if paths.is_empty() => ("existence", Vec::new()),
            LookedAt::Paths(paths) => ("paths", paths.iter().map(read).collect()),
            LookedAt::Configuring(paths) => {
                let path = |path: &Path| Json::object([("path", path_json(path))]);
                ("configuring", paths.iter().map(path).collect())
            }
        };
        let version = match member.version.is_absent() {
            true => String::new(),
            false => member.version.to_string(),
        };
        Json::object([
            ("address", Json::string(address.to_string())),
            ("version", Json::string(version)),
            ("revision", Json::string(&member.revision.0)),
            ("looked_at", Json::string(looked_at)),
            ("paths", Json::array(paths)),
        ])
    };
    Json::array(members.iter().map(member).collect())
}

fn read(read: &ReadPath) -> Json {
    let sensitive = read.planned.as_ref().is_some_and(|value| value.deep_marks().is_sensitive());
    let planned = read.planned.as_ref().filter(|_| !sensitive);
    Json::object([
        ("path", path_json(&read.path)),
        ("planned", planned.map_or(Json::Null, known)),
        ("sensitive", Json::Bool(sensitive)),
    ])
}

/// Names and positions.
fn path_json(path: &Path) -> Json {
    let step = |step: &PathStep| match step {
        PathStep::Attribute(name) | PathStep::Key(name) => Json::string(name),
        PathStep::Index(index) => Json::number(index),
        PathStep::Element(value) => known(value),
    };
    Json::array(path.0.iter().map(step).collect())
}
