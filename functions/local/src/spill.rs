//! The last resort for a result that the store did not take.

use crate::whole_file::{self, Readers};
use engine::estate::Spill;
use engine::record::key::{MAX_SEGMENT, encode};
use records::Key;
use std::io;
use std::path::PathBuf;

/// Files in a folder that only their owner can read.
pub(crate) struct SpillFolder(pub(crate) PathBuf);

impl Spill for SpillFolder {
    fn keep(&self, key: &Key, body: &[u8]) -> io::Result<String> {
        let spelled = key.as_str().replace('/', "+");
        // No file's name is longer than 255 bytes; a cut one has a digest, so that no result replaces another's.
        let name = if spelled.len() <= MAX_SEGMENT { spelled } else { encode(key.as_str()) };
        let path = self.0.join(format!("plumb-unrecorded-{name}.json"));
        whole_file::write(&path, body, Readers::Owner)?;
        Ok(path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::SpillFolder;
    use engine::estate::Spill;
    use records::Key;

    #[test]
    fn results_of_the_longest_keys_are_kept_and_not_under_one_name() {
        let folder = tempfile::tempdir().unwrap();
        let spill = SpillFolder(folder.path().to_owned());
        let keep = |last: &str| {
            let (estate, address) = ("e".repeat(200), "a".repeat(199));
            let key = Key::new(format!("{estate}/r/i/{address}{last}")).unwrap();
            spill.keep(&key, last.as_bytes()).unwrap()
        };
        let (one, other) = (keep("1"), keep("2"));
        assert_eq!(std::fs::read(one).unwrap(), b"1");
        assert_eq!(std::fs::read(other).unwrap(), b"2");
    }
}
