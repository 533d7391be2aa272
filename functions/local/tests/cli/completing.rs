//! `plumb completions` with what shells ask of it, `plumb man`, and help: all from one table.

use crate::scene::Scene;
use std::process::{Command, Stdio};

fn offered(scene: &Scene, line: &str) -> Vec<String> {
    let answer = scene.succeed(&["__complete", line]).stdout;
    answer.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

fn scene() -> Scene {
    let text = "resource \"terraform_data\" \"a\" {\n  for_each = toset([\"x y\", \"z\"])\n}\noutput \"o\" {\n  value = 1\n}\n";
    let scene = Scene::new(&[("main.tf", text)]);
    scene.succeed(&["init"]);
    scene.succeed(&["apply", "-auto-approve"]);
    scene
}

#[test]
fn commands_flags_and_names_in_the_records_are_offered() {
    let scene = scene();
    assert_eq!(offered(&scene, "plumb unt"), ["untaint"]);
    assert_eq!(offered(&scene, "plumb state re"), ["replace-provider"]);
    assert_eq!(offered(&scene, "plumb -estate=x plan -ref"), ["-refresh=false", "-refresh-only"]);
    assert_eq!(offered(&scene, "plumb plan -out"), ["-out="]);
    assert_eq!(offered(&scene, "plumb plan -out=p"), [":files"]);
    assert_eq!(offered(&scene, "plumb apply "), [":files"]);
    let both = ["terraform_data.a[\"x y\"]", "terraform_data.a[\"z\"]"];
    assert_eq!(offered(&scene, "plumb state show "), both);
    assert_eq!(offered(&scene, "plumb explain -json 'terraform_data.a[\"z"), [both[1]]);
    assert_eq!(
        offered(&scene, "plumb plan -target=terraform_data.a"),
        both.map(|address| format!("-target={address}"))
    );
    assert_eq!(offered(&scene, "plumb plan -replace terraform_data.a"), both);
    assert_eq!(offered(&scene, "plumb explain terraform_data.b "), [":files"]);
    assert_eq!(offered(&scene, "plumb output "), ["o"]);
    scene.succeed(&["workspace", "new", "staging"]);
    assert_eq!(offered(&scene, "plumb workspace select "), ["default", "staging"]);
    assert_eq!(offered(&scene, "plumb workspace select st"), ["staging"]);
    assert_eq!(offered(&scene, "plumb completions "), ["bash", "zsh", "fish"]);
    // Where nothing can be known, nothing is said.
    let empty = Scene::new(&[]);
    let ran = empty.succeed(&["__complete", "plumb taint "]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
}

/// Whether a program can be started.
fn exists(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn bash_completes_words_as_it_splits_them() {
    if !exists("bash") {
        return;
    }
    let scene = scene();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_plumb"));
    let completed = |line: &str| {
        let script = format!(
            "PATH={}:$PATH\nsource <(plumb completions bash)\nCOMP_LINE=$1\nCOMP_POINT=${{#1}}\n_plumb 2>/dev/null\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
            program.parent().unwrap().display()
        );
        let output = Command::new("bash")
            .args(["-c", &script, "bash", line])
            .current_dir(scene.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(completed("plumb work"), "workspace\n");
    assert_eq!(completed("plumb plan -target=terraform_data.a[").lines().count(), 2);
    assert_eq!(
        completed("plumb taint terraform_data.a"),
        "terraform_data.a\\[\\\"x\\ y\\\"\\]\nterraform_data.a\\[\\\"z\\\"\\]\n"
    );
    assert_eq!(completed("plumb show mai"), "main.tf\n");
    assert_eq!(completed("plumb plan -var-file=mai"), "main.tf\n");
}

#[test]
fn every_command_has_help_and_a_manual_page() {
    let scene = Scene::new(&[]);
    scene.succeed(&["man", "pages"]);
    let overview = scene.succeed(&["-help"]).stdout;
    let listed = overview.lines().skip_while(|line| *line != "Commands:").skip(1);
    let mut count = 0;
    for line in listed.take_while(|line| !line.is_empty()) {
        let name = line[2..26].trim();
        let words: Vec<&str> = name.split(' ').chain(["-help"]).collect();
        if name != "help" {
            let help = scene.succeed(&words).stdout;
            assert!(help.starts_with(&format!("Usage: plumb [global options] {name}")), "{help}");
        }
        let page = scene.read(&format!("pages/plumb-{}.1", name.replace(' ', "-")));
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains(".SH NAME\nplumb\\-"), "{page}");
        count += 1;
    }
    assert!(count > 40, "{overview}");
    let plain = scene.run_with(&["man"], &[("TF_CLI_ARGS", "-no-color")], "");
    assert!(plain.stdout.contains(".B state mv\n"), "{}", plain.stderr);
    scene.run(&["man", "-x", "y"]).assert_refused("flag provided but not defined: -x");
}

#[test]
fn shells_load_completions_once_and_can_be_told_to_forget_them() {
    let scene = Scene::new(&[(".bashrc", "export A=1")]);
    scene.succeed(&["-install-autocomplete"]);
    scene.succeed(&["-install-autocomplete"]);
    let text = String::from_utf8(scene.read(".bashrc")).unwrap();
    assert_eq!(text, "export A=1\nsource <(plumb completions bash)\n");
    scene.succeed(&["-uninstall-autocomplete"]);
    assert_eq!(String::from_utf8(scene.read(".bashrc")).unwrap(), "export A=1\n");
}
