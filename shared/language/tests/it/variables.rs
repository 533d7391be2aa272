//! Values for root variables: who wins, how text is read, what is refused.
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use language::files::Memory;
use language::module::{LoadOptions, Module, load};
use language::source::Sources;
use language::variables::{
    VariableArgument, VariableInputs, final_value, given_values, text_of_values, values_from_text,
};
use values::Value;

struct Run {
    values: BTreeMap<String, Value>,
    said: Vec<String>,
}

/// Resolves the variables of a root module: `files` beside it, `environment`, and arguments of
/// which those that start with `@` name a file.
fn run(files: &[(&str, &str)], environment: &[(&str, &str)], arguments: &[&str]) -> Run {
    let files: Memory = files.iter().copied().collect();
    let sources = Arc::new(Sources::new());
    let (configuration, loaded) =
        load(&files, Path::new("."), sources.clone(), LoadOptions::default());
    assert!(!loaded.has_errors(), "{loaded:?}");
    let inputs = VariableInputs {
        environment: environment.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
        arguments: arguments
            .iter()
            .map(|text| match text.strip_prefix('@') {
                Some(path) => VariableArgument::File(path.into()),
                None => VariableArgument::Assignment((*text).into()),
            })
            .collect(),
    };
    let (given, mut diagnostics) = given_values(&files, Path::new(""), &inputs, &sources);
    let module: &Module = &configuration.root.module;
    let mut values = BTreeMap::new();
    if !diagnostics.has_errors() {
        let (resolved, more) = given.resolve(module, &sources);
        diagnostics.extend(more);
        diagnostics.extend(resolved.refuse_missing(module));
        if !diagnostics.has_errors() {
            for variable in module.variables.values() {
                match final_value(variable, resolved.values.get(&variable.name), &sources) {
                    Ok(value) => {
                        values.insert(variable.name.to_string(), value);
                    }
                    Err(diagnostic) => diagnostics.push(*diagnostic),
                }
            }
        }
    }
    let said = diagnostics
        .iter()
        .map(|d| {
            let place = d.subject.map_or("-".into(), |span| sources.range(span).to_string());
            format!("{place} {}: {}", d.summary, d.detail)
        })
        .collect();
    Run { values, said }
}

const STRING: &str = "variable \"s\" {\n  type = string\n}\n";

#[test]
fn the_last_to_say_something_wins() {
    let files = [
        ("main.tf", STRING),
        ("terraform.tfvars", "s = \"tfvars\""),
        ("terraform.tfvars.json", "{\"s\": \"json\"}"),
        ("b.auto.tfvars", "s = \"b\""),
        ("a.auto.tfvars.json", "{\"s\": \"a\"}"),
        ("given.tfvars", "s = \"given\""),
    ];
    // As many sources as there are, one taken away from the end at a time.
    let winners = ["b", "a", "json", "tfvars", "environment"];
    let order =
        ["b.auto.tfvars", "a.auto.tfvars.json", "terraform.tfvars.json", "terraform.tfvars"];
    for (removed, winner) in winners.iter().enumerate() {
        let rest: Vec<_> =
            files.into_iter().filter(|(name, _)| !order[..removed].contains(name)).collect();
        let run = run(&rest, &[("TF_VAR_s", "environment")], &[]);
        assert_eq!(run.values["s"], Value::string(*winner));
    }
    let run_with = |arguments| run(&files, &[("TF_VAR_s", "environment")], arguments);
    assert_eq!(run_with(&["s=line"]).values["s"], Value::string("line"));
    assert_eq!(run_with(&["s=line", "@given.tfvars"]).values["s"], Value::string("given"));
    assert_eq!(run_with(&["@given.tfvars", "s=line"]).values["s"], Value::string("line"));
}

#[test]
fn text_is_read_by_the_type_of_its_variable() {
    let main = "variable \"s\" {}\nvariable \"n\" { type = number }\nvariable \"l\" { type = list(string) }\nvariable \"a\" { type = any }\nvariable \"o\" {\n  type = object({a = optional(number, 3), b = string})\n}\n";
    let run = run(
        &[("main.tf", main)],
        &[],
        &["s=[1]", "n=007", "l=[1, true]", "a={x = 1}", "o={b = 2}"],
    );
    assert_eq!(run.said, [""; 0]);
    assert_eq!(run.values["s"], Value::string("[1]"));
    assert_eq!(run.values["n"], Value::number(7_u64));
    assert_eq!(
        run.values["l"],
        Value::list(values::Type::String, vec![Value::string("1"), Value::string("true")])
    );
    assert_eq!(run.values["a"], Value::object([("x", Value::number(1_u64))]));
    assert_eq!(
        run.values["o"],
        Value::object([("a", Value::number(3_u64)), ("b", Value::string("2"))])
    );
}

type Texts = &'static [(&'static str, &'static str)];
/// Files, environment, arguments, and what is said.
type Refused = (Texts, Texts, &'static [&'static str], &'static [&'static str]);

const TWO: &str = "variable \"n\" { type = number }\nvariable \"l\" {\n  type    = list(string)\n  default = []\n}\n";

#[test]
fn what_is_refused() {
    let cases: &[Refused] = &[
        (
            &[("main.tf", TWO)],
            &[],
            &[],
            &[
                "main.tf:1,1-13 No value for required variable: The root module input variable \"n\" is not set, and has no default value. Use a -var or -var-file command line argument to provide a value for this variable.",
            ],
        ),
        (
            &[("main.tf", TWO)],
            &[],
            &["n=x"],
            &[
                "main.tf:1,1-13 Invalid value for input variable: Unsuitable value for var.n set using -var=\"n=...\": a number is required.",
            ],
        ),
        (
            &[("main.tf", TWO)],
            &[("TF_VAR_n", "")],
            &[],
            &[
                "main.tf:1,1-13 Invalid value for input variable: Unsuitable value for var.n set using the TF_VAR_n environment variable: a number is required.",
            ],
        ),
        (
            &[("main.tf", TWO), ("f.tfvars", "n = \"x\"")],
            &[],
            &["@f.tfvars"],
            &[
                "f.tfvars:1,5-8 Invalid value for input variable: The given value is not suitable for var.n declared at main.tf:1,1-13: a number is required.",
            ],
        ),
        (
            &[("main.tf", TWO), ("f.tfvars.json", "{\"n\": \"${1}\"}")],
            &[],
            &["@f.tfvars.json"],
            &[
                "f.tfvars.json:1,7-13 Invalid value for input variable: The given value is not suitable for var.n declared at main.tf:1,1-13: a number is required.",
            ],
        ),
        (
            &[("main.tf", TWO)],
            &[],
            &["n=1", "l=[a]"],
            &["<value for var.l>:1,2-3 Variables not allowed: Variables may not be used here."],
        ),
        (
            &[("main.tf", TWO)],
            &[],
            &["n=1", "l=x y"],
            &[
                "<value for var.l>:1,3-4 Extra characters after expression: An expression was successfully parsed, but extra characters were found after it.",
            ],
        ),
        (
            &[("main.tf", TWO)],
            &[],
            &["n=1", "l=[1, {}]"],
            &[
                "main.tf:2,1-13 Invalid value for input variable: Unsuitable value for var.l set using -var=\"l=...\": element 1: string required.",
            ],
        ),
        (
            &[("main.tf", TWO)],
            &[("TF_VAR_nope", "1")],
            &["n=1", "nope=1"],
            &[
                "- Value for undeclared variable: A variable named \"nope\" was assigned on the command line, but the root module does not declare a variable of that name. To use this value, add a \"variable\" block to the configuration.",
            ],
        ),
        (
            &[("main.tf", TWO)],
            &[],
            &["n"],
            &[
                "- Invalid -var option: The given -var option \"n\" is not correctly specified. Must be a variable name and value separated by an equals sign, like -var=\"key=value\".",
            ],
        ),
        (
            &[("main.tf", TWO)],
            &[],
            &["n = 3"],
            &[
                "- Invalid -var option: Variable name \"n \" is invalid due to trailing space. Did you mean -var=\"n=3\"?",
            ],
        ),
        (
            &[("main.tf", TWO)],
            &[],
            &["@nope.tfvars"],
            &["- Failed to read variables file: Given variables file nope.tfvars does not exist."],
        ),
        (
            &[("main.tf", TWO), ("f.tfvars", "n = 1\no { }\n")],
            &[],
            &["@f.tfvars"],
            &["f.tfvars:2,1-2 Unexpected \"o\" block: Blocks are not allowed here."],
        ),
        (
            &[("main.tf", TWO), ("g.tfvars", "variable \"s\" {}")],
            &[],
            &["@g.tfvars"],
            &[
                "g.tfvars:1,1-9 Variable declaration in .tfvars file: A .tfvars file is used to assign values to variables that have already been declared in .tf files, not to declare new variables. To declare variable \"s\", place this block in one of your .tf files, such as variables.tf.\n\nTo set a value for this variable in g.tfvars, use the definition syntax instead:\n    s = <value>",
            ],
        ),
        (
            &[("main.tf", "variable \"s\" {\n  nullable = false\n  type     = any\n}")],
            &[],
            &["s=null"],
            &[
                "main.tf:1,1-13 Required variable not set: Unsuitable value for var.s set using -var=\"s=...\": required variable may not be set to null.",
            ],
        ),
    ];
    for (files, environment, arguments, expected) in cases {
        assert_eq!(run(files, environment, arguments).said, *expected, "{arguments:?}");
    }
}

#[test]
fn undeclared_variables_of_files_are_counted() {
    let files = [("main.tf", ""), ("terraform.tfvars", "a = 1\nb = 2\nc = 3\nd = 4")];
    let said = run(&files, &[], &[]).said;
    assert_eq!(said.len(), 3);
    assert_eq!(
        said[2],
        "- Values for undeclared variables: In addition to the other similar warnings shown, 2 other variable(s) defined without being declared."
    );
}

#[test]
fn null_stands_for_the_default_only_where_it_is_no_value() {
    let main = "variable \"nullable\" {\n  type = number\n  default = 1\n}\nvariable \"not\" {\n  type = number\n  default = 1\n  nullable = false\n}\n";
    let run =
        run(&[("main.tf", main), ("terraform.tfvars", "nullable = null\nnot = null")], &[], &[]);
    assert_eq!(run.values["nullable"], Value::null(values::Type::Number));
    assert_eq!(run.values["not"], Value::number(1_u64));
}

#[test]
fn sensitive_variables_have_marked_values() {
    let main = "variable \"s\" {\n  sensitive = true\n  default = \"x\"\n}\n";
    assert!(run(&[("main.tf", main)], &[], &[]).values["s"].marks().is_sensitive());
}

#[test]
fn json_is_taken_as_it_is() {
    let main = [("main.tf", "variable \"a\" {}\n")];
    let given = |text: &str| {
        let files = [main[0], ("terraform.tfvars.json", text)];
        let run = run(&files, &[], &[]);
        assert_eq!(run.said, [""; 0], "{text}");
        run.values["a"].clone()
    };
    // A comment among the arguments, and a member like any other below them.
    let value = given("{\"//\": 1, \"//\": 2, \"a\": {\"//\": \"c\", \"x\": \"${b}\"}}");
    let expected = [("//", Value::string("c")), ("x", Value::string("${b}"))];
    assert_eq!(value, Value::object(expected));
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    assert_eq!(given(&deep).depth(), 5_000);
}

#[test]
fn what_is_wrong_with_json_has_its_place() {
    let cases: &[(&str, &[&str])] = &[
        (
            "{\"a\": 1, \"a\": 2}",
            &[
                "terraform.tfvars.json:1,10-13 Duplicate attribute definition: The argument \"a\" was already set at terraform.tfvars.json:1,2-8.",
            ],
        ),
        (
            "[{\"a\": 1}]",
            &[
                "terraform.tfvars.json:1,1-2 Incorrect JSON value type: A JSON object is required here, setting the arguments for this block.",
            ],
        ),
        (
            "{\"a\": nul}",
            &[
                "terraform.tfvars.json:1,7-10 Invalid JSON keyword: \"nul\" is not a valid JSON keyword. Did you mean \"null\"?",
            ],
        ),
        (
            "1",
            &[
                "terraform.tfvars.json:1,1-2 Root value must be object: The root value in a JSON-based configuration must be either a JSON object or a JSON array of objects.",
            ],
        ),
    ];
    for (text, expected) in cases {
        let files = [("main.tf", "variable \"a\" {}\n"), ("terraform.tfvars.json", *text)];
        assert_eq!(run(&files, &[], &[]).said, *expected, "{text}");
    }
}

/// In native syntax `{ for …` begins a loop.
#[test]
fn an_object_whose_first_name_is_for_reads_back() {
    let object = Value::object([("for", Value::from(1)), ("if", Value::from(2))]);
    let values = BTreeMap::from([(Arc::from("a"), object)]);
    let text = text_of_values(&values).unwrap();
    assert_eq!(text, "a = {\n  \"for\" = 1\n  if    = 2\n}\n");
    assert_eq!(values_from_text("a.tfvars", &text), Ok(values));
}
