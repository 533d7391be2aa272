//! What modules say to providers.

use crate::estate::Estate;

const MODULE: &str = r#"
terraform {
  required_providers {
    test = {
      source = "plumbline/test"
    }
  }
  provider_meta "test" {
    module = "child"
  }
}

resource "test_thing" "inside" {
  name = "inside"
}
"#;

const ROOT: &str = r#"
terraform {
  provider_meta "test" {
    module = "root"
  }
}

module "child" {
  source = "./child"
}

resource "test_thing" "outside" {
  name = "outside"
}

data "test_thing" "found" {
  name       = "outside"
  depends_on = [test_thing.outside]
}
"#;

#[test]
fn each_module_says_its_own_with_every_request() {
    let estate = Estate::new(ROOT);
    estate.write("child/main.tf", MODULE);
    estate.succeed(&["get"]);
    let tokens = [("TEST_PROVIDER_REQUEST_TOKENS", "1")];
    let applied = estate.run_with(&["apply", "-auto-approve"], &tokens);
    assert_eq!(applied.status.code(), Some(0), "{}", applied.said());
    estate.assert_settled();
    estate.succeed(&["destroy", "-auto-approve"]);
    let calls = estate.calls().into_iter().filter(|call| call.phase == "finished");
    let mut heard = std::collections::BTreeSet::new();
    for call in calls.filter(|call| call.ty.is_some()) {
        let module = if call.object.as_deref() == Some("inside") { "child" } else { "root" };
        assert_eq!(call.module.as_deref(), Some(module), "{call:?}");
        heard.insert(call.call);
    }
    let all = ["create", "data", "delete", "plan", "read"];
    assert_eq!(heard.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

#[test]
fn what_a_module_may_not_say() {
    let refused = [
        ("test", "module = var.x", "Variables may not be used here."),
        ("test", "module = upper(\"x\")", "Functions may not be called here."),
        (
            "test",
            "module = [\"x\"]",
            "Inappropriate value for attribute \"module\": string required.",
        ),
        ("test", "other = 1", "An argument named \"other\" is not expected here."),
        (
            "terraform",
            "a = 1",
            "Provider terraform.io/builtin/terraform doesn't support provider_meta",
        ),
    ];
    let estate = Estate::new("");
    for (provider, argument, says) in refused {
        estate.configure(&format!(
            "terraform {{\n  provider_meta \"{provider}\" {{\n    {argument}\n  }}\n}}\nresource \"test_thing\" \"a\" {{\n  name = \"a\"\n}}\nresource \"terraform_data\" \"a\" {{\n}}\n"
        ));
        estate.run(&["plan"]).assert_failed(&[says]);
    }
}
