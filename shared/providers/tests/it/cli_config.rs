use providers::install::{CliConfig, InstallationKind, ProviderPattern};
use std::path::Path;
use values::address::ProviderAddress;

fn parse(text: &str) -> Result<CliConfig, String> {
    CliConfig::parse("tfrc", text.as_bytes(), Path::new("/work")).map_err(|e| e.to_string())
}

#[test]
fn a_usual_configuration() {
    let config = parse(
        r#"
plugin_cache_dir   = "cache"
disable_checkpoint = true
credentials "app.terraform.io" { token = "xxx" }
provider_installation {
  dev_overrides {
    "hashicorp/null" = "/dev/null-provider"
  }
  filesystem_mirror {
    path    = "/mirror"
    include = ["*/*/*"]
  }
  direct {
    exclude = ["example.com/*/*"]
  }
}
"#,
    )
    .unwrap();
    assert!(config.disable_checkpoint);
    assert_eq!(config.plugin_cache_dir.unwrap(), Path::new("/work/cache"));
    let null = ProviderAddress::implied("null");
    assert_eq!(config.dev_overrides[&null], Path::new("/dev/null-provider"));
    let methods = config.installation.unwrap();
    assert_eq!(methods[0].kind, InstallationKind::FilesystemMirror("/mirror".into()));
    assert!(methods[0].handles(&null));
    assert_eq!(methods[1].kind, InstallationKind::Direct);
    assert!(methods[1].handles(&null));
    let other = ProviderAddress { host: "example.com".into(), ..null };
    assert!(!methods[1].handles(&other));
}

#[test]
fn nothing_is_configured() {
    assert_eq!(parse("").unwrap(), CliConfig::default());
    assert_eq!(parse("provider_installation {\n}\n").unwrap().installation, Some(vec![]));
}

#[test]
fn mistakes_are_refused() {
    for (text, words) in [
        ("provider_installation {\n filesystem_mirror {\n }\n}\n", "tfrc:2: path is missing"),
        ("provider_installation {\n carrier_pigeon {\n }\n}\n", "tfrc:2: carrier_pigeon"),
        ("provider_installation {\n direct {\n include = [\"a/b/c/d\"]\n }\n}\n", "tfrc:3"),
        ("provider_installation {\n}\nprovider_installation {\n}\n", "tfrc:3"),
        ("disable_checkpoint = \"yes\"\n", "must be a bool"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn patterns() {
    let null = ProviderAddress::implied("null");
    for (pattern, matches) in [
        ("hashicorp/null", true),
        ("hashicorp/*", true),
        ("*/*", true),
        ("registry.terraform.io/*/*", true),
        ("*/*/*", true),
        ("hashicorp/aws", false),
        ("example.com/hashicorp/null", false),
    ] {
        assert_eq!(ProviderPattern::parse(pattern).unwrap().matches(&null), matches, "{pattern}");
    }
    for pattern in ["", "null", "*/null", "*/hashicorp/null", "a//b"] {
        assert!(ProviderPattern::parse(pattern).is_none(), "{pattern}");
    }
}
