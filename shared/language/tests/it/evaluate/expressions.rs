//! Values and errors of expressions, as Terraform's console gives them.

use language::diagnostics::Cause;
use language::evaluate::{ConsoleResult, Evaluation};
use values::Value;

use super::{Constants, assert_errors, assert_values};

#[test]
fn operators() {
    assert_values(&[
        ("1 + 2 * 3", "7"),
        ("\"2\" + 1", "3"),
        ("10 / 4", "2.5"),
        ("5 % 0", "5"),
        ("1 == \"1\"", "false"),
        ("null == null", "true"),
        ("[1] == tolist([1])", "false"),
        ("!var.flag || 2 > 1", "true"),
        ("-var.n", "-3"),
        ("\"b\" == \"b\" && 1 != 2", "true"),
    ]);
    assert_errors(&[
        (
            "1 + \"a\"",
            "1,5-8: Invalid operand: Unsuitable value for right operand: a number is required.",
        ),
        (
            "[] + true",
            "1,1-3: Invalid operand: Unsuitable value for left operand: number required.\n1,6-10: Invalid operand: Unsuitable value for right operand: number required.",
        ),
        (
            "true || null",
            "1,1-13: Operation failed: Error during operation: argument must not be null.",
        ),
        ("!null", "1,1-6: Operation failed: Error during operation: argument must not be null."),
        (
            "0 / 0",
            "1,1-6: Operation failed: Error during operation: can't divide zero by zero or infinity by infinity.",
        ),
    ]);
}

#[test]
fn attributes_and_indexes() {
    assert_values(&[
        ("local.object.b", "\"x\""),
        ("local.object[\"a\"]", "1"),
        ("var.map.env", "\"prod\""),
        ("var.map[\"a b\"]", "\"space\""),
        ("var.list[\"1\"]", "\"b\""),
        ("var.list.0", "\"a\""),
        ("aws_instance.web[1].id", "\"i-1\""),
        ("aws_instance.web[count.index].id", "\"i-1\""),
        ("{ a = [1, 2] }.a[1]", "2"),
    ]);
    let key = "The given key does not identify an element in this collection value";
    let cases = [
        (
            "local.object.c",
            "1,13-15: Unsupported attribute: This object does not have an attribute named \"c\".",
        ),
        (
            "var.map.nope",
            "1,8-13: Missing map element: This map does not have an element with the key \"nope\".",
        ),
        (
            "var.s.x",
            "1,6-8: Unsupported attribute: Can't access attributes on a primitive-typed value (string).",
        ),
        ("var.list.x", "1,9-11: Unsupported attribute: This value does not have any attributes."),
        (
            "var.none.x",
            "1,9-11: Attempt to get attribute from null value: This value is null, so it does not have any attributes.",
        ),
        (
            "var.no_list[0]",
            "1,12-15: Attempt to index null value: This value is null, so it does not have any indices.",
        ),
        ("var.list[null]", "1,9-15: Invalid index: Can't use a null value as an indexing key."),
        (
            "var.set[0]",
            "1,8-11: Invalid index: Elements of a set are identified only by their value and don't have any separate index or key to select with, so it's only possible to perform operations across all elements of the set.",
        ),
        ("var.s[0]", "1,6-9: Invalid index: This value does not have any indices."),
    ];
    assert_errors(&cases);
    for (index, reason) in [
        ("2", ": the given index is greater than or equal to the length of the collection."),
        ("7", "."),
        (
            "0.5",
            ": indexing a sequence requires a whole number, but the given index has a fractional part.",
        ),
        ("-1", ": a negative number is not a valid index for a sequence."),
        ("true", ": number required."),
        ("\"x\"", ": a number is required."),
    ] {
        let text = format!("var.list[{index}]");
        let expected = format!("1,9-{}: Invalid index: {key}{reason}", text.len() + 1);
        assert_errors(&[(&text, &expected)]);
    }
    assert_errors(&[(
        "local.object[0]",
        &format!(
            "1,13-16: Invalid index: {key}. An object only supports looking up attributes by name, not by numeric index."
        ),
    )]);
}

#[test]
fn objects() {
    assert_values(&[
        ("{ a = 1, \"b\" : 2, (var.s) = 3 }", "{\"a\": 1, \"abc\": 3, \"b\": 2}"),
        ("{ true = 1, null = 2 }", "{\"null\": 2, \"true\": 1}"),
        ("{ 1 = \"x\" }", "{\"1\": \"x\"}"),
        ("{ a = 1, a = 2 }", "{\"a\": 2}"),
    ]);
    assert_errors(&[
        ("{ (null) = 1 }", "1,12-13: Null value as key: Can't use a null value as a key."),
        (
            "{ ([]) = 1 }",
            "1,3-7: Incorrect key type: Can't use this value as a key: string required.",
        ),
        (
            "{ local.object = 1 }",
            "1,3-15: Ambiguous attribute key: If this expression is intended to be a reference, wrap it in parentheses. If it's instead intended as a literal name containing periods, wrap it in quotes to create a string literal.",
        ),
    ]);
}

#[test]
fn conditionals() {
    assert_values(&[
        ("var.flag ? 1 : 2", "1"),
        ("false ? 1 : \"b\"", "\"b\""),
        ("true ? 1 : \"b\"", "\"1\""),
        ("true ? null : [1]", "null(tuple([number]))"),
        ("false ? local.object.nope : 1", "1"),
        ("true ? [1] : tolist([\"a\"])", "[\"1\"]"),
    ]);
    let types = "Inconsistent conditional result types: The true and false result expressions must have consistent types.";
    assert_errors(&[
        (
            "null ? 1 : 2",
            "1,1-5: Null condition: The condition value is null. Conditions must either be true or false.",
        ),
        (
            "\"x\" ? 1 : 2",
            "1,1-4: Incorrect condition type: The condition expression must be of type bool.",
        ),
        (
            "true ? local.object.nope : 1",
            "1,20-25: Unsupported attribute: This object does not have an attribute named \"nope\".",
        ),
        (
            "true ? { a = 1 } : { b = [] }",
            &format!(
                "1,8-30: {types} The 'true' value includes object attribute \"a\", which is absent in the 'false' value."
            ),
        ),
        (
            "true ? [1] : [1, []]",
            &format!(
                "1,8-21: {types} The 'true' tuple has length 1, but the 'false' tuple has length 2."
            ),
        ),
        (
            "true ? { a = [] } : { a = 1 }",
            &format!(
                "1,8-30: {types} Type mismatch for object attribute \"a\": The 'true' value is tuple, but the 'false' value is number."
            ),
        ),
        (
            "true ? 1 : []",
            &format!("1,8-14: {types} The 'true' value is number, but the 'false' value is tuple."),
        ),
    ]);
}

#[test]
fn for_expressions() {
    assert_values(&[
        ("[for x in var.list : upper(x)]", "tuple[\"A\", \"B\"]"),
        ("[for i, x in var.list : \"${i}${x}\" if i > 0]", "tuple[\"1b\"]"),
        ("[for k, v in var.map : k]", "tuple[\"a b\", \"env\"]"),
        ("[for k, v in var.set : k == v]", "tuple[true, true]"),
        ("{ for k, v in local.object : v => k }", "{\"1\": \"a\", \"x\": \"b\"}"),
        ("{ for x in [\"a\", \"b\", \"a\"] : x => 1... }", "{\"a\": tuple[1, 1], \"b\": tuple[1]}"),
        ("[for x in [[1], [2]] : [for y in x : y + 1]]", "tuple[tuple[2], tuple[3]]"),
        ("[for var in [1] : var]", "tuple[1]"),
    ]);
    assert_errors(&[
        (
            "[for x in null : x]",
            "1,11-15: Iteration over null value: A null value cannot be used as the collection in a 'for' expression.",
        ),
        (
            "[for x in 1 : x]",
            "1,11-12: Iteration over non-iterable value: A value of type number cannot be used as the collection in a 'for' expression.",
        ),
        (
            "[for x in [1] : x if null]",
            "1,22-26: Condition is null: The value of the 'if' clause must not be null.",
        ),
        (
            "[for x in [1] : x if 1]",
            "1,22-23: Invalid 'for' condition: The 'if' clause value is invalid: bool required.",
        ),
        (
            "{ for x in [1] : null => x }",
            "1,18-22: Invalid object key: Key expression in 'for' expression must not produce a null value.",
        ),
        (
            "{ for x in [1, 1] : x => x }",
            "1,21-22: Duplicate object key: Two different items produced the key \"1\" in this 'for' expression. If duplicates are expected, use the ellipsis (...) after the value expression to enable grouping by key.",
        ),
    ]);
}

#[test]
fn splats() {
    assert_values(&[
        ("aws_instance.web[*].id", "tuple[\"i-0\", \"i-1\"]"),
        ("aws_instance.web.*.tags.env", "tuple[\"prod\", \"prod\"]"),
        ("aws_instance.one[*].id", "tuple[\"i-9\"]"),
        ("var.none[*]", "tuple[]"),
        ("var.list[*]", "[\"a\", \"b\"]"),
        ("[[1, 2], [3]][*][0]", "tuple[1, 3]"),
        ("[[1, 2], [3]].*.0", "tuple[1, 3]"),
        ("[{ a = [{ b = 1 }] }][*].a[*].b", "tuple[tuple[1]]"),
        ("tolist([])[*]", "[]"),
    ]);
    assert_errors(&[(
        "var.no_list[*]",
        "1,1-12: Splat of null value: Splat expressions (with the * symbol) cannot be applied to null sequences.",
    )]);
}

#[test]
fn templates() {
    assert_values(&[
        ("\"${1}-${true}\"", "\"1-true\""),
        ("\"${var.list}\"", "[\"a\", \"b\"]"),
        ("\"%{ if var.flag }yes%{ else }no%{ endif }\"", "\"yes\""),
        ("\"%{ for i, x in var.list }${i}${x},%{ endfor }\"", "\"0a,1b,\""),
        ("\"e\u{301}\" == \"\u{e9}\"", "true"),
    ]);
    assert_errors(&[
        (
            "\"a${null}\"",
            "1,5-9: Invalid template interpolation value: The expression result is null. Cannot include a null value in a string template.",
        ),
        (
            "\"a${[]}\"",
            "1,5-7: Invalid template interpolation value: Cannot include the given value in a string template: string required.",
        ),
    ]);
}

#[test]
fn calls() {
    assert_values(&[
        ("max([1, 3, 2]...)", "3"),
        ("max(1, local.dynamic...)", "unknown(any)"),
        ("core::upper(\"a\")", "\"A\""),
        ("try(local.object.nope, var.list[9], \"x\")", "\"x\""),
        ("can(local.object.nope)", "false"),
        ("[for x in [{ a = 1 }, {}] : can(x.a)]", "tuple[true, false]"),
    ]);
    assert_errors(&[
        (
            "uper(1)",
            "1,1-5: Call to unknown function: There is no function named \"uper\". Did you mean \"upper\"?",
        ),
        ("type(1)", "1,1-5: Call to unknown function: There is no function named \"type\"."),
        (
            "x::y(1)",
            "1,1-5: Unknown provider function: The function namespace \"x\" is not valid. Provider function calls must use the \"provider::\" namespace prefix.",
        ),
        (
            "upper()",
            "1,7-8: Not enough function arguments: Function \"upper\" expects 1 argument(s). Missing value for \"str\".",
        ),
        (
            "upper(1, 2)",
            "1,10-11: Too many function arguments: Function \"upper\" expects only 1 argument(s).",
        ),
        (
            "upper([])",
            "1,7-8: Invalid function argument: Invalid value for \"str\" parameter: string required.",
        ),
        (
            "upper(null)",
            "1,7-11: Invalid function argument: Invalid value for \"str\" parameter: argument must not be null.",
        ),
        (
            "max(null...)",
            "1,5-9: Invalid expanding argument value: The expanding argument (indicated by ...) must not be null.",
        ),
        (
            "max(1, \"a\"...)",
            "1,8-11: Invalid expanding argument value: The expanding argument (indicated by ...) must be of a tuple, list, or set type.",
        ),
        (
            "try()",
            "1,1-5: Error in function call: Call to function \"try\" failed: at least one argument is required.",
        ),
        (
            "try(local.object.z)",
            "1,1-5: Error in function call: Call to function \"try\" failed: no expression succeeded:\n- Unsupported attribute (at test.tf:1,17-19)\n  This object does not have an attribute named \"z\".\n\nAt least one expression must produce a successful result.",
        ),
        // What cannot be seen is written as an escape.
        (
            "format(\"%\\u200b\", 1)",
            "1,1-8: Error in function call: Call to function \"format\" failed: unrecognized format character '\\u200b' at offset 1.",
        ),
        (
            "tonumber(\"\\u200b\")",
            "1,11-17: Invalid function argument: Invalid value for \"v\" parameter: cannot convert \"\\u200b\" to number; given string must be a decimal representation of a number.",
        ),
        // References are checked before evaluation, so `try` does not hide them.
        ("try(var.nope, 1)", "1,5-13: Undeclared: var.nope"),
        ("false ? var.nope : 1", "1,9-17: Undeclared: var.nope"),
    ]);
}

#[test]
fn template_functions() {
    assert_values(&[
        ("templatefile(\"hello.tmpl\", { name = \"you\" })", "\"Hello you!\""),
        ("templatefile(\"loop.tmpl\", { items = var.list })", "\"<a>\\n<b>\\n\""),
        ("templatestring(local.template, { name = 1 })", "\"Hi 1\""),
        (
            "templatefile(\"hello.tmpl\", { name = local.string })",
            "unknown(string, Refinement { not_null: true, string_prefix: Some(\"Hello \"), number_min: None, number_max: None, length_min: None, length_max: None })",
        ),
        ("templatestring(local.template, { name = var.secret })", "(sensitive)"),
    ]);
    let vars = "Invalid function argument: Invalid value for \"vars\" parameter:";
    let template = "Invalid function argument: Invalid value for \"template\" parameter: invalid template expression:";
    assert_errors(&[
        (
            "templatefile(\"hello.tmpl\", {})",
            &format!(
                "1,28-29: {vars} vars map does not contain key \"name\", referenced at hello.tmpl:1,9-13."
            ),
        ),
        (
            "templatefile(\"hello.tmpl\", 1)",
            &format!("1,28-29: {vars} invalid vars value: must be a map."),
        ),
        (
            "templatestring(local.template, { \"a b\" = 1 })",
            &format!(
                "1,32-33: {vars} invalid template variable name \"a b\": must start with a letter, followed by zero or more letters, digits, and underscores."
            ),
        ),
        (
            "templatestring((local.template), {})",
            &format!(
                "1,17-31: {template} must be a direct reference to a single string from elsewhere, containing valid Terraform template syntax."
            ),
        ),
        (
            "templatestring(\"${local.template}\", {})",
            &format!(
                "1,16-35: {template} templatestring is only for rendering templates retrieved dynamically from elsewhere; to treat the inner expression as template syntax, write the reference expression directly without any template interpolation syntax."
            ),
        ),
    ]);
    let scope = Constants::new();
    let (_, errors, _) = scope.evaluate("templatefile(\"nested.tmpl\", {})");
    assert!(scope.errors(&errors).contains("cannot recursively call templatefile"));
}

#[test]
fn marks_travel() {
    let scope = Constants::new();
    for text in [
        "var.secret",
        "\"x${var.secret}\"",
        "[var.secret][0]",
        "var.flag_secret ? 1 : 2",
        "true ? \"a\" : var.secret",
        "{ (var.secret) = 1 }",
        "[for x in [1] : x if var.flag_secret]",
        "{ for x in [var.secret] : x => 1 }",
        "upper(var.secret)",
        "var.secret == \"a\"",
        "try(var.secret, 1)",
    ] {
        let (value, errors, _) = scope.evaluate(text);
        assert!(errors.is_empty(), "{text}");
        assert!(value.marks().is_sensitive(), "{text}: {value:?}");
    }
    for text in ["[var.secret]", "{ a = var.secret }", "[for x in [var.secret] : x]"] {
        let (value, _, _) = scope.evaluate(text);
        assert!(!value.marks().is_sensitive() && value.deep_marks().is_sensitive(), "{text}");
    }
    assert_eq!(scope.evaluate("can(var.secret)").0, Value::bool(true));
}

#[test]
fn diagnostics_say_what_was_seen() {
    let scope = Constants::new();
    for (text, expected) in [
        ("local.object.z", vec![("local.object", "is object with 2 attributes")]),
        ("var.list[9]", vec![("var.list", "is list of string with 2 elements")]),
        ("var.n + var.s", vec![("var.s", "is \"abc\"")]),
        ("[for x in [\"q\"] : x + 1]", vec![("x", "is \"q\"")]),
        ("var.secret + 1", vec![]),
        ("local.dynamic.x + local.number + null", vec![]),
    ] {
        let (_, errors, _) = scope.evaluate(text);
        let seen = errors.iter().next().and_then(|error| error.expression.clone());
        let seen = seen.unwrap_or_default().values;
        let seen: Vec<(&str, &str)> =
            seen.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        if text.contains("null") {
            assert!(seen.contains(&("local.number", "is a number")), "{seen:?}");
        } else {
            assert_eq!(seen, expected, "{text}");
        }
    }
    let evaluation = Evaluation::new(&scope);
    let describe = |text: &str, cause| evaluation.describe(&scope.parse(text), Some(cause));
    let unknown = describe("local.strings[0] == local.dynamic", Cause::Unknown);
    assert_eq!(unknown[0].1, "will be known only after apply");
    assert_eq!(unknown[1].1, "is a string, known only after apply");
    assert_eq!(describe("var.secret", Cause::Sensitive)[0].1, "has a sensitive value");
    assert!(describe("var.secret", Cause::Unknown).is_empty());
}

#[test]
fn the_console_has_a_type_function() {
    let scope = Constants::new();
    let console = |text: &str| {
        let mut evaluation = Evaluation::new(&scope);
        let result = evaluation.console(&scope.parse(text));
        (result, scope.errors(&evaluation.diagnostics))
    };
    let of = |text: &str| Some(ConsoleResult::Type(text.into()));
    assert_eq!(console("type(var.list)").0, of("list(string)"));
    assert_eq!(console("(type(null))").0, of("dynamic"));
    assert_eq!(
        console("type([{ a = 1 }])").0,
        of("tuple([\n    object({\n        a: number,\n    }),\n])")
    );
    assert_eq!(console("1 + 1").0, Some(ConsoleResult::Value(Value::from(2))));
    let (result, errors) = console("[type(1)]");
    assert_eq!(result, None);
    assert!(errors.contains("cannot be used as part of an expression"), "{errors}");
}

#[test]
fn deep_nesting_is_no_danger() {
    let depth = 10_000;
    let scope = Constants::new();
    let sum = "1 + ".repeat(depth) + "1";
    assert_eq!(scope.evaluate(&sum).0, Value::number(depth + 1));
    let nested = "[".repeat(depth) + &"]".repeat(depth);
    assert!(scope.evaluate(&nested).1.is_empty());
}
