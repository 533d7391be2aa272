//! Provisioners on objects of a provider that takes its time, and that dies with `plumb`.

use crate::estate::{Estate, Ran};
use std::collections::BTreeSet;

const TO_BE_CONTINUED: i32 = 8;

const TOKENS: (&str, &str) = ("TEST_PROVIDER_REQUEST_TOKENS", "1");

/// A thing, on which a command runs that says so, and one that needs it.
fn provisioned(arguments: &str) -> String {
    format!(
        r#"
resource "test_thing" "made" {{
  name = "made"
  {arguments}

  provisioner "local-exec" {{
    command = "echo ${{self.id}} >> commands"
  }}
}}

resource "test_thing" "later" {{
  name = "later"
  tags = {{
    after = test_thing.made.id
  }}
}}
"#
    )
}

fn planned(arguments: &str) -> Estate {
    let estate = Estate::new(&provisioned(arguments));
    let ran = estate.run_with(&["plan", "-out=plan.bin"], &[TOKENS]);
    assert!(ran.status.success(), "{}", ran.said());
    estate
}

fn commands(estate: &Estate) -> usize {
    let text = std::fs::read_to_string(estate.path().join("commands")).unwrap_or_default();
    let ids: BTreeSet<&str> = text.lines().collect();
    assert_eq!(ids.len(), text.lines().count(), "a command ran twice for one object");
    ids.len()
}

fn in_slices(estate: &Estate) -> Ran {
    for _ in 0..200 {
        let ran = estate.run_with(&["apply", "-deadline=2s", "plan.bin"], &[TOKENS]);
        estate.assert_no_process_is_left();
        if ran.status.code() != Some(TO_BE_CONTINUED) {
            return ran;
        }
    }
    panic!("not finished");
}

/// Whether anything is recorded as tainted.
fn is_tainted(estate: &Estate) -> bool {
    estate.shown().iter().any(|shown| shown.get("tainted").is_some())
}

#[test]
fn a_command_runs_once_in_whichever_part_the_object_is_finished() {
    // Made within the first part and too late for more, and made by the world long after its end.
    for arguments in ["slow_ms = 1200", "ripe_ms = 4000"] {
        let estate = planned(arguments);
        let last = in_slices(&estate);
        assert_eq!(last.status.code(), Some(0), "{arguments} {}", last.said());
        assert_eq!(commands(&estate), 1, "{arguments}");
        assert!(!is_tainted(&estate), "{arguments}");
        estate.assert_settled();
    }
}

#[test]
fn a_create_that_is_found_again_is_provisioned_then() {
    let estate = planned("");
    let before = estate.calls().iter().filter(|call| call.phase != "started").count();
    let mut found_again = 0;
    for call in 1.. {
        let estate = estate.copy();
        let number = (before + call).to_string();
        let kill = [TOKENS, ("TEST_PROVIDER_KILL_PARENT_AFTER", &*number)];
        let ran = estate.run_with(&["apply", "plan.bin"], &kill);
        if !ran.was_killed() {
            break;
        }
        let was_made = estate.names().contains(&"made".to_owned()) && commands(&estate) == 0;
        found_again += usize::from(was_made);
        let ran = estate.run_with(&["apply", "plan.bin"], &[TOKENS]);
        assert_eq!(ran.status.code(), Some(0), "{call} {}", ran.said());
        assert_eq!(commands(&estate), 1, "{call}");
        assert!(!is_tainted(&estate), "{call}");
    }
    assert!(found_again > 0, "no call was cut off at the create");
}

#[test]
fn a_create_that_another_run_finds_is_tainted() {
    let settled = planned("");
    let before = settled.calls().iter().filter(|call| call.phase != "started").count();
    let mut found = 0;
    for call in 1.. {
        let estate = settled.copy();
        let number = (before + call).to_string();
        let kill = [TOKENS, ("TEST_PROVIDER_KILL_PARENT_AFTER", &*number)];
        if !estate.run_with(&["apply", "plan.bin"], &kill).was_killed() {
            break;
        }
        if !estate.names().contains(&"made".to_owned()) || commands(&estate) > 0 {
            continue;
        }
        found += 1;
        // Another plan takes over what it finds, without knowing that a command was to run.
        for _ in 0..3 {
            let ran = estate.run_with(&["apply", "-auto-approve"], &[TOKENS]);
            if ran.status.success() {
                break;
            }
        }
        let plan = estate.run_with(&["plan", "-detailed-exitcode"], &[TOKENS]);
        assert_eq!(plan.status.code(), Some(0), "{}", plan.said());
        assert_eq!(commands(&estate), 1, "what was found was taken for finished");
        assert_eq!(estate.names().iter().filter(|name| *name == "made").count(), 1);
    }
    assert!(found > 0, "no call was cut off at the create");
}
