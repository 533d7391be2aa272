/// Decodes standard Base64 with padding; line breaks are skipped.
///
/// # Errors
/// With the offset of the first byte that is wrong.
pub(in crate::functions) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3);
    let mut symbols =
        bytes.iter().enumerate().filter(|(_, b)| !matches!(b, b'\r' | b'\n')).map(|(i, b)| (i, *b));
    let (mut group, mut count) = (0u32, 0usize);
    let mut last = 0;
    while let Some((offset, symbol)) = symbols.next() {
        last = offset + 1;
        let value = match symbol {
            b'A'..=b'Z' => symbol - b'A',
            b'a'..=b'z' => symbol - b'a' + 26,
            b'0'..=b'9' => symbol - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' if count >= 2 => {
                if count == 2 {
                    match symbols.next() {
                        Some((_, b'=')) => {}
                        Some((offset, _)) => return Err(offset),
                        None => return Err(bytes.len()),
                    }
                }
                let [_, first, second, _] = (group << (6 * (4 - count))).to_be_bytes();
                out.push(first);
                if count == 3 {
                    out.push(second);
                }
                return match symbols.next() {
                    Some((offset, _)) => Err(offset),
                    None => Ok(out),
                };
            }
            _ => return Err(offset),
        };
        group = group << 6 | u32::from(value);
        count += 1;
        if count == 4 {
            let [_, first, second, third] = group.to_be_bytes();
            out.extend([first, second, third]);
            (group, count) = (0, 0);
        }
    }
    if count == 0 { Ok(out) } else { Err(last.saturating_sub(count)) }
}
