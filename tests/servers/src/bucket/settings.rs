//! The configuration of a bucket that passes its contract, part by part.

use std::collections::BTreeMap;

use super::xml;
use crate::wire::Answer;

/// The parts, as requests name them.
pub(super) const PARTS: &[&str] =
    &["versioning", "lifecycle", "publicAccessBlock", "encryption", "policy"];

pub(super) fn as_they_have_to_be() -> BTreeMap<&'static str, String> {
    let lifecycle = "<LifecycleConfiguration>\
         <Rule><ID>records</ID><Status>Enabled</Status><Filter><Prefix>records/</Prefix></Filter>\
         <NoncurrentVersionExpiration><NoncurrentDays>30</NoncurrentDays></NoncurrentVersionExpiration></Rule>\
         <Rule><ID>artifacts</ID><Status>Enabled</Status><Filter><Prefix>artifacts/</Prefix></Filter>\
         <Expiration><Days>7</Days></Expiration></Rule></LifecycleConfiguration>";
    let policy = r#"{"Statement":[
        {"Effect":"Deny","Principal":"*","Action":"s3:*",
         "Resource":["arn:aws:s3:::records","arn:aws:s3:::records/*"],
         "Condition":{"Bool":{"aws:SecureTransport":"false"}}},
        {"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"arn:aws:s3:::records/records/*",
         "Condition":{"Null":{"s3:if-match":"true","s3:if-none-match":"true"}}}]}"#;
    let block = "<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls>\
         <IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy>\
         <RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>";
    let encryption = "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault>\
         <SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule>\
         </ServerSideEncryptionConfiguration>";
    let versioning = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
    BTreeMap::from([
        ("versioning", versioning),
        ("lifecycle", lifecycle),
        ("publicAccessBlock", block),
        ("encryption", encryption),
        ("policy", policy),
    ])
    .into_iter()
    .map(|(part, answer)| (part, answer.to_owned()))
    .collect()
}

/// What S3 answers to who asks for a part.
pub(super) fn answer(set: &BTreeMap<&'static str, String>, part: &str) -> Answer {
    let code = match (set.get(part), part) {
        (Some(body), _) => {
            return Answer { status: 200, headers: xml(), body: body.clone().into() };
        }
        (None, "versioning") => {
            return Answer {
                status: 200,
                headers: xml(),
                body: "<VersioningConfiguration/>".into(),
            };
        }
        (None, "lifecycle") => "NoSuchLifecycleConfiguration",
        (None, "publicAccessBlock") => "NoSuchPublicAccessBlockConfiguration",
        (None, "encryption") => "ServerSideEncryptionConfigurationNotFoundError",
        (None, _) => "NoSuchBucketPolicy",
    };
    Answer::s3_error(404, code, "It does not exist.")
}
