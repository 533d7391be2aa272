use super::{Attribute, AttributeType, Block, NestedBlock, Nesting};
use crate::{Path, PathStep, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Block {
    /// Paths of the attributes in a value that the schema says are sensitive.
    pub fn sensitive_paths(&self, value: &Value) -> Vec<Path> {
        self.attribute_paths(value, &|a| a.sensitive)
    }

    /// Paths of the attributes in a value that are sent to the provider and never stored.
    pub fn write_only_paths(&self, value: &Value) -> Vec<Path> {
        self.attribute_paths(value, &|a| a.write_only)
    }

    /// Paths of the attributes in a value that are `wanted`, the outermost only. Nothing is below a
    /// null or unknown value; attributes that are null themselves are named.
    pub fn attribute_paths(&self, value: &Value, wanted: &dyn Fn(&Attribute) -> bool) -> Vec<Path> {
        let mut found = Vec::new();
        block(self, value, &Path::root(), wanted, &mut found);
        found
    }

    /// The value with what the schema says is sensitive marked so.
    #[must_use]
    pub fn mark_sensitive(&self, value: &Value) -> Value {
        let paths = self.sensitive_paths(value);
        value.mark_paths(paths.iter().map(|p| (p, crate::Marks::SENSITIVE)))
    }

    /// Whether any attribute, however deep, is `wanted`.
    pub fn any_attribute(&self, wanted: &dyn Fn(&Attribute) -> bool) -> bool {
        any(&self.attributes, wanted) || self.blocks.values().any(|b| b.block.any_attribute(wanted))
    }
}

type Attributes = BTreeMap<Arc<str>, Attribute>;
type Wanted<'a> = &'a dyn Fn(&Attribute) -> bool;

fn any(attributes: &Attributes, wanted: Wanted<'_>) -> bool {
    attributes.values().any(|a| {
        wanted(a)
            || match &a.ty {
                AttributeType::Plain(_) => false,
                AttributeType::Nested(n) => any(&n.attributes, wanted),
            }
    })
}

fn block(schema: &Block, value: &Value, path: &Path, wanted: Wanted<'_>, found: &mut Vec<Path>) {
    if value.as_map().is_none() {
        return;
    }
    attributes(&schema.attributes, value, path, wanted, found);
    for (name, nested) in &schema.blocks {
        let NestedBlock { nesting, block: inner, .. } = nested;
        if !inner.any_attribute(wanted) {
            continue;
        }
        let Some(child) = value.attribute(name) else { continue };
        let path = path.child(PathStep::Attribute(name.clone()));
        each(*nesting, &child, &path, &mut |v, p| block(inner, v, p, wanted, found));
    }
}

fn attributes(
    schema: &Attributes,
    value: &Value,
    path: &Path,
    wanted: Wanted<'_>,
    found: &mut Vec<Path>,
) {
    if value.as_map().is_none() {
        return;
    }
    for (name, attribute) in schema {
        let step = PathStep::Attribute(name.clone());
        if wanted(attribute) {
            found.push(path.child(step));
            continue;
        }
        let AttributeType::Nested(nested) = &attribute.ty else { continue };
        if !any(&nested.attributes, wanted) {
            continue;
        }
        let Some(child) = value.attribute(name) else { continue };
        each(nested.nesting, &child, &path.child(step), &mut |v, p| {
            attributes(&nested.attributes, v, p, wanted, found);
        });
    }
}

/// Goes through the objects that are nested so.
fn each(nesting: Nesting, value: &Value, path: &Path, f: &mut dyn FnMut(&Value, &Path)) {
    match nesting {
        Nesting::Single | Nesting::Group => f(value, path),
        Nesting::List | Nesting::Set | Nesting::Map => {
            value.for_each_child(|step, v| f(v, &path.child(step)));
        }
    }
}
