//! Characters that are not seen, or make text look like another: in what people decide by, they are named.

/// How a character is shown that would not be seen as what it is; `None` for all others, line feeds and tabs among them.
pub(crate) fn name_of(c: char) -> Option<String> {
    let deceives = match c {
        '\n' | '\t' => false,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        // Directions, joiners and spaces without width, tags.
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => {
            true
        }
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    };
    deceives.then(|| format!("⟨U+{:04X}⟩", u32::from(c)))
}
