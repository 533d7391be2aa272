//! What is known of results that are not known yet.

use values::{Refinement, Type, Value};

use super::{Constants, assert_values};

fn refinement(text: &str) -> Refinement {
    let (value, errors, _) = Constants::new().evaluate(text);
    assert!(errors.is_empty() && !value.is_known(), "{text}: {value:?} {errors:?}");
    value.refinement().cloned().unwrap_or_default()
}

#[test]
fn templates_keep_their_beginning() {
    assert_eq!(refinement("\"host-${local.string}\"").string_prefix.as_deref(), Some("host-"));
    // A letter could still be joined by a combining mark.
    assert_eq!(refinement("\"ab${local.string}\"").string_prefix.as_deref(), Some("a"));
    assert!(refinement("\"${local.string}x\"").not_null);
}

#[test]
fn conditionals_say_what_both_branches_have_in_common() {
    assert!(refinement("local.bool ? \"a\" : \"b\"").not_null);
    assert!(!refinement("local.bool ? \"a\" : var.none").not_null);
    let number = refinement("local.bool ? 1 : 5");
    assert_eq!(number.number_min.map(|bound| bound.value.to_string()).as_deref(), Some("1"));
    assert_eq!(number.number_max.map(|bound| bound.value.to_string()).as_deref(), Some("5"));
    let list = refinement("local.bool ? tolist([\"a\"]) : tolist([\"a\", \"b\", \"c\"])");
    assert_eq!((list.length_min, list.length_max), (Some(1), Some(3)));
    let scope = Constants::new();
    let (value, _, _) = scope.evaluate("local.bool ? var.none : null");
    assert_eq!(value, Value::null(Type::String));
    // Lists of one length are known but for their elements.
    let (value, _, _) = scope.evaluate("local.bool ? tolist([\"a\"]) : tolist([\"b\"])");
    assert_eq!(value, Value::list(Type::String, vec![Value::unknown(Type::String)]));
}

#[test]
fn unknown_operands_and_collections() {
    assert_values(&[
        ("local.dynamic.a.b[0]", "unknown(any)"),
        ("local.strings[0]", "unknown(string)"),
        ("[for x in local.strings : x]", "unknown(any)"),
        ("[for x in [1, 2] : x if local.bool]", "unknown(any)"),
        ("{ (local.string) = 1 }", "unknown(any)"),
        ("[1, local.dynamic]", "tuple[1, unknown(any)]"),
        ("try(local.dynamic.x, 1)", "unknown(any)"),
        ("can(local.dynamic.x)", "unknown(bool)"),
        ("try(local.object.nope, 1)", "1"),
        ("local.maybe[*]", "unknown(any)"),
        (
            "local.string[*]",
            "tuple[unknown(string, Refinement { not_null: true, string_prefix: None, number_min: None, number_max: None, length_min: None, length_max: None })]",
        ),
    ]);
    let scope = Constants::new();
    let (value, _, _) = scope.evaluate("local.strings[*]");
    assert_eq!(value.ty(), Type::list(Type::String));
    let (value, _, _) = scope.evaluate("local.number + 1");
    assert_eq!(value, Value::unknown_not_null(Type::Number));
    let (value, _, _) = scope.evaluate("local.string == null");
    assert_eq!(value, Value::bool(false));
}

#[test]
fn what_is_not_known_yet_stays_sensitive() {
    let scope = Constants::new();
    for text in [
        "tostring(sensitive(local.number))",
        "tonumber(sensitive(local.number))",
        "tobool(sensitive(local.bool))",
        "tolist(sensitive(local.strings))",
        "toset(sensitive(local.strings))",
        "toset(sensitive(local.dynamic))",
        "lookup({ a = 1 }, sensitive(local.string), 2)",
        "lookup(sensitive({ a = 1 }), local.string)",
        "parseint(sensitive(local.string), 10)",
        "parseint(sensitive(\"7\"), local.number)",
        "file(sensitive(local.string))",
        "fileset(sensitive(\".\"), local.string)",
        "templatefile(sensitive(local.string), {})",
        "templatefile(\"hello.tmpl\", { name = sensitive(local.string) })",
    ] {
        let (value, errors, _) = scope.evaluate(text);
        assert!(errors.is_empty(), "{text}: {}", scope.errors(&errors));
        assert!(!value.is_known() && value.marks().is_sensitive(), "{text}: {value:?}");
    }
    // As in Terraform, where not even the type is known.
    let (value, errors, _) = scope.evaluate("lookup(local.dynamic, sensitive(\"x\"), \"d\")");
    assert!(errors.is_empty(), "{}", scope.errors(&errors));
    assert!(!value.is_known() && !value.marks().is_sensitive(), "{value:?}");
}

#[test]
fn a_template_is_as_sensitive_as_all_that_it_may_use() {
    let (value, ..) = Constants::new()
        .evaluate("templatefile(\"hello.tmpl\", { name = \"x\", other = var.secret })");
    assert_eq!(value, Value::string("Hello x!").sensitive());
}
