//! The last resort for a result that the store did not take.

use crate::whole_file::{self, Readers};
use engine::estate::Spill;
use records::Key;
use std::io;
use std::path::PathBuf;

/// Files in a folder that only their owner can read.
pub(crate) struct SpillFolder(pub(crate) PathBuf);

impl Spill for SpillFolder {
    fn keep(&self, key: &Key, body: &[u8]) -> io::Result<String> {
        let name = key.to_string().replace('/', "+");
        let path = self.0.join(format!("plumb-unrecorded-{name}.json"));
        whole_file::write(&path, body, Readers::Owner)?;
        Ok(path.display().to_string())
    }
}
