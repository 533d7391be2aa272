//! Type constraints and defaults.

use language::typeexpr::type_constraint;
use values::Value;

use super::Constants;

fn read(text: &str) -> (String, String) {
    let scope = Constants::new();
    let (constraint, errors) = type_constraint(&scope.parse(text));
    (constraint.ty.to_string(), scope.errors(&errors))
}

#[test]
fn constraints() {
    for (text, expected) in [
        ("string", "string"),
        ("any", "any"),
        ("list(any)", "list(any)"),
        ("map(list(number))", "map(list(number))"),
        ("tuple([string, bool])", "tuple([string, bool])"),
        (
            "object({ b = optional(string, \"x\"), a = number })",
            "object({a=number, b=optional(string)})",
        ),
    ] {
        assert_eq!(read(text), (expected.into(), String::new()));
    }
}

#[test]
fn refused_constraints() {
    for (text, expected) in [
        (
            "foo",
            "1,1-4: Invalid type specification: The keyword \"foo\" is not a valid type specification.",
        ),
        (
            "list",
            "1,1-5: Invalid type specification: The list type constructor requires one argument specifying the element type.",
        ),
        (
            "string(any)",
            "1,7-12: Invalid type specification: Primitive type keyword \"string\" does not expect arguments.",
        ),
        (
            "list(string, any)",
            "1,14-17: Invalid type specification: The list type constructor requires one argument specifying the element type.",
        ),
        (
            "\"string\"",
            "1,1-9: Invalid type specification: A type specification is either a primitive type keyword (bool, number, string) or a complex type constructor call, like list(string).",
        ),
        (
            "foo(any)",
            "1,1-9: Invalid type specification: Keyword \"foo\" is not a valid type constructor.",
        ),
        (
            "object(any)",
            "1,8-11: Invalid type specification: Object type constructor requires a map whose keys are attribute names and whose values are the corresponding attribute types.",
        ),
        (
            "object({ (a) = string })",
            "1,10-13: Invalid type specification: Object constructor map keys must be attribute names.",
        ),
        (
            "object({ a = string, a = any })",
            "1,22-23: Invalid type specification: Object constructor map keys must be unique.",
        ),
        (
            "object({ a = optional() })",
            "1,22-24: Invalid type specification: Optional attribute modifier requires the attribute type as its argument.",
        ),
        (
            "list(optional(string))",
            "1,6-14: Invalid type specification: Keyword \"optional\" is valid only as a modifier for object type attributes.",
        ),
        (
            "object({ a = optional(number, \"x\") })",
            "1,31-34: Invalid default value for optional attribute: This default value is not compatible with the attribute's type constraint: a number is required.",
        ),
        (
            "object({ a = optional(number, var.x) })",
            "1,31-34: Variables not allowed: Variables may not be used here.",
        ),
    ] {
        assert_eq!(read(text).1, expected, "{text}");
    }
}

#[test]
fn defaults_fill_what_is_absent() {
    let scope = Constants::new();
    let apply = |ty: &str, value: &str| {
        let (constraint, errors) = type_constraint(&scope.parse(ty));
        assert!(errors.is_empty());
        let (value, _, _) = scope.evaluate(value);
        format!("{:?}", constraint.apply(&value).unwrap())
    };
    let ty = "object({ a = string, b = optional(number, 7), c = optional(string) })";
    assert_eq!(apply(ty, "{ a = 1 }"), "{\"a\": \"1\", \"b\": 7, \"c\": null(string)}");
    assert_eq!(apply(ty, "{ a = 1, b = null }"), "{\"a\": \"1\", \"b\": 7, \"c\": null(string)}");
    assert_eq!(
        apply(&format!("list({ty})"), "[{ a = 1, b = 2 }]"),
        "[{\"a\": \"1\", \"b\": 2, \"c\": null(string)}]"
    );
    let nested = "object({ in = optional(object({ x = optional(bool, true) }), {}) })";
    assert_eq!(apply(nested, "{}"), "{\"in\": {\"x\": true}}");
    assert_eq!(
        apply(&format!("map({nested})"), "{ k = {} }"),
        "map{\"k\": {\"in\": {\"x\": true}}}"
    );
    assert_eq!(
        apply(ty, "null"),
        format!("{:?}", Value::null(type_constraint(&scope.parse(ty)).0.ty.without_optional()))
    );
}
