use crate::saved_plan::{change, file, key, looked_at, plan, refreshed, rule, thing};
use crate::support::{
    DAY, NOW, address, clock, estate, estate_with, executing, instance, request, undecided,
};
use engine::changes::Action;
use engine::estate::{Estate, EstateReading};
use engine::identifiers::{PlanId, RunId};
use engine::object::DeposedKey;
use engine::plan::RefreshedInstance;
use engine::record::body::{ClaimedAction, Phase, TransactionBody};
use engine::recorder::{Recorder, Step};
use engine::saved_plan::{
    ENGINE_VERSION, HmacKey, LockedProvider, SavedPlan, SetMember, UnverifiedPlan,
};
use engine::stages::{
    AuthenticityFacts, Facts, Waiver, World, authenticate, check_lineage, check_records,
    check_resources, check_serial, check_snapshot, check_upstream, compare_snapshot,
    validate_saved_plan,
};
use engine::state::{InstanceState, Lineage, Revision};
use engine::transaction::{Member, Others, Terms, Transaction, members};
use engine::verdict::{Outcome, RejectCode, Stage, Verdict};
use records::{CountingStore, MemoryStore, RecordStore};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::{ProviderAddress, ResourceInstance};
use values::{Type, Value};

fn facts<'a>() -> AuthenticityFacts<'a> {
    AuthenticityFacts {
        now: NOW,
        engine: ENGINE_VERSION,
        bundle_digest: None,
        providers: None,
        transaction: None,
        run: None,
    }
}

fn one(verdicts: Vec<Verdict>) -> Verdict {
    assert_eq!(verdicts.len(), 1, "{verdicts:#?}");
    verdicts.into_iter().next().unwrap()
}

async fn authenticity(plan: &SavedPlan, facts: AuthenticityFacts<'_>) -> Verdict {
    let parsed = UnverifiedPlan::parse(&file(plan).await).unwrap();
    let (verdicts, authenticated) = authenticate(parsed, &key(), &facts).await.unwrap();
    let verdict = one(verdicts);
    assert_eq!(authenticated.is_some(), verdict.outcome == Outcome::Pass);
    assert_eq!(verdict.stage, Stage::Authenticity);
    verdict
}

fn rejects(verdict: &Verdict, code: RejectCode, words: &str) {
    assert_eq!(verdict.outcome, Outcome::Reject, "{verdict}");
    assert_eq!(verdict.code, Some(code), "{verdict}");
    assert!(verdict.to_string().contains(words), "{verdict}");
    assert!(verdict.remedy.as_deref().is_some_and(|r| !r.is_empty()), "{verdict}");
}

#[tokio::test]
async fn authenticity_passes_and_each_mismatch_rejects() {
    let saved = plan();
    assert_eq!(authenticity(&saved, facts()).await.outcome, Outcome::Pass);
    let unauthentic = RejectCode::Unauthentic;
    let late = AuthenticityFacts { now: NOW + DAY, ..facts() };
    rejects(&authenticity(&saved, late).await, unauthentic, "expired");
    let engine = AuthenticityFacts { engine: "9.9.9", ..facts() };
    rejects(&authenticity(&saved, engine).await, unauthentic, "another version of Plumbline");
    let bundle = AuthenticityFacts { bundle_digest: Some("00"), ..facts() };
    rejects(&authenticity(&saved, bundle).await, unauthentic, "the configuration is not the one");
    let digest = saved.bundle.digest();
    let bundle = AuthenticityFacts { bundle_digest: Some(&digest), ..facts() };
    assert_eq!(authenticity(&saved, bundle).await.outcome, Outcome::Pass);
    let mut partial = plan();
    partial.plan.complete = false;
    rejects(&authenticity(&partial, facts()).await, unauthentic, "made with errors");
}

#[tokio::test]
async fn a_foreign_or_changed_plan_is_rejected() {
    let parsed = UnverifiedPlan::parse(&file(&plan()).await).unwrap();
    let other = HmacKey::new([1; 32]);
    let (verdicts, plan) = authenticate(parsed, &other, &facts()).await.unwrap();
    assert!(plan.is_none());
    rejects(&one(verdicts), RejectCode::Unauthentic, "MAC");
}

#[tokio::test]
async fn providers_must_be_those_of_the_plan() {
    let address = ProviderAddress::implied("test");
    let locked = |version: &str, hash: &str| {
        let lock = LockedProvider { version: version.into(), hashes: [hash.into()].into() };
        BTreeMap::from([(address.clone(), lock)])
    };
    for (installed, words) in [
        (locked("1.2.4", "h1:a"), "another version"),
        (locked("1.2.3", "h1:other"), "another package"),
        (BTreeMap::new(), "not installed"),
    ] {
        let facts = AuthenticityFacts { providers: Some(&installed), ..facts() };
        rejects(&authenticity(&plan(), facts).await, RejectCode::Unauthentic, words);
    }
    let same = locked("1.2.3", "zh:b");
    let facts = AuthenticityFacts { providers: Some(&same), ..facts() };
    assert_eq!(authenticity(&plan(), facts).await.outcome, Outcome::Pass);
}

#[tokio::test]
async fn a_plan_that_was_used_is_rejected() {
    let estate = estate(Arc::new(MemoryStore::new()));
    let begun = Transaction::begin(&estate, request("plan-1", "r1")).await.unwrap();
    let found = Transaction::find(&estate, &plan().id).await.unwrap().unwrap();
    let with = |transaction: TransactionBody, run: Option<&'static str>| async move {
        let run = run.map(RunId::from_stored);
        let facts =
            AuthenticityFacts { transaction: Some(&transaction), run: run.as_ref(), ..facts() };
        authenticity(&plan(), facts).await
    };
    rejects(&with(found.clone(), None).await, RejectCode::Busy, "r1 of ada is applying this plan");
    assert_eq!(with(found.clone(), Some("r1")).await.outcome, Outcome::Pass);
    let waiting = TransactionBody { phase: Phase::Waiting, ..found.clone() };
    assert_eq!(with(waiting, None).await.outcome, Outcome::Pass);
    let dead = TransactionBody { lease_until: NOW, ..found.clone() };
    assert_eq!(with(dead, None).await.outcome, Outcome::Pass);
    let done = TransactionBody { phase: Phase::Done, ..found };
    rejects(&with(done, None).await, RejectCode::Unauthentic, "r1 of ada left it done");
    drop(begun);
}

async fn records_stage(
    estate: &Estate,
    saved: &SavedPlan,
    reading: &EstateReading,
) -> Vec<Verdict> {
    let others = Others::of(estate, reading, &Terms::default()).await.unwrap();
    check_records(saved, reading, &others)
}

/// An estate with `test_thing.a` and `test_thing.b`, and a plan that rests on them.
async fn planned() -> (Arc<CountingStore<MemoryStore>>, Estate, SavedPlan) {
    let store = Arc::new(CountingStore::new(MemoryStore::new()));
    let estate = estate(store.clone());
    let run = executing(&estate, "p0").await;
    for name in ["test_thing.a", "test_thing.b"] {
        run.recorder().write(&address(name), &instance("i"), Step::Done).await.unwrap();
    }
    run.commit().await.unwrap();
    let reading = estate.read().await.unwrap();
    let mut saved = plan();
    saved.lineage = reading.state.lineage.clone();
    saved.serial = reading.state.serial;
    saved.plan.previous = reading.state.clone();
    let resolve = |set: &mut BTreeMap<ResourceInstance, SetMember>| {
        for (address, member) in set {
            (member.version, member.revision) = reading.version_and_revision(address);
        }
    };
    resolve(&mut saved.write_set);
    resolve(&mut saved.read_set);
    (store, estate, saved)
}

#[tokio::test]
async fn lineage_covers_the_same_another_a_vanished_and_a_new_estate() {
    let (_, estate, saved) = planned().await;
    let reading = estate.read().await.unwrap();
    let check = |saved: &SavedPlan, reading: &EstateReading| {
        one(check_lineage(saved, estate.name(), reading))
    };
    assert_eq!(check(&saved, &reading).outcome, Outcome::Pass);
    let gone = EstateReading::default();
    rejects(&check(&saved, &gone), RejectCode::Stale, "are gone");
    let mut none_yet = saved.clone();
    none_yet.lineage = None;
    assert!(check(&none_yet, &reading).message.contains("has got one since"));
    assert!(check(&none_yet, &gone).message.contains("has no lineage yet"));
    let mut other = saved.clone();
    other.lineage = Some(Lineage("other".into()));
    rejects(&check(&other, &reading), RejectCode::Stale, "belong to another estate");
    let mut named = saved;
    named.estate = engine::record::key::EstateName::new("staging").unwrap();
    rejects(&check(&named, &reading), RejectCode::Stale, "made for another estate");
}

#[tokio::test]
async fn a_serial_that_moved_warns_with_the_runs_in_between() {
    let (_, estate, saved) = planned().await;
    let reading = estate.read().await.unwrap();
    assert_eq!(one(check_serial(&saved, &reading)).outcome, Outcome::Pass);
    // Our own transaction does not count.
    let begun = undecided(&estate, request("plan-1", "r1")).await;
    let now = estate.read().await.unwrap();
    assert_eq!(one(check_serial(&saved, &now)).outcome, Outcome::Pass);
    begun.put_off().await.unwrap();
    let run = executing(&estate, "p7").await;
    run.recorder().write(&address("test_thing.c"), &instance("i"), Step::Done).await.unwrap();
    let verdict = one(check_serial(&saved, &estate.read().await.unwrap()));
    assert_eq!(verdict.outcome, Outcome::Warn);
    assert!(verdict.message.contains("run-p7 of ada"), "{verdict}");
}

#[tokio::test]
async fn records_that_moved_are_named_with_run_and_principal() {
    let (_, estate, saved) = planned().await;
    let records = async || records_stage(&estate, &saved, &estate.read().await.unwrap()).await;
    assert_eq!(one(records().await).outcome, Outcome::Pass);
    let run = executing(&estate, "p9").await;
    // Another part of the estate, and a refresh, are no conflict.
    run.recorder().write(&address("test_thing.c"), &instance("i"), Step::Done).await.unwrap();
    run.recorder().refresh(&address("test_thing.a"), &instance("grown")).await.unwrap();
    assert_eq!(one(records().await).outcome, Outcome::Pass);
    run.recorder().write(&address("test_thing.b"), &instance("i-2"), Step::Done).await.unwrap();
    let verdict = one(records().await);
    rejects(&verdict, RejectCode::Stale, "run-p9 of ada wrote it");
    assert_eq!(verdict.address.as_deref(), Some("test_thing.b"));
    run.recorder()
        .write(&address("test_thing.b"), &InstanceState::default(), Step::Done)
        .await
        .unwrap();
    rejects(&one(records().await), RejectCode::Stale, "does no more");
}

#[tokio::test]
async fn records_that_appeared_or_were_removed_are_stale() {
    let (_, estate, mut saved) = planned().await;
    saved.write_set.insert(address("test_thing.new"), SetMember::default());
    let reading = estate.read().await.unwrap();
    assert_eq!(one(records_stage(&estate, &saved, &reading).await).outcome, Outcome::Pass);
    let run = executing(&estate, "p9").await;
    run.recorder().write(&address("test_thing.new"), &instance("i"), Step::Done).await.unwrap();
    let reading = estate.read().await.unwrap();
    rejects(
        &one(records_stage(&estate, &saved, &reading).await),
        RejectCode::Stale,
        "and does now",
    );
    let verdicts = records_stage(&estate, &saved, &EstateReading::default()).await;
    assert_eq!(verdicts.len(), 2);
    verdicts.iter().for_each(|v| rejects(v, RejectCode::Stale, "its record was removed"));
}

#[tokio::test]
async fn claims_doubts_and_strays_of_others_reject() {
    let (store, estate, saved) = planned().await;
    let a = estate.keys().instance(&address("test_thing.a")).unwrap();
    let patch = async |field: &str, value: serde_json::Value| {
        let record = store.get(&a).await.unwrap().unwrap();
        let mut body: serde_json::Value = serde_json::from_slice(&record.body).unwrap();
        body[field] = value;
        store.put_if_version(&a, body.to_string().into(), &record.version).await.unwrap();
        records_stage(&estate, &saved, &estate.read().await.unwrap()).await
    };
    let claim = |transaction: &str| {
        serde_json::json!({"transaction": transaction, "attempt": 1, "object": {"deposed": "00000001"},
            "action": "delete", "state": "claimed"})
    };
    let ended = one(patch("claim", claim("p5")).await);
    assert_eq!(ended.outcome, Outcome::Pass, "a claim ends with its transaction");
    let other = executing(&estate, "p5").await;
    let busy = one(records_stage(&estate, &saved, &estate.read().await.unwrap()).await);
    rejects(&busy, RejectCode::Busy, "(plan p5) is about to change it");
    other.commit().await.unwrap();
    let ours = executing(&estate, "plan-1").await;
    assert_eq!(one(patch("claim", claim("plan-1")).await).outcome, Outcome::Pass, "our own");
    drop(ours);
    let doubt = serde_json::json!({"transaction": "p5", "object": "current", "since": 1});
    let verdict = one(patch("doubt", doubt).await);
    rejects(&verdict, RejectCode::InDoubt, "plumb adopt 'test_thing.a'");
    patch("doubt", serde_json::Value::Null).await;
    let stray = estate.keys().stray(&address("test_thing.a"), &RunId::from_stored("r8")).unwrap();
    let body = store.get(&a).await.unwrap().unwrap().body;
    store.put_if_absent(&stray, body).await.unwrap();
    let verdict = one(records_stage(&estate, &saved, &estate.read().await.unwrap()).await);
    rejects(&verdict, RejectCode::InDoubt, "state/prod/r/s/test_5fthing.a/r8");
}

#[tokio::test]
async fn a_new_dependent_of_what_is_deleted_rejects() {
    let (_, estate, mut saved) = planned().await;
    let gone = change(
        "module.a.test_thing.base",
        Action::Delete,
        Value::empty_object(),
        Value::dynamic_null(),
    );
    saved.plan.changes.resources.push(gone);
    let reading = estate.read().await.unwrap();
    assert_eq!(
        one(records_stage(&estate, &saved, &reading).await).outcome,
        Outcome::Pass,
        "known dependents"
    );
    let run = executing(&estate, "p9").await;
    run.recorder().write(&address("test_thing.late"), &instance("i"), Step::Done).await.unwrap();
    let verdict = one(records_stage(&estate, &saved, &estate.read().await.unwrap()).await);
    rejects(&verdict, RejectCode::Stale, "depends on module.a.test_thing.base");
    assert_eq!(verdict.address.as_deref(), Some("test_thing.late"));
}

#[tokio::test]
async fn the_snapshot_costs_one_request_where_nothing_moved() {
    let (store, estate, _) = planned().await;
    let before = estate.read().await.unwrap();
    store.reset();
    let verdict = one(check_snapshot(&estate, &before).await);
    assert_eq!((verdict.stage, verdict.outcome), (Stage::Snapshot, Outcome::Pass));
    assert_eq!(store.counts().total(), 1);
    let run = executing(&estate, "p9").await;
    let verdict = one(check_snapshot(&estate, &before).await);
    assert_eq!(verdict.outcome, Outcome::Pass, "under way, and nothing changed: {verdict}");
    run.recorder().write(&address("test_thing.a"), &instance("i-2"), Step::Done).await.unwrap();
    run.recorder()
        .write(&address("test_thing.b"), &InstanceState::default(), Step::Done)
        .await
        .unwrap();
    run.recorder().write(&address("test_thing.c"), &instance("i"), Step::Done).await.unwrap();
    let verdicts = check_snapshot(&estate, &before).await;
    let named: Vec<_> = verdicts.iter().filter_map(|v| v.address.as_deref()).collect();
    assert_eq!(named, ["test_thing.a", "test_thing.b", "test_thing.c"]);
    for (verdict, words) in verdicts.iter().zip(["was changed", "was removed", "was created"]) {
        assert_eq!(verdict.outcome, Outcome::Warn);
        assert!(verdict.message.contains(words) && verdict.message.contains("run-p9"), "{verdict}");
    }
}

#[tokio::test]
async fn a_snapshot_of_nothing_of_state_removed_and_of_another_lineage() {
    let (_, estate, _) = planned().await;
    let before = estate.read().await.unwrap();
    let empty = EstateReading::default();
    let verdict = one(compare_snapshot(&empty, &before));
    assert_eq!(verdict.outcome, Outcome::NotChecked);
    let verdict = one(compare_snapshot(&before, &empty));
    assert!(verdict.outcome == Outcome::Warn && verdict.message.contains("were removed"));
    let elsewhere = estate_with(Arc::new(MemoryStore::new()), clock(), 5);
    elsewhere.create_if_absent().await.unwrap();
    let verdict = one(compare_snapshot(&before, &elsewhere.read().await.unwrap()));
    assert!(verdict.outcome == Outcome::Warn && verdict.message.contains("replaced"));
    let nowhere = estate_with(Arc::new(MemoryStore::new()), clock(), 6);
    let verdict = one(check_snapshot(&nowhere, &before).await);
    assert!(verdict.message.contains("were removed"), "{verdict}");
}

#[tokio::test]
async fn a_snapshot_that_cannot_be_read_again_warns() {
    let (store, estate, _) = planned().await;
    let before = estate.read().await.unwrap();
    let key = estate.keys().estate().unwrap();
    let version = store.get(&key).await.unwrap().unwrap().version;
    store.put_if_version(&key, "{".into(), &version).await.unwrap();
    let verdict = one(check_snapshot(&estate, &before).await);
    assert_eq!(verdict.outcome, Outcome::Warn);
    assert!(verdict.message.contains("could not be read again"), "{verdict}");
}

type Read = BTreeMap<ResourceInstance, RefreshedInstance>;

/// What the stage says when `test_thing.a` was read with `planned` and is now read with `actual`.
fn resources(planned: &[(&str, Value)], actual: &[(&str, Value)]) -> Vec<Verdict> {
    let mut saved = plan();
    let a = address("test_thing.a");
    saved.plan.refreshed.insert(a.clone(), refreshed(Some(thing(planned))));
    let mut world: Read = saved.plan.refreshed.clone();
    world.insert(a, refreshed(Some(thing(actual))));
    check_resources(&saved, World::Read(&world), &[])
}

fn passes(verdicts: Vec<Verdict>) {
    assert_eq!(one(verdicts).outcome, Outcome::Pass);
}

fn tags(team: &str) -> Value {
    Value::map(Type::String, [("team", Value::string(team))])
}

#[test]
fn the_world_as_planned_passes_and_a_change_names_attribute_and_values() {
    passes(resources(&[("tags", tags("a"))], &[("tags", tags("a"))]));
    let verdict = one(resources(&[("tags", tags("a"))], &[("tags", tags("b"))]));
    rejects(&verdict, RejectCode::Drifted, "-accept-drift='test_thing.a.tags[\"team\"]'");
    assert_eq!(verdict.path.as_deref(), Some(".tags[\"team\"]"));
    assert_eq!(verdict.planned.as_deref(), Some("\"a\""));
    assert_eq!(verdict.actual.as_deref(), Some("\"b\""));
    let ports =
        |n: &[i64]| Value::list(Type::Number, n.iter().map(|&n| Value::number(n)).collect());
    // Ignored by the configuration.
    passes(resources(&[("ports", ports(&[1]))], &[("ports", ports(&[1, 2]))]));
}

#[test]
fn sets_have_no_order_and_write_only_attributes_are_left_out() {
    let set = |rules: &[Value]| {
        let ty = rule(1, None).ty();
        ("rule", Value::set(ty, rules.to_vec()))
    };
    passes(resources(
        &[set(&[rule(1, None), rule(2, None)]), ("token", Value::string("x"))],
        &[set(&[rule(2, Some("k")), rule(1, None)])],
    ));
    let verdict = one(resources(&[set(&[rule(1, None)])], &[set(&[rule(3, None)])]));
    assert_eq!(verdict.path.as_deref(), Some(".rule"));
    assert!(verdict.planned.as_deref().is_some_and(|p| p.contains('1')), "{verdict}");
    let disks = |size: i64, hidden: &str| {
        let disk =
            Value::object([("size", Value::number(size)), ("hidden", Value::string(hidden))]);
        ("disks", Value::map(disk.ty(), [("root", disk)]))
    };
    passes(resources(&[disks(1, "a")], &[disks(1, "b")]));
    let verdict = one(resources(&[disks(1, "a")], &[disks(2, "b")]));
    assert_eq!(verdict.path.as_deref(), Some(".disks[\"root\"].size"));
}

#[test]
fn sensitive_values_are_compared_and_never_printed() {
    let password = |text: &str| [("password", Value::string(text))];
    passes(resources(&password("s3cret"), &password("s3cret")));
    for verdict in [
        one(resources(&password("s3cret"), &password("0ther"))),
        one(resources(
            &[("tags", tags("s3cret").sensitive())],
            &[("tags", tags("0ther").sensitive())],
        )),
    ] {
        assert_eq!(verdict.outcome, Outcome::Reject);
        let text = format!("{verdict} {} {verdict:?}", serde_json::to_string(&verdict).unwrap());
        assert!(!text.contains("s3cret") && !text.contains("0ther"), "{text}");
        assert_eq!(verdict.actual.as_deref(), Some("(sensitive value)"));
    }
}

#[test]
fn a_computed_attribute_that_is_newly_filled_is_reported() {
    let verdicts = resources(&[], &[("id", Value::string("i-1"))]);
    assert_eq!(verdicts[0].outcome, Outcome::Warn, "{verdicts:?}");
    assert_eq!(verdicts[0].path.as_deref(), Some(".id"));
    assert!(!verdicts.iter().any(Verdict::is_reject));
    // Unless the plan rests on it.
    let mut saved = plan();
    let mut world: Read = saved.plan.refreshed.clone();
    let b = address("test_thing.b");
    world.insert(b.clone(), refreshed(Some(thing(&[("id", Value::string("i-1"))]))));
    passes(check_resources(&saved, World::Read(&world), &[]));
    saved.read_set.get_mut(&b).unwrap().looked_at = looked_at("id");
    rejects(&one(check_resources(&saved, World::Read(&world), &[])), RejectCode::Drifted, ".id");
}

#[test]
fn what_is_gone_or_appeared_or_was_not_read_rejects() {
    let mut saved = plan();
    let (a, key) = (address("test_thing.a"), DeposedKey::new([9; 4]));
    let mut world: Read = saved.plan.refreshed.clone();
    world.get_mut(&a).unwrap().current = None;
    let check =
        |saved: &SavedPlan, world: &Read| one(check_resources(saved, World::Read(world), &[]));
    rejects(&check(&saved, &world), RejectCode::Drifted, "is gone");
    world = saved.plan.refreshed.clone();
    world.get_mut(&a).unwrap().deposed.remove(&key);
    rejects(&check(&saved, &world), RejectCode::Drifted, "the deposed object 09090909");
    world = saved.plan.refreshed.clone();
    saved.plan.refreshed.get_mut(&a).unwrap().current = None;
    rejects(&check(&saved, &world), RejectCode::Drifted, "does now");
    world.remove(&a);
    rejects(&check(&saved, &world), RejectCode::Drifted, "could not be read again");
    let verdict = one(check_resources(&saved, World::NotRead, &[]));
    assert_eq!(verdict.outcome, Outcome::NotChecked);
}

#[test]
fn a_waiver_accepts_one_finding_and_never_a_delete_of_something_unseen() {
    let mut saved = plan();
    let a = address("test_thing.a");
    let mut world: Read = saved.plan.refreshed.clone();
    world.get_mut(&a).unwrap().current = Some(thing(&[("id", "i-1".into()), ("tags", tags("b"))]));
    let waiver = |path: Option<&str>| {
        [Waiver { address: a.clone(), path: path.map(str::to_owned), principal: None }]
    };
    let check = |saved: &SavedPlan, world: &Read, waivers: &[Waiver]| {
        check_resources(saved, World::Read(world), waivers).iter().any(Verdict::is_reject)
    };
    assert!(check(&saved, &world, &[]));
    assert!(check(&saved, &world, &waiver(Some(".name"))));
    assert!(!check(&saved, &world, &waiver(Some(".tags"))));
    assert!(!check(&saved, &world, &waiver(None)));
    saved.plan.refreshed.get_mut(&a).unwrap().current = None;
    assert!(!check(&saved, &world, &waiver(None)));
    saved.plan.changes.resources =
        vec![change("test_thing.a", Action::Delete, Value::empty_object(), Value::dynamic_null())];
    assert!(check(&saved, &world, &waiver(None)));
}

#[tokio::test]
async fn validation_runs_every_stage_and_stops_at_none() {
    let (_, estate, saved) = planned().await;
    let reading = estate.read().await.unwrap();
    let world = saved.plan.refreshed.clone();
    let facts = Facts {
        authenticity: facts(),
        estate: estate.name(),
        records: Ok((&reading, &Others::default())),
        world: World::Read(&world),
        waivers: &[],
    };
    let bytes = file(&saved).await;
    let parse = || UnverifiedPlan::parse(&bytes).unwrap();
    let validation = validate_saved_plan(parse(), &key(), facts).await.unwrap();
    assert!(validation.passes(), "{:#?}", validation.verdicts);
    let stages: Vec<Stage> = validation.verdicts.iter().map(|v| v.stage).collect();
    assert!(stages.is_sorted());
    let all = [
        Stage::Snapshot,
        Stage::Authenticity,
        Stage::Lineage,
        Stage::Serial,
        Stage::Records,
        Stage::Resources,
        Stage::Upstream,
    ];
    assert!(all.iter().all(|stage| stages.contains(stage)));
    assert_eq!(one(check_upstream(&saved, World::NotRead, &[])).outcome, Outcome::NotChecked);

    let forged = validate_saved_plan(parse(), &HmacKey::new([0; 32]), facts).await.unwrap();
    assert!(forged.plan.is_none() && !forged.passes());
    assert_eq!(forged.verdicts.len(), validation.verdicts.len());
}

#[test]
fn verdicts_have_one_text_and_one_json_form() {
    let verdict = Verdict::reject(Stage::Records, RejectCode::InDoubt, "it moved")
        .on("test_thing.a")
        .compared("r1", "r2")
        .remedy("run `plumb plan`");
    let text = "records: reject: test_thing.a: it moved (planned r1, found r2); run `plumb plan`";
    assert_eq!(verdict.to_string(), text);
    let json = serde_json::to_string(&verdict).unwrap();
    assert_eq!(
        json,
        r#"{"stage":"records","outcome":"reject","code":"in_doubt","message":"it moved","address":"test_thing.a","planned":"r1","actual":"r2","remedy":"run `plumb plan`"}"#
    );
    assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), verdict);
}

#[test]
fn a_waiver_names_an_instance_or_an_attribute_of_it() {
    let waiver = |text: &str| text.parse::<Waiver>().unwrap();
    let path = |text: &str| waiver(text).path;
    assert_eq!(path("test_thing.a"), None);
    assert_eq!(path("module.m[\"x.y\"].test_thing.a[0]"), None);
    assert_eq!(path("test_thing.a.size").unwrap(), ".size");
    let deep = waiver("module.m.test_thing.a[\"k\"].tags[\"team\"]");
    assert_eq!(deep.address.to_string(), "module.m.test_thing.a[\"k\"]");
    assert_eq!(deep.path.unwrap(), ".tags[\"team\"]");
    assert!("nonsense".parse::<Waiver>().is_err());
}

#[tokio::test]
async fn of_two_plans_that_read_what_the_other_changes_one_passes_under_claim() {
    let (_, estate, saved) = planned().await;
    let mut other = saved.clone();
    other.id = PlanId::from_stored("plan-2");
    std::mem::swap(&mut other.write_set, &mut other.read_set);
    let mut smaller = undecided(&estate, request("plan-1", "r1")).await;
    let mut larger = undecided(&estate, request("plan-2", "r2")).await;
    assert_eq!(smaller.claim(members(&saved), None).await.unwrap(), []);
    assert_eq!(larger.claim(members(&other), None).await.unwrap(), []);
    let (_, verdicts) = larger.verify(&other, None).await.unwrap();
    rejects(&one(verdicts), RejectCode::Busy, "the run r1 of ada");
    let waiting = tokio::spawn(async move { smaller.verify(&saved, None).await });
    larger.put_off().await.unwrap();
    let (_, verdicts) = waiting.await.unwrap().unwrap();
    assert_eq!(one(verdicts).outcome, Outcome::Pass);
}

#[tokio::test]
async fn who_is_about_to_depend_on_what_is_deleted_is_in_the_way() {
    let (_, estate, mut saved) = planned().await;
    let gone = change(
        "module.a.test_thing.base",
        Action::Delete,
        Value::empty_object(),
        Value::dynamic_null(),
    );
    saved.plan.changes.resources.push(gone);
    let mut dependent = Member::new(Revision::default(), ClaimedAction::Create);
    dependent.dependencies = vec!["module.a.test_thing.base".into()];
    let members = BTreeMap::from([(address("test_thing.late"), dependent)]);
    let mut other = undecided(&estate, request("plan-0", "r0")).await;
    assert_eq!(other.claim(members, None).await.unwrap(), []);
    let verdict = one(records_stage(&estate, &saved, &estate.read().await.unwrap()).await);
    rejects(&verdict, RejectCode::Busy, "is about to change it");
    assert_eq!(verdict.address.as_deref(), Some("test_thing.late"));
}
