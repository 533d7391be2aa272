use super::errors;
use language::source::Sources;
use language::syntax::ast::Body;
use language::syntax::parse_body;

fn body(text: impl AsRef<[u8]>) -> (Body, Vec<String>) {
    let sources = Sources::new();
    let file = sources.add("main.tf", text.as_ref());
    let (body, diagnostics) = parse_body(&sources, file);
    (body, errors(&diagnostics))
}

#[track_caller]
fn rejects(text: &str, expected: &[&str]) {
    assert_eq!(body(text).1, expected, "{text}");
}

#[test]
fn blocks_and_attributes_with_their_places() {
    let (body, errors) = body("a = 1\nresource \"x\" y {\n  b = 2\n  c {}\n}\n");
    assert_eq!(errors, [""; 0]);
    assert_eq!(body.attributes.len(), 1);
    let block = &body.blocks[0];
    assert_eq!(&*block.type_name, "resource");
    let labels: Vec<_> = block.labels.iter().map(|label| (&*label.text, label.quoted)).collect();
    assert_eq!(labels, [("x", true), ("y", false)]);
    assert_eq!((block.header_span().start, block.header_span().end), (6, 20));
    assert_eq!((block.body.span.start, block.body.span.end), (21, 39));
    assert_eq!(block.body.end_span.start, 39);
    assert!(block.body.attribute("b").is_some());
    assert_eq!(&*block.body.blocks[0].type_name, "c");
}

#[test]
fn what_files_may_begin_and_end_with() {
    for text in [
        "",
        "\n\n",
        "# only a comment",
        "\u{feff}a = 1",
        "a = 1",
        "a {\n}",
        "/* \n */ a = 1 /* x */\n",
    ] {
        assert_eq!(body(text).1, [""; 0], "{text:?}");
    }
    assert_eq!(body(b"# \xff\xfe\na = 1 /* \xff */\n").1, [""; 0]);
    assert_eq!(
        body(b"a = \"\xff\"\n").1,
        ["Invalid character encoding @ 5-6", "Unterminated template string @ 5-6"]
    );
}

#[test]
fn the_first_of_two_attributes_counts() {
    let (parsed, found) = body("a = 1\na = 2\n");
    assert_eq!(found, ["Attribute redefined @ 6-7"]);
    assert_eq!(parsed.attributes.len(), 1);
    let many: String = (0..100).map(|at| format!("a{} = 1\n", at % 60)).collect();
    let (parsed, found) = body(many);
    assert_eq!((parsed.attributes.len(), found.len()), (60, 40));
}

#[test]
fn malformed_items() {
    rejects("a\n", &["Argument or block definition required @ 0-1"]);
    rejects("1 = 2\n", &["Argument or block definition required @ 0-1"]);
    rejects("\"a\" = 1\n", &["Invalid argument name @ 0-1"]);
    rejects("a = 1 2\n", &["Missing newline after argument @ 6-7"]);
    rejects("a = 1,\n", &["Unexpected comma after argument @ 5-6"]);
    rejects("a b\n", &["Invalid block definition @ 3-4"]);
    rejects("a b = 1\n", &["Invalid block definition @ 4-5"]);
    rejects("a \"${b}\" {}\n", &["Invalid string literal @ 3-5"]);
    rejects("a \"b\n", &["Invalid multi-line string @ 4-5", "Invalid string literal @ 4-5"]);
    rejects("a {} b = 1\n", &["Missing newline after block definition @ 5-6"]);
    rejects("a {\n", &["Unclosed configuration block @ 2-3"]);
    rejects("a { b = 1, c = 2 }\n", &["Invalid single-argument block definition @ 9-10"]);
    rejects("a { b = 1\n}\n", &["Invalid single-argument block definition @ 9-10"]);
    rejects("a { b { c = 1 } }\n", &["Argument definition required @ 4-7"]);
    rejects("a = 1; b = 2\n", &["Invalid character @ 5-6", "Missing newline after argument @ 5-6"]);
}

#[test]
fn items_after_an_error_are_still_read() {
    let text = "a {\n  b = [1 2]\n  c = 3\n}\nd = 4\ne {\n  f = (\n}\n";
    let (body, errors) = body(text);
    assert_eq!(errors, ["Missing item separator @ 13-14", "Unbalanced parentheses @ 44-45"]);
    assert!(body.attribute("d").is_some());
    assert!(body.blocks[0].body.attribute("c").is_some());
}
