//! The patterns of `fileset`: `*` and `?` within a name, `[a-z]`, `{a,b}`, and `**` for any number of
//! directories where it is a whole name. Names that start with a dot match like all others.

use super::arguments::MOST_ELEMENTS;
use crate::files::{FileKind, FileSystem};
use std::path::{Component, Path, PathBuf};

/// How deep `**` goes: symbolic links may make a tree endless.
const DEEPEST: usize = 255;

#[derive(Debug, thiserror::Error)]
pub(super) enum GlobError {
    #[error("syntax error in pattern")]
    Syntax,
    #[error("more than {MOST_ELEMENTS} files match")]
    TooMany,
}

/// The files that match a pattern below a directory, as paths relative to it. What cannot be read is
/// left out.
pub(super) fn files(
    files: &dyn FileSystem,
    base: &Path,
    pattern: &str,
) -> Result<Vec<PathBuf>, GlobError> {
    let mut start = base.to_path_buf();
    let mut prefix = PathBuf::new();
    let mut segments: Vec<Segment> = Vec::new();
    for name in pattern.split('/') {
        match name {
            "" | "." => {}
            ".." if segments.pop().is_some() => {}
            ".." => {
                start = parent(&start);
                // What the way up leads out of, a match may lead into again.
                prefix.push("..");
            }
            "**" => segments.push(Segment::Directories),
            name => segments.push(Segment::parse(name)?),
        }
    }
    let mut walk = Walk { files, found: Vec::new() };
    walk.descend(&start, &PathBuf::new(), &segments, 0)?;
    let mut found: Vec<PathBuf> = walk
        .found
        .into_iter()
        .map(|path| match prefix.as_os_str().is_empty() {
            true => path,
            false => relative(&start.join(path), base),
        })
        .collect();
    found.sort();
    found.dedup();
    Ok(found)
}

fn parent(path: &Path) -> PathBuf {
    match path.components().next_back() {
        Some(Component::Normal(_)) => path.parent().map_or_else(PathBuf::new, Path::to_path_buf),
        Some(Component::RootDir) => path.to_path_buf(),
        Some(Component::CurDir) | None => PathBuf::from(".."),
        _ => path.join(".."),
    }
}

/// A path as seen from a directory, by name alone.
fn relative(path: &Path, base: &Path) -> PathBuf {
    let normal = |p: &Path| -> Vec<PathBuf> {
        let kept = p.components().filter(|c| !matches!(c, Component::CurDir));
        kept.map(|c| PathBuf::from(c.as_os_str())).collect()
    };
    let (path, base) = (normal(path), normal(base));
    let common = path.iter().zip(&base).take_while(|(a, b)| a == b).count();
    let up = base.len() - common;
    let mut out: PathBuf = std::iter::repeat_n("..", up).collect();
    out.extend(path.iter().skip(common));
    out
}

enum Segment {
    /// `**`
    Directories,
    /// A name without anything special in it.
    Literal(String),
    Pattern(Vec<Item>),
}

enum Item {
    Char(char),
    /// `?`
    Any,
    /// `*`
    Star,
    Class {
        negative: bool,
        ranges: Vec<(char, char)>,
    },
    Choice(Vec<Vec<Item>>),
}

impl Segment {
    fn parse(name: &str) -> Result<Segment, GlobError> {
        let chars: Vec<char> = name.chars().collect();
        let mut at = 0;
        let items = parse_items(&chars, &mut at, false)?;
        let literal = items.iter().map(|i| match i {
            Item::Char(c) => Some(*c),
            _ => None,
        });
        Ok(match literal.collect::<Option<String>>() {
            Some(name) => Segment::Literal(name),
            None => Segment::Pattern(items),
        })
    }
}

fn parse_items(chars: &[char], at: &mut usize, in_choice: bool) -> Result<Vec<Item>, GlobError> {
    let mut items = Vec::new();
    while let Some(&c) = chars.get(*at) {
        if in_choice && matches!(c, ',' | '}') {
            break;
        }
        *at += 1;
        items.push(match c {
            '*' => Item::Star,
            '?' => Item::Any,
            '\\' => {
                let escaped = *chars.get(*at).ok_or(GlobError::Syntax)?;
                *at += 1;
                Item::Char(escaped)
            }
            '[' => parse_class(chars, at)?,
            '{' => {
                let mut choices = vec![parse_items(chars, at, true)?];
                loop {
                    let separator = chars.get(*at).copied();
                    *at += 1;
                    match separator {
                        Some(',') => choices.push(parse_items(chars, at, true)?),
                        Some(_) => break,
                        None => return Err(GlobError::Syntax),
                    }
                }
                Item::Choice(choices)
            }
            c => Item::Char(c),
        });
    }
    Ok(items)
}

fn parse_class(chars: &[char], at: &mut usize) -> Result<Item, GlobError> {
    let negative = chars.get(*at) == Some(&'^');
    if negative {
        *at += 1;
    }
    let one = |at: &mut usize| {
        let mut c = *chars.get(*at).ok_or(GlobError::Syntax)?;
        *at += 1;
        match c {
            '\\' => {
                c = *chars.get(*at).ok_or(GlobError::Syntax)?;
                *at += 1;
            }
            '-' => return Err(GlobError::Syntax),
            _ => {}
        }
        Ok(c)
    };
    let mut ranges = Vec::new();
    loop {
        if chars.get(*at) == Some(&']') && !ranges.is_empty() {
            *at += 1;
            return Ok(Item::Class { negative, ranges });
        }
        let low = one(at)?;
        let high = match chars.get(*at) == Some(&'-') {
            true => {
                *at += 1;
                one(at)?
            }
            false => low,
        };
        ranges.push((low, high));
    }
}

/// Every length of the name's start that the items match.
fn match_lengths(items: &[Item], name: &[char], from: usize) -> Vec<usize> {
    let mut ends = vec![from];
    for item in items {
        let mut next = Vec::new();
        for end in ends {
            let c = name.get(end).copied();
            match item {
                Item::Star => next.extend(end..=name.len()),
                Item::Any => next.extend(c.map(|_| end + 1)),
                Item::Char(wanted) => next.extend(c.filter(|c| c == wanted).map(|_| end + 1)),
                Item::Class { negative, ranges } => {
                    let inside = |c: char| ranges.iter().any(|(l, h)| (*l..=*h).contains(&c));
                    next.extend(c.filter(|c| inside(*c) != *negative).map(|_| end + 1));
                }
                Item::Choice(choices) => {
                    next.extend(choices.iter().flat_map(|c| match_lengths(c, name, end)));
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        ends = next;
    }
    ends
}

fn matches(items: &[Item], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    match_lengths(items, &name, 0).contains(&name.len())
}

struct Walk<'a> {
    files: &'a dyn FileSystem,
    found: Vec<PathBuf>,
}

impl Walk<'_> {
    fn add(&mut self, path: PathBuf) -> Result<(), GlobError> {
        self.found.push(path);
        if self.found.len() > MOST_ELEMENTS { Err(GlobError::TooMany) } else { Ok(()) }
    }

    /// Matches segments below `start`/`below`.
    fn descend(
        &mut self,
        start: &Path,
        below: &Path,
        segments: &[Segment],
        depth: usize,
    ) -> Result<(), GlobError> {
        let here = start.join(below);
        let Some((first, rest)) = segments.split_first() else { return Ok(()) };
        if let Segment::Literal(name) = first {
            let path = below.join(name);
            return match (rest.is_empty(), self.files.kind(&start.join(&path))) {
                (true, Ok(FileKind::File)) => self.add(path),
                (false, Ok(FileKind::Directory)) => self.descend(start, &path, rest, depth),
                _ => Ok(()),
            };
        }
        let here = if here.as_os_str().is_empty() { Path::new(".") } else { &here };
        let Ok(entries) = self.files.read_directory(here) else { return Ok(()) };
        if let Segment::Directories = first {
            // No directory at all.
            if !rest.is_empty() {
                self.descend(start, below, rest, depth)?;
            }
            for entry in &entries {
                let path = below.join(&entry.name);
                match entry.kind {
                    FileKind::File if rest.is_empty() => self.add(path)?,
                    FileKind::Directory if depth < DEEPEST => {
                        self.descend(start, &path, segments, depth + 1)?;
                    }
                    _ => {}
                }
            }
            return Ok(());
        }
        let Segment::Pattern(items) = first else { return Ok(()) };
        for entry in &entries {
            if !entry.name.to_str().is_some_and(|name| matches(items, name)) {
                continue;
            }
            let path = below.join(&entry.name);
            match entry.kind {
                FileKind::File if rest.is_empty() => self.add(path)?,
                FileKind::Directory if !rest.is_empty() => {
                    self.descend(start, &path, rest, depth)?
                }
                _ => {}
            }
        }
        Ok(())
    }
}
