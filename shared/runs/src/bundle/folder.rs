//! Bundles on disk: unpacked once for each digest, for as many invocations as there is room.

use super::{Bounds, BundleError, BundleFile, BundleFiles};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
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
        files.write_to(&partial)?;
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

impl BundleFiles {
    /// Writes all files into a folder, which is made if it is not there.
    ///
    /// # Errors
    /// Where one cannot be written, or is there.
    pub fn write_to(&self, folder: &Path) -> Result<(), BundleError> {
        let failed =
            |path: &Path, source| BundleError::Files { path: path.display().to_string(), source };
        fs::create_dir_all(folder).map_err(|e| failed(folder, e))?;
        for (path, file) in self.iter() {
            let to = folder.join(path);
            let written = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
                let mode = if file.executable { 0o755 } else { 0o644 };
                let mut out =
                    OpenOptions::new().write(true).create_new(true).mode(mode).open(&to)?;
                out.write_all(&file.content)
            });
            written.map_err(|e| failed(&to, e))?;
        }
        Ok(())
    }
}

/// The files below a folder whose links stay inside it, with copies in place of links and without repositories' own files.
///
/// # Errors
/// Where there is too much, or something cannot be read.
pub(crate) fn folder_files(
    root: &Path,
    bounds: Bounds,
) -> Result<Vec<(PathBuf, BundleFile)>, BundleError> {
    let failed =
        |path: &Path, source| BundleError::Files { path: path.display().to_string(), source };
    let (mut found, mut bytes, mut entries) = (Vec::new(), 0_u64, 0_u64);
    let mut waiting = vec![PathBuf::new()];
    while let Some(folder) = waiting.pop() {
        let here = root.join(&folder);
        // A link to a folder that it is in would hold itself.
        let whole = fs::canonicalize(&here).map_err(|e| failed(&here, e))?;
        for entry in fs::read_dir(&here).map_err(|e| failed(&here, e))? {
            let entry = entry.map_err(|e| failed(&here, e))?;
            let at = entry.path();
            if entry.file_name() == ".git" {
                continue;
            }
            entries += 1;
            if entries > bounds.entries {
                return Err(BundleError::TooLarge { limit: bounds.entries, unit: "entries" });
            }
            let path = folder.join(entry.file_name());
            let metadata = fs::metadata(&at).map_err(|e| failed(&at, e))?;
            if metadata.is_dir() {
                let target = fs::canonicalize(&at).map_err(|e| failed(&at, e))?;
                if !whole.starts_with(target) {
                    waiting.push(path);
                }
                continue;
            }
            bytes = bytes.saturating_add(metadata.len());
            if bytes > bounds.bytes {
                return Err(BundleError::TooLarge { limit: bounds.bytes, unit: "bytes" });
            }
            let content = fs::read(&at).map_err(|e| failed(&at, e))?.into();
            let executable = metadata.permissions().mode() & 0o100 != 0;
            found.push((path, BundleFile { content, executable }));
        }
    }
    Ok(found)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
