//! One thing after or within another, hundreds of times: beyond what a fuzz target finds. What is laid out grows with the
//! square of that; the parsers by themselves are tested with ten thousand levels.

const TIMES: usize = 500;

/// What is repeated before and after what stands in the middle.
fn repeated(before: &str, middle: &str, after: &str) -> Vec<u8> {
    [before.repeat(TIMES).as_str(), middle, after.repeat(TIMES).as_str()].concat().into_bytes()
}

#[test]
fn native_syntax() {
    for (before, middle, after) in [
        ("a {\n", "", "}\n"),
        ("a {\n", "", ""),
        ("a = [", "", "]"),
        ("a \"${", "", ""),
        ("<<E\n", "", ""),
        ("dynamic \"list\" {\n", "", "}\n"),
    ] {
        properties::native_syntax(&repeated(before, middle, after));
    }
    for (before, middle, after) in [
        ("[", "", "]"),
        ("(", "1", ")"),
        ("{a=", "1", "}"),
        ("\"${", "var.s", "}\""),
        ("!", "var.b", ""),
        ("-", "1", ""),
        ("var.b ? 1 : ", "2", ""),
        ("", "1", " + 1"),
        ("", "var.o", ".a"),
        ("", "var.l", "[*]"),
        ("try(", "1", ")"),
        ("[for x in [1] : ", "x", "]"),
    ] {
        let mut text = b"a = ".to_vec();
        text.extend(repeated(before, middle, after));
        text.push(b'\n');
        properties::native_syntax(&text);
    }
}

#[test]
fn json_syntax() {
    for (before, middle, after) in [
        ("[", "", "]"),
        ("{\"a\":", "1", "}"),
        ("{\"one\":", "1", "}"),
        ("{\"list\":[", "{}", "]}"),
        ("[", "", ""),
        ("{\"a\":", "", ""),
        ("[\"list\",", "\"string\"", "]"),
        ("\"${", "", ""),
    ] {
        properties::json_syntax(&repeated(before, middle, after));
    }
    let inner = ["\\\"${".repeat(TIMES), "}\\\"".repeat(TIMES)].concat();
    properties::json_syntax(format!("{{\"a\": \"${{{inner}}}\"}}").as_bytes());
}

#[test]
fn template() {
    for (before, middle, after) in [
        ("${", "", ""),
        ("${\"", "", "\"}"),
        ("%{if true}", "x", "%{endif}"),
        ("%{for x in [1]}", "x", "%{endfor}"),
        ("%{if true}", "", ""),
        ("$${", "", "~}"),
        ("${[", "", "]}"),
    ] {
        properties::template(&repeated(before, middle, after));
    }
}

#[test]
fn messagepack() {
    let levels = 1_000;
    let deep = [r#"["list","#.repeat(levels), "\"bool\"".to_owned(), "]".repeat(levels)].concat();
    let mut input = deep.into_bytes();
    input.push(b'\n');
    input.extend([0x91].repeat(levels));
    input.push(0xc3);
    properties::messagepack(&input);
    let dynamic = [&[0x92, 0xc4, 9][..], b"\"dynamic\""].concat();
    properties::messagepack(&dynamic.repeat(TIMES));
}

#[test]
fn tfvars() {
    for (before, middle, after) in [
        ("[", "", "]"),
        ("{a=", "1", "}"),
        ("{\n\"a\" = [", "", "]\n}"),
        ("\"${", "1", "}\""),
        ("(", "1", ")"),
    ] {
        for name in ["a", "s", "o", "m"] {
            let mut text = format!("{name} = ").into_bytes();
            text.extend(repeated(before, middle, after));
            text.push(b'\n');
            properties::tfvars(&text);
        }
    }
    for (before, middle, after) in [("{\"a\":", "1", "}"), ("{\"a\":[", "", "]}")] {
        properties::tfvars(&repeated(before, middle, after));
    }
}
