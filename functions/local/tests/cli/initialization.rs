use crate::scene::Scene;

#[test]
fn modules_have_to_be_installed_before_they_are_planned() {
    let scene = Scene::new(&[
        ("main.tf", "module \"inner\" {\n  source = \"./inner\"\n}\n"),
        ("inner/main.tf", "resource \"terraform_data\" \"a\" {}\n"),
    ]);
    scene.run(&["plan"]).assert_refused("Module not installed");
    let messages = scene.succeed(&["init", "-json"]).messages();
    let codes: Vec<_> = messages.iter().filter_map(|m| m["message_code"].as_str()).collect();
    assert_eq!(
        codes,
        [
            "initializing_backend_message",
            "initializing_modules_message",
            "initializing_provider_plugin_message",
            "output_init_success_message",
            "output_init_success_cli_message",
        ]
    );
    assert_eq!(scene.run(&["plan", "-detailed-exitcode"]).code, 2);
}

#[test]
fn providers_have_to_be_locked_before_they_are_planned_with() {
    let scene = Scene::new(&[(
        "main.tf",
        "terraform {\n  required_providers {\n    x = {\n      source = \"localhost:1/a/x\"\n    }\n  }\n}\n",
    )]);
    scene.run(&["plan"]).assert_refused("plumb init");
    scene.run(&["init"]).assert_refused("localhost:1/a/x");
    assert!(!scene.path().join(".terraform.lock.hcl").exists());
}

#[test]
fn an_empty_directory_is_initialized_without_a_trace() {
    let scene = Scene::new(&[]);
    assert!(scene.succeed(&["init"]).stdout.contains("empty directory"));
    assert_eq!(std::fs::read_dir(scene.path()).unwrap().count(), 0);
}

#[test]
fn backends_are_spelt_right() {
    let scene = Scene::new(&[("main.tf", "terraform {\n  backend \"s4\" {}\n}\n")]);
    scene.run(&["init"]).assert_refused("There is no backend type named \"s4\".");
}

#[test]
fn no_store_is_opened_without_a_backend() {
    let main = "terraform {\n  backend \"s3\" {}\n}\nresource \"terraform_data\" \"a\" {}\n";
    let scene = Scene::new(&[("main.tf", main)]);
    let said = scene.succeed(&["init", "-backend=false"]).stdout;
    assert!(!said.contains("Initializing the backend"), "{said}");
    assert!(!scene.path().join(".plumb").exists());
    scene.succeed(&["validate"]);
}

#[test]
fn settings_of_a_backend_are_taken_with_a_note() {
    let scene = Scene::new(&[("main.tf", "resource \"terraform_data\" \"a\" {}\n")]);
    let ignored =
        ["-backend-config=key=x", "-reconfigure", "-force-copy", "-ignore-remote-version"];
    let ran = scene.succeed(&[&["init"][..], &ignored].concat());
    for flag in ["backend-config", "reconfigure", "force-copy"] {
        let note = format!("Note: -{flag} does nothing: backends are read, not used");
        assert!(ran.stderr.contains(&note), "{}", ran.stderr);
    }
}

#[test]
fn a_manifest_of_modules_that_cannot_be_read_is_written_anew() {
    let scene = Scene::new(&[("main.tf", "resource \"terraform_data\" \"a\" {}\n")]);
    scene.write(".terraform/modules/modules.json", b"{");
    scene
        .run(&["validate"])
        .assert_refused("To install modules again and write it anew, run: plumb init");
    scene.succeed(&["init"]);
    scene.succeed(&["validate"]);
}

#[test]
fn the_version_is_said_to_people_and_to_programs() {
    let scene = Scene::new(&[]);
    assert!(scene.succeed(&["version"]).stdout.starts_with("Plumbline v"));
    assert!(scene.succeed(&["-version"]).stdout.starts_with("Plumbline v"));
    assert_eq!(scene.succeed(&["version", "-json"]).json()["terraform_version"], "1.11.4");
}
