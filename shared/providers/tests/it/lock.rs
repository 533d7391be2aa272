use providers::install::Locks;

const FILE: &str = r#"# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/hashicorp/aws" {
  version = "3.39.0"
}

provider "registry.terraform.io/hashicorp/null" {
  version     = "2.1.2"
  constraints = ">= 2.0.0, ~> 2.1"
  hashes = [
    "h1:+2NYQUk6zmAXqM9K1LwBvB9Th0cDCJjWO2F5uu3OjjM=",
    "zh:0123",
  ]
}
"#;

#[test]
fn a_lock_file_comes_back_byte_for_byte() {
    let locks = Locks::parse("lock", FILE.as_bytes()).unwrap();
    assert_eq!(locks.0.len(), 2);
    assert_eq!(locks.to_string(), FILE);
}

#[test]
fn the_empty_lock_file() {
    assert_eq!(Locks::parse("lock", b"").unwrap(), Locks::default());
}

#[test]
fn order_of_entries_and_hashes_does_not_matter() {
    let text = r#"
provider "registry.terraform.io/b/b" {
  hashes  = ["zh:2", "h1:1", "h1:1"]
  version = "1.0.0"
}
provider "registry.terraform.io/a/a" {
  version = "1.0.0"
}
module "reserved" {
}
"#;
    let written = Locks::parse("lock", text.as_bytes()).unwrap().to_string();
    assert!(written.find("a/a").unwrap() < written.find("b/b").unwrap());
    assert!(written.contains("    \"h1:1\",\n    \"zh:2\",\n  ]"));
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (text, line, words) in [
        ("provider \"registry.terraform.io/a/b\" {\n}\n", 1, "version is missing"),
        ("\nprovider \"registry.terraform.io/a/b\" {\n version = \"x\"\n}\n", 3, "invalid version"),
        ("provider \"a/b\" {\n version = \"1.0.0\"\n}\n", 1, "in full"),
        ("provider \"registry.terraform.io/a/b\" {\n version = var.x\n}\n", 2, "must be a string"),
        ("x = 1\n", 1, "unexpected"),
        ("provider {\n", 1, ""),
    ] {
        let error = Locks::parse("lock", text.as_bytes()).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.detail.contains(words), "{error}");
        assert!(!error.detail.ends_with('.'), "{error}");
    }
}
