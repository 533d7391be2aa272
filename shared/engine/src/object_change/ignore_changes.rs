//! `ignore_changes`: where configuration gives way to the prior object.

use std::collections::BTreeMap;
use std::sync::Arc;
use values::schema::Block;
use values::{Kind, Path, PathStep, Value};

/// The configuration with the prior object's values at the ignored paths. `prior` null: the
/// configuration as it is.
pub(crate) fn ignore_changes(prior: &Value, config: &Value, ignored: &[Path]) -> Value {
    if prior.is_null() || config.is_null() {
        return config.clone();
    }
    ignored.iter().fold(config.clone(), |config, path| {
        let path = Path(named(path, &config).to_vec());
        put(&config, &path.0, path.get(prior).as_ref())
    })
}

/// `["k"]` at the end names an element of a map alone; of an object, as in Terraform, all of it.
fn named<'p>(path: &'p Path, config: &Value) -> &'p [PathStep] {
    let Some((PathStep::Key(_), parent)) = path.0.split_last() else { return &path.0 };
    let of = Path(parent.to_vec()).get(config);
    match of.is_some_and(|value| matches!(value.kind(), Kind::Object(_))) {
        true => parent,
        false => &path.0,
    }
}

/// All attributes that a configuration may set, for `ignore_changes = all`.
pub(crate) fn all_configurable(schema: &Block) -> Vec<Path> {
    let attributes = schema
        .attributes
        .iter()
        .filter(|(_, a)| a.optional || a.required)
        .map(|(name, _)| Path::attribute(name.clone()));
    attributes.chain(schema.blocks.keys().map(|name| Path::attribute(name.clone()))).collect()
}

/// `value` with `new` at the path; `None`: with the element taken out of its map.
fn put(value: &Value, path: &[PathStep], new: Option<&Value>) -> Value {
    let Some((first, rest)) = path.split_first() else {
        return new.cloned().unwrap_or_else(|| value.clone());
    };
    match (value.kind(), first) {
        (Kind::Object(items), PathStep::Attribute(name) | PathStep::Key(name)) => {
            if !items.contains_key(name) {
                return value.clone();
            }
            value.map_children(&mut |step, child| match &step {
                PathStep::Attribute(n) if n == name => put(child, rest, new),
                _ => child.clone(),
            })
        }
        (Kind::Map(ty, items), PathStep::Key(name)) => {
            let mut items: BTreeMap<Arc<str>, Value> = (**items).clone();
            match (rest.is_empty(), new, items.get(name).cloned()) {
                (true, Some(new), _) => {
                    items.insert(name.clone(), new.clone());
                }
                (true, None, _) => {
                    items.remove(name);
                }
                (false, _, Some(inner)) => {
                    items.insert(name.clone(), put(&inner, rest, new));
                }
                (false, _, None) => {}
            }
            Value::map(ty.clone(), items).with_marks(value.marks())
        }
        // A map that the configuration leaves out has nothing of its own: it takes the ignored
        // element alone.
        (Kind::Null(values::Type::Map(element)), PathStep::Key(name)) if rest.is_empty() => {
            match new {
                Some(new) => Value::map((**element).clone(), [(name.clone(), new.clone())]),
                None => value.clone(),
            }
        }
        (Kind::List(..) | Kind::Tuple(_), PathStep::Index(i)) => {
            value.map_children(&mut |step, child| match &step {
                PathStep::Index(n) if n == i => put(child, rest, new),
                _ => child.clone(),
            })
        }
        _ => value.clone(),
    }
}
