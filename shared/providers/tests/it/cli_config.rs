use providers::install::{
    CliConfig, CliConfigSurroundings, InstallationKind, MergeError, ProviderPattern,
};
use providers::services::Credentials;
use std::path::Path;
use values::address::ProviderAddress;

fn parse(text: &str) -> Result<CliConfig, String> {
    parse_as("tfrc", text)
}

fn parse_as(name: &str, text: &str) -> Result<CliConfig, String> {
    let variable = |name: &str| (name == "HOME").then(|| "/home/me".to_owned());
    let surroundings =
        CliConfigSurroundings { working_directory: Path::new("/work"), variable: &variable };
    CliConfig::parse(name, text.as_bytes(), surroundings).map_err(|e| e.to_string())
}

fn token(config: &CliConfig, host: &str) -> Option<String> {
    let token = config.credentials.token(&host.parse().unwrap());
    token.map(|token| token.reveal().to_owned())
}

#[test]
fn hosts_and_what_proves_to_them_who_asks() {
    let config = parse(
        r#"
credentials "Example.COM:443" {
  token = "one"
}
credentials "münchen.example" {
  token = "two"
}
credentials_helper "vault" {
  args = ["--verbose"]
}
host "localhost:8443" {
  services = {
    "providers.v1" = "https://elsewhere.example/providers/"
  }
}
"#,
    )
    .unwrap();
    assert_eq!(token(&config, "example.com").as_deref(), Some("one"));
    assert_eq!(token(&config, "xn--mnchen-3ya.example").as_deref(), Some("two"));
    assert_eq!(token(&config, "example.com:8443"), None);
    let helper = config.credentials_helper.as_ref().unwrap();
    assert_eq!((&*helper.name, &helper.args[..]), ("vault", &["--verbose".to_owned()][..]));
    assert_eq!(config.hosts.len(), 1);
    assert!(!format!("{config:?}").contains("one\""), "tokens are not printed");
    for text in ["credentials \"a b\" {\n}\n", "host {\n}\n"] {
        parse(text).unwrap_err();
    }
}

#[test]
fn what_login_commands_write() {
    let text = r#"{"credentials": {"app.terraform.io": {"token": "mine"}}, "plugin_cache_dir": "$HOME/c"}"#;
    let config = parse_as("credentials.tfrc.json", text).unwrap();
    let helper = r#"{"credentials_helper": {"vault": {"args": ["-x"]}}}"#;
    let helper = parse_as("a.tfrc.json", helper).unwrap().credentials_helper.unwrap();
    assert_eq!((&*helper.name, helper.args.len()), ("vault", 1));
    assert_eq!(token(&config, "app.terraform.io").as_deref(), Some("mine"));
    assert_eq!(config.plugin_cache_dir.unwrap(), Path::new("/home/me/c"));
    assert!(
        parse_as("a.tfrc.json", "{\n  \"credentials\": []\n}")
            .unwrap_err()
            .contains("a.tfrc.json:2")
    );
    for text in
        [r#"{"credentials": {"a": "canary"}}"#, r#"{"credentials": {"a": {"token": ["canary"]}}}"#]
    {
        let refused = parse_as("a.tfrc.json", text).unwrap_err();
        assert!(
            refused.contains("maps hosts to objects") && !refused.contains("canary"),
            "{refused}"
        );
    }
    let refused = parse_as("a.tfrc.json", r#"{"provider_installation": {}}"#).unwrap_err();
    assert!(refused.contains("not supported in JSON"), "{refused}");
}

#[test]
fn files_and_environment_add_up() {
    let mut config = parse("credentials \"a.example\" { token = \"file\" }\n").unwrap();
    let environment = [
        ("TF_TOKEN_a_example", "environment"),
        ("TF_TOKEN_my__registry_example_com", "dash"),
        ("TF_TOKEN_xn--mnchen-3ya_example", "punycode"),
        ("TF_TOKEN_", "nobody"),
        ("OTHER", "not a token"),
    ];
    config.credentials.extend(Credentials::of_environment(environment));
    assert_eq!(token(&config, "a.example").as_deref(), Some("environment"));
    assert_eq!(token(&config, "my-registry.example.com").as_deref(), Some("dash"));
    assert_eq!(token(&config, "münchen.example").as_deref(), Some("punycode"));
    let ways = || parse("provider_installation {\n}\n").unwrap();
    config.merge(ways()).unwrap();
    assert_eq!(config.merge(ways()), Err(MergeError::TwoInstallations));
    let helper = |name: &str| parse(&format!("credentials_helper \"{name}\" {{\n}}\n")).unwrap();
    config.merge(helper("vault")).unwrap();
    config.merge(helper("vault")).unwrap();
    assert_eq!(config.merge(helper("other")), Err(MergeError::TwoHelpers));
}

#[test]
fn variables_in_the_path_of_a_cache() {
    for (path, expected) in [
        ("$HOME/cache", "/home/me/cache"),
        ("${HOME}/cache", "/home/me/cache"),
        ("cache", "/work/cache"),
        ("a$", "/work/a$"),
        ("$NOT_SET/cache", "/cache"),
    ] {
        let config = parse(&format!("plugin_cache_dir = \"{path}\"\n")).unwrap();
        assert_eq!(config.plugin_cache_dir.unwrap(), Path::new(expected), "{path}");
    }
    assert_eq!(parse("plugin_cache_dir = \"\"\n").unwrap().plugin_cache_dir, None);
}

#[test]
fn a_usual_configuration() {
    let config = parse(
        r#"
plugin_cache_dir   = "cache"
disable_checkpoint = true
plugin_cache_may_break_dependency_lock_file = true
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
    assert!(config.plugin_cache_may_break_dependency_lock_file);
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
        ("plugin_cache_may_break_dependency_lock_file = \"yes\"\n", "must be a bool"),
        ("credentials_helper \"a\" {\n}\ncredentials_helper \"b\" {\n}\n", "tfrc:3"),
        ("credentials_helper \"a\" {\n args = \"x\"\n}\n", "args must be a list of strings"),
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
