//! Fixtures: a clock that stands, randomness that repeats, one small estate.

use engine::clock::Clock;
use engine::estate::{Estate, EstateReading};
use engine::identifiers::{PlanId, Principal, RunId};
use engine::object::{ObjectStatus, StoredIdentity, StoredObject};
use engine::random::Random;
use engine::record::body::{ClaimedAction, ClaimedObject};
use engine::record::key::EstateName;
use engine::recorder::Call;
use engine::state::InstanceState;
use engine::transaction::{Begun, Executing, Member, Terms, Transaction, TransactionRequest};
use records::RecordStore;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use values::address::{ProviderAddress, ProviderConfigAddress, ResourceInstance};

pub(crate) const NOW: i64 = 1_700_000_000;
pub(crate) const DAY: i64 = 24 * 60 * 60;

pub(crate) struct TestClock(pub(crate) AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(self.0.load(Ordering::Relaxed)).unwrap()
    }
    fn elapsed(&self) -> std::time::Duration {
        std::time::Duration::from_secs(self.0.load(Ordering::Relaxed).unsigned_abs())
    }
}

/// Never the same bytes twice in a test.
pub(crate) struct Counter(pub(crate) AtomicU64);

impl Random for Counter {
    fn fill(&self, bytes: &mut [u8]) {
        let n = self.0.fetch_add(1, Ordering::Relaxed);
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = n.to_le_bytes().get(i).copied().unwrap_or(0x5a);
        }
    }
}

pub(crate) fn clock() -> Arc<TestClock> {
    Arc::new(TestClock(AtomicI64::new(NOW)))
}

/// Each has a randomness of its own: `seed` keeps two of them apart.
pub(crate) fn estate_with(store: Arc<dyn RecordStore>, clock: Arc<TestClock>, seed: u64) -> Estate {
    let random = Arc::new(Counter(AtomicU64::new(seed << 32)));
    Estate::open(store, "state", EstateName::new("prod").unwrap(), clock, random).unwrap()
}

pub(crate) fn estate(store: Arc<dyn RecordStore>) -> Estate {
    estate_with(store, clock(), 1)
}

pub(crate) fn address(text: &str) -> ResourceInstance {
    text.parse().unwrap()
}

pub(crate) fn provider() -> ProviderConfigAddress {
    ProviderConfigAddress {
        module: values::address::ModulePath::root(),
        provider: ProviderAddress::implied("test"),
        alias: None,
    }
}

pub(crate) fn object(id: &str) -> StoredObject {
    StoredObject {
        provider: provider(),
        schema_version: 3,
        attributes: format!(r#"{{"id":"{id}","big":12345678901234567890.125}}"#).into(),
        sensitive_paths: vec![values::Path::attribute("id")],
        identity: Some(StoredIdentity { schema_version: 1, attributes: r#"{"arn":"a"}"#.into() }),
        private: Arc::from(&b"\x00\xff private"[..]),
        dependencies: Arc::from([address("module.a.test_thing.base").config()]),
        create_before_destroy: true,
        prevent_destroy: false,
        status: ObjectStatus::Ready,
    }
}

pub(crate) fn instance(id: &str) -> InstanceState {
    InstanceState { current: Some(object(id)), ..InstanceState::default() }
}

pub(crate) fn request(plan: &str, run: &str) -> TransactionRequest {
    TransactionRequest {
        plan: PlanId::from_stored(plan),
        plan_digest: format!("digest of {plan}"),
        expires: NOW + DAY,
        run: RunId::from_stored(run),
        principal: Principal::from_stored("ada"),
        approved_by: None,
        deadline: None,
        terms: Terms::default(),
    }
}

/// A transaction that has the lease of a plan that nobody has decided on.
pub(crate) async fn undecided(estate: &Estate, request: TransactionRequest) -> Transaction {
    match Transaction::begin(estate, request).await.unwrap() {
        Begun::Undecided(transaction) => *transaction,
        Begun::Decided(_) => panic!("an earlier invocation has decided"),
    }
}

/// A transaction that is decided, from a fresh reading, and that claims nothing.
pub(crate) async fn executing(estate: &Estate, plan: &str) -> Executing {
    let reading = estate.read().await.unwrap();
    executing_from(estate, plan, reading).await
}

pub(crate) async fn executing_from(
    estate: &Estate,
    plan: &str,
    reading: EstateReading,
) -> Executing {
    let begun = undecided(estate, request(plan, &format!("run-{plan}"))).await;
    begun.execute(reading, None).await.unwrap()
}

/// Members as a plan of the present records has them.
pub(crate) async fn members_now(
    estate: &Estate,
    actions: &[(&str, ClaimedAction)],
) -> BTreeMap<ResourceInstance, Member> {
    let reading = estate.read().await.unwrap();
    let member = |(name, action): &(&str, ClaimedAction)| {
        let address = address(name);
        let (_, revision) = reading.version_and_revision(&address);
        (address, Member::new(revision, *action))
    };
    actions.iter().map(member).collect()
}

/// A transaction that has claimed and decided.
pub(crate) async fn claiming(
    estate: &Estate,
    plan: &str,
    actions: &[(&str, ClaimedAction)],
) -> Executing {
    let members = members_now(estate, actions).await;
    let mut request = request(plan, &format!("run-{plan}"));
    // What it leaves in flight is not waited for at its end.
    request.terms.margin = 0;
    let mut begun = undecided(estate, request).await;
    assert_eq!(begun.claim(members, None).await.unwrap(), []);
    let reading = estate.read().await.unwrap();
    begun.execute(reading, None).await.unwrap()
}

/// The call that creates, changes or deletes the current object.
pub(crate) fn call(action: ClaimedAction) -> Call {
    Call::new(ClaimedObject::Current, action)
}
