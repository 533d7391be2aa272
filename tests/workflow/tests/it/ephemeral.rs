//! Ephemeral resources and functions of a real plugin, through `plumb`.

use crate::estate::Estate;
use crate::secrets::{files, has, unpacked};
use std::process::Stdio;

const TOKEN: &str = "token-of-canary";

const CONFIGURATION: &str = r#"
ephemeral "test_token" "canary" {
  name = "canary"
}

resource "test_thing" "user" {
  name     = "user"
  password = ephemeral.test_token.canary.value
}

resource "test_thing" "later" {
  name = "later"
  tags = {
    after = test_thing.user.id
  }
}
"#;

/// How often a call was made for a token, since so many calls.
fn calls(estate: &Estate, since: usize) -> Vec<String> {
    let calls = estate.calls().into_iter().skip(since).filter(|call| call.phase != "started");
    let calls = calls.filter(|call| call.ty.as_deref() == Some("test_token"));
    calls.map(|call| format!("{} {}", call.call, call.object.unwrap_or_default())).collect()
}

#[test]
fn a_token_is_opened_for_each_operation_and_kept_nowhere() {
    let estate = Estate::new(CONFIGURATION);
    let log = estate.path().join("trace.log");
    let logged = [("TF_LOG", "trace"), ("TF_LOG_PATH", log.to_str().unwrap())];
    let mut since = 0;
    let mut run = |arguments: &[&str], expected: &[&str]| {
        let ran = estate.run_with(arguments, &logged);
        assert_eq!(ran.status.code(), Some(0), "{arguments:?} {}", ran.said());
        assert!(!ran.said().contains(TOKEN), "{arguments:?} {}", ran.said());
        assert_eq!(calls(&estate, since), expected, "{arguments:?}");
        since = estate.calls().len();
        ran
    };
    run(&["validate"], &[]);
    let planned = run(&["plan", "-out=plan.bin"], &["open canary", "close canary"]);
    assert!(planned.stdout.contains("ephemeral.test_token.canary: Opening complete after 0s"));
    run(&["validate", "-plan=plan.bin"], &[]);
    run(&["show", "plan.bin"], &[]);
    run(&["show", "-json", "plan.bin"], &[]);
    let applied = run(&["apply", "-json", "plan.bin"], &["open canary", "close canary"]);
    let steps = applied.messages("ephemeral_op_complete");
    let actions: Vec<_> = steps.iter().map(|m| m["hook"]["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["open", "close"]);
    run(&["show"], &[]);
    run(&["show", "-json"], &[]);

    let call = |call: &str, object: &str, phase: &str| {
        let found = estate.calls().into_iter().rposition(|c| {
            c.call == call && c.object.as_deref() == Some(object) && c.phase == phase
        });
        found.unwrap_or_else(|| panic!("no {call} of {object}"))
    };
    let created = call("create", "user", "finished");
    assert_eq!(estate.calls()[created].password.as_deref(), Some(TOKEN), "the provider got it");
    assert!(created < call("close", "canary", "started"));

    assert_eq!(estate.recorded().len(), 2);
    let plan = std::fs::read(estate.path().join("plan.bin")).unwrap();
    let mut kept = vec![("plan.bin".to_owned(), unpacked(&plan))];
    files(&estate.path().join(".plumb"), &mut kept);
    kept.push(("the log".into(), std::fs::read(&log).unwrap_or_default()));
    for (name, content) in kept {
        assert!(!has(&content, TOKEN), "{name} has the token");
    }
    estate.assert_settled();
    estate.assert_no_process_is_left();
}

#[test]
fn another_process_that_goes_on_opens_it_again() {
    let estate = Estate::new(CONFIGURATION);
    let tokens = ("TEST_PROVIDER_REQUEST_TOKENS", "1");
    let ran = estate.run_with(&["plan", "-out=plan.bin"], &[tokens]);
    assert!(ran.status.success(), "{}", ran.said());
    let before = estate.calls().len();
    // The process dies when the first thing is created, and the token is open.
    let ended = estate.calls().iter().filter(|call| call.phase != "started").count();
    let death = ("TEST_PROVIDER_KILL_PARENT_AFTER", &*(ended + 4).to_string());
    let ran = estate.run_with(&["apply", "-parallelism=1", "plan.bin"], &[tokens, death]);
    assert!(ran.was_killed(), "{}", ran.said());
    estate.assert_no_process_is_left();
    assert_eq!(calls(&estate, before), ["open canary"]);
    let since = estate.calls().len();
    let ran = estate.run_with(&["apply", "plan.bin"], &[tokens]);
    assert!(ran.status.success(), "{}", ran.said());
    assert_eq!(calls(&estate, since), ["open canary", "close canary"]);
    assert_eq!(estate.names(), ["later", "user"]);
    let created = estate.calls().into_iter().filter(|call| call.call == "create");
    let passwords: Vec<_> = created.filter_map(|call| call.password).collect();
    assert!(!passwords.is_empty() && passwords.iter().all(|p| p == TOKEN), "{passwords:?}");
}

#[test]
fn it_is_closed_when_a_change_fails() {
    let failing =
        CONFIGURATION.replace("  name     = \"user\"", "  name = \"user\"\n  fail_on = \"create\"");
    let estate = Estate::new(&failing);
    let since = estate.calls().len();
    estate.run(&["apply", "-auto-approve"]).assert_failed(&["refuses to create"]);
    let all = ["open canary", "close canary", "open canary", "close canary"];
    assert_eq!(calls(&estate, since), all);
}

#[test]
fn functions_are_called_in_every_command() {
    let estate = Estate::new(
        r#"
variable "name" {
  default = "x"

  validation {
    condition     = provider::test::upper(var.name) != "NO"
    error_message = "Not ${provider::test::upper(var.name)}."
  }
}

resource "test_thing" "a" {
  name = provider::test::join_all("-", var.name, "y")
}

output "loud" {
  value = provider::test::upper(test_thing.a.name)
}

output "unknown" {
  value = provider::test::describe(test_thing.a.id)
}

output "none" {
  value = provider::test::describe(null)
}
"#,
    );
    estate.succeed(&["validate"]);
    estate.succeed(&["plan", "-out=plan.bin"]);
    estate.succeed(&["apply", "plan.bin"]);
    let outputs = estate.succeed(&["output", "-json"]).json();
    assert_eq!(outputs["loud"]["value"], "X-Y");
    assert_eq!(outputs["unknown"]["value"], "known string");
    assert_eq!(outputs["none"]["value"], "null dynamic");
    estate.assert_settled();
    estate.run(&["plan", "-var=name=no"]).assert_failed(&["Not NO."]);

    let mut console = estate.command(&["console"]);
    let mut child = console.stdin(Stdio::piped()).spawn().unwrap();
    let input = b"provider::test::upper(test_thing.a.name)\n";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input).unwrap();
    let ran = crate::estate::Ran::of(child);
    assert_eq!(ran.stdout, "\"X-Y\"\n", "{}", ran.said());
    estate.assert_no_process_is_left();

    let refused = [
        ("upper(\"\")", "Invalid value for \"text\" parameter: the text must not be empty."),
        ("upper(null)", "Invalid value for \"text\" parameter: argument must not be null."),
        ("fail(\"No.\")", "Call to function \"provider::test::fail\" failed: No.."),
        ("nothing()", "The function \"nothing\" is not available from the provider \"test\"."),
        ("upper(\"a\", \"b\")", "Function \"provider::test::upper\" expects only 1 argument(s)."),
    ];
    for (call, says) in refused {
        estate.configure(&format!("output \"o\" {{\n  value = provider::test::{call}\n}}\n"));
        estate.run(&["validate"]).assert_failed(&[says]);
    }
}
