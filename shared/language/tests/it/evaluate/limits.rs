//! What would take all time or memory there is gives an error instead.

use super::Constants;

/// The one error that an expression gives.
#[track_caller]
fn refused(text: &str) -> String {
    let scope = Constants::new();
    let (_, errors, _) = scope.evaluate(text);
    assert_eq!(errors.len(), 1, "{}", scope.errors(&errors));
    scope.errors(&errors)
}

#[track_caller]
fn is_too_large(text: &str) {
    let error = refused(text);
    assert!(error.contains("Result too large") && error.contains("is refused"), "{error}");
}

/// An expression of 1 MiB of text.
const MEBIBYTE: &str = "format(\"%1048576s\", \"\")";

#[test]
fn functions_refuse_results_without_bound() {
    assert!(refused("range(1e12)").contains("more than 1024 values"));
    let padded = refused("format(\"%999999999s\", 1)");
    assert!(padded.contains("999999999 bytes long"), "{padded}");
    let joined = format!("join(\"\", [for i in range(100) : {MEBIBYTE}])");
    assert!(refused(&joined).contains("longer than 67108864 bytes"), "{}", refused(&joined));
    let product = "length(setproduct(range(1000), range(1000), range(1000)))";
    assert!(refused(product).contains("1048576"), "{}", refused(product));
    let replaced = format!("replace({MEBIBYTE}, \" \", {MEBIBYTE})");
    assert!(refused(&replaced).contains("longer than"), "{}", refused(&replaced));
}

#[test]
fn templates_make_no_text_without_bound() {
    is_too_large(&format!("\"%{{ for i in range(100) }}${{{MEBIBYTE}}}%{{ endfor }}\""));
    let many = format!("${{{MEBIBYTE}}}").repeat(100);
    is_too_large(&format!("\"{many}\""));
}

#[test]
fn loops_within_loops_end() {
    let inner = format!("[for j in range(1024) : [{MEBIBYTE}, j][1]]");
    is_too_large(&format!("[for i in range(1024) : {inner}]"));
    is_too_large(&format!("{{for i in range(1024) : i => [{MEBIBYTE}, i][1]}}"));
}

#[test]
fn try_catches_no_lack_of_memory() {
    is_too_large(&format!("try(\"{}\", 1)", format!("${{{MEBIBYTE}}}").repeat(100)));
}

#[test]
fn templates_nest_ten_thousand_deep() {
    let depth = 10_000;
    let scope = Constants::new();
    let nested = "\"${".repeat(depth) + "1" + &"}\"".repeat(depth);
    let (value, errors, _) = scope.evaluate(&nested);
    assert!(errors.is_empty());
    assert_eq!(value, values::Value::from(1));
    let texts = "\"a${".repeat(depth) + "1" + &"}\"".repeat(depth);
    let (value, errors, _) = scope.evaluate(&texts);
    assert!(errors.is_empty());
    assert_eq!(value.as_str().map(str::len), Some(depth + 1));
}

#[test]
fn deep_json_and_yaml_are_read_or_refused() {
    let deep = |open: &str, close: &str, depth| open.repeat(depth) + &close.repeat(depth);
    let scope = Constants::new();
    let read = format!("jsondecode(\"{}\")", deep("[", "]", 5_000));
    assert!(scope.evaluate(&read).1.is_empty());
    let encoded = format!("jsonencode({})", deep("[", "]", 5_000));
    assert!(scope.evaluate(&encoded).1.is_empty());
    let error = refused(&format!("jsondecode(\"{}\")", deep("[", "]", 1_000_000)));
    assert!(error.contains("exceeded max depth"), "{error}");
    // Whether or not it is read, it ends.
    let _ = scope.evaluate(&format!("yamldecode(\"{}\")", deep("[", "]", 5_000)));
}
