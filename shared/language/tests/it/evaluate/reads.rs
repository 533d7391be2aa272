//! What evaluation says that it looked at.

use super::Constants;
use language::reads::PartLog;

fn assert_reads(text: &str, expected: &[&str]) {
    let scope = Constants::new();
    let (_, _, reads) = scope.evaluate(text);
    let reads: Vec<String> = reads.distinct().iter().map(ToString::to_string).collect();
    assert_eq!(reads, expected, "{text}");
}

#[test]
fn paths_go_as_far_as_keys_are_known() {
    assert_reads("local.object.a", &["local.object.a"]);
    assert_reads("aws_instance.web[0].tags[\"a b\"]", &["aws_instance.web[0].tags[\"a b\"]"]);
    assert_reads(
        "aws_instance.web[count.index].tags.env",
        &["aws_instance.web[1].tags.env", "count.index"],
    );
    assert_reads("(aws_instance.web)[0].id", &["aws_instance.web[0].id"]);
    assert_reads("var.list[local.number]", &["var.list", "local.number"]);
    assert_reads("aws_instance.web[local.number].id", &["aws_instance.web", "local.number"]);
    assert_reads("length(aws_instance.web)", &["aws_instance.web"]);
}

#[test]
fn a_conditional_reads_the_branch_taken() {
    assert_reads("var.flag ? var.s : var.none", &["var.s", "var.flag"]);
    assert_reads("!var.flag ? var.s : var.none", &["var.none", "var.flag"]);
    assert_reads("local.bool ? var.s : var.none", &["var.s", "var.none", "local.bool"]);
    assert_reads("true ? (false ? var.n : var.s) : var.none", &["var.s"]);
    assert_reads("\"%{ if false }${var.s}%{ else }${var.n}%{ endif }\"", &["var.n"]);
}

#[test]
fn attempts_and_loops_are_kept() {
    assert_reads("try(local.object.z, var.s)", &["local.object.z", "var.s"]);
    assert_reads("can(local.object.a)", &["local.object.a"]);
    assert_reads(
        "[for x in toset(var.list) : \"${x}${var.s}\"]",
        &["var.list", "var.s"],
    );
    assert_reads(
        "[for i in range(2) : aws_instance.web[i].id]",
        &["aws_instance.web[0].id", "aws_instance.web[1].id"],
    );
}

#[test]
fn long_loops_do_not_repeat_themselves() {
    let scope = Constants::new();
    let (_, _, reads) = scope.evaluate("[for i in range(5000) : i + var.n]");
    assert!(reads.len() < 5, "{}", reads.len());
}

/// The reads of each part, an alias with a star.
fn parts(text: &str) -> Vec<(String, Vec<String>)> {
    let shown = |part: &PartLog| {
        let star = |at| if part.alias == Some(at) { "*" } else { "" };
        part.reads.iter().enumerate().map(|(at, read)| format!("{read}{}", star(at))).collect()
    };
    let scope = Constants::new();
    let reads = scope.evaluate_in_parts(text);
    let mut all = vec![(String::new(), shown(&reads.common))];
    let attributes = reads.attributes.into_iter().flatten();
    all.extend(attributes.map(|(name, part)| (name.to_string(), shown(&part))));
    all
}

fn assert_parts(text: &str, expected: &[(&str, &[&str])]) {
    let expected: Vec<(String, Vec<String>)> = expected
        .iter()
        .map(|(name, reads)| ((*name).into(), reads.iter().map(|r| (*r).into()).collect()))
        .collect();
    assert_eq!(parts(text), expected, "{text}");
}

#[test]
fn a_constructed_object_has_a_log_for_each_attribute() {
    assert_parts(
        "({ a = var.s, b = \"${var.n}-${var.s}\", (var.s) = 1, c = [var.list] })",
        &[
            ("", &["var.s"]),
            ("a", &["var.s*"]),
            ("abc", &[]),
            ("b", &["var.n", "var.s"]),
            ("c", &["var.list"]),
        ],
    );
    assert_parts("merge({ a = var.s }, { b = var.n })", &[("", &["var.s", "var.n"])]);
}

#[test]
fn a_value_that_is_passed_on_is_the_one_that_was_read() {
    assert_parts("aws_instance.web[0]", &[("", &["aws_instance.web[0]*"])]);
    assert_parts("\"${local.object.a}\"", &[("", &["local.object.a*"])]);
    assert_parts(
        "aws_instance.web[count.index].tags",
        &[("", &["aws_instance.web[1].tags*", "count.index"])],
    );
    assert_parts("var.flag ? var.s : var.none", &[("", &["var.s", "var.flag"])]);
    assert_parts("[var.s]", &[("", &["var.s"])]);
}

#[test]
fn of_elements_what_is_used_is_read() {
    assert_reads(
        "[for i, w in aws_instance.web : \"${i}${w.id}\"]",
        &["keys of aws_instance.web", "aws_instance.web[0].id", "aws_instance.web[1].id"],
    );
    assert_reads(
        "aws_instance.web[*].id",
        &["keys of aws_instance.web", "aws_instance.web[0].id", "aws_instance.web[1].id"],
    );
    assert_reads("[for k, v in local.object : k if k == \"a\"]", &["keys of local.object"]);
    assert_reads("local.object[*].a", &["keys of local.object", "local.object.a"]);
    assert_reads("local.object[*]", &["keys of local.object", "local.object"]);
}
