//! Differences between two texts, as `diff -u` writes them.

use similar::{Algorithm, DiffOp, DiffTag};
use std::io::{self, Write};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// Writes what differs between an old and a new text of `path`; nothing where they are equal.
///
/// # Errors
/// Those of the writer.
pub fn write_unified_diff(
    path: &str,
    old: &[u8],
    new: &[u8],
    out: &mut dyn Write,
) -> io::Result<()> {
    let old: Vec<&[u8]> = old.split_inclusive(|byte| *byte == b'\n').collect();
    let new: Vec<&[u8]> = new.split_inclusive(|byte| *byte == b'\n').collect();
    let operations = similar::capture_diff_slices(Algorithm::Myers, &old, &new);
    let groups = similar::group_diff_ops(operations, CONTEXT);
    if groups.is_empty() {
        return Ok(());
    }
    write!(out, "--- old/{path}\n+++ new/{path}\n")?;
    for group in groups {
        let [first, .., last] = &group[..] else {
            if let [only] = &group[..] {
                hunk(only, only, &group, &old, &new, out)?;
            }
            continue;
        };
        hunk(first, last, &group, &old, &new, out)?;
    }
    Ok(())
}

fn hunk(
    first: &DiffOp,
    last: &DiffOp,
    group: &[DiffOp],
    old: &[&[u8]],
    new: &[&[u8]],
    out: &mut dyn Write,
) -> io::Result<()> {
    let old_lines = place(first.old_range().start, last.old_range().end);
    let new_lines = place(first.new_range().start, last.new_range().end);
    writeln!(out, "@@ -{old_lines} +{new_lines} @@")?;
    for operation in group {
        let (before, after) = (&old[operation.old_range()], &new[operation.new_range()]);
        if operation.tag() == DiffTag::Equal {
            lines(b' ', before, out)?;
        } else {
            lines(b'-', before, out)?;
            lines(b'+', after, out)?;
        }
    }
    Ok(())
}

/// The first line and how many there are, which is left out where it is one.
fn place(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    }
}

fn lines(mark: u8, lines: &[&[u8]], out: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        out.write_all(&[mark])?;
        out.write_all(line)?;
        if !line.ends_with(b"\n") {
            out.write_all(b"\n\\ No newline at end of file\n")?;
        }
    }
    Ok(())
}
