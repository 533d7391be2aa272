//! Bundles on disk: unpacked once for each digest, for as many invocations as there is room.

use super::{BundleError, BundleFiles};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A folder of unpacked bundles, each under its digest.
#[derive(Clone, Debug)]
pub struct BundleFolder {
    root: PathBuf,
    /// How many bundles stay.
    keep: usize,
}

impl BundleFolder {
    /// The folder, which need not exist, and how many bundles may stay in it.
    pub fn new(root: impl Into<PathBuf>, keep: usize) -> BundleFolder {
        BundleFolder { root: root.into(), keep: keep.max(1) }
    }

    /// Where the bundle with this digest is, if it was unpacked.
    pub fn find(&self, digest: &str) -> Option<PathBuf> {
        let path = self.root.join(digest);
        path.is_dir().then_some(path)
    }

    /// Unpacks a bundle, after others have made room. A bundle that was not unpacked whole is never found.
    ///
    /// # Errors
    /// Where files cannot be written.
    pub fn unpack(&self, digest: &str, files: &BundleFiles) -> Result<PathBuf, BundleError> {
        if let Some(path) = self.find(digest) {
            return Ok(path);
        }
        let failed =
            |path: &Path, source| BundleError::Files { path: path.display().to_string(), source };
        fs::create_dir_all(&self.root).map_err(|e| failed(&self.root, e))?;
        self.make_room().map_err(|e| failed(&self.root, e))?;
        let partial = self.root.join(format!("{digest}.partial"));
        remove(&partial).map_err(|e| failed(&partial, e))?;
        fs::create_dir_all(&partial).map_err(|e| failed(&partial, e))?;
        for (path, file) in files.iter() {
            let to = partial.join(path);
            let written = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
                let mode = if file.executable { 0o755 } else { 0o644 };
                let mut out =
                    OpenOptions::new().write(true).create_new(true).mode(mode).open(&to)?;
                out.write_all(&file.content)
            });
            written.map_err(|e| failed(&to, e))?;
        }
        let path = self.root.join(digest);
        fs::rename(&partial, &path).map_err(|e| failed(&path, e))?;
        Ok(path)
    }

    /// Removes the bundles that were unpacked first.
    fn make_room(&self) -> io::Result<()> {
        let mut unpacked = Vec::new();
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            unpacked.push((entry.metadata()?.modified()?, entry.path()));
        }
        unpacked.sort();
        let surplus = (unpacked.len() + 1).saturating_sub(self.keep);
        unpacked.iter().take(surplus).try_for_each(|(_, path)| remove(path))
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
