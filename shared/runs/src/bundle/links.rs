//! Links of an archive, replaced by the files that they lead to.

use super::{Bounds, BundleError, BundleFile};
use std::collections::BTreeMap;

/// How many links may lead to each other.
const CHAIN: usize = 16;

/// What a link names.
pub(super) enum Link {
    /// Another entry.
    Entry(String),
    /// A path, from the link's folder.
    Relative(String),
    /// Nothing that can be in the archive.
    Nowhere,
}

/// Puts a copy in place of every link that leads to a file, or to a folder of files. The answer are the others, which lead out
/// of the archive or to nothing in it.
///
/// # Errors
/// Where the copies make more than an archive may hold.
pub(super) fn follow(
    files: &mut BTreeMap<String, BundleFile>,
    links: &BTreeMap<String, Link>,
    bounds: Bounds,
) -> Result<Vec<String>, BundleError> {
    let mut bytes: u64 = files.values().map(|file| file.content.len() as u64).sum();
    let mut copies: Vec<(String, BundleFile)> = Vec::new();
    let mut left_out = Vec::new();
    for path in links.keys() {
        let target = resolve(path, links);
        let mut leads_to_files = false;
        for (copy, file) in target.iter().flat_map(|target| copied(path, target, files)) {
            leads_to_files = true;
            bytes += file.content.len() as u64;
            if bytes > bounds.bytes {
                return Err(BundleError::TooLarge { limit: bounds.bytes, unit: "bytes" });
            }
            if (files.len() + copies.len()) as u64 >= bounds.entries {
                return Err(BundleError::TooLarge { limit: bounds.entries, unit: "entries" });
            }
            copies.push((copy, file.clone()));
        }
        if !leads_to_files {
            left_out.push(path.clone());
        }
    }
    files.extend(copies);
    Ok(left_out)
}

/// The files that stand below a link once it is followed.
fn copied<'a>(
    link: &'a str,
    target: &str,
    files: &'a BTreeMap<String, BundleFile>,
) -> impl Iterator<Item = (String, &'a BundleFile)> + use<'a> {
    let whole = files.get(target).map(|file| (link.to_owned(), file));
    let folder = format!("{target}/");
    // A link to a folder that it is in would hold itself.
    let inside = link.starts_with(&folder);
    let from = folder.clone();
    let below = files.range(from..).take_while({
        let folder = folder.clone();
        move |(path, _)| path.starts_with(&folder) && !inside
    });
    let below = below.map(move |(path, file)| (format!("{link}/{}", &path[folder.len()..]), file));
    whole.into_iter().chain(below)
}

/// The path that a link leads to in the end; `None` where it leaves the archive or leads round.
fn resolve(path: &str, links: &BTreeMap<String, Link>) -> Option<String> {
    let mut at = path.to_owned();
    for _ in 0..CHAIN {
        match links.get(&at) {
            None => return Some(at),
            Some(Link::Nowhere) => return None,
            Some(Link::Entry(path)) => at = path.clone(),
            Some(Link::Relative(relative)) => at = join(&at, relative)?,
        }
    }
    None
}

fn join(link: &str, relative: &str) -> Option<String> {
    if relative.starts_with('/') || relative.contains('\\') {
        return None;
    }
    let mut parts: Vec<&str> = link.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
