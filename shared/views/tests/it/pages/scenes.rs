//! Runs as there are, for pages and comments.

use crate::reader::read_plan;
use engine::changes::Action;
use engine::identifiers::Principal;
use engine::plan::Plan;
use engine::verdict::{Outcome, RejectCode, Stage, Verdict};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use values::address::{ConfigResource, ModulePath, Resource};
use views::PlanView;
use views::drift_report::{DriftLook, DriftOutcome, DriftReport, EstateDrift};
use views::run_report::{
    AppliedReport, ChangeReport, ChangeStanding, Fact, Message, NextStep, OutputReport, PathStep,
    PlanReport, Progress, RunReport, Tone,
};

const AWS: &str = "registry.terraform.io/hashicorp/aws";
pub(super) const DIGEST: &str = "5eb63bbbe01eeda093cb22bb8f5acdc35eb63bbbe01eeda093cb22bb8f5acdc3";

fn schema() -> Json {
    let string = || json!({"type": "string", "optional": true});
    let computed = || json!({"type": "string", "computed": true});
    let tags = || json!({"type": ["map", "string"], "optional": true});
    let rule = json!({"nesting_mode": "set", "block": {"attributes": {
        "description": string(), "from_port": {"type": "number", "required": true},
        "to_port": {"type": "number", "required": true}, "protocol": string(),
        "cidr_blocks": {"type": ["list", "string"], "optional": true},
    }}});
    json!({"provider_schemas": {AWS: {
        "resource_schemas": {
            "aws_instance": {"block": {"attributes": {
                "id": computed(), "ami": string(), "instance_type": string(), "subnet_id": string(),
                "private_ip": computed(), "user_data": string(), "tags": tags(),
            }}},
            "aws_security_group": {"block": {"attributes": {
                "id": computed(), "name": string(), "vpc_id": string(), "tags": tags(),
            }, "block_types": {"ingress": rule}}},
            "aws_iam_role_policy": {"block": {"attributes": {
                "id": computed(), "name": string(), "role": string(), "policy": string(),
            }}},
            "aws_db_instance": {"block": {"attributes": {
                "id": computed(), "identifier": string(), "engine_version": string(), "storage_encrypted": {"type": "bool", "optional": true},
                "instance_class": string(), "password": {"type": "string", "optional": true, "sensitive": true}, "endpoint": computed(),
            }}},
            "aws_s3_bucket": {"block": {"attributes": {"id": computed(), "bucket": string(), "arn": computed(), "tags": tags()}}},
            "aws_lb": {"block": {"attributes": {"id": computed(), "name": string(), "dns_name": computed(), "subnets": {"type": ["set", "string"], "optional": true}}}},
            "aws_subnet": {"block": {"attributes": {"id": computed(), "vpc_id": string(), "cidr_block": string(), "availability_zone": string(), "tags": tags()}}},
        },
        "data_source_schemas": {
            "aws_ami": {"block": {"attributes": {"id": computed(), "name": string()}}},
        },
    }}})
}

/// A resource that another refers to: module, type, name.
type Referred<'a> = (&'a str, &'a str, &'a str);

/// What it leaves out is empty.
#[derive(Default)]
struct Changed<'a> {
    module: &'a str,
    ty: &'a str,
    name: &'a str,
    index: Json,
    actions: &'a [&'a str],
    before: Json,
    after: Json,
    unknown: Json,
    more: Json,
}

fn changed(change: Changed<'_>) -> Json {
    let Changed { module, ty, name, index, actions, before, after, unknown, more } = change;
    let unknown = if unknown.is_null() { json!({}) } else { unknown };
    let mut address = match module {
        "" => format!("{ty}.{name}"),
        module => format!("{module}.{ty}.{name}"),
    };
    if !index.is_null() {
        address.push_str(&format!("[{index}]"));
    }
    let mut json = json!({
        "address": address, "mode": "managed", "type": ty, "name": name, "index": index,
        "provider_name": AWS,
        "change": {"actions": actions, "before": before, "after": after, "after_unknown": unknown,
            "before_sensitive": {}, "after_sensitive": {}},
    });
    if !module.is_empty() {
        json["module_address"] = json!(module);
    }
    if json["index"].is_null() {
        json.as_object_mut().unwrap().remove("index");
    }
    for (key, value) in more.as_object().into_iter().flatten() {
        match key.as_str() {
            "replace_paths" | "before_sensitive" | "after_sensitive" => {
                json["change"][key] = value.clone()
            }
            key => json[key] = value.clone(),
        }
    }
    json
}

fn policy(actions: &[&str], resource: &str) -> String {
    json!({"Version": "2012-10-17", "Statement": [
        {"Sid": "Logs", "Effect": "Allow", "Action": ["logs:CreateLogStream", "logs:PutLogEvents"], "Resource": "*"},
        {"Sid": "Objects", "Effect": "Allow", "Action": actions, "Resource": resource},
    ]})
    .to_string()
}

/// What a team may see on a Tuesday.
pub(super) fn plan() -> Plan {
    let script = |version: &str| {
        format!(
            "#!/bin/sh\nset -eu\nexport RELEASE={version}\nsystemctl enable --now shop\nsystemctl enable --now agent\n/usr/local/bin/ready --wait 60\n"
        )
    };
    let mut changes = vec![
        changed(Changed {
            module: "module.storage",
            ty: "aws_db_instance",
            name: "orders",
            actions: &["delete", "create"],
            before: json!({"id": "orders", "identifier": "orders", "engine_version": "15.4", "storage_encrypted": false, "instance_class": "db.r6g.large", "password": "hunter2-hunter2", "endpoint": "orders.eu-west-1.rds.amazonaws.com"}),
            after: json!({"identifier": "orders", "engine_version": "16.3", "storage_encrypted": true, "instance_class": "db.r6g.large", "password": "hunter3-hunter3"}),
            unknown: json!({"id": true, "endpoint": true}),
            more: json!({"replace_paths": [["storage_encrypted"]], "action_reason": "replace_because_cannot_update", "before_sensitive": {"password": true}, "after_sensitive": {"password": true}}),
            ..Changed::default()
        }),
        changed(Changed {
            module: "module.storage",
            ty: "aws_s3_bucket",
            name: "exports",
            actions: &["delete"],
            before: json!({"id": "acme-exports", "bucket": "acme-exports", "arn": "arn:aws:s3:::acme-exports", "tags": {"team": "shop"}}),
            after: Json::Null,
            more: json!({"action_reason": "delete_because_no_resource_config"}),
            ..Changed::default()
        }),
        changed(Changed {
            module: "module.service",
            ty: "aws_iam_role_policy",
            name: "task",
            actions: &["update"],
            before: json!({"id": "task:shop", "name": "shop", "role": "task", "policy": policy(&["s3:GetObject"], "arn:aws:s3:::acme-exports/*")}),
            after: json!({"id": "task:shop", "name": "shop", "role": "task", "policy": policy(&["s3:GetObject", "s3:PutObject"], "arn:aws:s3:::acme-archive/*")}),
            ..Changed::default()
        }),
        changed(Changed {
            module: "module.service",
            ty: "aws_security_group",
            name: "web",
            actions: &["update"],
            before: json!({"id": "sg-0a1", "name": "web", "vpc_id": "vpc-1", "tags": {"team": "shop"}, "ingress": [
                {"description": "https", "from_port": 443, "to_port": 443, "protocol": "tcp", "cidr_blocks": ["10.0.0.0/8"]},
                {"description": "metrics", "from_port": 9100, "to_port": 9100, "protocol": "tcp", "cidr_blocks": ["10.0.0.0/8"]}]}),
            after: json!({"id": "sg-0a1", "name": "web", "vpc_id": "vpc-1", "tags": {"team": "shop", "tier": "web"}, "ingress": [
                {"description": "https", "from_port": 443, "to_port": 443, "protocol": "tcp", "cidr_blocks": ["0.0.0.0/0"]},
                {"description": "metrics", "from_port": 9100, "to_port": 9100, "protocol": "tcp", "cidr_blocks": ["10.0.0.0/8"]}]}),
            ..Changed::default()
        }),
        changed(Changed {
            module: "module.service",
            ty: "aws_lb",
            name: "front",
            actions: &["create"],
            before: Json::Null,
            after: json!({"name": "shop-front", "subnets": ["subnet-1", "subnet-2"]}),
            unknown: json!({"id": true, "dns_name": true}),
            ..Changed::default()
        }),
    ];
    for (i, before) in [("t3.small", "1.41.0"), ("t3.small", "1.41.0")].iter().enumerate() {
        changes.push(changed(Changed {
            module: "module.service", ty: "aws_instance", name: "web", index: json!(i),
            actions: &["update"],
            before: json!({"id": format!("i-0{i}"), "ami": "ami-0c1", "instance_type": before.0, "subnet_id": format!("subnet-{i}"), "private_ip": "10.0.1.7", "user_data": script(before.1), "tags": {"team": "shop"}}),
            after: json!({"id": format!("i-0{i}"), "ami": "ami-0c1", "instance_type": "t3.large", "subnet_id": format!("subnet-{i}"), "private_ip": "10.0.1.7", "user_data": script("1.42.0"), "tags": {"team": "shop"}}),
            ..Changed::default()
        }));
    }
    for (i, zone) in ["eu-west-1a", "eu-west-1b", "eu-west-1c"].iter().enumerate() {
        changes.push(changed(Changed {
            module: "module.network", ty: "aws_subnet", name: "public", index: json!(zone),
            actions: &["create"],
            before: Json::Null,
            after: json!({"vpc_id": "vpc-1", "cidr_block": format!("10.0.{i}.0/24"), "availability_zone": zone, "tags": {"tier": "public"}}),
            unknown: json!({"id": true}),
            ..Changed::default()
        }));
    }
    let recorded = json!({
        "timestamp": "2026-01-20T09:14:00Z", "resource_changes": changes,
        "resource_drift": [changed(Changed {
            module: "module.network", ty: "aws_subnet", name: "private", index: json!("eu-west-1a"),
            actions: &["update"],
            before: json!({"id": "subnet-9", "vpc_id": "vpc-1", "cidr_block": "10.0.8.0/24", "tags": {"tier": "private"}}),
            after: json!({"id": "subnet-9", "vpc_id": "vpc-1", "cidr_block": "10.0.8.0/24", "tags": {"tier": "private", "owner": "by hand"}}),
            ..Changed::default()
        })],
        "output_changes": {
            "endpoint": {"actions": ["update"], "before": "https://shop-a.example.com", "after": null, "after_unknown": true, "before_sensitive": false, "after_sensitive": false},
            "admin_password": {"actions": ["update"], "before": "hunter2-hunter2", "after": "hunter3-hunter3", "after_unknown": false, "before_sensitive": true, "after_sensitive": true},
        },
    });
    let mut plan = read_plan(&recorded, &schema());
    let on: &[(&str, &[Referred<'_>])] = &[
        (
            "aws_lb",
            &[("network", "aws_subnet", "public"), ("service", "aws_security_group", "web")],
        ),
        (
            "aws_instance",
            &[
                ("network", "aws_subnet", "public"),
                ("service", "aws_security_group", "web"),
                ("storage", "aws_db_instance", "orders"),
                ("service", "aws_lb", "front"),
            ],
        ),
        ("aws_iam_role_policy", &[("storage", "aws_s3_bucket", "exports")]),
        ("aws_db_instance", &[("network", "aws_subnet", "public")]),
    ];
    for change in &mut plan.changes.resources {
        let of = on.iter().find(|(ty, _)| **ty == *change.address.resource.ty);
        let resource = |(module, ty, name): &Referred<'_>| ConfigResource {
            module: ModulePath(Arc::from([Arc::from(*module)])),
            resource: Resource::managed(*ty, *name),
        };
        change.dependencies =
            of.map(|(_, on)| on.iter().map(resource).collect()).unwrap_or_default();
    }
    plan
}

fn step(name: &str, progress: Progress, note: &str) -> PathStep {
    PathStep { name: name.into(), progress, note: note.into() }
}

/// A run that waits for somebody to agree.
pub(super) fn waiting() -> RunReport {
    let plan = plan();
    let mut told = PlanReport::new(&PlanView::new(&plan));
    told.id = Some("p-01JH3".into());
    told.expires = Some(told.made + 86_400);
    let command = |verb: &str| {
        format!(
            "plumb -estate=shop-production {verb} -remote=https://a1b2c3.execute-api.eu-west-1.amazonaws.com -digest={DIGEST} 9f2c61d0a4b7"
        )
    };
    RunReport {
        estate: "shop-production".into(),
        run: Some("9f2c61d0a4b7".into()),
        status: "waiting for approval".into(),
        tone: Tone::Waiting,
        facts: vec![
            Fact::new("For", "a plan, and changes once it is approved"),
            Fact::code("Changed by", "git:ada"),
            Fact::code("Repository", "github.com/acme/infrastructure"),
            Fact::code("Branch", "main"),
            Fact::code("Commit", "1a2b3c4d5e6f708192a3b4c5d6e7f80912345678"),
            Fact::code("Digest of the plan", DIGEST),
        ],
        path: vec![
            step("Asked for", Progress::Done, "git:ada"),
            step("Fetched", Progress::Done, ""),
            step("Planned", Progress::Done, "10 changes"),
            step("Approved", Progress::Now, "waiting for approval"),
            step("Checked", Progress::Ahead, ""),
            step("Applied", Progress::Ahead, ""),
        ],
        next: Some(NextStep {
            sentence: "Somebody has to agree to this plan. A decision names its digest, so that what you looked at is what is applied, and nothing else.".into(),
            commands: vec![("Agree to it".into(), command("approve")), ("Say no".into(), command("reject"))],
        }),
        plan: Some(told),
        verdicts: vec![Verdict::new(Stage::Snapshot, Outcome::Pass, "nothing was written while planning")],
        messages: vec![Message { error: false, text: "Warning: Argument is deprecated\n\n  on service/main.tf line 12, in resource \"aws_lb\" \"front\":\n  12:   enable_http2 = \"yes\"\n\nUse true instead.\n".into() }],
        applied: None,
        standing: Vec::new(),
    }
}

/// A run whose plan no longer fits.
pub(super) fn rejected() -> RunReport {
    let mut waived = Verdict::new(
        Stage::Resources,
        Outcome::Warn,
        "the tags differ, and somebody accepted that",
    )
    .on("module.network.aws_subnet.private[\"eu-west-1a\"]");
    waived.waived_by = Some(Principal::from_stored("arn:aws:iam::111122223333:user/grace"));
    RunReport {
        status: "rejected".into(),
        tone: Tone::Bad,
        next: None,
        path: vec![
            step("Asked for", Progress::Done, "git:ada"),
            step("Fetched", Progress::Done, ""),
            step("Planned", Progress::Done, "10 changes"),
            step("Approved", Progress::Done, "grace"),
            step("Checked", Progress::Stopped, "rejected"),
            step("Applied", Progress::Skipped, ""),
        ],
        verdicts: vec![
            Verdict::new(Stage::Authenticity, Outcome::Pass, "ours, whole, unexpired and unused"),
            Verdict::new(Stage::Lineage, Outcome::Pass, "this estate's"),
            Verdict::new(Stage::Serial, Outcome::Warn, "run 77b1 wrote meanwhile"),
            Verdict::reject(Stage::Resources, RejectCode::Drifted, "the instance is not what the plan rests on")
                .on("module.service.aws_instance.web[0]")
                .compared("\"t3.small\"", "\"t3.xlarge\"")
                .remedy("plan again, or accept it with -accept-drift=module.service.aws_instance.web[0].instance_type"),
            waived,
            Verdict::new(Stage::Upstream, Outcome::NotChecked, "the plan uses no other estate's outputs"),
        ],
        ..waiting()
    }
}

/// A run that ended well.
pub(super) fn applied() -> RunReport {
    let outputs: BTreeMap<Arc<str>, Value> = [
        ("endpoint".into(), Value::string("https://shop-b.example.com")),
        ("admin_password".into(), Value::string("hunter3-hunter3").sensitive()),
    ]
    .into_iter()
    .collect();
    let mut run = waiting();
    for step in &mut run.path {
        step.progress = Progress::Done;
    }
    run.facts.push(Fact::code("Approved by", "arn:aws:iam::111122223333:user/grace"));
    RunReport {
        status: "applied".into(),
        tone: Tone::Good,
        next: None,
        messages: Vec::new(),
        applied: Some(AppliedReport {
            summary: "Apply complete! Resources: 5 added, 4 changed, 2 destroyed.".into(),
            outputs: OutputReport::current(&outputs),
        }),
        ..run
    }
}

/// As many changes as a large estate may have.
pub(super) fn many(count: usize) -> RunReport {
    let mut run = waiting();
    let Some(plan) = &mut run.plan else { return run };
    let samples = plan.changes.clone();
    plan.changes = (0..count)
        .map(|i| {
            let sample = &samples[i % samples.len()];
            let module = format!("module.region[\"r{}\"].{}", i % 50, sample.module);
            let local = sample.local_address().split('[').next().unwrap_or_default().to_owned();
            ChangeReport { address: format!("{module}.{local}[{i}]"), module, ..sample.clone() }
        })
        .collect();
    run
}

/// Three estates over two weeks.
pub(super) fn drift() -> DriftReport {
    let changes = PlanReport::new(&PlanView::new(&plan())).drift;
    let look =
        |estate: &str, day: i64, outcome: DriftOutcome, objects: usize, code: Option<&str>| {
            DriftLook {
                run: format!("{estate}-{day}"),
                at: 1_768_800_000 - day * 86_400,
                outcome,
                objects,
                code: code.map(str::to_owned),
                link: Some(format!("https://api.example/runs/{estate}-{day}?estate={estate}")),
            }
        };
    let looks = |estate: &str, drifted: fn(i64) -> bool, fails: fn(i64) -> bool| {
        let of = |day: i64| match (fails(day), drifted(day)) {
            (true, _) => {
                (look(estate, day, DriftOutcome::NotChecked, 0, Some("providers")), Vec::new())
            }
            (false, true) => (look(estate, day, DriftOutcome::Drifted, 1, None), changes.clone()),
            (false, false) => (look(estate, day, DriftOutcome::Clean, 0, None), Vec::new()),
        };
        EstateDrift::new(estate, (0..14).map(of).collect())
    };
    DriftReport::new(vec![
        looks("shop-production", |day| day < 4 || day == 9, |_| false),
        looks("network", |day| day > 6, |day| day < 2),
        looks("identity", |_| false, |_| false),
        looks("billing", |day| day == 11, |_| false),
    ])
}

/// The same with every text that comes from elsewhere replaced.
pub(super) fn with_texts(mut run: RunReport, text: &str) -> RunReport {
    let own = || text.to_owned();
    run.estate = own();
    run.status = own();
    run.run = Some(own());
    for fact in &mut run.facts {
        (fact.name, fact.value) = (own(), own());
    }
    for step in &mut run.path {
        (step.name, step.note) = (own(), own());
    }
    if let Some(next) = &mut run.next {
        next.sentence = own();
        next.commands.iter_mut().for_each(|(what, command)| (*what, *command) = (own(), own()));
    }
    run.messages.iter_mut().for_each(|message| message.text = own());
    for verdict in &mut run.verdicts {
        verdict.message = own();
        for field in [
            &mut verdict.address,
            &mut verdict.path,
            &mut verdict.planned,
            &mut verdict.actual,
            &mut verdict.remedy,
        ] {
            *field = Some(own());
        }
        verdict.waived_by = Some(Principal::from_stored(text));
    }
    if let Some(plan) = &mut run.plan {
        plan.id = Some(own());
        for change in plan.changes.iter_mut().chain(&mut plan.drift) {
            change.address = format!("module.x.{text}");
            change.module = "module.x".to_owned();
            change.ty = own();
            change.action = Action::DeleteThenCreate;
            for field in [
                &mut change.moved_from,
                &mut change.deposed,
                &mut change.imported,
                &mut change.reason,
                &mut change.holds,
            ] {
                *field = Some(own());
            }
            with_text(&mut change.rows, text);
        }
        for output in &mut plan.outputs {
            output.name = own();
            with_text(&mut output.rows, text);
        }
        for resource in &mut plan.resources {
            resource.address = format!("module.x.{text}");
            resource.module = "module.x".to_owned();
        }
    }
    run.standing = vec![(format!("module.x.{text}"), ChangeStanding::Failed)];
    run
}

fn with_text(rows: &mut [views::run_report::DiffRow], text: &str) {
    use views::run_report::RowValue;
    for row in rows {
        if !row.name.is_empty() {
            row.name = text.to_owned();
        }
        match &mut row.value {
            RowValue::Text(value) | RowValue::Open(value) | RowValue::Close(value) => {
                *value = text.to_owned()
            }
            RowValue::Line(value) | RowValue::Note(value) => *value = text.to_owned(),
            RowValue::Change(before, after) => {
                (*before, *after) = (text.to_owned(), text.to_owned())
            }
            RowValue::Hidden(..) => {}
        }
    }
}
