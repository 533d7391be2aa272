use crate::support::{DAY, NOW, address, instance, object, provider};
use engine::changes::{Action, ActionReason, Changes, OutputChange, ResourceInstanceChange};
use engine::identifiers::PlanId;
use engine::object::{DeposedKey, Object, ObjectStatus};
use engine::plan::{Plan, PlanMode, RefreshedInstance, Schemas, Seen};
use engine::reads::{LookedAt, ReadPath};
use engine::record::key::EstateName;
use engine::saved_plan::{
    Bundle, ENGINE_VERSION, HmacKey, LockedProvider, PlanOptions, PlanVerifier, SavedPlan,
    SavedPlanError, SetMember, UnverifiedPlan,
};
use engine::state::{Lineage, OutputState, Revision, State};
use proptest::prelude::*;
use records::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use values::address::{ProviderAddress, ResourceMode};
use values::schema::{
    Attribute, AttributeType, Block, NestedAttributes, NestedBlock, Nesting, Schema,
};
use values::{Marks, Path, PathStep, Refinement, Type, Value};

pub(crate) fn key() -> HmacKey {
    HmacKey::new([7; 32])
}

pub(crate) fn schema() -> Schema {
    let string = || Attribute::plain(Type::String);
    let secret = Attribute { sensitive: true, ..string().optional() };
    let write_only = Attribute { write_only: true, ..string().optional() };
    let rule = Block {
        attributes: [
            ("port".into(), Attribute::plain(Type::Number).required()),
            ("key".into(), write_only.clone()),
        ]
        .into(),
        ..Block::default()
    };
    let nested = NestedAttributes {
        nesting: Nesting::Map,
        attributes: [
            ("size".into(), Attribute::plain(Type::Number)),
            ("hidden".into(), write_only.clone()),
        ]
        .into(),
    };
    let disks = Attribute { ty: AttributeType::Nested(nested), ..string().optional() };
    Schema {
        version: 3,
        block: Block {
            attributes: [
                ("id".into(), string().computed()),
                ("name".into(), string().required()),
                ("password".into(), secret),
                ("token".into(), write_only),
                ("tags".into(), Attribute::plain(Type::map(Type::String)).optional()),
                ("ports".into(), Attribute::plain(Type::list(Type::Number)).optional()),
                ("disks".into(), disks),
            ]
            .into(),
            blocks: [(
                "rule".into(),
                NestedBlock { nesting: Nesting::Set, min_items: 0, max_items: 0, block: rule },
            )]
            .into(),
            ..Block::default()
        },
    }
}

pub(crate) fn rule(port: i64, key: Option<&str>) -> Value {
    let key = key.map_or(Value::null(Type::String), Value::from);
    Value::object([("port", Value::number(port)), ("key", key)])
}

/// An object of [`schema`] with some attributes set.
pub(crate) fn thing(attributes: &[(&str, Value)]) -> Object {
    let empty = schema().block.empty_value();
    let mut members = empty.as_map().unwrap().clone();
    members.insert("name".into(), Value::string("a"));
    for (name, value) in attributes {
        members.insert((*name).into(), value.clone());
    }
    Object {
        value: Value::object(members),
        identity: None,
        private: Arc::from(&b"p"[..]),
        dependencies: Arc::from([]),
        create_before_destroy: false,
        prevent_destroy: false,
        status: ObjectStatus::Ready,
    }
}

/// One attribute, with a sensitive value.
pub(crate) fn looked_at(attribute: &str) -> LookedAt {
    let planned = Some(Value::string("planned").sensitive());
    LookedAt::Paths(vec![ReadPath { path: Path::attribute(attribute), planned }])
}

pub(crate) fn refreshed(current: Option<Object>) -> RefreshedInstance {
    RefreshedInstance {
        provider: provider(),
        seen: Seen::InTheWorld,
        configuration: None,
        current,
        deposed: BTreeMap::new(),
    }
}

pub(crate) fn change(
    text: &str,
    action: Action,
    before: Value,
    after: Value,
) -> ResourceInstanceChange {
    ResourceInstanceChange {
        address: address(text),
        previous_address: None,
        deposed: None,
        provider: provider(),
        action,
        reason: None,
        before,
        after,
        requires_replace: Vec::new(),
        private: Arc::from([]),
        dependencies: Arc::from([]),
        create_before_destroy: false,
    }
}

/// A plan that updates `test_thing.a`, which it read, and that read `test_thing.b`.
pub(crate) fn plan() -> SavedPlan {
    let before = thing(&[("id", Value::string("i-1"))]);
    let after = Value::object([("id", Value::unknown_not_null(Type::String))]);
    let mut update = change("test_thing.a", Action::Update, before.value.clone(), after);
    update.requires_replace = vec![Path(vec![
        PathStep::Attribute("rule".into()),
        PathStep::Element(rule(1, None)),
        PathStep::Key("k".into()),
        PathStep::Index(2),
    ])];
    update.reason = Some(ActionReason::ReplaceByTriggers);
    update.deposed = Some(DeposedKey::new([9; 4]));
    update.previous_address = Some(address("test_thing.old"));
    update.private = Arc::from(&b"\x00\xff"[..]);
    update.dependencies = Arc::from([address("data.test_thing.d").config()]);
    let mut a = instance("i-1");
    a.version = Some(Version::new("v1"));
    a.revision = Revision("r1".into());
    a.deposed.insert(DeposedKey::new([9; 4]), object("i-0"));
    let previous = State {
        lineage: Some(Lineage("lineage".into())),
        serial: 4,
        instances: [(address("test_thing.a"), Arc::new(a))].into(),
        outputs: [(
            "o".into(),
            OutputState { value: Value::string("x").sensitive(), version: Some(Version::new("v")) },
        )]
        .into(),
        ..State::default()
    };
    let mut read = refreshed(Some(before));
    read.deposed.insert(DeposedKey::new([9; 4]), thing(&[]));
    let output = OutputChange {
        action: Action::Create,
        before: Value::dynamic_null(),
        after: Value::tuple([Value::dynamic(), Value::bool(true).sensitive()]),
        sensitive: true,
    };
    let member = |version: &str, revision: &str| SetMember {
        version: Version::new(version),
        revision: Revision(revision.into()),
        looked_at: LookedAt::Paths(Vec::new()),
    };
    SavedPlan {
        id: PlanId::from_stored("plan-1"),
        created: NOW,
        expires: NOW + DAY,
        engine: ENGINE_VERSION.into(),
        estate: EstateName::new("prod").unwrap(),
        lineage: Some(Lineage("lineage".into())),
        serial: 4,
        bundle: Bundle { files: [("main.tf".into(), bytes::Bytes::from_static(b"# \xff"))].into() },
        providers: [(
            ProviderAddress::implied("test"),
            LockedProvider {
                version: "1.2.3".into(),
                hashes: ["h1:a".into(), "zh:b".into()].into(),
            },
        )]
        .into(),
        write_set: [(address("test_thing.a"), member("v1", "r1"))].into(),
        read_set: [(
            address("test_thing.b"),
            SetMember { looked_at: looked_at("tags"), ..member("v2", "r2") },
        )]
        .into(),
        key_sets: [address("test_thing.b").containing()].into(),
        ignored: [(address("test_thing.a"), vec![Path::attribute("ports")])].into(),
        ephemeral_variables: BTreeSet::new(),
        options: PlanOptions { targets: vec!["test_thing.a".into()], ..PlanOptions::default() },
        snapshot: Vec::new(),
        plan: Plan {
            mode: PlanMode::Normal,
            timestamp: NOW,
            variables: [("v".into(), Value::string("s").sensitive())].into(),
            changes: Changes { resources: vec![update], outputs: [("o".into(), output)].into() },
            drift: vec![change(
                "test_thing.a",
                Action::Update,
                Value::dynamic_null(),
                Value::number(1_i64),
            )],
            prior: Arc::new(previous.clone()),
            previous: Arc::new(previous),
            targeted: false,
            moves: Arc::default(),
            imports: Default::default(),
            checks: Default::default(),
            reads: Default::default(),
            refreshed: [
                (address("test_thing.a"), read),
                (address("test_thing.b"), refreshed(Some(thing(&[])))),
            ]
            .into(),
            schemas: Schemas(
                [(
                    (
                        ProviderAddress::implied("test"),
                        ResourceMode::Managed,
                        Arc::from("test_thing"),
                    ),
                    Arc::new(schema()),
                )]
                .into(),
            ),
            complete: true,
        },
    }
}

pub(crate) async fn file(plan: &SavedPlan) -> Vec<u8> {
    plan.encode(&key()).await.unwrap().bytes.to_vec()
}

fn back(plan: &SavedPlan) -> SavedPlan {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let bytes = runtime.block_on(file(plan));
    UnverifiedPlan::parse(&bytes).unwrap().contents_for_showing().clone()
}

fn assert_same(a: &SavedPlan, b: &SavedPlan) {
    // Marks are not in the programmer's form of sensitive values; compare those apart.
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
    assert_eq!(a.plan.variables, b.plan.variables);
    assert_eq!(a.plan.changes.resources, b.plan.changes.resources);
    assert_eq!(a.plan.changes.outputs, b.plan.changes.outputs);
    assert_eq!(a.plan.drift, b.plan.drift);
    assert_eq!(a.plan.refreshed, b.plan.refreshed);
    assert_eq!(a.plan.previous.instances, b.plan.previous.instances);
    assert_eq!(a.plan.previous.outputs, b.plan.previous.outputs);
    assert_eq!(a.write_set, b.write_set);
    assert_eq!(a.read_set, b.read_set);
    assert_eq!(a.key_sets, b.key_sets);
    assert_eq!(a.bundle, b.bundle);
}

#[test]
fn a_plan_comes_back_as_it_was() {
    assert_same(&back(&plan()), &plan());
}

#[test]
fn ephemeral_variables_are_named_and_others_refused() {
    let token = Value::string("t0k3n").with_marks(Marks::EPHEMERAL);
    let mut saved = plan();
    saved.plan.variables.insert("token".into(), token.clone());
    let again = back(&saved);
    assert!(!again.plan.variables.contains_key("token"));
    assert!(again.ephemeral_variables.contains("token"));

    saved.plan.changes.resources[0].after = Value::object([("x", token)]);
    let error = saved.pack().err().unwrap();
    assert!(matches!(error, SavedPlanError::Ephemeral { .. }));
    assert!(error.to_string().starts_with("test_thing.a holds an ephemeral value"), "{error}");
}

#[tokio::test]
async fn every_cut_and_every_flipped_bit_is_one_clear_error() {
    let bytes = file(&plan()).await;
    for cut in 0..bytes.len() {
        assert!(UnverifiedPlan::parse(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    let longer = [&bytes[..], b"x"].concat();
    assert!(matches!(UnverifiedPlan::parse(&longer), Err(SavedPlanError::WrongLength { .. })));
    let digest = *UnverifiedPlan::parse(&bytes).unwrap().digest();
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        // Only the MAC itself is not covered by the digest; that is what verifying is for.
        if let Ok(parsed) = UnverifiedPlan::parse(&flipped) {
            assert_eq!(*parsed.digest(), digest, "flipped at {at}");
            let signature = parsed.signature();
            let genuine = key().verify(&digest, signature).await.unwrap();
            let same_mac = bytes[at].is_ascii_alphanumeric() && genuine;
            assert!(!genuine || same_mac, "flipped at {at}");
        }
    }
}

#[test]
fn what_is_no_plan_is_said_to_be_none() {
    for other in [&b""[..], b"PK\x03\x04 a zip file", b"{\"format_version\":\"1.2\"}", &[0xff; 100]]
    {
        assert!(matches!(UnverifiedPlan::parse(other), Err(SavedPlanError::NotAPlan)));
    }
    let future = [&b"PLUMBPLN"[..], &[0, 9], &[0; 40]].concat();
    let error = UnverifiedPlan::parse(&future).unwrap_err();
    assert!(matches!(error, SavedPlanError::UnknownFormat { found: 9 }), "{error}");
    let long_header = [&b"PLUMBPLN"[..], &[0, 1], &[0xff; 4]].concat();
    assert!(UnverifiedPlan::parse(&long_header).is_err());
}

#[test]
fn a_bomb_is_not_unpacked() {
    let header = serde_json::json!({
        "engine": ENGINE_VERSION, "content_length": 1_u64 << 40, "compressed_length": 4,
        "digest": "", "signature": { "algorithm": "", "key": "", "mac": "" },
    });
    let header = header.to_string();
    let length = u32::try_from(header.len()).unwrap().to_be_bytes();
    let bomb = [&b"PLUMBPLN"[..], &[0, 1], &length, header.as_bytes(), &[0; 4]].concat();
    let error = UnverifiedPlan::parse(&bomb).unwrap_err();
    assert!(matches!(error, SavedPlanError::TooLarge { .. }), "{error}");
}

#[test]
fn the_digest_of_a_bundle_depends_on_where_a_file_ends() {
    let bundle = |files: &[(&str, &'static str)]| {
        let files =
            files.iter().map(|(p, c)| (Arc::from(*p), bytes::Bytes::from_static(c.as_bytes())));
        Bundle { files: files.collect() }.digest()
    };
    assert_ne!(bundle(&[("a", "bc")]), bundle(&[("ab", "c")]));
    assert_ne!(bundle(&[("a", "b"), ("c", "")]), bundle(&[("a", "b")]));
}

#[tokio::test]
async fn only_the_key_that_signed_verifies() {
    let encoded = plan().encode(&key()).await.unwrap();
    let parsed = UnverifiedPlan::parse(&encoded.bytes).unwrap();
    assert_eq!(*parsed.digest(), encoded.digest);
    assert!(key().verify(parsed.digest(), parsed.signature()).await.unwrap());
    assert!(!HmacKey::new([8; 32]).verify(parsed.digest(), parsed.signature()).await.unwrap());
    assert!(!format!("{:?}", key()).contains("7, 7"));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::bool),
        any::<i64>().prop_map(Value::number),
        "[a-zé]{0,6}".prop_map(Value::from),
        Just(Value::null(Type::String)),
        Just(Value::dynamic_null()),
        Just(Value::dynamic()),
        Just(Value::unknown_not_null(Type::list(Type::Bool))),
        "[a-z]{1,6}".prop_map(|p| Value::unknown_refined(
            Type::String,
            Refinement { not_null: true, string_prefix: Some(p.into()), ..Refinement::default() },
        )),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let marked = inner.clone().prop_map(Value::sensitive);
        let item = prop_oneof![3 => inner, 1 => marked];
        prop_oneof![
            prop::collection::vec(item.clone(), 0..4).prop_map(Value::tuple),
            prop::collection::btree_map("[a-z]{1,3}", item, 0..4).prop_map(Value::object),
            prop::collection::vec("[a-z]{0,3}", 0..4).prop_map(|items| {
                Value::set(Type::String, items.into_iter().map(Value::from).collect()).sensitive()
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_values_round_trip(before in value(), after in value(), input in value()) {
        let mut saved = plan();
        saved.plan.changes.resources[0].before = before;
        saved.plan.changes.resources[0].after = after;
        saved.plan.variables.insert("input".into(), input);
        assert_same(&back(&saved), &saved);
    }

    #[test]
    fn noise_never_panics(bytes in any::<Vec<u8>>()) {
        let _ = UnverifiedPlan::parse(&bytes);
        let framed = [&b"PLUMBPLN\0\x01\0\0\0\x02{}"[..], &bytes].concat();
        prop_assert!(UnverifiedPlan::parse(&framed).is_err());
    }
}
