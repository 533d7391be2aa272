//! What a provider may return from an apply: what was planned, and anything where the plan said
//! "unknown".

use super::{Violation, attribute, length};
use values::schema::{Attribute, Block, NestedBlock, Nesting};
use values::{Kind, Path, PathStep, Type, Value};

/// The rules that an actual object breaks, given the planned one.
pub(crate) fn assert_object_compatible(
    schema: &Block,
    planned: &Value,
    actual: &Value,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    object(schema, planned, actual, &Path::root(), &mut violations);
    violations
}

fn object(schema: &Block, planned: &Value, actual: &Value, path: &Path, out: &mut Vec<Violation>) {
    let root = if path.is_root() { "root object " } else { "" };
    match (planned.is_null(), actual.is_null()) {
        (true, true) => return,
        (true, false) => {
            out.push(Violation::new(path, format!("{root}was absent, but now present")));
            return;
        }
        (false, true) => {
            out.push(Violation::new(path, format!("{root}was present, but now absent")));
            return;
        }
        (false, false) => {}
    }
    for (name, schema) in &schema.attributes {
        let path = path.child(PathStep::Attribute(name.clone()));
        attribute_value(schema, &attribute(planned, name), &attribute(actual, name), &path, out);
    }
    for (name, nested) in &schema.blocks {
        let path = path.child(PathStep::Attribute(name.clone()));
        let (planned, actual) = (attribute(planned, name), attribute(actual, name));
        nested_block(nested, &planned.unmark(), &actual.unmark(), &path, out);
    }
}

fn attribute_value(
    schema: &Attribute,
    planned: &Value,
    actual: &Value,
    path: &Path,
    out: &mut Vec<Violation>,
) {
    let sensitive = schema.sensitive || (planned.deep_marks() | actual.deep_marks()).is_sensitive();
    let mut found = Vec::new();
    value(&planned.unmark_deep(), &actual.unmark_deep(), path, &mut found);
    match sensitive && !found.is_empty() {
        true => out.push(Violation::new(path, "inconsistent values for sensitive attribute")),
        false => out.extend(found),
    }
}

fn nested_block(
    schema: &NestedBlock,
    planned: &Value,
    actual: &Value,
    path: &Path,
    out: &mut Vec<Violation>,
) {
    match schema.nesting {
        Nesting::Single | Nesting::Group => {
            // An unknown dynamic block may turn out to be no block at all.
            if planned.is_known() || !actual.is_null() {
                object(&schema.block, planned, actual, path, out);
            }
        }
        _ if !planned.is_known() || !actual.is_known() => {}
        _ if planned.is_null() || actual.is_null() => {}
        Nesting::List => {
            if count_changed(planned, actual, "block count", path, out) {
                return;
            }
            let elements = actual.as_slice().unwrap_or(&[]);
            planned.for_each_child(|step, planned| {
                let PathStep::Index(i) = step else { return };
                if let Some(actual) = elements.get(i) {
                    object(&schema.block, planned, actual, &path.child(PathStep::Index(i)), out);
                }
            });
        }
        Nesting::Map => {
            let (Some(p), Some(a)) = (planned.as_map(), actual.as_map()) else { return };
            for (key, planned) in p {
                let path = path.child(PathStep::Key(key.clone()));
                match a.get(key) {
                    Some(actual) => object(&schema.block, planned, actual, &path, out),
                    None => {
                        out.push(Violation::new(&path, format!("block key {key:?} has vanished")));
                    }
                }
            }
            for key in a.keys().filter(|k| !p.contains_key(*k)) {
                out.push(Violation::new(path, format!("new block key {key:?} has appeared")));
            }
        }
        Nesting::Set => {
            set_elements(planned, actual, path, out, |p, a| {
                assert_object_compatible(&schema.block, p, a).is_empty()
            });
            if length(planned) < length(actual) {
                count_changed(planned, actual, "block set length", path, out);
            }
        }
    }
}

fn count_changed(
    planned: &Value,
    actual: &Value,
    what: &str,
    path: &Path,
    out: &mut Vec<Violation>,
) -> bool {
    let (before, after) = (length(planned), length(actual));
    if before != after {
        out.push(Violation::new(path, format!("{what} changed from {before} to {after}")));
    }
    before != after
}

fn set_elements(
    planned: &Value,
    actual: &Value,
    path: &Path,
    out: &mut Vec<Violation>,
    fits: impl Fn(&Value, &Value) -> bool,
) {
    let (p, a) = (planned.as_slice().unwrap_or(&[]), actual.as_slice().unwrap_or(&[]));
    // Equal sets need no pairing, which would be quadratic.
    if p == a {
        return;
    }
    if let Some(lost) = p.iter().find(|p| !a.iter().any(|a| fits(p, a))) {
        out.push(Violation::new(
            path,
            format!("planned set element {lost:?} does not correlate with any element in actual"),
        ));
        return;
    }
    for new in a.iter().filter(|a| !p.iter().any(|p| fits(p, a))) {
        out.push(Violation::new(
            path,
            format!("actual set element {new:?} does not correlate with any element in plan"),
        ));
    }
}

/// Whether a type could be what the planned type, which may have dynamic parts, turned into.
fn conforms(actual: &Type, planned: &Type) -> bool {
    match (actual, planned) {
        (_, Type::Dynamic) => true,
        (Type::List(a), Type::List(p))
        | (Type::Set(a), Type::Set(p))
        | (Type::Map(a), Type::Map(p)) => conforms(a, p),
        (Type::Tuple(a), Type::Tuple(p)) => {
            a.len() == p.len() && a.iter().zip(p.iter()).all(|(a, p)| conforms(a, p))
        }
        (Type::Object(a), Type::Object(p)) => {
            a.attributes.len() == p.attributes.len()
                && p.attributes
                    .iter()
                    .all(|(k, p)| a.attributes.get(k).is_some_and(|a| conforms(a, p)))
        }
        _ => actual == planned,
    }
}

fn value(planned: &Value, actual: &Value, path: &Path, out: &mut Vec<Violation>) {
    let ty = planned.ty();
    if ty == Type::Dynamic {
        return;
    }
    if !conforms(&actual.ty(), &ty) {
        out.push(Violation::new(
            path,
            format!(
                "wrong final value type: {}",
                values::convert::mismatch_message(&actual.ty(), &ty)
            ),
        ));
        return;
    }
    if !planned.is_known() {
        if !within_refinement(planned, actual) {
            out.push(Violation::new(
                path,
                format!(
                    "final value {actual:?} does not conform to planning placeholder {planned:?}"
                ),
            ));
        }
        return;
    }
    match (planned.is_null(), actual.is_null()) {
        (true, true) => return,
        (false, true) => {
            out.push(Violation::new(path, format!("was {planned:?}, but now null")));
            return;
        }
        (true, false) => {
            out.push(Violation::new(path, format!("was null, but now {actual:?}")));
            return;
        }
        (false, false) => {}
    }
    if !actual.is_known() {
        out.push(Violation::new(path, "was known, but now unknown"));
        return;
    }
    match (planned.kind(), actual.kind()) {
        (Kind::List(_, p) | Kind::Tuple(p), Kind::List(_, a) | Kind::Tuple(a)) => {
            for (i, planned) in p.iter().enumerate() {
                match a.get(i) {
                    Some(actual) => value(planned, actual, &path.child(PathStep::Index(i)), out),
                    None => out.push(Violation::new(path, format!("element {i} has vanished"))),
                }
            }
            for i in p.len()..a.len() {
                out.push(Violation::new(path, format!("new element {i} has appeared")));
            }
        }
        (Kind::Map(_, p), Kind::Map(_, a)) => {
            for (k, planned) in p.iter() {
                match a.get(k) {
                    Some(actual) => {
                        value(planned, actual, &path.child(PathStep::Key(k.clone())), out)
                    }
                    None => out.push(Violation::new(path, format!("element {k:?} has vanished"))),
                }
            }
            for k in a.keys().filter(|k| !p.contains_key(*k)) {
                out.push(Violation::new(path, format!("new element {k:?} has appeared")));
            }
        }
        (Kind::Object(p), Kind::Object(a)) => {
            for (k, planned) in p.iter() {
                if let Some(actual) = a.get(k) {
                    value(planned, actual, &path.child(PathStep::Attribute(k.clone())), out);
                }
            }
        }
        (Kind::Set(..), Kind::Set(..)) => {
            set_elements(planned, actual, path, out, |p, a| {
                let mut found = Vec::new();
                value(p, a, path, &mut found);
                found.is_empty()
            });
            if length(planned) < length(actual) {
                count_changed(planned, actual, "length", path, out);
            }
        }
        (p, a) => {
            if p != a {
                out.push(Violation::new(path, format!("was {planned:?}, but now {actual:?}")));
            }
        }
    }
}

/// Whether a value is one that the refinements of an unknown allow.
fn within_refinement(unknown: &Value, actual: &Value) -> bool {
    let Some(r) = unknown.refinement() else { return true };
    if actual.is_null() {
        return !r.not_null;
    }
    let prefix = match (&r.string_prefix, actual.as_str()) {
        (Some(prefix), Some(s)) => s.starts_with(&**prefix),
        _ => true,
    };
    let number = match actual.as_number() {
        Some(n) => {
            let above = r
                .number_min
                .as_ref()
                .is_none_or(|b| *n > b.value || (b.inclusive && *n == b.value));
            let below = r
                .number_max
                .as_ref()
                .is_none_or(|b| *n < b.value || (b.inclusive && *n == b.value));
            above && below
        }
        None => true,
    };
    let len = match actual.ty().is_collection() && actual.is_wholly_known() {
        true => {
            let n = length(actual) as u64;
            r.length_min.is_none_or(|min| n >= min) && r.length_max.is_none_or(|max| n <= max)
        }
        false => true,
    };
    prefix && number && len
}
