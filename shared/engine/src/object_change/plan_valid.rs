//! What a provider may plan: configuration is kept, and only computed attributes are filled in.

use super::{Violation, attribute, length, same};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::schema::{Attribute, AttributeType, Block, NestedAttributes, NestedBlock, Nesting};
use values::{Path, PathStep, Value};

/// The rules that a planned object breaks. All values without marks.
pub(crate) fn assert_plan_valid(
    schema: &Block,
    prior: &Value,
    config: &Value,
    planned: &Value,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    block(schema, prior, config, planned, &Path::root(), &mut violations);
    violations
}

fn block(
    schema: &Block,
    prior: &Value,
    config: &Value,
    planned: &Value,
    path: &Path,
    out: &mut Vec<Violation>,
) {
    if !same_existence(config, planned, path, out) || planned.is_null() {
        return;
    }
    attributes(&schema.attributes, prior, config, planned, path, out);
    for (name, nested) in &schema.blocks {
        let path = path.child(PathStep::Attribute(name.clone()));
        let (prior, config, planned) =
            (attribute(prior, name), attribute(config, name), attribute(planned, name));
        if planned == config {
            continue;
        }
        if !config.is_known() {
            out.push(Violation::new(&path, "planned a value for an unknown dynamic block"));
        } else if !planned.is_known() {
            out.push(Violation::new(
                &path,
                "attribute representing nested block must not be unknown itself; set nested attribute values to unknown instead",
            ));
        } else {
            nested_block(nested, &prior, &config, &planned, &path, out);
        }
    }
}

/// Whether both are null or both are not; else a violation.
fn same_existence(config: &Value, planned: &Value, path: &Path, out: &mut Vec<Violation>) -> bool {
    match (planned.is_null(), config.is_null()) {
        (true, false) => {
            out.push(Violation::new(path, "planned for absence but config wants existence"));
        }
        (false, true) => {
            out.push(Violation::new(path, "planned for existence but config wants absence"));
        }
        _ => return true,
    }
    false
}

fn nested_block(
    schema: &NestedBlock,
    prior: &Value,
    config: &Value,
    planned: &Value,
    path: &Path,
    out: &mut Vec<Violation>,
) {
    let kind = match schema.nesting {
        Nesting::Single | Nesting::Group => {
            return block(&schema.block, prior, config, planned, path, out);
        }
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
    };
    if planned.is_null() {
        out.push(Violation::new(
            path,
            format!(
                "attribute representing a {kind} of nested blocks must be empty to indicate no blocks, not null"
            ),
        ));
        return;
    }
    let unknown_element = |path: &Path, out: &mut Vec<Violation>| {
        out.push(Violation::new(
            path,
            "element representing nested block must not be unknown itself; set nested attribute values to unknown instead",
        ));
    };
    match schema.nesting {
        Nesting::Set => planned.for_each_child(|step, element| {
            if !element.is_known() {
                unknown_element(&path.child(step), out);
            }
        }),
        Nesting::Map => {
            keyed(planned, config, path, "block", out, |key, planned, config, path, out| {
                match planned.is_known() {
                    false => unknown_element(path, out),
                    true => {
                        block(&schema.block, &element_of(prior, key), config, planned, path, out)
                    }
                }
            })
        }
        _ => {
            if length(planned) != length(config) {
                out.push(Violation::new(
                    path,
                    format!(
                        "block count in plan ({}) disagrees with count in config ({})",
                        length(planned),
                        length(config)
                    ),
                ));
                return;
            }
            let configured = config.as_slice().unwrap_or(&[]);
            planned.for_each_child(|step, element| {
                let PathStep::Index(i) = step else { return };
                let path = path.child(PathStep::Index(i));
                match (element.is_known(), configured.get(i)) {
                    (false, _) => unknown_element(&path, out),
                    (true, Some(config)) => {
                        block(&schema.block, &item_of(prior, i), config, element, &path, out);
                    }
                    (true, None) => {}
                }
            });
        }
    }
}

fn item_of(list: &Value, i: usize) -> Value {
    list.as_slice().and_then(|l| l.get(i)).cloned().unwrap_or_else(Value::dynamic_null)
}

fn element_of(map: &Value, key: &str) -> Value {
    map.as_map().and_then(|m| m.get(key)).cloned().unwrap_or_else(Value::dynamic_null)
}

fn keyed(
    planned: &Value,
    config: &Value,
    path: &Path,
    what: &str,
    out: &mut Vec<Violation>,
    mut check: impl FnMut(&str, &Value, &Value, &Path, &mut Vec<Violation>),
) {
    let empty = BTreeMap::new();
    let planned = planned.as_map().unwrap_or(&empty);
    let config = config.as_map().unwrap_or(&empty);
    for (key, element) in planned {
        match config.get(key) {
            None => out.push(Violation::new(
                path,
                format!("{what} key {key:?} from plan is not present in config"),
            )),
            Some(config) => {
                let path = path.child(PathStep::Key(key.clone()));
                check(key, element, config, &path, out);
            }
        }
    }
    for key in config.keys().filter(|k| !planned.contains_key(*k)) {
        out.push(Violation::new(
            path,
            format!("{what} key {key:?} from config is not present in plan"),
        ));
    }
}

fn attributes(
    schemas: &BTreeMap<Arc<str>, Attribute>,
    prior: &Value,
    config: &Value,
    planned: &Value,
    path: &Path,
    out: &mut Vec<Violation>,
) {
    for (name, schema) in schemas {
        let prior = match prior.is_null() {
            true => Value::null(schema.implied_type()),
            false => attribute(prior, name),
        };
        let path = path.child(PathStep::Attribute(name.clone()));
        value(schema, &prior, &attribute(config, name), &attribute(planned, name), &path, out);
    }
}

fn value(
    schema: &Attribute,
    prior: &Value,
    config: &Value,
    planned: &Value,
    path: &Path,
    out: &mut Vec<Violation>,
) {
    if same(planned, config) {
        return;
    }
    if same(planned, prior) && !prior.is_null() && !config.is_null() {
        return;
    }
    if schema.computed && (!schema.optional || config.is_null()) {
        return;
    }
    let shown = |v: &Value| format!("{v:?}");
    if config.is_null() && !planned.is_null() {
        out.push(Violation::new(
            path,
            match schema.sensitive {
                true => "sensitive planned value for a non-computed attribute".into(),
                false => {
                    format!("planned value {} for a non-computed attribute", shown(planned))
                }
            },
        ));
        return;
    }
    if !config.is_null() && planned.is_null() && schema.write_only {
        return;
    }
    if let AttributeType::Nested(nested) = &schema.ty {
        return nested_attribute(nested, prior, config, planned, path, out);
    }
    let message = match (prior.is_null(), schema.sensitive) {
        (true, true) => "sensitive planned value does not match config value".into(),
        (true, false) => format!(
            "planned value {} does not match config value {}",
            shown(planned),
            shown(config)
        ),
        (false, true) => {
            "sensitive planned value does not match config value nor prior value".into()
        }
        (false, false) => format!(
            "planned value {} does not match config value {} nor prior value {}",
            shown(planned),
            shown(config),
            shown(prior)
        ),
    };
    out.push(Violation::new(path, message));
}

fn nested_attribute(
    schema: &NestedAttributes,
    prior: &Value,
    config: &Value,
    planned: &Value,
    path: &Path,
    out: &mut Vec<Violation>,
) {
    if !same_existence(config, planned, path, out) || planned.is_null() {
        return;
    }
    if !planned.is_known() {
        out.push(Violation::new(path, "planned unknown for configured value"));
        return;
    }
    if schema.nesting != Nesting::Single && !config.is_known() {
        return;
    }
    let counts_agree = |out: &mut Vec<Violation>| {
        let (plan, config) = (length(planned), length(config));
        if plan != config {
            out.push(Violation::new(
                path,
                format!("count in plan ({plan}) disagrees with count in config ({config})"),
            ));
        }
        plan == config
    };
    match schema.nesting {
        Nesting::Single | Nesting::Group => {
            attributes(&schema.attributes, prior, config, planned, path, out);
        }
        Nesting::List => {
            if !counts_agree(out) {
                return;
            }
            let configured = config.as_slice().unwrap_or(&[]);
            planned.for_each_child(|step, element| {
                let PathStep::Index(i) = step else { return };
                let Some(config) = configured.get(i) else { return };
                let path = path.child(PathStep::Index(i));
                attributes(&schema.attributes, &item_of(prior, i), config, element, &path, out);
            });
        }
        Nesting::Map => {
            if counts_agree(out) {
                keyed(planned, config, path, "map", out, |key, planned, config, path, out| {
                    let prior = element_of(prior, key);
                    attributes(&schema.attributes, &prior, config, planned, path, out);
                });
            }
        }
        // Elements of sets cannot be paired; when all is known, at least their number is.
        Nesting::Set => {
            if planned.is_wholly_known() && config.is_wholly_known() {
                counts_agree(out);
            }
        }
    }
}
