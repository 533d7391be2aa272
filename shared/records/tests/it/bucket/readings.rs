//! What the answers of a bucket's configuration come to.

use records::contract::{Access, Finding, Outcome, Setting, StoreContract};
use records::s3::contract::{BucketContract, Prefixes};

use super::canned::{Answer, Asked, connection, serve};

/// A bucket that keeps the contract, one part after the other.
pub(super) fn good(asked: &Asked) -> Answer {
    if asked.is_for("versioning") {
        return Answer::ok(
            "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>",
        );
    }
    if asked.is_for("lifecycle") {
        return lifecycle(
            "<Filter><Prefix>team-a/</Prefix></Filter><NoncurrentVersionExpiration><NoncurrentDays>30\
             </NoncurrentDays></NoncurrentVersionExpiration><Expiration><ExpiredObjectDeleteMarker>true\
             </ExpiredObjectDeleteMarker></Expiration>",
        );
    }
    if asked.is_for("publicAccessBlock") {
        return block("true");
    }
    if asked.is_for("encryption") {
        return Answer::ok(
            "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256\
             </SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>",
        );
    }
    Answer::ok(
        r#"{"Statement":[
            {"Effect":"Deny","Principal":"*","Action":"s3:*",
             "Resource":["arn:aws:s3:::records","arn:aws:s3:::records/*"],
             "Condition":{"Bool":{"aws:SecureTransport":"false"}}},
            {"Effect":"Deny","Principal":"*","Action":"s3:PutObject",
             "Resource":"arn:aws:s3:::records/team-a/*",
             "Condition":{"Null":{"s3:if-match":"true","s3:if-none-match":"true"}}}]}"#,
    )
}

pub(super) fn lifecycle(rule: &str) -> Answer {
    Answer::ok(format!(
        "<LifecycleConfiguration><Rule><ID>rule</ID><Status>Enabled</Status>{rule}</Rule>\
         </LifecycleConfiguration>"
    ))
}

pub(super) fn block(last: &str) -> Answer {
    Answer::ok(format!(
        "<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true\
         </IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>{last}\
         </RestrictPublicBuckets></PublicAccessBlockConfiguration>"
    ))
}

pub(super) async fn findings(
    answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
) -> Vec<Finding> {
    let url = serve(answer).await;
    let prefixes = Prefixes::new(["team-a/"], Vec::<String>::new());
    BucketContract::new(connection(&url), prefixes).check(Access::Write).await
}

/// The finding for one setting where one part of a good bucket answers otherwise.
async fn finding(setting: Setting, part: &'static str, answer: Answer) -> Finding {
    let findings = findings(move |asked| match asked.is_for(part) {
        true => answer.clone(),
        false => good(asked),
    })
    .await;
    findings.into_iter().find(|finding| finding.setting == setting).unwrap()
}

#[tokio::test]
async fn a_good_bucket_passes_everything() {
    let findings = findings(good).await;
    for finding in &findings {
        assert_eq!(finding.outcome, Outcome::Passed, "{finding:#?}");
        assert_eq!(finding.remedy, None, "{finding:#?}");
    }
    assert_eq!(findings.len(), 6);
}

#[tokio::test]
async fn a_bucket_without_any_configuration_fails_and_says_how_to_set_it() {
    let findings = findings(|asked| {
        let code = match () {
            () if asked.is_for("versioning") => return Answer::ok("<VersioningConfiguration/>"),
            () if asked.is_for("lifecycle") => "NoSuchLifecycleConfiguration",
            () if asked.is_for("publicAccessBlock") => "NoSuchPublicAccessBlockConfiguration",
            () if asked.is_for("encryption") => "ServerSideEncryptionConfigurationNotFoundError",
            () => "NoSuchBucketPolicy",
        };
        Answer::s3(404, code, "It does not exist")
    })
    .await;
    let outcomes: Vec<_> = findings.iter().map(|f| (f.outcome, f.waivable)).collect();
    assert_eq!(
        outcomes,
        [
            (Outcome::Failed, true),
            (Outcome::Failed, true),
            (Outcome::Failed, true),
            (Outcome::Passed, true),
            (Outcome::Warned, true),
            (Outcome::Warned, true),
        ]
    );
    for finding in findings.iter().filter(|finding| finding.outcome != Outcome::Passed) {
        let remedy = finding.remedy.as_ref().unwrap();
        assert!(remedy.commands[0].starts_with("aws s3api put-"), "{remedy:?}");
    }
}

#[tokio::test]
async fn versioning_has_to_be_enabled() {
    let suspended = "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>";
    let finding = finding(Setting::Versioning, "versioning", Answer::ok(suspended)).await;
    assert_eq!((finding.outcome, finding.waivable), (Outcome::Failed, true));
    assert!(finding.found.contains("suspended"));
}

#[tokio::test]
async fn all_four_settings_have_to_be_on() {
    let finding = finding(Setting::PublicAccessBlock, "publicAccessBlock", block("false")).await;
    assert_eq!((finding.outcome, finding.waivable), (Outcome::Failed, true));
    assert!(finding.found.ends_with("does not have RestrictPublicBuckets."), "{}", finding.found);
}

#[tokio::test]
async fn rules_are_read_in_every_form_in_which_s3_keeps_them() {
    let noncurrent = "<NoncurrentVersionExpiration><NoncurrentDays>30</NoncurrentDays>\
                      </NoncurrentVersionExpiration>";
    let days = "<Expiration><Days>30</Days></Expiration>";
    let date = "<Expiration><Date>2030-01-01T00:00:00.000Z</Date></Expiration>";
    let tag = "<Tag><Key>a</Key><Value>b</Value></Tag>";
    for (rule, outcome, waivable) in [
        (format!("<Prefix>team-a/</Prefix>{noncurrent}"), Outcome::Passed, true),
        (format!("<Prefix></Prefix>{noncurrent}"), Outcome::Passed, true),
        (format!("<Filter/>{noncurrent}"), Outcome::Passed, true),
        (format!("<Filter><Prefix/></Filter>{noncurrent}"), Outcome::Passed, true),
        (
            format!("<Filter><And><Prefix>team-a/</Prefix></And></Filter>{noncurrent}"),
            Outcome::Passed,
            true,
        ),
        (format!("<Filter>{tag}</Filter>{noncurrent}"), Outcome::Failed, true),
        (
            format!("<Filter><And><Prefix>team-a/</Prefix>{tag}</And></Filter>{noncurrent}"),
            Outcome::Failed,
            true,
        ),
        (
            format!(
                "<Filter><ObjectSizeGreaterThan>1</ObjectSizeGreaterThan></Filter>{noncurrent}"
            ),
            Outcome::Failed,
            true,
        ),
        (format!("<Prefix>team-b/</Prefix>{noncurrent}"), Outcome::Failed, true),
        (
            format!("<Filter><Prefix>team-a/</Prefix></Filter>{noncurrent}{days}"),
            Outcome::Failed,
            false,
        ),
        (format!("<Prefix></Prefix>{noncurrent}{date}"), Outcome::Failed, false),
        (format!("<Filter>{tag}</Filter>{days}"), Outcome::Failed, false),
        (
            format!("<Filter><And><Prefix>team</Prefix>{tag}</And></Filter>{days}"),
            Outcome::Failed,
            false,
        ),
    ] {
        let finding = finding(Setting::Lifecycle, "lifecycle", lifecycle(&rule)).await;
        assert_eq!(
            (finding.outcome, finding.waivable),
            (outcome, waivable),
            "{rule}: {finding:#?}"
        );
    }
}

#[tokio::test]
async fn what_may_not_be_read_is_unreadable_and_names_the_action() {
    for (setting, part, action) in [
        (Setting::Versioning, "versioning", "s3:GetBucketVersioning"),
        (Setting::Lifecycle, "lifecycle", "s3:GetLifecycleConfiguration"),
        (Setting::PublicAccessBlock, "publicAccessBlock", "s3:GetBucketPublicAccessBlock"),
        (Setting::EncryptionKey, "encryption", "s3:GetEncryptionConfiguration"),
        (Setting::TlsOnly, "policy", "s3:GetBucketPolicy"),
        (Setting::ConditionalWrites, "policy", "s3:GetBucketPolicy"),
    ] {
        let words = format!(
            "User: arn:aws:sts::111122223333:assumed-role/plumb-plan/session is not authorized to perform: \
             {action} on resource: \"arn:aws:s3:::records\" because no identity-based policy allows the \
             {action} action"
        );
        let finding = finding(setting, part, Answer::s3(403, "AccessDenied", &words)).await;
        assert_eq!((finding.outcome, finding.waivable), (Outcome::Unreadable, true), "{action}");
        assert!(finding.found.contains(action), "{}", finding.found);
        let remedy = finding.remedy.unwrap();
        let command = format!(
            "aws iam put-role-policy --role-name plumb-plan --policy-name plumb-{}",
            action.replace(':', "-")
        );
        assert!(remedy.commands[0].starts_with(&command), "{remedy:?}");
    }
}

#[tokio::test]
async fn what_the_server_does_not_know_is_not_checked() {
    let answer = Answer::s3(501, "NotImplemented", "A header you provided implies functionality");
    let finding = finding(Setting::PublicAccessBlock, "publicAccessBlock", answer).await;
    assert_eq!(finding.outcome, Outcome::NotChecked);
}

#[tokio::test]
async fn a_missing_bucket_fails_everything_and_nothing_waives_it() {
    let findings = findings(|_| Answer::s3(404, "NoSuchBucket", "There is none")).await;
    for finding in findings {
        assert_eq!((finding.outcome, finding.waivable), (Outcome::Failed, false));
        assert!(finding.remedy.unwrap().commands[0].starts_with("aws s3api create-bucket"));
    }
}

#[tokio::test]
async fn a_bucket_of_artifacts_alone_needs_no_versions_and_no_conditions() {
    let url = serve(|asked| match () {
        () if asked.is_for("versioning") => Answer::ok("<VersioningConfiguration/>"),
        () if asked.is_for("lifecycle") => {
            lifecycle("<Prefix></Prefix><Expiration><Days>7</Days></Expiration>")
        }
        () => good(asked),
    })
    .await;
    let prefixes = Prefixes::new(Vec::<String>::new(), ["artifacts/"]);
    for finding in BucketContract::new(connection(&url), prefixes).check(Access::Write).await {
        assert_eq!(finding.outcome, Outcome::Passed, "{finding:#?}");
    }
}
