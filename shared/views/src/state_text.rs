//! A state as people read it.

use crate::colour::Colour;
use crate::diff::{Change, Style, of_block, of_type, quoted};
use crate::json::Json;
use crate::shown_state::{ShownInstance, ShownState};
use crate::value_json::{Shape, known, sensitive};
use engine::object::{DeposedKey, Object, ObjectStatus};
use std::io::{self, Write};
use values::address::ResourceMode;

/// Writes a whole state: each object, then the outputs.
///
/// # Errors
/// Those of the writer.
pub fn write_state(state: &ShownState, colour: Colour, out: &mut dyn Write) -> io::Result<()> {
    if state.is_empty() {
        return writeln!(out, "The state file is empty. No resources are represented.");
    }
    let mut module = None;
    for instance in state.sorted() {
        for (deposed, object) in instance.objects() {
            // One empty line between objects, two between modules.
            if let Some(last) = module.replace(&instance.address.module) {
                let gap = if *last == instance.address.module { "\n" } else { "\n\n" };
                out.write_all(gap.as_bytes())?;
            }
            write_object(instance, deposed, object, colour, out)?;
        }
    }
    if state.outputs.is_empty() {
        return Ok(());
    }
    write!(out, "\n\nOutputs:\n\n")?;
    for (name, value) in &state.outputs {
        let hidden = Json::Bool(value.marks().is_sensitive());
        let diff = of_type(&Change::shown(known(value), hidden), &value.ty());
        writeln!(out, "{name} = {}", diff.render(0, Style::shown(colour)))?;
    }
    Ok(())
}

/// Writes one instance: all its objects.
///
/// # Errors
/// Those of the writer.
pub fn write_instance(
    instance: &ShownInstance,
    colour: Colour,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (i, (deposed, object)) in instance.objects().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        write_object(instance, deposed, object, colour, out)?;
    }
    Ok(())
}

/// Writes the addresses of instances, one a line.
///
/// # Errors
/// Those of the writer.
pub fn write_list(state: &ShownState, out: &mut dyn Write) -> io::Result<()> {
    state.sorted().into_iter().try_for_each(|instance| writeln!(out, "{}", instance.address))
}

fn write_object(
    instance: &ShownInstance,
    deposed: Option<&DeposedKey>,
    object: &Object,
    colour: Colour,
    out: &mut dyn Write,
) -> io::Result<()> {
    let address = &instance.address;
    match deposed {
        Some(key) => writeln!(out, "# {address}: (deposed object {key})")?,
        None if object.status == ObjectStatus::Tainted => writeln!(out, "# {address}: (tainted)")?,
        None => writeln!(out, "# {address}:")?,
    }
    let block = &instance.schema.block;
    let hidden = sensitive(&object.value, Shape::Block(block));
    let diff = of_block(&Change::shown(known(&object.value), hidden).of_provider(), block);
    let resource = &address.resource;
    let kind = if resource.mode == ResourceMode::Managed { "resource" } else { "data" };
    writeln!(
        out,
        "{kind} {} {} {}",
        quoted(&resource.ty),
        quoted(&resource.name),
        diff.render(0, Style::shown(colour))
    )
}
