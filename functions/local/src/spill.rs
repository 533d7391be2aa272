//! The last resort for a result that the store did not take.

use engine::estate::Spill;
use records::Key;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// Files in a folder that only their owner can read.
pub(crate) struct SpillFolder(pub(crate) PathBuf);

impl Spill for SpillFolder {
    fn keep(&self, key: &Key, body: &[u8]) -> io::Result<String> {
        let name = key.to_string().replace('/', "+");
        let path = self.0.join(format!("plumb-unrecorded-{name}.json"));
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        file.write_all(body)?;
        file.sync_all()?;
        Ok(path.display().to_string())
    }
}
