use language::diagnostics::{
    Diagnostic, Diagnostics, FunctionCallNote, FunctionParameter, FunctionSignature,
};
use language::rendering::{Layout, render, render_text, to_json, view, wrap};
use language::source::{Sources, Span};
use language::syntax::parse_body;

const TEXT: &str = "resource \"a\" \"b\\n\" {\n  foo = [\n    1,\n    2 3,\n  ]\n}\n";

fn sample() -> (Sources, Diagnostic) {
    let sources = Sources::new();
    let file = sources.add("main.tf", TEXT.as_bytes());
    let (_, diagnostics) = parse_body(&sources, file);
    let diagnostic = diagnostics.into_iter().next().expect("an error");
    (sources, diagnostic)
}

#[test]
fn plain_text() {
    let (sources, diagnostic) = sample();
    let text = render_text(&diagnostic, &sources, 40, false);
    assert!(text.starts_with('\n'), "a blank line sets it apart");
    insta::assert_snapshot!(text.trim_start(), @r#"
    Error: Missing item separator

      on main.tf line 4, in resource "a" "b\n":
       2:   foo = [
       3:     1,
       4:     2 3,

    Expected a comma to mark the beginning
    of the next item.
    "#);
}

#[test]
fn ruled_text_with_values_and_a_call() {
    let (sources, diagnostic) = sample();
    let number = serde_json::json!("number");
    let parameter = |name: &str| FunctionParameter {
        name: name.into(),
        description: None,
        type_constraint: number.clone(),
    };
    let signature = FunctionSignature {
        name: "max".into(),
        description: None,
        params: vec![parameter("first")],
        variadic_param: Some(parameter("numbers")),
        return_type: number.clone(),
    };
    let diagnostic = diagnostic
        .for_address("a.b[0]")
        .with_values(vec![("var.y".into(), "is 1".into()), ("var.x".into(), "is a string".into())])
        .in_function_call(FunctionCallNote { called_as: "max".into(), signature: Some(signature) });
    insta::assert_snapshot!(render(&diagnostic, &sources, 78, Layout::Ruled), @r#"
    ╷
    │ Error: Missing item separator
    │
    │   with a.b[0],
    │   on main.tf line 4, in resource "a" "b\n":
    │    2:   foo = [
    │    3:     1,
    │    4:     2 3,
    │     ├────────────────
    │     │ while calling max(first, numbers...)
    │     │ var.x is a string
    │     │ var.y is 1
    │
    │ Expected a comma to mark the beginning of the next item.
    ╵
    "#);
}

#[test]
fn coloured_text_underlines_the_subject() {
    let (sources, diagnostic) = sample();
    let text = render_text(&diagnostic, &sources, 78, true);
    insta::assert_snapshot!(text.replace('\x1b', "^"), @r#"
    ^[31m╷^[0m^[0m
    ^[31m│^[0m ^[0m^[1m^[31mError: ^[0m^[0m^[1mMissing item separator^[0m
    ^[31m│^[0m ^[0m
    ^[31m│^[0m ^[0m^[0m  on main.tf line 4, in resource "a" "b\n":
    ^[31m│^[0m ^[0m   2:   foo = [
    ^[31m│^[0m ^[0m   3:     1,
    ^[31m│^[0m ^[0m   4:     2 ^[4m3^[0m,^[0m
    ^[31m│^[0m ^[0m
    ^[31m│^[0m ^[0mExpected a comma to mark the beginning of the next item.
    ^[31m╵^[0m^[0m
    "#);
}

#[test]
fn json() {
    let (sources, diagnostic) = sample();
    let text = serde_json::to_string_pretty(&view(&diagnostic, &sources)).expect("a view is JSON");
    insta::assert_snapshot!(text, @r#"
    {
      "severity": "error",
      "summary": "Missing item separator",
      "detail": "Expected a comma to mark the beginning of the next item.",
      "range": {
        "filename": "main.tf",
        "start": {
          "line": 4,
          "column": 7,
          "byte": 44
        },
        "end": {
          "line": 4,
          "column": 8,
          "byte": 45
        }
      },
      "snippet": {
        "context": "resource \"a\" \"b\\n\"",
        "code": "  foo = [\n    1,\n    2 3,",
        "start_line": 2,
        "highlight_start_offset": 23,
        "highlight_end_offset": 24,
        "values": []
      }
    }
    "#);
    assert_eq!(to_json(&diagnostic, &sources)["severity"], "error");
}

#[test]
fn an_empty_range_is_shown_as_one_byte() {
    let sources = Sources::new();
    let file = sources.add("main.tf", "é = \"x\"".as_bytes());
    let at = Span::new(file, 3, 3);
    let json = to_json(&Diagnostic::error("s", "").at(at), &sources);
    assert_eq!(json["range"]["start"], serde_json::json!({"line": 1, "column": 3, "byte": 3}));
    assert_eq!(json["range"]["end"], serde_json::json!({"line": 1, "column": 4, "byte": 4}));
    assert_eq!(json["snippet"]["context"], serde_json::Value::Null);
}

#[test]
fn control_characters_cannot_steer_the_terminal() {
    let sources = Sources::new();
    let file = sources.add("main.tf", "a = \x1b[31m\n".as_bytes());
    let (_, diagnostics) = parse_body(&sources, file);
    for diagnostic in &diagnostics {
        assert!(!render_text(diagnostic, &sources, 78, false).contains('\x1b'));
    }
}

#[test]
fn diagnostics_are_sorted_by_place() {
    let sources = Sources::new();
    let root = sources.add("z.tf", "x".as_bytes());
    let nested = sources.add("modules/a/a.tf", "x".as_bytes());
    let all: Diagnostics = [
        Diagnostic::error("nested", "").at(Span::new(nested, 0, 1)),
        Diagnostic::error("second", "").at(Span::new(root, 1, 1)),
        Diagnostic::error("first", "").at(Span::new(root, 0, 1)),
        Diagnostic::error("nowhere", ""),
        Diagnostic::warning("warning", "").at(Span::new(root, 1, 1)),
    ]
    .into_iter()
    .collect();
    let order: Vec<_> = all.sorted(&sources).into_iter().map(|it| it.summary).collect();
    assert_eq!(order, ["warning", "nowhere", "first", "second", "nested"]);
}

#[test]
fn columns_count_what_people_see() {
    let sources = Sources::new();
    let text = "\u{feff}a = \"e\u{301}👩\u{200d}👩\" # x\r\nb = 1\n";
    let file = sources.add("main.tf", text.as_bytes());
    let column = |needle: &str| {
        let at = text.find(needle).expect("the text has it");
        let position = sources.position(file, at as u32);
        (position.line, position.column)
    };
    assert_eq!(column("a ="), (1, 1));
    assert_eq!(column("# x"), (1, 10));
    assert_eq!(column("b = 1"), (2, 1));
}

#[test]
fn wrapping_breaks_at_blanks_alone() {
    assert_eq!(wrap("aaa bbb ccc", 7), "aaa bbb\nccc");
    assert_eq!(wrap("aaaaaaaaaa b", 5), "aaaaaaaaaa\nb");
    assert_eq!(wrap("a\n\nb", 5), "a\n\nb");
}
