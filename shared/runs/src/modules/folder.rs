//! Folders of packages: copied, cleared of links that lead out, searched for modules.

use super::error::PackageError;
use crate::bundle::{Bounds, BundleError};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Links that were left out, as paths inside the package.
pub(super) type LeftOut = Vec<String>;

const REPOSITORY: &str = ".git";

fn failed(path: &Path) -> impl FnOnce(io::Error) -> PackageError {
    let path = path.display().to_string();
    move |source| PackageError::Files { path, source }
}

/// Counts what a package holds.
struct Count {
    entries: u64,
    bytes: u64,
    bounds: Bounds,
}

impl Count {
    fn new(bounds: Bounds) -> Count {
        Count { entries: 0, bytes: 0, bounds }
    }

    fn add(&mut self, bytes: u64) -> Result<(), PackageError> {
        self.entries += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        let bounds = self.bounds;
        let exceeded = |limit, unit| Err(BundleError::TooLarge { limit, unit }.into());
        match (self.entries > bounds.entries, self.bytes > bounds.bytes) {
            (true, _) => exceeded(bounds.entries, "entries"),
            (_, true) => exceeded(bounds.bytes, "bytes"),
            _ => Ok(()),
        }
    }
}

/// Everything below a folder but repositories' own files, in no order: paths, and whether each is a link.
fn entries(
    root: &Path,
    bounds: Bounds,
    mut found: impl FnMut(&Path, &fs::Metadata) -> Result<(), PackageError>,
) -> Result<(), PackageError> {
    let mut count = Count::new(bounds);
    let mut waiting = vec![PathBuf::new()];
    while let Some(folder) = waiting.pop() {
        let here = root.join(&folder);
        for entry in fs::read_dir(&here).map_err(failed(&here))? {
            let entry = entry.map_err(failed(&here))?;
            if entry.file_name() == REPOSITORY {
                continue;
            }
            let path = folder.join(entry.file_name());
            let metadata = entry.metadata().map_err(failed(&entry.path()))?;
            count.add(if metadata.is_file() { metadata.len() } else { 0 })?;
            found(&path, &metadata)?;
            if metadata.is_dir() {
                waiting.push(path);
            }
        }
    }
    Ok(())
}

/// Copies a package's folder, without the repository that it was taken from. The copy must not exist.
///
/// # Errors
/// Where it holds too much, or cannot be read or written.
pub(super) fn copy(from: &Path, to: &Path, bounds: Bounds) -> Result<LeftOut, PackageError> {
    // A folder that is copied into itself would have no end: its entries are noted before the first is made.
    let mut noted = Vec::new();
    entries(from, bounds, |path, metadata| {
        noted.push((path.to_owned(), metadata.file_type()));
        Ok(())
    })?;
    fs::create_dir_all(to).map_err(failed(to))?;
    for (path, _) in noted.iter().filter(|(_, kind)| kind.is_dir()) {
        let target = to.join(path);
        fs::create_dir_all(&target).map_err(failed(&target))?;
    }
    for (path, kind) in &noted {
        let (source, target) = (from.join(path), to.join(path));
        let copied = match kind {
            kind if kind.is_symlink() => fs::read_link(&source).and_then(|to| symlink(to, &target)),
            kind if kind.is_file() => fs::copy(&source, &target).map(drop),
            // Sockets and devices are no configuration.
            _ => Ok(()),
        };
        copied.map_err(failed(&source))?;
    }
    remove_links_out(to, bounds)
}

/// Removes links that lead out of a folder, or to nothing.
///
/// # Errors
/// Where it holds too much, or cannot be read.
pub(super) fn remove_links_out(root: &Path, bounds: Bounds) -> Result<LeftOut, PackageError> {
    let whole = fs::canonicalize(root).map_err(failed(root))?;
    let mut links = Vec::new();
    entries(root, bounds, |path, metadata| {
        if metadata.is_symlink() {
            links.push(path.to_owned());
        }
        Ok(())
    })?;
    // All are judged before the first is removed: one may lead through another.
    links.retain(|path| {
        fs::canonicalize(root.join(path)).map_or(true, |target| !target.starts_with(&whole))
    });
    for path in &links {
        fs::remove_file(root.join(path)).map_err(failed(path))?;
    }
    links.sort();
    Ok(links.iter().map(|path| path.display().to_string()).collect())
}

/// Removes a folder, or a link to one, if it is there.
///
/// # Errors
/// Where it cannot be removed.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    }
}

/// The one path inside a package that a pattern names.
///
/// # Errors
/// Where there is none, or several.
pub(super) fn subdirectory(package: &Path, pattern: &str) -> Result<PathBuf, PackageError> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.split('/').filter(|part| !matches!(*part, "" | ".")) {
        let mut next = Vec::new();
        for folder in &found {
            if !part.contains(['*', '?', '[']) {
                let path = folder.join(part);
                next.extend(package.join(&path).exists().then_some(path));
                continue;
            }
            let Ok(entries) = fs::read_dir(package.join(folder)) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let text: Vec<char> = name.to_string_lossy().chars().collect();
                let pattern: Vec<char> = part.chars().collect();
                if matches_pattern(&pattern, &text) {
                    next.push(folder.join(name));
                }
            }
        }
        found = next;
    }
    let path = || pattern.to_owned();
    match found.as_slice() {
        [] => Err(PackageError::NoSubdirectory { path: path() }),
        [one] => Ok(one.clone()),
        _ => Err(PackageError::AmbiguousSubdirectory { path: path() }),
    }
}

/// Whether a name is as a pattern has it: `*`, `?`, and sets of characters in brackets.
fn matches_pattern(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut from) = (0, 0);
    // Where to go on, should the last star have to take one more.
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() || at < pattern.len() {
        let taken = match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
                continue;
            }
            Some('?') if from < name.len() => Some(1),
            Some('[') => name.get(from).and_then(|c| in_set(&pattern[at..], *c)),
            Some('\\') => (pattern.get(at + 1) == name.get(from)).then_some(2),
            Some(c) => (name.get(from) == Some(c)).then_some(1),
            None => None,
        };
        match (taken, star) {
            (Some(taken), _) if from < name.len() => {
                at += taken;
                from += 1;
            }
            (_, Some((before, start))) if start < name.len() => {
                star = Some((before, start + 1));
                at = before + 1;
                from = start + 1;
            }
            _ => return false,
        }
    }
    true
}

/// Whether a character is in the set that a pattern begins with, and how long the set's text is.
fn in_set(pattern: &[char], c: char) -> Option<usize> {
    let end = pattern.iter().skip(2).position(|c| *c == ']')? + 2;
    let set = pattern.get(1..end)?;
    let (negated, set) = match set.split_first() {
        Some(('^', rest)) => (true, rest),
        _ => (false, set),
    };
    let mut rest = set;
    let mut inside = false;
    while let Some((first, after)) = rest.split_first() {
        rest = match after {
            ['-', last, after @ ..] => {
                inside |= (*first..=*last).contains(&c);
                after
            }
            after => {
                inside |= *first == c;
                after
            }
        };
    }
    (inside != negated).then_some(end + 1)
}

/// A path from a folder with its links followed, as far as it is relative.
///
/// # Errors
/// Where it leads to nothing, or in a circle.
pub(super) fn follow_links(root: &Path, path: &Path) -> io::Result<PathBuf> {
    use std::path::Component;
    const LINKS: usize = 255;
    let mut followed = 0;
    let mut done = PathBuf::new();
    let mut waiting: Vec<std::ffi::OsString> =
        path.components().rev().map(|part| part.as_os_str().to_owned()).collect();
    while let Some(part) = waiting.pop() {
        let part = Path::new(&part);
        match part.components().next() {
            None | Some(Component::CurDir) => continue,
            Some(Component::RootDir) => {
                done = PathBuf::from("/");
                continue;
            }
            Some(Component::ParentDir) => {
                let last = done.components().next_back();
                match last {
                    Some(Component::Normal(_)) => {
                        done.pop();
                    }
                    Some(Component::RootDir) => {}
                    _ => done.push(".."),
                }
                continue;
            }
            Some(_) => {}
        }
        let next = done.join(part);
        if fs::symlink_metadata(root.join(&next))?.is_symlink() {
            followed += 1;
            if followed > LINKS {
                return Err(io::Error::other("too many links"));
            }
            let target = fs::read_link(root.join(&next))?;
            waiting.extend(target.components().rev().map(|part| part.as_os_str().to_owned()));
        } else {
            done = next;
        }
    }
    Ok(match done.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => done,
    })
}
