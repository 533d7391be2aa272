use super::shape::shape;
use super::{errors, expression};
use language::source::Sources;
use language::syntax::ast::{ExpressionKind, Traversal};
use language::syntax::{is_identifier, parse_partial_traversal, parse_traversal, quote};

#[track_caller]
fn accepts(text: &str, expected: &str) {
    let (tree, errors) = expression(text);
    assert_eq!(errors, [""; 0], "{text}");
    assert_eq!(shape(&tree), expected, "{text}");
}

#[track_caller]
fn rejects(text: &str, expected: &[&str]) {
    let (_, errors) = expression(text);
    assert_eq!(errors, expected, "{text}");
}

#[test]
fn operators_bind_by_level_and_group_to_the_left() {
    accepts("1 + 2 * 3", "(+ 1 (* 2 3))");
    accepts("1 - 2 - 3", "(- (- 1 2) 3)");
    accepts("a || b && c == d", "(|| a (&& b (== c d)))");
    accepts("a < b == c > d", "(== (< a b) (> c d))");
    accepts("-1 + 2", "(+ (neg 1) 2)");
    accepts("!a.b && c", "(&& (not a.b) c)");
    accepts("--1", "(neg (neg 1))");
    accepts("5 % 3 / 2", "(/ (% 5 3) 2)");
    accepts("(1 + 2) * 3", "(* [(+ 1 2)] 3)");
}

#[test]
fn conditionals_group_to_the_right() {
    accepts("a ? b : c ? d : e", "(if a b (if c d e))");
    accepts("a == b ? 1 : 2", "(if (== a b) 1 2)");
}

#[test]
fn newlines_are_blanks_in_brackets() {
    accepts("(1\n+\n2\n)", "[(+ 1 2)]");
    accepts("f(\n1,\n2\n,)", "(call f 1 2)");
    accepts("[\n1\n,\n2,\n]", "(tuple 1 2)");
    accepts("x[\n0\n]", "x[0]");
    accepts("{\n\na = 1\n\nb = 2, c = 3\n}", "(object 'a=1 'b=2 'c=3)");
    accepts("{ # comment\n a = 1 // other\n}", "(object 'a=1)");
    accepts("{\nfor k in x : k => 1}", "(for k x k => 1)");
}

#[test]
fn literal_keys_are_steps_and_others_are_indexes() {
    accepts("a.b[0][\"k\"].c", "a.b[0][\"k\"].c");
    accepts("a[true][null]", "a[true][null]");
    accepts("a[b].c", "(from (index a b) .c)");
    accepts("a[-1]", "(index a (neg 1))");
    accepts("a[\"x${b}\"]", "(index a (template \"x\" b))");
    accepts("a.0.b", "a[0].b");
    accepts("f().x[1]", "(from (call f) .x[1])");
    accepts("(a).b", "(from [a] .b)");
    rejects("foo.0.1", &["Invalid legacy index syntax @ 4-7"]);
    rejects("a.", &["Invalid attribute name @ 2-2"]);
    rejects("a[0", &["Missing close bracket on index @ 3-3"]);
}

#[test]
fn splats_take_what_follows() {
    accepts("a[*].b[0]", "(Full a (from @ .b[0]))");
    accepts("a[*]", "(Full a @)");
    accepts("a.*.b.c[0]", "(from (AttributeOnly a (from @ .b.c)) [0])");
    accepts("a.*.0.b", "(AttributeOnly a (from @ [0].b))");
    accepts("a[*].b[*].c", "(Full a (Full (from @ .b) (from @ .c)))");
    rejects("x.*.y.*", &["Nested splat expression not allowed @ 6-7"]);
    rejects("x[* ]a]", &["Extra characters after expression @ 5-6"]);
}

#[test]
fn calls_may_be_qualified_and_expand_their_last_argument() {
    accepts("f()", "(call f)");
    accepts("f(a, b...)", "(call f a b...)");
    accepts("provider::aws::arn_parse(x)", "(call provider::aws::arn_parse x)");
    rejects("f(a..., b)", &["Missing closing parenthesis @ 3-6"]);
    rejects("f(a b)", &["Missing argument separator @ 4-5"]);
    rejects("f(a", &["Unterminated function call @ 0-2"]);
    rejects("a::(x)", &["Missing function name @ 3-4"]);
    rejects("a::b", &["Missing open parenthesis @ 4-4"]);
}

#[test]
fn object_keys_are_names_unless_in_parentheses() {
    accepts("{ a = 1, \"b\" : 2 }", "(object 'a=1 (template \"b\")=2)");
    accepts("{ (a) = 1, a.b = 2 }", "(object [a]=1 a.b=2)");
    accepts("{ true = 1, null = 2, 3 = 4 }", "(object 'true=1 'null=2 3=4)");
    rejects("{ a = 1 b = 2 }", &["Missing attribute separator @ 8-9"]);
    rejects("{ a }", &["Missing key/value separator @ 4-5"]);
    rejects("{ a\n}", &["Missing attribute value @ 3-4"]);
    rejects("{ a = 1, , b = 2 }", &["Invalid expression @ 9-10"]);
    rejects("{ a =\n 1 }", &["Invalid expression @ 5-6"]);
}

#[test]
fn for_expressions() {
    accepts("[for v in x : v]", "(for v x v)");
    accepts("[for k, v in x : k if v]", "(for k,v x k if v)");
    accepts("{for k, v in x : k => v... if k}", "(for k,v x k => v... if k)");
    let rejected = "Invalid 'for' expression";
    rejects("[for]", &[&format!("{rejected} @ 4-5")]);
    rejects("[for x y]", &[&format!("{rejected} @ 7-8")]);
    rejects("[for x in y]", &[&format!("{rejected} @ 11-12")]);
    rejects("[for x in y : a => b]", &[&format!("{rejected} @ 14-15")]);
    rejects("[for x in y : b...]", &[&format!("{rejected} @ 15-18")]);
    rejects("{for x in y : b}", &[&format!("{rejected} @ 14-15")]);
}

#[test]
fn numbers_have_any_size_and_one_shape() {
    accepts("1e400", "1e400");
    accepts("0.1e-5", "0.1e-5");
    accepts("123456789012345678901234567890", "123456789012345678901234567890");
    rejects("1.2.3", &["Invalid number literal @ 0-5"]);
    rejects("1e99999999999", &["Invalid number literal @ 0-13"]);
    rejects(".5", &["Invalid expression @ 0-1"]);
}

#[test]
fn what_other_languages_write_is_named() {
    rejects("a & b", &["Unsupported operator @ 2-3", "Extra characters after expression @ 2-3"]);
    rejects("2 ** 3", &["Invalid expression @ 3-4"]);
    rejects("'a'", &["Invalid character @ 0-1", "Invalid expression @ 0-1"]);
    rejects(
        "\u{201c}a\u{201d}",
        &["Invalid character @ 0-3", "Invalid character @ 4-7", "Invalid expression @ 0-3"],
    );
}

#[test]
fn spans_cover_operands_and_brackets() {
    let cases = [
        ("  1 + f(2) ", 2, 10),
        (" a.b[0] ", 1, 7),
        (" (a) ", 1, 4),
        (" \"x\" ", 1, 4),
        (" a[*].b ", 1, 7),
        (" -a ", 1, 3),
        (" a ? b : c ", 1, 10),
        (" {a=1} ", 1, 6),
    ];
    for (text, start, end) in cases {
        let (tree, _) = expression(text);
        assert_eq!((tree.span.start, tree.span.end), (start, end), "{text}");
    }
}

#[test]
fn a_missing_part_leaves_the_rest() {
    let (tree, errors) = expression("f(1 +, 2)");
    assert_eq!(errors, ["Invalid expression @ 5-6"]);
    assert!(matches!(tree.kind, ExpressionKind::FunctionCall(_)));
}

fn traversal(text: &str, partial: bool) -> (Option<Traversal>, Vec<String>) {
    let sources = Sources::new();
    let file = sources.add("<address>", text.as_bytes());
    let parse = if partial { parse_partial_traversal } else { parse_traversal };
    let (traversal, diagnostics) = parse(&sources, file, text.as_bytes(), 0);
    (traversal, errors(&diagnostics))
}

#[test]
fn traversals_read_back_as_written() {
    for text in ["a", "module.a[\"k\\\"\"].b.c[0]", "a[\"$${x}\"]"] {
        let (found, errors) = traversal(text, false);
        assert_eq!(errors, [""; 0], "{text}");
        assert_eq!(
            found.map(|found| found.to_string()).unwrap_or_default(),
            text.replace("$$", "$")
        );
    }
    let (found, errors) = traversal("a[*].b", true);
    assert_eq!(
        (found.map(|found| found.to_string()).unwrap_or_default(), errors),
        ("a[*].b".into(), vec![])
    );
    assert_eq!(traversal("a[*]", false).1, ["Attribute name required @ 2-3"]);
    assert_eq!(traversal("a.*", true).1, ["Attribute name required @ 2-3"]);
    assert_eq!(traversal("0a", false).1, ["Variable name required @ 0-1"]);
    assert_eq!(traversal("a[b]", false).1, ["Index value required @ 2-3"]);
    assert_eq!(traversal("a b", false).1, ["Invalid character @ 2-3"]);
}

#[test]
fn quoting_shows_what_cannot_be_seen() {
    assert_eq!(quote("a\"\\\n\u{200d}\u{7f}é"), r#""a\"\\\n\u200d\x7fé""#);
}

#[test]
fn trees_are_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&expression("a").0);
    shared(&Sources::new());
}

#[test]
fn identifiers() {
    for name in ["a", "_a", "a-b", "été", "a1"] {
        assert!(is_identifier(name), "{name}");
    }
    for name in ["", "1a", "-a", "a.b", "a b", "a\u{301c}"] {
        assert!(!is_identifier(name), "{name}");
    }
}
