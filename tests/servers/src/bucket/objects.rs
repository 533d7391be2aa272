//! Objects: each request with its condition is one step.

use hyper::body::Bytes;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::ops::Bound;

use super::{Received, State, xml};
use crate::wire::{Answer, parameter};

/// Keys in one page of a list, as S3 has it.
const PAGE: usize = 1000;

#[derive(Clone)]
pub(super) struct Object {
    body: Bytes,
    etag: String,
}

impl Object {
    /// With the same ETag for the same body, as the MD5 that S3 has.
    pub(super) fn new(body: Bytes) -> Object {
        let etag = hex::encode(&Sha256::digest(&body)[..16]);
        Object { body, etag }
    }
}

impl State {
    pub(super) fn object(&mut self, received: &Received, body: Bytes) -> Answer {
        let key = &received.key;
        let present = self.objects.get(key);
        let if_match = received.headers.get("if-match").map(|etag| etag.trim_matches('"'));
        let if_none_match = received.headers.get("if-none-match").map(String::as_str);
        let missing = || Answer::s3_error(404, "NoSuchKey", "The specified key does not exist.");
        if let Some(etag) = if_match {
            match present {
                None => return missing(),
                Some(present) if present.etag != etag => return precondition_failed(),
                Some(_) => {}
            }
        }
        match received.method.as_str() {
            "GET" => match present {
                None => missing(),
                Some(present) => Answer {
                    status: 200,
                    headers: vec![("etag", format!("\"{}\"", present.etag))],
                    body: present.body.clone(),
                },
            },
            "PUT" => {
                match if_none_match {
                    Some("*") if present.is_some() => return precondition_failed(),
                    None | Some("*") => {}
                    Some(_) => {
                        return Answer::s3_error(
                            501,
                            "NotImplemented",
                            "If-None-Match takes * alone.",
                        );
                    }
                }
                let object = Object::new(body);
                let headers = vec![("etag", format!("\"{}\"", object.etag))];
                self.objects.insert(key.clone(), object);
                Answer { status: 200, headers, body: Bytes::new() }
            }
            "DELETE" => {
                self.objects.remove(key);
                Answer { status: 204, headers: Vec::new(), body: Bytes::new() }
            }
            _ => Answer::s3_error(405, "MethodNotAllowed", "The method is not allowed."),
        }
    }

    pub(super) fn list(&self, query: &str) -> Answer {
        let prefix = parameter(query, "prefix").unwrap_or_default();
        let from = match parameter(query, "continuation-token") {
            Some(token) => Bound::Excluded(token),
            None => Bound::Included(prefix.clone()),
        };
        let found = self.objects.range((from, Bound::Unbounded));
        let mut found = found.take_while(|(key, _)| key.starts_with(&prefix)).peekable();
        let mut contents = String::new();
        let mut last = "";
        for (key, object) in found.by_ref().take(PAGE) {
            let _ = write!(
                contents,
                "<Contents><Key>{}</Key><ETag>&quot;{}&quot;</ETag><Size>{}</Size></Contents>",
                encoded(key),
                object.etag,
                object.body.len()
            );
            last = key;
        }
        let next = match found.peek() {
            None => "<IsTruncated>false</IsTruncated>".to_owned(),
            Some(_) => format!(
                "<IsTruncated>true</IsTruncated><NextContinuationToken>{last}</NextContinuationToken>"
            ),
        };
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult><EncodingType>url</EncodingType>{next}\
             {contents}</ListBucketResult>"
        );
        Answer { status: 200, headers: xml(), body: body.into() }
    }
}

fn precondition_failed() -> Answer {
    let message = "At least one of the pre-conditions you specified did not hold";
    Answer::s3_error(412, "PreconditionFailed", message)
}

fn encoded(key: &str) -> String {
    key.bytes().fold(String::with_capacity(key.len()), |mut text, byte| {
        match byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            true => text.push(char::from(byte)),
            false => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
        text
    })
}
