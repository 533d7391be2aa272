use engine::existing_state::{
    ConfiguredBackend, DEFAULT_WORKSPACE, ExistingFiles, NewEstate, check_existing_state,
};

struct Files(&'static [&'static str]);

impl ExistingFiles for Files {
    fn exists(&self, path: &str) -> std::io::Result<bool> {
        Ok(self.0.contains(&path))
    }
}

struct Unreadable;

impl ExistingFiles for Unreadable {
    fn exists(&self, _: &str) -> std::io::Result<bool> {
        Err(std::io::ErrorKind::PermissionDenied.into())
    }
}

fn refusal(backend: &ConfiguredBackend, files: &'static [&'static str]) -> Option<String> {
    let check = |records, new| {
        check_existing_state(records, backend, &Files(files), DEFAULT_WORKSPACE, new)
    };
    assert!(check(true, NewEstate::NotDeclared).is_ok(), "records speak for themselves");
    assert!(check(false, NewEstate::Declared).is_ok(), "a person has said that nothing exists");
    check(false, NewEstate::NotDeclared).err().map(|e| e.to_string())
}

#[test]
fn estates_without_records_are_refused_where_state_may_exist() {
    let local = ConfiguredBackend::Local { path: "x/state.json".into() };
    let remote = ConfiguredBackend::Remote { ty: "s3".into() };
    let none = ConfiguredBackend::None;
    for (backend, files, evidence) in [
        (&none, &["terraform.tfstate"][..], "terraform.tfstate exists"),
        (&none, &["terraform.tfstate.d"][..], "terraform.tfstate.d exists"),
        (&local, &["x/state.json"][..], "x/state.json, exists"),
        (&local, &["terraform.tfstate"][..], "terraform.tfstate exists"),
        (&remote, &[][..], "backend \"s3\""),
        (&ConfiguredBackend::Cloud, &[][..], "cloud block"),
    ] {
        let text = refusal(backend, files).unwrap();
        assert!(text.contains(evidence) && text.contains("`plumb migrate`"), "{text}");
    }
}

#[test]
fn new_estates_are_not() {
    assert_eq!(refusal(&ConfiguredBackend::None, &["main.tf"]), None);
    let local = ConfiguredBackend::Local { path: "state.json".into() };
    assert_eq!(refusal(&local, &["main.tf"]), None);
}

#[test]
fn what_cannot_be_looked_at_is_not_taken_for_absent() {
    let check = check_existing_state(
        false,
        &ConfiguredBackend::None,
        &Unreadable,
        DEFAULT_WORKSPACE,
        NewEstate::NotDeclared,
    );
    assert!(check.unwrap_err().to_string().contains("terraform.tfstate"));
}

#[test]
fn another_workspace_is_refused_for_its_own_state_alone() {
    let check = |backend: &ConfiguredBackend, files: &'static [&'static str]| {
        check_existing_state(false, backend, &Files(files), "dev", NewEstate::NotDeclared).is_ok()
    };
    let local = ConfiguredBackend::Local { path: "x/state.json".into() };
    let files = &["terraform.tfstate", "terraform.tfstate.d", "x/state.json"];
    assert!(check(&ConfiguredBackend::None, files) && check(&local, files));
    assert!(!check(&ConfiguredBackend::None, &["terraform.tfstate.d/dev"]));
    assert!(!check(&ConfiguredBackend::Remote { ty: "s3".into() }, &[]));
}
