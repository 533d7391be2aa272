use super::shape::shape;
use super::{expression, template};

#[track_caller]
fn quoted(text: &str, expected: &str) {
    let (tree, errors) = expression(text);
    assert_eq!(errors, [""; 0], "{text}");
    assert_eq!(shape(&tree), expected, "{text}");
}

#[track_caller]
fn rejects(text: &str, expected: &[&str]) {
    assert_eq!(expression(text).1, expected, "{text}");
}

#[test]
fn escapes_are_resolved() {
    quoted(r#""\n\r\t\"\\""#, r#"(template "\n\r\t\"\\")"#);
    quoted(r#""\u00e9\U0001F600""#, "(template \"é😀\")");
    quoted("\"$${a} %%{b} $a % $\"", "(template \"${a} %{b} $a % $\")");
    quoted("\"\"", "(template \"\")");
    rejects(r#""a\qb""#, &["Invalid escape sequence @ 2-4"]);
    rejects(r#""\u12""#, &["Invalid escape sequence @ 1-5"]);
    rejects(r#""\ud800""#, &["Invalid escape sequence @ 1-7"]);
    rejects(r#""\UFFFFFFFF""#, &["Invalid escape sequence @ 1-11"]);
}

#[test]
fn text_is_in_normal_form_c() {
    quoted("\"e\u{301}\"", "(template \"é\")");
    quoted(r#""\u0065\u0301""#, "(template \"é\")");
}

#[test]
fn one_interpolation_alone_keeps_its_type() {
    quoted("\"${a}\"", "(wrap a)");
    quoted("\"${a}b\"", "(template a \"b\")");
    quoted("\"${\"x${a}\"}\"", "(wrap (template \"x\" a))");
    quoted("\"${{a = 1}}\"", "(wrap (object 'a=1))");
}

#[test]
fn markers_trim_the_neighbouring_text() {
    quoted("\"a  ${~ b ~}  c\"", "(template \"a\" b \"c\")");
    quoted("\"a ${b ~} ${c}\"", "(template \"a \" b \"\" c)");
}

#[test]
fn directives() {
    quoted("\"%{if a}x%{else}y%{endif}\"", "(template (if a (template \"x\") (template \"y\")))");
    quoted("\"%{if a}%{endif}\"", "(template (if a (template \"\") (template \"\")))");
    quoted("\"%{for k, v in m}${k}%{endfor}\"", "(template (for k,v m (template k)))");
    rejects("\"%{if a}\"", &["Unexpected end of template @ 8-9"]);
    rejects("\"%{endif}\"", &["Unexpected endif directive @ 1-9"]);
    rejects(
        "\"%{if a}%{endfor}%{endif}\"",
        &["Unexpected endfor directive @ 8-17", "Unexpected endif directive @ 17-25"],
    );
    rejects("\"%{if a}%{else}%{else}\"", &["Unexpected else directive @ 15-22"]);
    rejects("\"%{wat}\"", &["Invalid template control keyword @ 3-6"]);
    rejects("\"%{for}\"", &["Invalid 'for' directive @ 6-7"]);
}

#[test]
fn quoted_strings_end_on_their_line() {
    rejects("\"a\nb\"", &["Invalid multi-line string @ 2-3", "Unterminated template string @ 2-3"]);
    rejects("\"abc", &["Unterminated template string @ 4-4"]);
    rejects("\"${a\"", &["Unclosed template interpolation sequence @ 1-3"]);
    rejects("\"${a b}\"", &["Extra characters after interpolation expression @ 5-6"]);
}

#[test]
fn heredocs() {
    quoted("<<EOT\na\n  b\nEOT\n", "(template \"a\\n  b\\n\")");
    quoted("<<EOT\nEOT\n", "(template \"\")");
    quoted("<<EOT\n  EOTx\n EOT \n", "(template \"  EOTx\\n\")");
    quoted("<<EOT\r\na\r\nEOT\r\n", "(template \"a\\r\\n\")");
    quoted("<<EOT\na\\n$${x}${y}\nEOT\n", "(template \"a\\\\n${x}\" y \"\\n\")");
    quoted("<<E1\n${<<E2\nx\nE2\n}\nE1\n", "(template (template \"x\\n\") \"\\n\")");
    rejects("<<EOT\nabc\nEOT", &["Unterminated template string @ 13-13"]);
}

#[test]
fn flush_heredocs_lose_their_common_indentation() {
    quoted("<<-EOT\n    a\n\n      b\n  EOT\n", "(template \"a\\n\\n  b\\n\")");
    quoted("<<-EOT\n    a\n  ${b}\n  EOT\n", "(template \"  a\\n\" b \"\\n\")");
    quoted("<<-EOT\n  a\n${b}\n  EOT\n", "(template \"  a\\n\" b \"\\n\")");
}

#[test]
fn template_files() {
    let cases = [
        ("a ${b}\n", "(template \"a \" b \"\\n\")"),
        ("", "(template \"\")"),
        ("\"q\" $", "(template \"\\\"q\\\" $\")"),
        (
            "%{ for x in y ~}\n${x}\n%{ endfor ~}\n",
            "(template (for x y (template \"\" x \"\\n\")) \"\")",
        ),
        ("${a}", "(wrap a)"),
    ];
    for (text, expected) in cases {
        let (tree, errors) = template(text);
        assert_eq!(errors, [""; 0], "{text}");
        assert_eq!(shape(&tree), expected, "{text}");
    }
    assert_eq!(template("${a").1, ["Unclosed template interpolation sequence @ 0-2"]);
}
