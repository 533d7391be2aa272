//! Two applies of one estate at once.

use crate::estate::{Estate, Ran, eventually};

#[test]
fn applies_take_turns_and_nothing_is_made_twice() {
    let estate = Estate::new(
        r#"
resource "test_thing" "slow" {
  count   = 3
  name    = "slow-${count.index}"
  slow_ms = 15000
}
"#,
    );
    estate.succeed(&["plan", "-out=second.bin"]);
    let first = estate.start(&["apply", "-auto-approve"]);
    eventually("the first is at work", || estate.names().len() == 3);
    for second in [&["apply", "-auto-approve"], &["apply", "second.bin"]] {
        let ran = Ran::of(estate.start(second));
        ran.assert_failed(&["Another apply is under way", "Nothing was changed"]);
    }
    let first = Ran::of(first);
    assert!(first.status.success(), "{}", first.said());
    // What was planned before the first ended rests on records that have moved.
    Ran::of(estate.start(&["apply", "second.bin"])).assert_failed(&["rejected"]);
    assert_eq!(estate.names().len(), 3);
    estate.succeed(&["plan", "-detailed-exitcode"]);
}
