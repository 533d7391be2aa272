use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufRead, AsyncBufReadExt};
use values::address::ProviderAddress;

/// Longer lines are cut into several.
const MAX_LINE: usize = 64 * 1024;
const TAIL_LINES: usize = 20;
const TAIL_LINE_LENGTH: usize = 500;

/// The next line without its end; `None` at the end of the output.
pub(super) async fn next_line(
    reader: &mut (impl AsyncBufRead + Unpin),
) -> std::io::Result<Option<String>> {
    let mut line = Vec::new();
    loop {
        let buffer = reader.fill_buf().await?;
        if buffer.is_empty() {
            let rest = (!line.is_empty()).then(|| text(&line));
            return Ok(rest);
        }
        let room = MAX_LINE - line.len();
        let newline = buffer.iter().take(room).position(|b| *b == b'\n');
        let taken = newline.unwrap_or(buffer.len().min(room));
        line.extend_from_slice(&buffer[..taken]);
        reader.consume(taken + usize::from(newline.is_some()));
        if newline.is_some() || line.len() >= MAX_LINE {
            return Ok(Some(text(&line)));
        }
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end_matches('\r').into()
}

/// The last lines of a plugin's standard error, for messages about its end.
#[derive(Clone, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    fn push(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == TAIL_LINES {
            lines.pop_front();
        }
        lines.push_back(line.chars().take(TAIL_LINE_LENGTH).collect());
    }
    pub(super) fn text(&self) -> String {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.make_contiguous().join("\n")
    }
}

/// A line of the log format that Go plugins write.
#[derive(serde::Deserialize)]
struct HclogLine {
    #[serde(rename = "@level")]
    level: String,
    #[serde(rename = "@message")]
    message: String,
    #[serde(rename = "@module", default)]
    module: String,
}

/// Sends a plugin's standard error to the log, and keeps its tail.
pub(super) async fn log_stderr(
    mut reader: impl AsyncBufRead + Unpin,
    provider: ProviderAddress,
    tail: Tail,
) {
    while let Ok(Some(line)) = next_line(&mut reader).await {
        let Ok(entry) = serde_json::from_str::<HclogLine>(&line) else {
            tracing::debug!(target: "provider", %provider, "{line}");
            tail.push(&line);
            continue;
        };
        let HclogLine { level, message, module } = entry;
        match level.as_str() {
            "error" => {
                tracing::error!(target: "provider", %provider, %module, "{message}");
                tail.push(&message);
            }
            "warn" => tracing::warn!(target: "provider", %provider, %module, "{message}"),
            "info" => tracing::info!(target: "provider", %provider, %module, "{message}"),
            "trace" => tracing::trace!(target: "provider", %provider, %module, "{message}"),
            _ => tracing::debug!(target: "provider", %provider, %module, "{message}"),
        }
    }
}

/// Sends what a plugin writes to its standard output after the handshake to the log.
pub(super) async fn log_stdout(mut reader: impl AsyncBufRead + Unpin, provider: ProviderAddress) {
    while let Ok(Some(line)) = next_line(&mut reader).await {
        tracing::debug!(target: "provider", %provider, "{line}");
    }
}
