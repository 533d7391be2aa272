//! What to call a remote object in one line: `id=i-123`.

use values::Value;

/// An attribute that tells which object it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) key: &'static str,
    pub(crate) value: String,
}

impl Label {
    /// ` [id=i-123]`, or nothing.
    pub(crate) fn suffix(label: Option<&Label>) -> String {
        label.map(|l| format!(" [{}={}]", l.key, l.value)).unwrap_or_default()
    }

    /// The id, or what often stands for one.
    pub(crate) fn id(object: &Value) -> Option<Label> {
        let map = object.as_map()?;
        let key = ["id", "name"].into_iter().find(|k| map.get(*k).is_some_and(is_string))?;
        shown(map.get(key), key)
    }

    /// The id or, failing that, a name.
    pub(crate) fn id_or_name(object: &Value) -> Option<Label> {
        Label::id(object).or_else(|| Label::name(object))
    }

    fn name(object: &Value) -> Option<Label> {
        let map = object.as_map()?;
        if map.get("name").is_some_and(is_string) {
            return shown(map.get("name"), "name");
        }
        let tags = map.get("tags").filter(|t| t.marks().is_empty() && t.is_wholly_known())?;
        let tags = tags.as_map()?;
        match tags.contains_key("name") {
            true => shown(tags.get("name"), "tags.name"),
            false => shown(tags.get("Name"), "tags.Name"),
        }
    }
}

fn is_string(value: &Value) -> bool {
    value.ty() == values::Type::String
}

/// Sensitive values, and empty ones, are no label.
fn shown(value: Option<&Value>, key: &'static str) -> Option<Label> {
    let text = value.filter(|v| v.marks().is_empty())?.as_str()?;
    (!text.is_empty()).then(|| Label { key, value: text.to_owned() })
}
