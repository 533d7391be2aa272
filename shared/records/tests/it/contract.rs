//! What runs and reports make of findings, whatever the store.

use std::collections::BTreeSet;

use async_trait::async_trait;
use bytes::Bytes;
use proptest::prelude::*;
use records::contract::{
    Access, ContractError, Decision, Finding, NoteKind, Outcome, Remedy, Report, Setting,
    StoreContract, StoreKind, WaiverError, Waivers, assert, first_contact,
};
use records::testing::{Answer, ObservedStore, Write};
use records::{
    BulkRead, Entry, Key, MemoryStore, Method, Record, RecordStore, StoreError, Version,
};

use crate::key;

/// A contract that answers what it is told to.
struct Told(Vec<Finding>);

#[async_trait]
impl StoreContract for Told {
    fn location(&self) -> String {
        "s3://records".to_owned()
    }

    fn settings(&self) -> Vec<Setting> {
        StoreKind::S3.settings()
    }

    async fn check(&self, _: Access) -> Vec<Finding> {
        self.0.clone()
    }
}

fn passing() -> Vec<Finding> {
    let passed = |setting| Finding::passed(setting, format!("{setting} is as it must be."));
    StoreKind::S3.settings().into_iter().map(passed).collect()
}

fn with(finding: Finding) -> Vec<Finding> {
    let mut findings = passing();
    findings.retain(|present| present.setting != finding.setting);
    findings.push(finding);
    findings
}

fn failed(setting: Setting) -> Finding {
    Finding::failed(
        setting,
        format!("{setting} is wrong."),
        Remedy::command("Mend it.", "aws mend"),
    )
}

fn waive(names: &[&str]) -> Waivers {
    Waivers::parse(names, &StoreKind::S3.settings()).unwrap()
}

fn report(findings: Vec<Finding>, waivers: &Waivers) -> Report {
    Report::new("s3://records".to_owned(), &StoreKind::S3.settings(), findings, waivers)
}

fn refusal(findings: Vec<Finding>, waivers: &Waivers) -> records::contract::Refusal {
    match report(findings, waivers).decide() {
        Decision::Refuse(refusal) => *refusal,
        Decision::Proceed(notes) => panic!("it proceeds with {notes:?}"),
    }
}

#[test]
fn names_are_unique_across_stores() {
    let names: BTreeSet<_> = Setting::ALL.iter().map(|setting| setting.name()).collect();
    assert_eq!(names.len(), Setting::ALL.len());
    for setting in Setting::ALL {
        assert_eq!(Setting::named(setting.name()), Some(setting));
    }
}

#[test]
fn a_finding_that_nobody_filled_in_refuses_and_cannot_be_waived() {
    let mut findings = passing();
    findings.retain(|finding| finding.setting != Setting::Lifecycle);
    let refusal = refusal(findings, &waive(&["lifecycle"]));
    assert_eq!(refusal.findings[0].setting, Setting::Lifecycle);
    assert_eq!(refusal.findings[0].outcome, Outcome::Failed);
    assert_eq!(refusal.waived_in_vain, [Setting::Lifecycle]);
}

#[test]
fn findings_are_always_all_and_in_order() {
    let mut findings = passing();
    findings.reverse();
    findings.pop();
    let report = report(findings, &Waivers::none());
    let settings: Vec<_> = report.findings().iter().map(|f| f.finding.setting.name()).collect();
    assert_eq!(
        settings,
        [
            "versioning",
            "lifecycle",
            "public_access_block",
            "encryption_key",
            "tls_only",
            "conditional_writes"
        ]
    );
}

#[test]
fn a_run_refuses_on_failed_and_unreadable_alone() {
    let unreadable =
        Finding::unreadable(Setting::Versioning, "denied", Remedy::advice("Allow it."));
    let not_checked = Finding::not_checked(Setting::Versioning, "no telling");
    let warned = Finding::warned(Setting::Versioning, "not so good", Remedy::advice("Mend it."));
    for (finding, refused) in [
        (failed(Setting::Versioning), true),
        (unreadable, true),
        (not_checked, false),
        (warned, false),
    ] {
        let outcome = finding.outcome;
        let report = report(with(finding), &Waivers::none());
        assert_eq!(report.refuses(), refused, "{outcome}");
        assert!(!report.is_clean(), "a report fails on {outcome}");
        if let Decision::Proceed(notes) = report.decide() {
            assert_eq!(notes.len(), 1, "it proceeds with a line");
        }
    }
    assert!(report(passing(), &Waivers::none()).is_clean());
}

#[test]
fn a_waiver_costs_a_line_in_every_run_and_does_not_clean_a_report() {
    let report_of_failure = report(with(failed(Setting::Versioning)), &waive(&["versioning"]));
    let Decision::Proceed(notes) = report_of_failure.decide() else { panic!("it is waived") };
    assert_eq!(notes[0].kind, NoteKind::Waived);
    assert_eq!(notes[0].text, "allow_insecure waives versioning: versioning is wrong.");
    assert!(!report_of_failure.is_clean());

    let Decision::Proceed(notes) = report(passing(), &waive(&["versioning"])).decide() else {
        panic!("everything passes")
    };
    assert_eq!(notes[0].kind, NoteKind::WaivedNeedlessly);
}

#[test]
fn a_waiver_names_a_setting_of_this_store() {
    let settings = StoreKind::S3.settings();
    let other = Waivers::parse(["read_isolation"], &settings).unwrap_err();
    assert!(matches!(other, WaiverError::OtherStore { setting: Setting::ReadIsolation, .. }));
    assert_eq!(
        other.to_string(),
        "allow_insecure names read_isolation, a setting of kubernetes stores, and this is none; it may name \
         versioning, lifecycle, public_access_block, encryption_key, tls_only, conditional_writes"
    );
    let unknown = Waivers::parse(["versioned"], &settings).unwrap_err();
    assert!(
        unknown.to_string().contains("\"versioned\", which is no setting; it may name versioning")
    );
    let directory = Waivers::parse(["versioning"], &[]).unwrap_err();
    assert!(directory.to_string().contains("nothing to waive"));
}

#[test]
fn a_refusal_says_what_it_protects_and_how_to_mend_it() {
    let one = refusal(with(failed(Setting::Versioning)), &Waivers::none());
    assert_eq!(one.headline(), "The store s3://records is refused for its versioning");
    assert_eq!(one.closing(), None);
    let text = one.to_string();
    assert!(
        text.contains(Setting::Versioning.protects()) && text.contains("\n  aws mend"),
        "{text}"
    );

    let mut findings = with(failed(Setting::Versioning));
    findings.retain(|finding| finding.setting != Setting::EncryptionKey);
    findings.push(failed(Setting::EncryptionKey).never_waived());
    let two = refusal(findings, &waive(&["encryption_key"]));
    assert_eq!(two.headline(), "The store s3://records is refused for 2 settings");
    let text = two.to_string();
    assert!(text.contains("allow_insecure names it, and this cannot be waived."), "{text}");
    assert!(
        text.ends_with(
            "Mend both; only this can be accepted by name instead: allow_insecure = [\"versioning\"]."
        ),
        "{text}"
    );
}

#[test]
fn two_buckets_give_one_finding_for_each_setting() {
    let mut findings = passing();
    findings.push(failed(Setting::PublicAccessBlock));
    findings.push(Finding::passed(Setting::Versioning, "The other bucket needs none."));
    let report = report(findings, &Waivers::none());
    let of =
        |setting| &report.findings().iter().find(|f| f.finding.setting == setting).unwrap().finding;
    assert_eq!(of(Setting::PublicAccessBlock).outcome, Outcome::Failed);
    assert_eq!(
        of(Setting::Versioning).found,
        "versioning is as it must be. The other bucket needs none."
    );
}

fn any_finding() -> impl Strategy<Value = Finding> {
    let settings = StoreKind::S3.settings();
    (0..settings.len(), 0..5usize, any::<bool>()).prop_map(move |(setting, outcome, waivable)| {
        let outcomes = [
            Outcome::Passed,
            Outcome::Warned,
            Outcome::NotChecked,
            Outcome::Unreadable,
            Outcome::Failed,
        ];
        Finding { outcome: outcomes[outcome], waivable, ..Finding::unfilled(settings[setting]) }
    })
}

proptest! {
    /// Waivers only ever let more pass, and never what cannot be waived.
    #[test]
    fn waivers_waive_what_may_be_waived(
        findings in prop::collection::vec(any_finding(), 0..12),
        waived in prop::collection::btree_set(0..6usize, 0..6),
    ) {
        let names: Vec<_> =
            waived.iter().map(|at| StoreKind::S3.settings()[*at].name()).collect();
        let (bare, waivers) = (report(findings.clone(), &Waivers::none()), waive(&names));
        let report = report(findings, &waivers);
        prop_assert!(!report.refuses() || bare.refuses());
        for reported in report.findings() {
            let grave = reported.finding.outcome >= Outcome::Unreadable;
            let covered = waivers.covers(reported.finding.setting) && reported.finding.waivable;
            prop_assert_eq!(reported.refuses(), grave && !covered);
        }
        prop_assert_eq!(report.is_clean(), bare.is_clean());
    }
}

const SENTINEL: &str = "network/estate";

#[tokio::test]
async fn first_contact_leaves_the_sentinel_where_the_contract_is_kept() {
    let store = MemoryStore::new();
    let contract = Told(passing());
    let body = Bytes::from_static(b"{}");
    let contact = first_contact(&store, &contract, &Waivers::none(), &key(SENTINEL), body).await;
    let contact = contact.unwrap();
    let kept = store.get(&key(SENTINEL)).await.unwrap().unwrap();
    assert_eq!(kept.version, contact.version);
}

#[tokio::test]
async fn first_contact_takes_the_sentinel_away_where_the_store_is_refused() {
    let store = MemoryStore::new();
    let contract = Told(with(failed(Setting::Versioning)));
    let body = Bytes::from_static(b"{}");
    let refused = first_contact(&store, &contract, &Waivers::none(), &key(SENTINEL), body).await;
    assert!(matches!(refused, Err(ContractError::Refused(_))), "{refused:?}");
    assert_eq!(store.get(&key(SENTINEL)).await.unwrap(), None);
}

#[tokio::test]
async fn a_sentinel_of_somebody_else_is_left_alone() {
    let store = MemoryStore::new();
    store.put_if_absent(&key(SENTINEL), Bytes::from_static(b"theirs")).await.unwrap();
    let contract = Told(with(failed(Setting::Versioning)));
    let body = Bytes::from_static(b"{}");
    let conflict = first_contact(&store, &contract, &Waivers::none(), &key(SENTINEL), body).await;
    assert!(
        matches!(&conflict, Err(ContractError::Store(error)) if error.is_conflict()),
        "{conflict:?}"
    );
    assert!(store.get(&key(SENTINEL)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_store_that_does_not_list_what_it_keeps_is_refused() {
    let store = Forgetful(MemoryStore::new());
    let contract = Told(passing());
    let body = Bytes::from_static(b"{}");
    let refused = first_contact(&store, &contract, &Waivers::none(), &key(SENTINEL), body).await;
    assert!(matches!(refused, Err(ContractError::NotListed { .. })), "{refused:?}");
    assert_eq!(store.get(&key(SENTINEL)).await.unwrap(), None);
}

#[tokio::test]
async fn a_sentinel_that_cannot_be_taken_away_is_told_of() {
    let lost = |write: &Write| match write.method {
        Method::Delete => Answer::Lose,
        _ => Answer::Deliver,
    };
    let store = ObservedStore::new(MemoryStore::new(), lost);
    let contract = Told(with(failed(Setting::Versioning)));
    let body = Bytes::from_static(b"{}");
    let refused = first_contact(&store, &contract, &Waivers::none(), &key(SENTINEL), body).await;
    let Err(ContractError::SentinelKept { refused, key, cause }) = refused else {
        panic!("{refused:?}")
    };
    assert!(matches!(*refused, ContractError::Refused(_)), "{refused:?}");
    assert!(key.as_str() == SENTINEL && cause.leaves_doubt(), "{key} {cause:?}");
}

#[tokio::test]
async fn assert_asks_for_what_the_run_needs() {
    let contract = Told(passing());
    assert_eq!(assert(&contract, Access::Read, &Waivers::none()).await.unwrap(), []);
}

/// Lists nothing.
struct Forgetful(MemoryStore);

#[async_trait]
impl RecordStore for Forgetful {
    async fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.0.get(key).await
    }

    async fn put_if_version(
        &self,
        key: &Key,
        body: Bytes,
        expected: &Version,
    ) -> Result<Version, StoreError> {
        self.0.put_if_version(key, body, expected).await
    }

    async fn put_if_absent(&self, key: &Key, body: Bytes) -> Result<Version, StoreError> {
        self.0.put_if_absent(key, body).await
    }

    async fn delete(&self, key: &Key, expected: &Version) -> Result<(), StoreError> {
        self.0.delete(key, expected).await
    }

    async fn list(&self, _: &str) -> Result<Vec<Entry>, StoreError> {
        Ok(Vec::new())
    }

    async fn get_all(&self, _: &str) -> Result<Vec<(Key, Record)>, StoreError> {
        Ok(Vec::new())
    }

    fn location(&self) -> String {
        self.0.location()
    }

    fn bulk_read(&self) -> BulkRead {
        self.0.bulk_read()
    }

    fn max_body_size(&self) -> Option<u64> {
        self.0.max_body_size()
    }
}
