//! "Did you mean …?"

/// The first candidate that differs from `given` in fewer than three edits.
pub(crate) fn nearest<'c>(
    given: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    candidates.into_iter().find(|candidate| edit_distance(given, candidate) < 3)
}

fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, from_char) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, to_char) in to.iter().enumerate() {
            let substituted = diagonal + usize::from(from_char != *to_char);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

/// ` Did you mean "…"?`, or nothing.
pub(crate) fn hint<'c>(given: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    nearest(given, candidates).map_or_else(String::new, |near| format!(" Did you mean {near:?}?"))
}
