//! The canonical layout of configuration files: what `plumb fmt` writes.
//!
//! Layout changes blanks alone. Before it, a few old spellings are rewritten ([`rewriting`]):
//! labels get quotes, `"${x}"` becomes `x`, and types such as `"list"` or `map` become whole ones.

mod cells;
mod indentation;
mod lines;
mod pieces;
mod rewriting;
mod spacing;

use crate::diagnostics::Diagnostics;
use crate::source::{FileId, Sources};
use crate::syntax::{parse_body, tokens_with_comments};
use pieces::Piece;

/// The text of a file in canonical layout.
///
/// # Errors
/// The file's syntax errors: what cannot be parsed is not touched.
pub fn format(sources: &Sources, file: FileId) -> Result<Vec<u8>, Diagnostics> {
    let text = sources.text(file);
    let (body, diagnostics) = parse_body(sources, file);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let pieces = pieces::of(&text, &tokens_with_comments(&text, file));
    let rewrites = rewriting::of(&body);
    let rewritten = rewriting::apply(&pieces, &rewrites);
    let Some(rewritten) = rewritten else { return Ok(lay_out(pieces)) };
    let result = lay_out(rewritten);
    match parses(&result) {
        true => Ok(result),
        // An interpolation over several lines may mean nothing without its quotes.
        false => Ok(lay_out(pieces)),
    }
}

/// A text that stands in no file, in canonical layout; no spelling is changed.
pub(crate) fn lay_out_text(text: &[u8]) -> Vec<u8> {
    let file = Sources::new().add("", text);
    lay_out(pieces::of(text, &tokens_with_comments(text, file)))
}

fn parses(text: &[u8]) -> bool {
    let sources = Sources::new();
    let file = sources.add("", text);
    !parse_body(&sources, file).1.has_errors()
}

fn lay_out(mut pieces: Vec<Piece<'_>>) -> Vec<u8> {
    let lines = lines::of(&pieces);
    indentation::set(&mut pieces, &lines);
    spacing::set(&mut pieces, &lines);
    cells::align(&mut pieces, &lines);
    pieces::write(&pieces)
}
