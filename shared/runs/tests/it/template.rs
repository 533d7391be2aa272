//! The template: who may do what, and that every request there is has a route.

use runs::api::ROUTES;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const FUNCTIONS: [&str; 6] = ["Api", "Fetch", "Plan", "Validate", "Apply", "Report"];

fn template() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../template.yaml");
    serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What the statements of a role allow: actions with the resources that they are for, as the template writes them.
struct Role(Vec<(String, String)>);

/// What a role is refused, whatever a policy of the account allows it.
fn refused(template: &Value, name: &str) -> Role {
    Role::with(template, name, "Deny")
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::String(text) => vec![text.clone()],
        Value::Object(function) => {
            let (name, argument) = function.iter().next().unwrap();
            match (name.as_str(), argument) {
                ("Fn::Sub", Value::String(text)) | ("Ref", Value::String(text)) => {
                    vec![text.clone()]
                }
                ("Fn::GetAtt", Value::Array(parts)) => {
                    vec![format!("{}.{}", parts[0].as_str().unwrap(), parts[1].as_str().unwrap())]
                }
                other => panic!("{other:?}"),
            }
        }
        other => panic!("{other}"),
    }
}

impl Role {
    fn of(template: &Value, name: &str) -> Role {
        Role::with(template, name, "Allow")
    }

    fn with(template: &Value, name: &str, effect: &str) -> Role {
        let role = &template["Resources"][format!("{name}Role")]["Properties"];
        let mut allowed = Vec::new();
        for policy in role["Policies"].as_array().unwrap() {
            for statement in policy["PolicyDocument"]["Statement"].as_array().unwrap() {
                if statement["Effect"] != effect {
                    continue;
                }
                for action in texts(&statement["Action"]) {
                    for resource in texts(&statement["Resource"]) {
                        allowed.push((action.clone(), resource));
                    }
                }
            }
        }
        Role(allowed)
    }

    /// Whether it may do this to an object of the bucket.
    fn may(&self, action: &str, object: &str) -> bool {
        let allowed = self.0.iter().filter(|(allowed, _)| allowed == action);
        allowed
            .filter_map(|(_, resource)| resource.strip_prefix("${Bucket.Arn}/"))
            .any(|pattern| matches(pattern, object))
    }

    fn acts(&self, action: &str) -> bool {
        self.0.iter().any(|(allowed, _)| allowed == action)
    }
}

/// As IAM compares: a star stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|tail| {
            (0..=tail.len())
                .filter(|at| tail.is_char_boundary(*at))
                .any(|at| matches(rest, &tail[at..]))
        }),
    }
}

/// The functions whose roles let them do something.
fn who(may: impl Fn(&Role) -> bool) -> String {
    let template = template();
    let able = FUNCTIONS.into_iter().filter(|name| may(&Role::of(&template, name)));
    able.collect::<Vec<_>>().join(" ")
}

#[test]
fn only_apply_writes_records_and_only_plan_makes_macs() {
    for record in [
        "records/network/r/i/a",
        "records/network/estate",
        "records/network/t/p",
        "records/network/j/r/1",
    ] {
        assert_eq!(who(|role| role.may("s3:PutObject", record)), "Apply", "{record}");
        assert_eq!(who(|role| role.may("s3:DeleteObject", record)), "Apply", "{record}");
        assert_eq!(who(|role| role.may("s3:GetObject", record)), "Plan Validate Apply", "{record}");
    }
    assert_eq!(who(|role| role.acts("kms:GenerateMac")), "Plan");
    assert_eq!(who(|role| role.acts("kms:VerifyMac")), "Validate Apply");
}

#[test]
fn only_api_approves_and_answers_those_that_wait() {
    assert_eq!(who(|role| role.may("s3:PutObject", "runs/network/r1/approval")), "Api");
    assert_eq!(who(|role| role.may("s3:PutObject", "runs/network/recent/1-r1")), "Api");
    assert_eq!(
        who(|role| role.may("s3:GetObject", "runs/network/r1/approval")),
        "Api Apply Report"
    );
    for action in ["states:StartExecution", "states:SendTaskSuccess", "states:SendTaskFailure"] {
        assert_eq!(who(|role| role.acts(action)), "Api", "{action}");
    }
    let everybody = FUNCTIONS.join(" ");
    assert_eq!(who(|role| role.may("s3:PutObject", "runs/network/r1/state")), everybody);
}

#[test]
fn artifacts_are_written_by_who_makes_them_and_settings_by_no_function() {
    assert_eq!(who(|role| role.may("s3:PutObject", "artifacts/bundles/d")), "Fetch");
    assert_eq!(who(|role| role.may("s3:PutObject", "artifacts/network/plans/p")), "Plan");
    assert_eq!(
        who(|role| role.may("s3:GetObject", "artifacts/network/plans/p")),
        "Plan Validate Apply"
    );
    assert_eq!(who(|role| role.may("s3:PutObject", "artifacts/network/snapshot")), "Plan Apply");
    assert_eq!(
        who(|role| role.may("s3:PutObject", "artifacts/notes/d")),
        "Fetch Plan Validate Apply"
    );
    for key in ["settings/deployment.toml", "providers/registry.terraform.io/x"] {
        assert_eq!(who(|role| role.may("s3:PutObject", key)), "", "{key}");
    }
    assert_eq!(who(|role| role.acts("secretsmanager:GetSecretValue")), "Api Fetch Report");
    assert_eq!(who(|role| role.acts("sns:Publish")), "Report");
}

#[test]
fn no_role_is_wider_than_it_must_be() {
    let template = template();
    let mut roles: Vec<String> = FUNCTIONS.iter().map(|name| (*name).to_owned()).collect();
    roles.extend(["Run", "Drift"].map(str::to_owned));
    // AWS takes no resource for these.
    let everywhere = |action: &str| {
        ["xray:Put", "logs:", "states:SendTask"].iter().any(|start| action.starts_with(start))
    };
    for name in roles {
        for (action, resource) in Role::of(&template, &name).0 {
            assert!(!action.contains('*'), "{name}: {action}");
            assert!(resource != "*" || everywhere(&action), "{name}: {action} on everything");
        }
    }
    // Who may read the cloud, and who may change it, are parameters of their own.
    for (name, policy) in
        [("Plan", "PlanPolicyArn"), ("Validate", "PlanPolicyArn"), ("Apply", "ApplyPolicyArn")]
    {
        let given = template["Resources"][format!("{name}Role")]["Properties"]["ManagedPolicyArns"]
            .to_string();
        assert!(given.contains(policy), "{name}: {given}");
    }
    for name in ["Api", "Fetch", "Report"] {
        assert!(
            template["Resources"][format!("{name}Role")]["Properties"]["ManagedPolicyArns"]
                .is_null()
        );
    }
}

#[test]
fn policies_of_the_account_open_nothing_of_the_deployment() {
    let template = template();
    let own = |name: &str| (Role::of(&template, name), refused(&template, name));
    for name in ["Plan", "Validate", "Apply"] {
        let (allowed, refused) = own(name);
        for object in [
            "settings/deployment.toml",
            "providers/registry.terraform.io/x",
            "runs/network/r1/approval",
            "artifacts/bundles/d",
            "artifacts/network/plans/p",
            "records/network/r/i/a",
        ] {
            for action in ["s3:PutObject", "s3:DeleteObject"] {
                let given = allowed.may("s3:PutObject", object);
                assert_eq!(refused.may(action, object), !given, "{name}: {action} {object}");
            }
        }
        assert_eq!(refused.acts("kms:GenerateMac"), name != "Plan", "{name}");
        let secrets: Vec<&str> = refused
            .0
            .iter()
            .filter(|(action, _)| action == "secretsmanager:GetSecretValue")
            .map(|(_, secrets)| &**secrets)
            .collect();
        assert_eq!(secrets, ["WebhookSecretArns", "TokenSecretArns"], "{name}");
        // What it needs itself is not among that.
        for (action, resource) in &allowed.0 {
            let overlaps = refused.0.iter().any(|(a, r)| a == action && r == resource);
            assert!(!overlaps, "{name}: {action} on {resource} is refused to itself");
        }
    }
    for name in ["Api", "Fetch", "Report"] {
        assert!(own(name).1.0.is_empty(), "{name} is given no policy of the account");
    }
}

#[test]
fn each_function_has_a_role_and_a_log_of_its_own() {
    let template = template();
    let resources = template["Resources"].as_object().unwrap();
    let functions: BTreeSet<&str> = resources
        .iter()
        .filter(|(_, resource)| resource["Type"] == "AWS::Serverless::Function")
        .map(|(name, _)| name.trim_end_matches("Function"))
        .collect();
    assert_eq!(functions, BTreeSet::from(FUNCTIONS));
    for name in FUNCTIONS {
        let properties = &resources[&format!("{name}Function")]["Properties"];
        assert_eq!(texts(&properties["Role"]), [format!("{name}Role.Arn")]);
        assert_eq!(texts(&properties["LoggingConfig"]["LogGroup"]), [format!("{name}Log")]);
        let log = &resources[&format!("{name}Log")]["Properties"];
        assert_eq!(texts(&log["RetentionInDays"]), ["LogRetentionDays"]);
        let variables = properties["Environment"]["Variables"].as_object().unwrap();
        // What each opens is the deployment's, whatever a commit says.
        assert!(variables.contains_key("PLUMB__STORE__S3__BUCKET_OWNER"), "{name}");
        let authenticates = matches!(name, "Plan" | "Validate" | "Apply");
        assert_eq!(variables.contains_key("PLUMB__PLANS__HMAC_KEY"), authenticates, "{name}");
    }
    let executions = &resources["Run"]["Properties"];
    assert_eq!(executions["Logging"]["IncludeExecutionData"], false);
}

#[test]
fn every_request_has_a_route_and_all_but_webhooks_are_authorised() {
    let template = template();
    let mut routes = BTreeMap::new();
    for resource in template["Resources"].as_object().unwrap().values() {
        if resource["Type"] == "AWS::ApiGatewayV2::Route" {
            let properties = &resource["Properties"];
            let key = properties["RouteKey"].as_str().unwrap().to_owned();
            let open = properties["AuthorizationType"] == "NONE";
            if !open {
                let kinds = properties["AuthorizationType"].to_string();
                assert!(kinds.contains("AWS_IAM") && kinds.contains("JWT"), "{kinds}");
            }
            routes.insert(key, open);
        }
    }
    let known: BTreeMap<String, bool> = ROUTES
        .iter()
        .map(|(method, path)| (format!("{method} {path}"), path.starts_with("/webhooks/")))
        .collect();
    assert_eq!(routes, known);
}

#[test]
fn the_bucket_keeps_the_contract() {
    let template = template();
    let bucket = &template["Resources"]["Bucket"]["Properties"];
    assert_eq!(bucket["VersioningConfiguration"]["Status"], "Enabled");
    let block = bucket["PublicAccessBlockConfiguration"].as_object().unwrap();
    assert!(block.len() == 4 && block.values().all(|on| *on == true));
    for rule in bucket["LifecycleConfiguration"]["Rules"].as_array().unwrap() {
        let prefix = rule["Prefix"].as_str().unwrap();
        let expires = !rule["ExpirationInDays"].is_null();
        // Nothing that deletes reaches records, settings or providers.
        assert_eq!(expires, matches!(prefix, "artifacts/" | "runs/"), "{rule}");
    }
    assert_eq!(template["Resources"]["Bucket"]["DeletionPolicy"], "Retain");
    assert_eq!(template["Resources"]["DataKey"]["DeletionPolicy"], "Retain");
    let policy = template["Resources"]["BucketPolicy"].to_string();
    assert!(policy.contains("aws:SecureTransport") && policy.contains("s3:if-none-match"));
}

#[test]
fn the_definition_is_given_every_function_that_it_names() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../functions/run.asl.json");
    let definition = std::fs::read_to_string(path).unwrap();
    let template = template();
    let given = template["Resources"]["Run"]["Properties"]["DefinitionSubstitutions"].clone();
    let given = given.as_object().unwrap();
    for name in FUNCTIONS.into_iter().filter(|name| *name != "Api") {
        let name = format!("{name}Function");
        assert!(definition.contains(&format!("${{{name}}}")), "{name}");
        assert_eq!(texts(&given[&name]), [format!("{name}.Arn")]);
    }
    assert_eq!(
        given.len(),
        definition
            .split("\"FunctionName\": \"${")
            .skip(1)
            .map(|rest| rest.split('}').next())
            .collect::<BTreeSet<_>>()
            .len()
    );
    // What it may call is what it calls.
    let role = Role::of(&template, "Run");
    let called: BTreeSet<_> = role
        .0
        .iter()
        .filter(|(action, _)| action == "lambda:InvokeFunction")
        .map(|(_, function)| function.clone())
        .collect();
    let known: BTreeSet<_> = given.keys().map(|name| format!("{name}.Arn")).collect();
    assert_eq!(called, known);
}
