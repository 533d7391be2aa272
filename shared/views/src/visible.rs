//! Characters that are not seen, or make text look like another: in what people decide by, they are named.

/// Whether a character would not be seen as what it is. Line feeds and tabs are.
pub(crate) fn deceives(c: char) -> bool {
    // Directions, joiners and spaces without width, tags.
    let hides = matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    );
    hides || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// How such a character is shown; `None` for all others.
pub(crate) fn name_of(c: char) -> Option<String> {
    deceives(c).then(|| format!("⟨U+{:04X}⟩", u32::from(c)))
}

/// A text with such characters by their names.
pub(crate) fn named(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match name_of(c) {
            Some(name) => out.push_str(&name),
            None => out.push(c),
        }
    }
    out
}
