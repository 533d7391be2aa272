//! A server that answers the bytes it is told to, whatever is asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_s3::config::{Credentials, SharedCredentialsProvider};
use records::s3::{S3Connection, S3Settings};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A request, as far as answers depend on it.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    /// By name in lower case.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}

impl Asked {
    /// Whether it asks for a part of the bucket's configuration, such as `versioning`.
    pub(super) fn is_for(&self, part: &str) -> bool {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        query.split('&').any(|name| name.trim_end_matches('=') == part)
    }

    /// Whether it asks KMS for the operation.
    pub(super) fn is_kms(&self, operation: &str) -> bool {
        self.headers.get("x-amz-target").is_some_and(|target| target.ends_with(operation))
    }
}

/// An answer, byte for byte but for the lengths.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn ok(body: impl Into<String>) -> Self {
        Self { status: 200, headers: Vec::new(), body: body.into() }
    }

    /// An error as S3 tells it.
    pub(super) fn s3(status: u16, code: &str, message: &str) -> Self {
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{}</Message>\
             <RequestId>4442587FB7D0A2F9</RequestId><HostId>host</HostId></Error>",
            message.replace('&', "&amp;").replace('<', "&lt;")
        );
        Self { status, headers: vec![("content-type", "application/xml".to_owned())], body }
    }

    /// An error as KMS tells it.
    pub(super) fn kms(code: &str, message: &str) -> Self {
        let body = serde_json::json!({ "__type": code, "message": message }).to_string();
        let content = ("content-type", "application/x-amz-json-1.1".to_owned());
        Self { status: 400, headers: vec![content], body }
    }
}

/// Starts a server for the rest of the test; its URL.
pub(super) async fn serve(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = Arc::clone(&answer);
            tokio::spawn(async move { converse(stream, &*answer).await });
        }
    });
    url
}

async fn converse(mut stream: TcpStream, answer: &(dyn Fn(&Asked) -> Answer + Send + Sync)) {
    while let Some(asked) = read(&mut stream).await {
        let Answer { status, headers, body } = answer(&asked);
        let mut text = format!(
            "HTTP/1.1 {status} Answer\r\ncontent-length: {}\r\nx-amz-request-id: 4442587FB7D0A2F9\r\n",
            body.len()
        );
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        if asked.method != "HEAD" {
            text.push_str(&body);
        }
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// One request; `None` when the client is gone.
async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let (first, headers) = lines.split_first()?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let headers: BTreeMap<_, _> = headers
        .iter()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).await.ok()?;
    let body = String::from_utf8_lossy(&body).into_owned();
    Some(Asked { method, target, headers, body })
}

/// Settings of a bucket that is served there, with KMS beside it.
pub(super) fn settings(url: &str) -> S3Settings {
    let mut settings = S3Settings::new("records");
    settings.prefix = "team-a/".to_owned();
    settings.endpoint = Some(url.to_owned());
    settings.kms_endpoint = Some(url.to_owned());
    settings.path_style = true;
    settings
}

/// Credentials, a region, and nothing of the user's.
pub(super) fn sdk() -> SdkConfig {
    let credentials = Credentials::new("AKIAIOSFODNN7EXAMPLE", "secret", None, None, "test");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build()
}

pub(super) fn connection(url: &str) -> S3Connection {
    S3Connection::new(settings(url), &sdk()).unwrap()
}
