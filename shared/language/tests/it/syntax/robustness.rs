use language::source::Sources;
use language::syntax::ast::MAX_NESTING;
use language::syntax::{parse_body, parse_expression, parse_template, parse_traversal};
use proptest::prelude::*;

const SAMPLE: &str = r#"# comment
resource "aws_instance" "web" {
  count = var.n > 3 ? length(local.zones[*].id) : 0
  tags  = { for k, v in var.tags : k => "${upper(v)}-$${x}" if k != "" }
  user_data = <<-EOT
    %{ for x in y ~}
    a ${x.0} é\n
    %{ endfor ~}
  EOT
  lifecycle { ignore_changes = [tags["a"], "\u00e9"] }
}
locals {
  f = provider::p::f([for x in y : x...]...)
  g = -a.*.b[0] || !(1.5e3 % 2 == 0)
}
"#;

fn parse_every_way(text: &[u8]) {
    let sources = Sources::new();
    let file = sources.add("main.tf", text);
    let (_, mut diagnostics) = parse_body(&sources, file);
    diagnostics.extend(parse_expression(&sources, file, text, 0).1);
    diagnostics.extend(parse_template(&sources, file, text, 0).1);
    diagnostics.extend(parse_traversal(&sources, file, text, 0).1);
    for diagnostic in &diagnostics {
        language::rendering::render_text(diagnostic, &sources, 78, true);
        language::rendering::to_json(diagnostic, &sources);
    }
}

#[test]
fn every_beginning_and_every_end_of_a_file_parses() {
    for at in 0..=SAMPLE.len() {
        parse_every_way(&SAMPLE.as_bytes()[..at]);
        parse_every_way(&SAMPLE.as_bytes()[at..]);
    }
}

fn fragment() -> impl Strategy<Value = Vec<u8>> {
    const FRAGMENTS: &[&str] = &[
        "\"", "${", "%{", "}", "~}", "{", "[", "]", "(", ")", ".", "...", "*", "[*]", "\n", "\r",
        "<<EOT\n", "<<-E\n", "EOT\n", "E\n", " ", "$", "$${", "\\", "\\u12", "if ", "for ", " in ",
        "else", "endif", "endfor", "=", "=>", ":", "::", "?", ",", "0", "1.5", "a", "é", "#", "/*",
        "*/", "&", "-", "!", "null", "f(", "\0", "\u{301}", "\u{feff}",
    ];
    prop_oneof![
        9 => proptest::sample::select(FRAGMENTS).prop_map(|text| text.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 1..4),
    ]
}

proptest! {
    #[test]
    fn arbitrary_input_never_panics(pieces in proptest::collection::vec(fragment(), 0..40)) {
        parse_every_way(&pieces.concat());
    }

    #[test]
    fn a_mutilated_file_never_panics(
        at in 0..SAMPLE.len(),
        length in 0usize..20,
        pieces in proptest::collection::vec(fragment(), 0..4),
    ) {
        let mut text = SAMPLE.as_bytes().to_vec();
        text.splice(at..(at + length).min(SAMPLE.len()), pieces.concat());
        parse_every_way(&text);
    }

    #[test]
    fn spans_lie_in_the_text(pieces in proptest::collection::vec(fragment(), 0..20)) {
        let text = pieces.concat();
        let sources = Sources::new();
        let file = sources.add("main.tf", text.as_slice());
        for diagnostic in parse_body(&sources, file).1 {
            let span = diagnostic.subject.expect("syntax errors have a place");
            prop_assert!(span.start <= span.end && span.end as usize <= text.len());
        }
    }
}

/// Parses and drops a file of nested constructs and counts the errors.
fn errors_in(text: String) -> Vec<String> {
    let sources = Sources::new();
    let file = sources.add("deep.tf", text.into_bytes());
    let (body, diagnostics) = parse_body(&sources, file);
    drop(body);
    diagnostics.into_iter().map(|diagnostic| diagnostic.summary).collect()
}

#[test]
fn ten_thousand_levels_are_taken() {
    const DEPTH: usize = 10_000;
    let nested = |open: &str, inner: &str, close: &str| {
        format!("a = {}{inner}{}\n", open.repeat(DEPTH), close.repeat(DEPTH))
    };
    let cases = [
        nested("[", "", "]"),
        nested("(", "1", ")"),
        nested("{a=", "1", "}"),
        nested("\"${", "x", "}\""),
        nested("f(", "", ")"),
        nested("!", "x", ""),
        nested("x ? y : ", "z", ""),
        nested("x[", "0", "]"),
        nested("", "x", "[*]"),
        nested("[for x in y : ", "z", "]"),
        format!("a = \"{}{}\"\n", "%{if x}".repeat(DEPTH), "%{endif}".repeat(DEPTH)),
        format!("{}{}", "a {\n".repeat(DEPTH), "}\n".repeat(DEPTH)),
    ];
    for text in cases {
        let beginning: String = text.chars().take(20).collect();
        assert_eq!(errors_in(text), [""; 0], "{beginning}");
    }
}

#[test]
fn chains_have_no_limit() {
    assert_eq!(errors_in(format!("a = 1{}\n", " + 1".repeat(200_000))), [""; 0]);
    assert_eq!(errors_in(format!("a = x{}\n", "[y]".repeat(100_000))), [""; 0]);
    assert_eq!(errors_in(format!("a = x{}\n", ".y".repeat(100_000))), [""; 0]);
}

#[test]
fn deeper_nesting_is_refused_once() {
    let depth = MAX_NESTING as usize + 1;
    let refused = ["Configuration nested too deeply"];
    assert_eq!(errors_in(format!("a = {}{}\n", "[".repeat(depth), "]".repeat(depth))), refused);
    assert_eq!(errors_in(format!("{}{}", "a {\n".repeat(depth), "}\n".repeat(depth))), refused);
    assert_eq!(errors_in(format!("a = {}\n", "(".repeat(depth))), refused);
    assert_eq!(errors_in(format!("a = {}x\n", "-".repeat(depth))), refused);
}
