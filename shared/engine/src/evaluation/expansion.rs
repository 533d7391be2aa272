//! `count` and `for_each`: which instances a block has.

use language::diagnostics::{Cause, Diagnostic};
use language::evaluate::Evaluation;
use language::module::Repetition;
use language::reads::PartReads;
use language::syntax::ast::Expression;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::InstanceKey;
use values::{Kind, Type, Value};

/// The instances of a block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expansion {
    /// One, without a key.
    Single,
    /// So many, with numbers for keys.
    Count(u64),
    /// One for each key, with its value.
    ForEach(BTreeMap<Arc<str>, Value>),
    /// Not to be known while validating.
    Unknown(UnknownExpansion),
}

/// What is known of an expansion while validating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnknownExpansion {
    Count,
    ForEach,
}

/// What `count` and `each` are for one instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RepetitionData {
    pub(crate) count_index: Option<Value>,
    pub(crate) each_key: Option<Value>,
    pub(crate) each_value: Option<Value>,
}

impl RepetitionData {
    /// Of an instance whose block may say by now what it will: the value of `each` is not known.
    pub(crate) fn of_key(key: &InstanceKey) -> RepetitionData {
        let mut data = RepetitionData::default();
        match key {
            InstanceKey::None => {}
            InstanceKey::Int(index) => data.count_index = Some(Value::number(*index)),
            InstanceKey::String(key) => data.each_key = Some(Value::shared_string(key.clone())),
        }
        data
    }

    /// Of a block of which it is not known how many instances it has, or whether it is repeated at all.
    pub(crate) fn unknown() -> RepetitionData {
        RepetitionData {
            count_index: Some(Value::unknown_not_null(Type::Number)),
            each_key: Some(Value::unknown_not_null(Type::String)),
            each_value: Some(Value::dynamic()),
        }
    }
}

impl Expansion {
    /// What has these keys, whatever the configuration says by now. The values of `each` are not known.
    pub(crate) fn of_keys(keys: impl IntoIterator<Item = InstanceKey>) -> Expansion {
        let mut expansion = Expansion::Single;
        for key in keys {
            match (key, &mut expansion) {
                (InstanceKey::None, _) => {}
                (InstanceKey::Int(i), Expansion::Count(n)) => *n = (*n).max(i.saturating_add(1)),
                (InstanceKey::Int(i), _) => expansion = Expansion::Count(i.saturating_add(1)),
                (InstanceKey::String(key), Expansion::ForEach(map)) => {
                    map.insert(key, Value::dynamic());
                }
                (InstanceKey::String(key), _) => {
                    expansion = Expansion::ForEach(BTreeMap::from([(key, Value::dynamic())]));
                }
            }
        }
        expansion
    }

    pub(crate) fn keys(&self) -> Vec<InstanceKey> {
        match self {
            Expansion::Single => vec![InstanceKey::None],
            Expansion::Count(n) => (0..*n).map(InstanceKey::Int).collect(),
            Expansion::ForEach(map) => map.keys().cloned().map(InstanceKey::String).collect(),
            Expansion::Unknown(_) => vec![InstanceKey::None],
        }
    }

    /// For validation, which looks at a block once, whatever its keys will be.
    pub(crate) fn forget_keys(self) -> Expansion {
        match self {
            Expansion::Count(_) => Expansion::Unknown(UnknownExpansion::Count),
            Expansion::ForEach(_) => Expansion::Unknown(UnknownExpansion::ForEach),
            other => other,
        }
    }

    pub(crate) fn contains(&self, key: &InstanceKey) -> bool {
        match (self, key) {
            (Expansion::Single, InstanceKey::None) => true,
            (Expansion::Count(n), InstanceKey::Int(i)) => i < n,
            (Expansion::ForEach(map), InstanceKey::String(k)) => map.contains_key(k),
            _ => false,
        }
    }

    pub(crate) fn data(&self, key: &InstanceKey) -> RepetitionData {
        let mut data = RepetitionData::of_key(key);
        match (self, key) {
            (Expansion::Unknown(UnknownExpansion::Count), _) => {
                data.count_index = Some(Value::unknown_not_null(Type::Number));
            }
            (Expansion::Unknown(UnknownExpansion::ForEach), _) => {
                data.each_key = Some(Value::unknown_not_null(Type::String));
                data.each_value = Some(Value::dynamic());
            }
            (Expansion::ForEach(map), InstanceKey::String(key)) => {
                data.each_value = map.get(key).cloned();
            }
            _ => {}
        }
        data
    }

    /// The value of all instances together: one, a tuple or an object.
    pub(crate) fn collect(&self, mut instance: impl FnMut(&InstanceKey) -> Value) -> Value {
        match self {
            Expansion::Single => instance(&InstanceKey::None),
            Expansion::Count(n) => {
                Value::tuple((0..*n).map(|i| instance(&InstanceKey::Int(i))).collect::<Vec<_>>())
            }
            Expansion::ForEach(map) => Value::object(
                map.keys().map(|k| (k.clone(), instance(&InstanceKey::String(k.clone())))),
            ),
            Expansion::Unknown(_) => Value::dynamic(),
        }
    }
}

/// Evaluates the repetition of a block. `None` after an error, which is among the evaluation's
/// diagnostics. While validating, unknown values are allowed.
pub(crate) fn evaluate_expansion(
    evaluation: &mut Evaluation<'_>,
    repetition: &Repetition,
    validating: bool,
) -> Option<Expansion> {
    evaluate_expansion_in_parts(evaluation, repetition, validating).0
}

/// The same, with what was looked at by the parts of the collection.
pub(crate) fn evaluate_expansion_in_parts(
    evaluation: &mut Evaluation<'_>,
    repetition: &Repetition,
    validating: bool,
) -> (Option<Expansion>, PartReads) {
    let expression = match repetition {
        Repetition::Single => return (Some(Expansion::Single), PartReads::default()),
        Repetition::Count(expression) | Repetition::ForEach(expression) => expression,
    };
    let before = evaluation.diagnostics.len();
    let (value, reads) = evaluation.expression_in_parts(expression);
    if evaluation.diagnostics.iter().skip(before).any(Diagnostic::is_error) {
        return (None, reads);
    }
    let expansion = match repetition {
        Repetition::ForEach(_) => for_each(evaluation, expression, value, validating),
        _ => count(evaluation, expression, &value, validating),
    };
    (expansion, reads)
}

fn refuse(
    evaluation: &mut Evaluation<'_>,
    expression: &Expression,
    cause: Option<Cause>,
    summary: &str,
    detail: String,
) {
    let values = evaluation.describe(expression, cause);
    let mut diagnostic = Diagnostic::error(summary, detail).at(expression.span).with_values(values);
    if let Some(cause) = cause {
        diagnostic = diagnostic.because(cause);
    }
    evaluation.diagnostics.push(diagnostic);
}

fn count(
    evaluation: &mut Evaluation<'_>,
    expression: &Expression,
    raw: &Value,
    validating: bool,
) -> Option<Expansion> {
    const SUMMARY: &str = "Invalid count argument";
    if raw.marks().is_ephemeral() {
        let detail = "The given \"count\" is derived from an ephemeral value, which means that Terraform cannot persist it between plan/apply rounds. Use only non-ephemeral values to specify the number of resource instances.";
        evaluation.diagnostics.push(Diagnostic::error(SUMMARY, detail).at(expression.span));
        return None;
    }
    // A sensitive number discloses nothing by being counted to; keys of for_each would.
    let value = match values::convert::convert(&raw.unmark(), &Type::Number) {
        Ok(value) => value,
        Err(e) => {
            refuse(
                evaluation,
                expression,
                None,
                "Incorrect value type",
                format!("Invalid expression value: {}.", e.message),
            );
            return None;
        }
    };
    if value.is_null() {
        refuse(
            evaluation,
            expression,
            None,
            SUMMARY,
            "The given \"count\" argument value is null. An integer is required.".into(),
        );
        return None;
    }
    let Kind::Number(n) = value.kind() else {
        if validating {
            return Some(Expansion::Unknown(UnknownExpansion::Count));
        }
        refuse(evaluation, expression, Some(Cause::Unknown), SUMMARY, "The \"count\" value depends on resource attributes that cannot be determined until apply, so Terraform cannot predict how many instances will be created. To work around this, use the -target argument to first apply only the resources that the count depends on.".into());
        return None;
    };
    if n.is_negative() {
        refuse(evaluation, expression, None, SUMMARY, "The given \"count\" argument value is unsuitable: must be greater than or equal to zero.".into());
        return None;
    }
    match n.to_u64() {
        Some(n) => Some(Expansion::Count(n)),
        None => {
            let reason = match n.is_integer() {
                false => {
                    "value must be a whole number, between -9223372036854775808 and 9223372036854775807 inclusive"
                }
                true => {
                    "value must be a whole number, between -9223372036854775808 and 9223372036854775807"
                }
            };
            refuse(
                evaluation,
                expression,
                None,
                SUMMARY,
                format!("The given \"count\" argument value is unsuitable: {reason}."),
            );
            None
        }
    }
}

fn for_each(
    evaluation: &mut Evaluation<'_>,
    expression: &Expression,
    value: Value,
    validating: bool,
) -> Option<Expansion> {
    const SUMMARY: &str = "Invalid for_each argument";
    if value.marks().is_sensitive() {
        refuse(evaluation, expression, Some(Cause::Sensitive), SUMMARY, "Sensitive values, or values derived from sensitive values, cannot be used as for_each arguments. If used, the sensitive value could be exposed as a resource instance key.".into());
        return None;
    }
    if value.marks().is_ephemeral() {
        refuse(evaluation, expression, Some(Cause::Ephemeral), SUMMARY, "The given \"for_each\" value is derived from an ephemeral value, which means that Terraform cannot persist it between plan/apply rounds. Use only non-ephemeral values to specify a resource's instance keys.".into());
        return None;
    }
    let ty = value.ty();
    if value.is_null() {
        refuse(evaluation, expression, None, SUMMARY, "The given \"for_each\" argument value is unsuitable: the given \"for_each\" argument value is null. A map, or set of strings is allowed.".into());
        return None;
    }
    const UNKNOWN_MAP: &str = "The \"for_each\" map includes keys derived from resource attributes that cannot be determined until apply, and so Terraform cannot determine the full set of keys that will identify the instances of this resource.\n\nWhen working with unknown values in for_each, it's better to define the map keys statically in your configuration and place apply-time results only in the map values.\n\nAlternatively, you could use the -target planning option to first apply only the resources that the for_each value depends on, and then apply a second time to fully converge.";
    const UNKNOWN_SET: &str = "The \"for_each\" set includes values derived from resource attributes that cannot be determined until apply, and so Terraform cannot determine the full set of keys that will identify the instances of this resource.\n\nWhen working with unknown values in for_each, it's better to use a map value where the keys are defined statically in your configuration and where only the values contain apply-time results.\n\nAlternatively, you could use the -target planning option to first apply only the resources that the for_each value depends on, and then apply a second time to fully converge.";
    if !value.is_known() {
        if validating {
            return Some(Expansion::Unknown(UnknownExpansion::ForEach));
        }
        let detail = if matches!(ty, Type::Set(_)) { UNKNOWN_SET } else { UNKNOWN_MAP };
        refuse(evaluation, expression, Some(Cause::Unknown), SUMMARY, detail.into());
        return None;
    }
    match value.kind() {
        Kind::Map(_, items) | Kind::Object(items) => Some(Expansion::ForEach((**items).clone())),
        Kind::Set(element, items) => {
            if !value.is_wholly_known() {
                if validating {
                    return Some(Expansion::Unknown(UnknownExpansion::ForEach));
                }
                refuse(evaluation, expression, Some(Cause::Unknown), SUMMARY, UNKNOWN_SET.into());
                return None;
            }
            if items.is_empty() {
                return Some(Expansion::ForEach(BTreeMap::new()));
            }
            if *element != Type::String {
                refuse(
                    evaluation,
                    expression,
                    None,
                    "Invalid for_each set argument",
                    format!(
                        "The given \"for_each\" argument value is unsuitable: \"for_each\" supports maps and sets of strings, but you have provided a set containing type {}.",
                        element.friendly_name()
                    ),
                );
                return None;
            }
            let mut map = BTreeMap::new();
            for item in items.iter() {
                let Kind::String(key) = item.kind() else {
                    refuse(evaluation, expression, None, "Invalid for_each set argument", "The given \"for_each\" argument value is unsuitable: \"for_each\" sets must not contain null values.".into());
                    return None;
                };
                map.insert(key.clone(), item.clone());
            }
            Some(Expansion::ForEach(map))
        }
        _ => {
            refuse(
                evaluation,
                expression,
                None,
                SUMMARY,
                format!(
                    "The given \"for_each\" argument value is unsuitable: the \"for_each\" argument must be a map, or set of strings, and you have provided a value of type {}.",
                    ty.friendly_name()
                ),
            );
            None
        }
    }
}
