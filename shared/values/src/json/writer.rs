/// Appends a string in quotes, with the escapes that Terraform writes.
pub(super) fn write_string(out: &mut String, s: &str) {
    out.push('"');
    let mut done = 0;
    for (at, c) in s.char_indices() {
        let escape: &str = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            '<' => "\\u003c",
            '>' => "\\u003e",
            '&' => "\\u0026",
            '\u{2028}' => "\\u2028",
            '\u{2029}' => "\\u2029",
            c if c < ' ' => "",
            _ => continue,
        };
        out.push_str(&s[done..at]);
        match escape {
            "" => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            escape => out.push_str(escape),
        }
        done = at + c.len_utf8();
    }
    out.push_str(&s[done..]);
    out.push('"');
}

/// Appends items between brackets, with commas.
pub(super) fn write_items<T, E>(
    out: &mut String,
    brackets: [char; 2],
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T) -> Result<(), E>,
) -> Result<(), E> {
    out.push(brackets[0]);
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write(out, item)?;
    }
    out.push(brackets[1]);
    Ok(())
}
