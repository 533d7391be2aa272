use crate::scene::Scene;

#[test]
fn wrong_usage_exits_with_1_and_says_where_help_is() {
    let scene = Scene::new(&[]);
    for (arguments, says) in [
        (&["plan", "-bogus"][..], "flag provided but not defined: -bogus"),
        (&["plan", "-out"], "flag needs an argument: -out"),
        (
            &["plan", "-refresh=perhaps"],
            "invalid boolean value \"perhaps\" for -refresh: parse error",
        ),
        (&["plan", "directory"], "use the global -chdir flag"),
        (&["apply", "one", "two"], "Expected at most one positional argument"),
        (&["plan", "-destroy", "-refresh-only"], "mutually-exclusive"),
        (&["plan", "-parallelism=0"], "must be a positive number"),
        (&["show", "-out=page.html"], "for what -html and -summary write"),
    ] {
        let ran = scene.run(arguments);
        ran.assert_refused(says);
        assert!(ran.stderr.contains(&format!("plumb {} -help", arguments[0])), "{}", ran.stderr);
    }
    scene.run(&["bogus"]).assert_refused("There is no command \"bogus\"");
    scene.run(&["runs", "show", "-out=f", "run"]).assert_refused("the page that -html writes");
    scene.run(&["state"]).assert_refused("run: plumb state -help");
    scene.run(&["workspace", "bogus"]).assert_refused("run: plumb workspace -help");
    let help = scene.succeed(&["help", "state", "mv"]).stdout;
    assert!(help.contains("state mv [options] SOURCE DESTINATION"), "{help}");
    assert_eq!(scene.run(&[]).code, 127);
    assert_eq!(scene.run(&["-help"]).code, 0);
    assert_eq!(scene.run(&["plan", "-help"]).code, 0);
}

#[test]
fn flags_take_one_dash_or_two() {
    let scene = Scene::new(&[("main.tf", "output \"x\" {\n  value = 1\n}\n")]);
    assert_eq!(scene.run(&["plan", "--detailed-exitcode", "--input=false"]).code, 2);
}

#[test]
fn arguments_of_the_environment_come_before_those_of_the_command_line() {
    let scene =
        Scene::new(&[("main.tf", "variable \"a\" {}\noutput \"a\" {\n  value = var.a\n}\n")]);
    let environment = [("TF_CLI_ARGS_apply", "-auto-approve -var 'a=from the environment'")];
    assert_eq!(scene.run_with(&["apply"], &environment, "").code, 0);
    assert_eq!(scene.succeed(&["output", "-raw", "a"]).stdout, "from the environment");
    assert_eq!(scene.run_with(&["apply", "-var=a=given"], &environment, "").code, 0);
    assert_eq!(scene.succeed(&["output", "-raw", "a"]).stdout, "given");
}

#[test]
fn errors_of_a_configuration_exit_with_1_also_with_detailed_exit_codes() {
    let scene = Scene::new(&[("main.tf", "output \"x\" {\n  value = local.nothing\n}\n")]);
    scene.run(&["plan", "-detailed-exitcode"]).assert_refused("undeclared local value");
    let validated = scene.run(&["validate", "-json"]);
    assert_eq!((validated.code, &validated.json()["valid"]), (1, &false.into()));
}

#[test]
fn another_directory_is_worked_in() {
    let scene = Scene::new(&[("inner/main.tf", "output \"x\" {\n  value = \"inner\"\n}\n")]);
    scene.succeed(&["-chdir=inner", "apply", "-auto-approve"]);
    assert_eq!(scene.succeed(&["-chdir=inner", "output", "-raw", "x"]).stdout, "inner");
    assert!(scene.path().join("inner/.plumb").is_dir());
    scene.run(&["-chdir=nowhere", "plan"]).assert_refused("nowhere cannot be entered");
}

#[test]
fn without_outputs_or_records_there_is_a_warning_and_no_failure() {
    let scene = Scene::new(&[]);
    assert!(scene.succeed(&["output"]).stdout.contains("No outputs found"));
    assert_eq!(scene.succeed(&["output", "-json"]).stdout, "{}\n");
    assert_eq!(scene.succeed(&["show"]).stdout, "No state.\n");
    assert_eq!(scene.succeed(&["show", "-json"]).json()["format_version"], "1.0");
    assert!(!scene.path().join(".plumb").exists(), "looking made a store");
}
