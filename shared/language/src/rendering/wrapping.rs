//! Wrapping of paragraphs at blanks.

/// Breaks a text's lines so that none is longer than `width` bytes, unless a single word is. A
/// break takes the place of the blanks there.
pub fn wrap(text: &str, width: usize) -> String {
    let mut wrapped = String::with_capacity(text.len() + text.len() / width.max(1));
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            wrapped.push('\n');
        }
        wrap_line(line, width, &mut wrapped);
    }
    wrapped
}

fn wrap_line(line: &str, width: usize, wrapped: &mut String) {
    let mut column = 0;
    let mut rest = line;
    while !rest.is_empty() {
        let word_at = rest.find(|character: char| !character.is_whitespace()).unwrap_or(rest.len());
        let (blanks, from_word) = rest.split_at(word_at);
        let word_end = from_word.find(char::is_whitespace).unwrap_or(from_word.len());
        let (word, after) = from_word.split_at(word_end);
        if word.is_empty() {
            if column + blanks.len() <= width {
                wrapped.push_str(blanks);
            }
        } else if column + blanks.len() + word.len() > width && column + blanks.len() > 0 {
            wrapped.push('\n');
            wrapped.push_str(word);
            column = word.len();
        } else {
            wrapped.push_str(blanks);
            wrapped.push_str(word);
            column += blanks.len() + word.len();
        }
        rest = after;
    }
}
