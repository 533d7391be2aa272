//! The process dies right after its n-th write, whichever that is.

use crate::scene::Scene;

const TWO: &str = r#"
resource "terraform_data" "first" {}
resource "terraform_data" "second" {
  input = terraform_data.first.id
}
output "id" {
  value = terraform_data.second.id
}
"#;

#[test]
fn after_any_write_the_next_run_goes_on_and_makes_nothing_twice() {
    for last in 1..64 {
        let scene = Scene::new(&[("main.tf", TWO)]);
        let number = last.to_string();
        let environment = [("PLUMB_TEST_ABORT_AFTER_WRITE", number.as_str())];
        let died = scene.run_with(&["apply", "-auto-approve"], &environment, "");
        if died.code == 0 {
            assert!(last > 5, "an apply of two instances has only {last} writes");
            return;
        }
        let before = scene.succeed(&["show", "-json"]).stdout;
        scene.succeed(&["apply", "-auto-approve"]);
        let after = scene.succeed(&["show", "-json"]).json();
        let resources = after["values"]["root_module"]["resources"].as_array().unwrap().clone();
        assert_eq!(resources.len(), 2, "after write {last}");
        for id in before.split("\"id\":\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let kept = resources.iter().any(|resource| resource["values"]["id"] == id);
            assert!(kept, "{id} was recorded and made again after write {last}");
        }
        assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0, "after write {last}");
    }
    panic!("the apply never ended");
}
