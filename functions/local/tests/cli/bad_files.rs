//! Files that are not what they should be: each is one clear error.

use crate::scene::Scene;

const ONE: &str = "resource \"terraform_data\" \"a\" {}\n";

fn binary() -> Vec<u8> {
    (0..4096_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn nested() -> Vec<u8> {
    format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)).into_bytes()
}

fn contents() -> [(&'static str, Vec<u8>); 4] {
    [
        ("binary", binary()),
        ("truncated", b"{\"format\":1,\"wri".to_vec()),
        ("a megabyte", vec![b'x'; 1 << 20]),
        ("nested", nested()),
    ]
}

#[track_caller]
fn assert_clear(scene: &Scene, arguments: &[&str], what: &str) {
    let ran = scene.run(arguments);
    assert_eq!(ran.code, 1, "{what}: {arguments:?}\n{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("Error: "), "{what}: {}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{what}: {}", ran.stderr);
    assert!(ran.stderr.len() < 20_000, "{what}: {} bytes of errors", ran.stderr.len());
}

#[test]
fn plans() {
    let scene = Scene::new(&[("main.tf", ONE)]);
    scene.succeed(&["plan", "-out=good.bin"]);
    let good = scene.read("good.bin");
    let mut flipped = good.clone();
    let last = flipped.len() - 1;
    flipped[last] ^= 1;
    let mut cases = contents().to_vec();
    cases.push(("cut off", good[..good.len() / 2].to_vec()));
    cases.push(("one bit", flipped));
    cases.push(("empty", Vec::new()));
    for (what, content) in cases {
        scene.write("bad.bin", &content);
        for command in
            [&["apply", "bad.bin"][..], &["show", "bad.bin"], &["validate", "-plan=bad.bin"]]
        {
            assert_clear(&scene, command, what);
        }
    }
    scene.run(&["apply", "nowhere.bin"]).assert_refused("nowhere.bin");
    assert_eq!(scene.succeed(&["state", "list"]).stdout, "");
}

#[test]
fn configurations() {
    for (what, content) in contents() {
        let scene = Scene::new(&[]);
        scene.write("main.tf", &content);
        for command in ["init", "validate", "plan"] {
            assert_clear(&scene, &[command], what);
        }
    }
    let scene = Scene::new(&[]);
    let deep = String::from_utf8(nested()).unwrap();
    scene.write("main.tf", format!("output \"x\" {{\n  value = {deep}\n}}\n").as_bytes());
    let ran = scene.run(&["validate"]);
    assert!(matches!(ran.code, 0 | 1), "{}", ran.stderr);
}

#[test]
fn records() {
    let scene = Scene::new(&[("main.tf", ONE)]);
    scene.succeed(&["apply", "-auto-approve"]);
    let record = ".plumb/records/default/r/i/terraform_5fdata.a.record";
    let good = scene.read(record);
    for (what, content) in contents() {
        scene.write(record, &content);
        for command in ["plan", "show"] {
            assert_clear(&scene, &[command], what);
        }
    }
    scene.write(record, &good);
    scene.succeed(&["plan"]);
}

#[test]
fn lock_files() {
    for (what, content) in contents() {
        let scene = Scene::new(&[("main.tf", ONE)]);
        scene.write(".terraform.lock.hcl", &content);
        for command in ["init", "plan"] {
            assert_clear(&scene, &[command], what);
        }
    }
}

#[test]
fn keys_that_others_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new(&[("main.tf", ONE)]);
    scene.succeed(&["plan", "-out=plan.bin"]);
    let key = scene.path().join(".plumb/key");
    std::fs::set_permissions(key, std::fs::Permissions::from_mode(0o644)).unwrap();
    scene.run(&["apply", "plan.bin"]).assert_refused("chmod 600");
}
