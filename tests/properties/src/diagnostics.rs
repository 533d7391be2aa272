//! Diagnostics can be shown, and have their place.

use language::diagnostics::Diagnostics;
use language::rendering::{render_text, to_json};
use language::source::Sources;

/// So many are shown: it takes longer than all else.
const SHOWN: usize = 3;

/// Shows them as people and tools see them.
pub(crate) fn can_be_shown(diagnostics: &Diagnostics, sources: &Sources) {
    for diagnostic in diagnostics.iter().take(SHOWN) {
        render_text(diagnostic, sources, 78, true);
        to_json(diagnostic, sources);
    }
}

/// Those of a parser: each has a place, which is in the text.
pub(crate) fn have_places(diagnostics: &Diagnostics, sources: &Sources) {
    for diagnostic in diagnostics {
        let Some(place) = diagnostic.subject else {
            panic!("an error of syntax without a place: {}", diagnostic.summary)
        };
        let length = sources.text(place.file).len();
        assert!(
            place.start <= place.end && place.start as usize <= length,
            "{} at {place:?} in a text of {length} bytes",
            diagnostic.summary
        );
    }
    can_be_shown(diagnostics, sources);
}
