use super::error::SignatureError;

pub(super) const SIGNATURE: u8 = 2;
pub(super) const PUBLIC_KEY: u8 = 6;
pub(super) const USER_ID: u8 = 13;
pub(super) const PUBLIC_SUBKEY: u8 = 14;
pub(super) const USER_ATTRIBUTE: u8 = 17;

/// One packet of a message or a key.
pub(super) struct Packet<'b> {
    pub(super) tag: u8,
    pub(super) body: &'b [u8],
}

/// The packets of a message or a key, until the first that cannot be read.
pub(super) fn packets(bytes: &[u8]) -> impl Iterator<Item = Result<Packet<'_>, SignatureError>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let packet = next(&mut rest);
        if packet.is_err() {
            rest = &[];
        }
        Some(packet)
    })
}

fn next<'b>(rest: &mut &'b [u8]) -> Result<Packet<'b>, SignatureError> {
    let head = take(rest, 1)?[0];
    if head & 0x80 == 0 {
        return Err(SignatureError::malformed("it holds no OpenPGP packets"));
    }
    let indeterminate = || SignatureError::Unsupported("a packet of unknown length".to_owned());
    let (tag, length) = if head & 0x40 != 0 {
        (head & 0x3f, variable_length(rest)?.ok_or_else(indeterminate)?)
    } else {
        let octets = match head & 0x03 {
            0 => 1,
            1 => 2,
            2 => 4,
            _ => return Err(indeterminate()),
        };
        ((head >> 2) & 0x0f, big_endian(take(rest, octets)?))
    };
    Ok(Packet { tag, body: take(rest, length)? })
}

/// A length of one, two or five octets; `None` where it is that of a part.
fn variable_length(rest: &mut &[u8]) -> Result<Option<usize>, SignatureError> {
    let first = usize::from(take(rest, 1)?[0]);
    Ok(match first {
        0..=191 => Some(first),
        192..=223 => Some(((first - 192) << 8) + usize::from(take(rest, 1)?[0]) + 192),
        255 => Some(big_endian(take(rest, 4)?)),
        _ => None,
    })
}

/// The length of a subpacket, where there are no parts.
pub(super) fn subpacket_length(rest: &mut &[u8]) -> Result<usize, SignatureError> {
    let first = usize::from(take(rest, 1)?[0]);
    Ok(match first {
        0..=191 => first,
        192..=254 => ((first - 192) << 8) + usize::from(take(rest, 1)?[0]) + 192,
        _ => big_endian(take(rest, 4)?),
    })
}

/// The next octets.
pub(super) fn take<'b>(rest: &mut &'b [u8], length: usize) -> Result<&'b [u8], SignatureError> {
    let (head, tail) = rest.split_at_checked(length).ok_or_else(SignatureError::cut_off)?;
    *rest = tail;
    Ok(head)
}

/// A number of at most four octets.
pub(super) fn big_endian(octets: &[u8]) -> usize {
    octets.iter().fold(0, |number, octet| (number << 8) | usize::from(*octet))
}

/// A number of any size, without leading zeroes.
pub(super) fn multiprecision<'b>(rest: &mut &'b [u8]) -> Result<&'b [u8], SignatureError> {
    let bits = big_endian(take(rest, 2)?);
    take(rest, bits.div_ceil(8))
}
