//! References: what they name, and what is refused.

use language::reference::{Reference, Subject, references_in};

use super::Constants;

fn parse(text: &str) -> Result<Reference, String> {
    let scope = Constants::new();
    let expression = scope.parse(text);
    let mut found = references_in(&expression);
    assert_eq!(found.len(), 1, "{text}");
    found.remove(0).map_err(|error| format!("{}: {}", error.summary, error.detail))
}

#[test]
fn subjects() {
    for (text, subject, remaining) in [
        ("var.a.b", "var.a", 1),
        ("local.a[0]", "local.a", 1),
        ("aws_instance.web[0].id", "aws_instance.web", 2),
        ("resource.aws_instance.web", "aws_instance.web", 0),
        ("data.aws_ami.x.id", "data.aws_ami.x", 1),
        ("ephemeral.e.x[\"k\"].id", "ephemeral.e.x", 2),
        ("module.m.out", "module.m", 1),
        ("module.m[\"k\"].out", "module.m", 2),
        ("path.module", "path.module", 0),
        ("terraform.workspace", "terraform.workspace", 0),
        ("count.index", "count.index", 0),
        ("each.value.x", "each.value", 1),
        ("self.id", "self", 1),
    ] {
        let reference = parse(text).unwrap();
        assert_eq!(reference.subject.to_string(), subject);
        assert_eq!(reference.remaining().len(), remaining, "{text}");
    }
    assert!(matches!(parse("module.a").unwrap().subject, Subject::ModuleCall(_)));
}

#[test]
fn refused_references() {
    let cases = [
        (
            "local",
            "The \"local\" object cannot be accessed directly. Instead, access one of its attributes.",
        ),
        ("var[0]", "The \"var\" object does not support this operation."),
        (
            "foo",
            "A reference to a resource type must be followed by at least one attribute access, specifying the resource name.",
        ),
        (
            "data.x",
            "The \"data\" object must be followed by two attribute names: the data source type and the resource name.",
        ),
        (
            "data.x[0].y",
            "A reference to a data source must be followed by at least one attribute access, specifying the resource name.",
        ),
        (
            "ephemeral.x",
            "The \"ephemeral\" object must be followed by two attribute names: the ephemeral resource type and the resource name.",
        ),
        (
            "ephemeral.x[0]",
            "A reference to an ephemeral resource type must be followed by at least one attribute access, specifying the resource name.",
        ),
        ("module.x[0][1]", "Module instance objects do not support this operation."),
    ];
    for (text, detail) in cases {
        assert_eq!(parse(text).unwrap_err(), format!("Invalid reference: {detail}"), "{text}");
    }
    for (text, start) in [
        ("template.x", "Reserved symbol name: The symbol name \"template\" is reserved"),
        ("count.x", "Invalid \"count\" attribute: "),
        ("each.x", "Invalid \"each\" attribute: "),
        (
            "path.foo",
            "Invalid \"path\" attribute: The \"path\" object does not have an attribute named \"foo\". Did you mean \"root\"?",
        ),
        ("terraform.x", "Invalid \"terraform\" attribute: "),
        (
            "foo.bar[true]",
            "Invalid index key: Invalid index for resource instance: either a string or an integer is required.",
        ),
        (
            "module.x[1.5]",
            "Invalid index key: Invalid index for module instance: value must be a whole number",
        ),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn bound_names_are_no_references() {
    let scope = Constants::new();
    let names = |text: &str| {
        let found = references_in(&scope.parse(text));
        let names = found.into_iter().map(|found| found.unwrap().to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names("[for x in var.x : x.a + var.y if x.b]"), ["var.x", "var.y"]);
    assert_eq!(names("{ for k, v in var.m : k => { for w in v : w => k } }"), ["var.m"]);
    assert_eq!(
        names("{ a = var.a, (local.b) = 1, \"${var.c}\" = 2 }"),
        ["var.a", "local.b", "var.c"]
    );
    assert_eq!(names("var.a[*].b[var.c].d"), ["var.a", "var.c"]);
    assert_eq!(names("\"%{ for x in var.l }${x}${var.z}%{ endfor }\""), ["var.l", "var.z"]);
}
