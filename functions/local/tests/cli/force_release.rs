//! A run that has died, ended before its lease is over.

use crate::scene::{Scene, flat};
use test_servers::BucketServer;

fn scene(server: &BucketServer) -> Scene {
    let project = format!(
        "[store.s3]\nbucket = \"{}\"\nbucket_owner = \"{}\"\nregion = \"us-east-1\"\nendpoint = \"{}\"\npath_style = true\n[estates.production]\ndirectory = \".\"\n",
        BucketServer::BUCKET,
        BucketServer::OWNER,
        server.endpoint()
    );
    let main = "resource \"terraform_data\" \"a\" {\n  count = 3\n  input = \"old\"\n}\n";
    Scene::new(&[("main.tf", main), ("plumb.toml", &project)])
}

/// The plan that a message names as busy.
fn busy_plan(text: &str) -> String {
    let said = flat(text);
    let (_, after) = said.split_once("(plan ").unwrap_or_else(|| panic!("{text}"));
    after.split(')').next().unwrap().to_owned()
}

#[test]
fn what_a_dead_run_has_claimed_is_released_by_a_person() {
    let server = BucketServer::start();
    let scene = scene(&server);
    scene.succeed(&["apply", "-auto-approve"]);
    scene.write(
        "main.tf",
        b"resource \"terraform_data\" \"a\" {\n  count = 3\n  input = \"new\"\n}\n",
    );
    let kill = [("PLUMB_TEST_KILL_AFTER_WRITE", "5")];
    let killed = scene.run_with(&["apply", "-auto-approve"], &kill, "");
    assert_eq!(killed.code, -1, "{}\n{}", killed.stdout, killed.stderr);
    let busy = scene.run(&["state", "rm", "terraform_data.a"]);
    busy.assert_refused("The records are in use");
    busy.assert_refused("plumb force-release");
    let plan = busy_plan(&busy.stderr);
    for name in ["none", ""] {
        let refused = scene.run(&["force-release", "-force", name]);
        refused.assert_refused(&format!("Under way: {plan}"));
    }
    let asked = scene.run_with(&["force-release", &plan], &[], "no\n");
    assert_eq!(asked.code, 1, "{}", asked.stderr);
    assert!(asked.stdout.contains("cancelled"), "{}", asked.stdout);
    let released = scene.run_with(&["force-release", plan.get(..8).unwrap()], &[], "yes\n");
    assert_eq!(released.code, 0, "{}\n{}", released.stdout, released.stderr);
    assert!(released.stdout.contains("Released what the run"), "{}", released.stdout);
    scene.succeed(&["taint", "terraform_data.a[0]"]);
    scene.succeed(&["apply", "-auto-approve"]);
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 0);
    scene.run(&["force-release", "-force", &plan]).assert_refused("Nothing is under way");
    let runs = scene.succeed(&["runs", "list", "-json"]).stdout;
    assert!(runs.contains(&format!("the lease of the plan {plan}")), "{runs}");
}
