//! Servers that only pretend to keep conditions, and lists and answers without what a version is told by.

use std::collections::BTreeMap;
use std::sync::Mutex;

use bytes::Bytes;
use records::s3::S3Store;
use records::{RecordStore, StoreError};

use super::canned::{Answer, Asked, connection, serve};
use crate::key;

/// In what a server pretends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pretence {
    /// It takes the condition of a method and does not look at it.
    Ignores(&'static str, &'static str),
    /// It knows no condition of a method.
    Lacks(&'static str),
    /// It refuses a write that comes too late, and does it.
    WritesAllTheSame,
    /// It refuses what its condition allows.
    RefusesAll,
    /// It refuses a removal, and does it.
    DeletesAllTheSame,
    /// It answers a removal, and does not do it.
    DeletesNothing,
    /// Of those who create one object at once, each is told that it did.
    LosesRaces,
}

/// Bodies and versions, by name.
#[derive(Default)]
struct Objects(BTreeMap<String, (String, u32)>, u32);

impl Objects {
    fn answer(&mut self, asked: &Asked, pretence: Pretence) -> Answer {
        let name = asked.target.split('?').next().unwrap().to_owned();
        let refused = Answer::s3(412, "PreconditionFailed", "At least one did not hold");
        let present = self.0.get(&name).map(|(_, version)| format!("\"{version:032x}\""));
        let names = |header: &str| asked.headers.get(header);
        let ignores = |header| pretence == Pretence::Ignores(leak(&asked.method), header);
        let holds =
            (names("if-none-match").is_none() || present.is_none() || ignores("if-none-match"))
                && names("if-match")
                    .is_none_or(|it| present.as_ref() == Some(it) || ignores("if-match"));
        let holds = holds && !(pretence == Pretence::RefusesAll && names("if-match").is_some());
        let was_once = names("if-match").is_some_and(|it| {
            u32::from_str_radix(it.trim_matches('"'), 16).is_ok_and(|version| version > 0)
        });
        let conditional = names("if-match").or(names("if-none-match")).is_some();
        match asked.method.as_str() {
            _ if conditional && pretence == Pretence::Lacks(leak(&asked.method)) => {
                Answer::s3(501, "NotImplemented", "A header you provided implies functionality")
            }
            "GET" if asked.target.contains("list-type") => {
                Answer::ok("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")
            }
            "GET" => match self.0.get(&name) {
                None => Answer::s3(404, "NoSuchKey", "The specified key does not exist."),
                Some((body, version)) => tagged(*version, body.clone()),
            },
            "PUT" => {
                let is_race = name.rsplit('/').next().is_some_and(|last| last.contains('-'));
                let races = pretence == Pretence::LosesRaces && is_race;
                if holds || races || pretence == Pretence::WritesAllTheSame && was_once {
                    self.1 += 1;
                    self.0.insert(name, (asked.body.clone(), self.1));
                }
                if holds || races { tagged(self.1, String::new()) } else { refused }
            }
            "DELETE" => {
                if holds && pretence != Pretence::DeletesNothing
                    || !holds && pretence == Pretence::DeletesAllTheSame
                {
                    self.0.remove(&name);
                }
                if holds { Answer { status: 204, ..Answer::ok("") } } else { refused }
            }
            other => panic!("nobody asks {other}"),
        }
    }
}

fn leak(method: &str) -> &'static str {
    if method == "PUT" { "PUT" } else { "DELETE" }
}

fn tagged(version: u32, body: String) -> Answer {
    Answer { headers: vec![("etag", format!("\"{version:032x}\""))], ..Answer::ok(body) }
}

async fn tried(pretence: Pretence) -> StoreError {
    let objects = Mutex::new(Objects::default());
    let url = serve(move |asked| objects.lock().unwrap().answer(asked, pretence)).await;
    let store = S3Store::new(connection(&url)).unwrap();
    store.put_if_absent(&key("a"), Bytes::from_static(b"1")).await.unwrap_err()
}

const PRETENCES: [(Pretence, &str); 10] = [
    (Pretence::Ignores("PUT", "if-none-match"), "PUT with If-None-Match: * ignores its condition"),
    (Pretence::Ignores("PUT", "if-match"), "PUT with If-Match ignores its condition"),
    (Pretence::Ignores("DELETE", "if-match"), "DELETE with If-Match ignores its condition"),
    (Pretence::Lacks("PUT"), "PUT with a condition is not implemented"),
    (Pretence::Lacks("DELETE"), "DELETE with If-Match is not implemented"),
    (Pretence::WritesAllTheSame, "a write that it refused was done"),
    (Pretence::RefusesAll, "PUT with a condition that holds is refused"),
    (Pretence::DeletesAllTheSame, "a DELETE that it refused was done"),
    (Pretence::DeletesNothing, "a DELETE with If-Match was answered but not done"),
    (Pretence::LosesRaces, "of 12 requests at once created the same object"),
];

/// What the store says of each.
pub(crate) async fn pretences() -> Vec<StoreError> {
    let mut all = Vec::new();
    for (pretence, _) in PRETENCES {
        all.push(tried(pretence).await);
    }
    all
}

#[tokio::test]
async fn each_pretence_is_named() {
    for (pretence, told) in PRETENCES {
        let refused = tried(pretence).await;
        assert!(matches!(refused, StoreError::Unsuitable { .. }), "{pretence:?}: {refused:?}");
        assert!(refused.to_string().contains(told), "{pretence:?}: {refused}");
    }
}

#[tokio::test]
async fn a_list_that_tells_no_whole_or_no_versions_is_no_list() {
    let contents = |key: &str, etag: &str| {
        format!("<Contents><Key>{key}</Key>{etag}<Size>1</Size></Contents>")
    };
    let etag = "<ETag>&quot;0123456789abcdef0123456789abcdef&quot;</ETag>";
    for (list, told) in [
        (contents("team-a/a", ""), "names no ETags"),
        (contents("team-b/a", etag), "does not start as was asked"),
        (
            format!("<IsTruncated>true</IsTruncated>{}", contents("team-a/a", etag)),
            "ends in the middle",
        ),
        (format!("<EncodingType>url</EncodingType>{}", contents("team-a/%ff", etag)), "is no text"),
    ] {
        let body = format!("<ListBucketResult>{list}</ListBucketResult>");
        let url = serve(move |_| Answer::ok(body.clone())).await;
        let store = S3Store::new(connection(&url)).unwrap();
        for error in [store.list("").await.unwrap_err(), store.get_all("").await.unwrap_err()] {
            assert!(matches!(error, StoreError::Corrupt { .. }), "{told}: {error:?}");
            assert!(error.to_string().contains(told), "{error}");
        }
    }
}

#[tokio::test]
async fn an_answer_without_a_version_is_none() {
    let url = serve(|_| Answer::ok("body")).await;
    let error = S3Store::new(connection(&url)).unwrap().get(&key("a")).await.unwrap_err();
    let StoreError::Service { operation, source, .. } = &error else { panic!("{error:?}") };
    assert_eq!(operation, "GetObject");
    let cause = std::iter::successors(Some(&**source as &dyn std::error::Error), |it| it.source());
    let told: Vec<_> = cause.map(ToString::to_string).collect();
    assert!(told.iter().any(|told| told.contains("names no ETag")), "{told:?}");
}
