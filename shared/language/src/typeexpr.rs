//! Type constraints as variables declare them: `list(string)`, `object({a = optional(string, "x")})`.

mod defaults;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use values::convert::convert;
use values::{ObjectType, Type, Value};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Span;
use crate::syntax::ast::{Expression, ExpressionKind, FunctionCall, ObjectItem, with_stack};

pub use defaults::Defaults;

/// A type constraint, with the defaults of its optional attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeConstraint {
    /// The type, with optional attributes and `any`.
    pub ty: Type,
    /// What absent attributes become; `None` if there are no defaults.
    pub defaults: Option<Arc<Defaults>>,
}

impl TypeConstraint {
    /// Any type.
    pub fn any() -> Self {
        Self { ty: Type::Dynamic, defaults: None }
    }

    /// Fills in defaults and converts.
    ///
    /// # Errors
    /// Where the value does not fit the type.
    pub fn apply(&self, value: &Value) -> Result<Value, values::convert::ConversionError> {
        match &self.defaults {
            Some(defaults) if !value.is_null() => convert(&defaults.apply(value), &self.ty),
            _ => convert(value, &self.ty),
        }
    }
}

/// Reads a type constraint. After an error the type is `any` in that place.
pub fn type_constraint(expression: &Expression) -> (TypeConstraint, Diagnostics) {
    let mut reader = Reader { errors: Diagnostics::new() };
    let (ty, defaults) = reader.constraint(expression);
    (TypeConstraint { ty, defaults: defaults.map(Arc::new) }, reader.errors)
}

struct Reader {
    errors: Diagnostics,
}

type Read = (Type, Option<Defaults>);

const PRIMITIVES: [&str; 3] = ["bool", "string", "number"];

impl Reader {
    fn refuse(&mut self, detail: impl Into<String>, subject: Span) -> Read {
        let error = Diagnostic::error("Invalid type specification", detail);
        self.errors.push(error.at(subject));
        (Type::Dynamic, None)
    }

    fn refuse_within(&mut self, detail: &str, subject: Span, context: Span) -> Read {
        let error = Diagnostic::error("Invalid type specification", detail);
        self.errors.push(error.at(subject).within(context));
        (Type::Dynamic, None)
    }

    fn constraint(&mut self, expression: &Expression) -> Read {
        with_stack(|| {
            let inner = expression.without_parentheses();
            if let Some(word) = expression.as_keyword() {
                return self.keyword(word, expression.span);
            }
            match &inner.kind {
                ExpressionKind::FunctionCall(call) => self.constructor(call, expression),
                _ => self.refuse(
                    "A type specification is either a primitive type keyword (bool, number, string) or a complex type constructor call, like list(string).",
                    expression.span,
                ),
            }
        })
    }

    fn keyword(&mut self, word: &str, span: Span) -> Read {
        match word {
            "bool" => (Type::Bool, None),
            "string" => (Type::String, None),
            "number" => (Type::Number, None),
            "any" => (Type::Dynamic, None),
            _ => match missing_argument(word) {
                Some(detail) => self.refuse(detail, span),
                None => self.refuse(
                    format!("The keyword {word:?} is not a valid type specification."),
                    span,
                ),
            },
        }
    }

    fn constructor(&mut self, call: &FunctionCall, expression: &Expression) -> Read {
        let name = &*call.name;
        let arguments_span = call.open_span.to(call.close_span);
        if PRIMITIVES.contains(&name) {
            let detail = format!("Primitive type keyword {name:?} does not expect arguments.");
            return self.refuse(detail, arguments_span);
        }
        if name == "any" {
            let detail = "Type constraint keyword \"any\" does not expect arguments.";
            return self.refuse(detail, arguments_span);
        }
        let argument = match call.arguments.as_slice() {
            [argument] => argument,
            given => {
                let subject = match given {
                    [_, second, ..] => second.span.to(given[given.len() - 1].span),
                    _ => arguments_span,
                };
                return match missing_argument(name) {
                    Some(detail) => self.refuse_within(&detail, subject, arguments_span),
                    None => self.unknown_constructor(call, expression),
                };
            }
        };
        match name {
            "list" => self.collection(argument, Type::list),
            "set" => self.collection(argument, Type::set),
            "map" => self.collection(argument, Type::map),
            "object" => self.object(argument, expression),
            "tuple" => self.tuple(argument, expression),
            _ => self.unknown_constructor(call, expression),
        }
    }

    fn unknown_constructor(&mut self, call: &FunctionCall, expression: &Expression) -> Read {
        match &*call.name {
            "optional" => self.refuse(
                "Keyword \"optional\" is valid only as a modifier for object type attributes.",
                call.name_span,
            ),
            name => self.refuse(
                format!("Keyword {name:?} is not a valid type constructor."),
                expression.span,
            ),
        }
    }

    fn collection(&mut self, element: &Expression, of: fn(Type) -> Type) -> Read {
        let (element, defaults) = self.constraint(element);
        (of(element), defaults.map(|defaults| Defaults::Elements(Box::new(defaults))))
    }

    fn tuple(&mut self, argument: &Expression, expression: &Expression) -> Read {
        let ExpressionKind::Tuple(elements) = &argument.kind else {
            return self.refuse_within(
                "Tuple type constructor requires a list of element types.",
                argument.span,
                expression.span,
            );
        };
        let mut types = Vec::with_capacity(elements.len());
        let mut children = BTreeMap::new();
        for (at, element) in elements.iter().enumerate() {
            let (ty, defaults) = self.constraint(element);
            types.push(ty);
            children.extend(defaults.map(|defaults| (at, defaults)));
        }
        let defaults = (!children.is_empty()).then_some(Defaults::Tuple(children));
        (Type::tuple(types), defaults)
    }

    fn object(&mut self, argument: &Expression, expression: &Expression) -> Read {
        let ExpressionKind::Object(items) = &argument.kind else {
            return self.refuse_within(
                "Object type constructor requires a map whose keys are attribute names and whose values are the corresponding attribute types.",
                argument.span,
                expression.span,
            );
        };
        let mut attributes: BTreeMap<Arc<str>, Type> = BTreeMap::new();
        let mut optional = BTreeSet::new();
        let mut values = BTreeMap::new();
        let mut children = BTreeMap::new();
        for item in items.iter() {
            let Some(name) = self.attribute_name(item, &attributes, expression.span) else {
                continue;
            };
            let Some(modifier) = self.modifier(item) else { continue };
            let (ty, nested) = self.constraint(modifier.ty);
            if modifier.optional {
                optional.insert(name.clone());
            }
            if let Some((default, span)) = modifier.default {
                match convert(&default, &ty) {
                    Ok(default) => {
                        values.insert(name.clone(), default);
                    }
                    Err(error) => self.errors.push(
                        Diagnostic::error(
                            "Invalid default value for optional attribute",
                            format!(
                                "This default value is not compatible with the attribute's type constraint: {error}."
                            ),
                        )
                        .at(span),
                    ),
                }
            }
            children.extend(nested.map(|nested| (name.clone(), nested)));
            attributes.insert(name, ty);
        }
        let defaults = (!values.is_empty() || !children.is_empty())
            .then_some(Defaults::Object { values, children });
        (Type::Object(Arc::new(ObjectType { attributes, optional })), defaults)
    }

    fn attribute_name(
        &mut self,
        item: &ObjectItem,
        seen: &BTreeMap<Arc<str>, Type>,
        context: Span,
    ) -> Option<Arc<str>> {
        let span = item.key.expression.span;
        match item.key.literal_name() {
            None => {
                self.refuse_within(
                    "Object constructor map keys must be attribute names.",
                    span,
                    context,
                );
                None
            }
            Some(name) if seen.contains_key(name) => {
                self.refuse_within("Object constructor map keys must be unique.", span, context);
                None
            }
            Some(name) => Some(name.into()),
        }
    }

    /// Takes `optional(…)` apart.
    fn modifier<'e>(&mut self, item: &'e ObjectItem) -> Option<Modifier<'e>> {
        let plain = Modifier { ty: &item.value, optional: false, default: None };
        let ExpressionKind::FunctionCall(call) = &item.value.without_parentheses().kind else {
            return Some(plain);
        };
        if &*call.name != "optional" {
            return Some(plain);
        }
        let arguments_span = call.open_span.to(call.close_span);
        match call.arguments.as_slice() {
            [] => {
                self.refuse_within(
                    "Optional attribute modifier requires the attribute type as its argument.",
                    arguments_span,
                    item.value.span,
                );
                None
            }
            [ty] => Some(Modifier { ty, optional: true, default: None }),
            [ty, default] => {
                let (value, errors) = crate::evaluate::constant(default);
                let failed = errors.has_errors();
                self.errors.extend(errors);
                let default = (!failed).then_some((value, default.span));
                Some(Modifier { ty, optional: !failed, default })
            }
            [ty, ..] => {
                self.refuse_within(
                    "Optional attribute modifier expects at most two arguments: the attribute type, and a default value.",
                    arguments_span,
                    item.value.span,
                );
                Some(Modifier { ty, optional: false, default: None })
            }
        }
    }
}

struct Modifier<'e> {
    ty: &'e Expression,
    optional: bool,
    default: Option<(Value, Span)>,
}

fn missing_argument(constructor: &str) -> Option<String> {
    Some(match constructor {
        "list" | "map" | "set" => format!(
            "The {constructor} type constructor requires one argument specifying the element type."
        ),
        "object" => "The object type constructor requires one argument specifying the attribute types and values as a map.".into(),
        "tuple" => "The tuple type constructor requires one argument specifying the element types as a list.".into(),
        _ => return None,
    })
}
