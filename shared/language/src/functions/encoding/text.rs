//! Character encodings by their IANA names.

use encoding_rs as web;

/// A character encoding.
#[derive(Clone, Copy)]
pub(super) struct Encoding {
    name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// The web's encoding of that name is the same one.
    Web(&'static web::Encoding),
    /// The code points below a limit, one byte each (the web takes these names for larger sets).
    Bytes(u32),
    /// Latin 1 with six Turkish letters.
    Turkish,
    Utf16 {
        big_endian: bool,
        mark: bool,
    },
}

const TURKISH: [(u8, char); 6] =
    [(0xd0, 'Ğ'), (0xdd, 'İ'), (0xde, 'Ş'), (0xf0, 'ğ'), (0xfd, 'ı'), (0xfe, 'ş')];

/// Canonical name, further names, encoding. Names are compared without case.
static ENCODINGS: &[(&str, &[&str], Kind)] = &[
    ("UTF-8", &["csUTF8"], Kind::Web(web::UTF_8)),
    ("UTF-16", &["csUTF16"], Kind::Utf16 { big_endian: true, mark: true }),
    ("UTF-16BE", &["csUTF16BE"], Kind::Utf16 { big_endian: true, mark: false }),
    ("UTF-16LE", &["csUTF16LE"], Kind::Utf16 { big_endian: false, mark: false }),
    (
        "US-ASCII",
        &[
            "iso-ir-6",
            "ANSI_X3.4-1968",
            "ANSI_X3.4-1986",
            "ISO_646.irv:1991",
            "ISO646-US",
            "us",
            "IBM367",
            "cp367",
            "csASCII",
        ],
        Kind::Bytes(0x80),
    ),
    (
        "ISO_8859-1:1987",
        &[
            "iso-ir-100",
            "ISO_8859-1",
            "ISO-8859-1",
            "latin1",
            "l1",
            "IBM819",
            "CP819",
            "csISOLatin1",
        ],
        Kind::Bytes(0x100),
    ),
    (
        "ISO_8859-2:1987",
        &["iso-ir-101", "ISO_8859-2", "ISO-8859-2", "latin2", "l2", "csISOLatin2"],
        Kind::Web(web::ISO_8859_2),
    ),
    (
        "ISO_8859-3:1988",
        &["iso-ir-109", "ISO_8859-3", "ISO-8859-3", "latin3", "l3", "csISOLatin3"],
        Kind::Web(web::ISO_8859_3),
    ),
    (
        "ISO_8859-4:1988",
        &["iso-ir-110", "ISO_8859-4", "ISO-8859-4", "latin4", "l4", "csISOLatin4"],
        Kind::Web(web::ISO_8859_4),
    ),
    (
        "ISO_8859-5:1988",
        &["iso-ir-144", "ISO_8859-5", "ISO-8859-5", "cyrillic", "csISOLatinCyrillic"],
        Kind::Web(web::ISO_8859_5),
    ),
    (
        "ISO_8859-6:1987",
        &["iso-ir-127", "ISO_8859-6", "ISO-8859-6", "ECMA-114", "ASMO-708", "arabic"],
        Kind::Web(web::ISO_8859_6),
    ),
    (
        "ISO_8859-7:1987",
        &["iso-ir-126", "ISO_8859-7", "ISO-8859-7", "ELOT_928", "ECMA-118", "greek", "greek8"],
        Kind::Web(web::ISO_8859_7),
    ),
    (
        "ISO_8859-8:1988",
        &["iso-ir-138", "ISO_8859-8", "ISO-8859-8", "hebrew", "csISOLatinHebrew"],
        Kind::Web(web::ISO_8859_8),
    ),
    (
        "ISO_8859-9:1989",
        &["iso-ir-148", "ISO_8859-9", "ISO-8859-9", "latin5", "l5", "csISOLatin5"],
        Kind::Turkish,
    ),
    (
        "ISO-8859-10",
        &["iso-ir-157", "l6", "ISO_8859-10:1992", "csISOLatin6", "latin6"],
        Kind::Web(web::ISO_8859_10),
    ),
    ("ISO-8859-13", &["csISO885913"], Kind::Web(web::ISO_8859_13)),
    (
        "ISO-8859-14",
        &["iso-ir-199", "ISO_8859-14:1998", "ISO_8859-14", "latin8", "iso-celtic", "l8"],
        Kind::Web(web::ISO_8859_14),
    ),
    ("ISO-8859-15", &["ISO_8859-15", "Latin-9", "csISO885915"], Kind::Web(web::ISO_8859_15)),
    (
        "ISO-8859-16",
        &["iso-ir-226", "ISO_8859-16:2001", "ISO_8859-16", "latin10", "l10"],
        Kind::Web(web::ISO_8859_16),
    ),
    ("Shift_JIS", &["MS_Kanji", "csShiftJIS"], Kind::Web(web::SHIFT_JIS)),
    (
        "Extended_UNIX_Code_Packed_Format_for_Japanese",
        &["csEUCPkdFmtJapanese", "EUC-JP"],
        Kind::Web(web::EUC_JP),
    ),
    ("ISO-2022-JP", &["csISO2022JP"], Kind::Web(web::ISO_2022_JP)),
    ("EUC-KR", &["csEUCKR"], Kind::Web(web::EUC_KR)),
    ("GBK", &["CP936", "MS936", "windows-936", "csGBK"], Kind::Web(web::GBK)),
    ("GB18030", &["csGB18030"], Kind::Web(web::GB18030)),
    ("Big5", &["csBig5"], Kind::Web(web::BIG5)),
    ("IBM866", &["cp866", "866", "csIBM866"], Kind::Web(web::IBM866)),
    ("KOI8-R", &["csKOI8R"], Kind::Web(web::KOI8_R)),
    ("KOI8-U", &["csKOI8U"], Kind::Web(web::KOI8_U)),
    ("macintosh", &["mac", "csMacintosh"], Kind::Web(web::MACINTOSH)),
    ("windows-874", &["cswindows874"], Kind::Web(web::WINDOWS_874)),
    ("windows-1250", &["cswindows1250"], Kind::Web(web::WINDOWS_1250)),
    ("windows-1251", &["cswindows1251"], Kind::Web(web::WINDOWS_1251)),
    ("windows-1252", &["cswindows1252"], Kind::Web(web::WINDOWS_1252)),
    ("windows-1253", &["cswindows1253"], Kind::Web(web::WINDOWS_1253)),
    ("windows-1254", &["cswindows1254"], Kind::Web(web::WINDOWS_1254)),
    ("windows-1255", &["cswindows1255"], Kind::Web(web::WINDOWS_1255)),
    ("windows-1256", &["cswindows1256"], Kind::Web(web::WINDOWS_1256)),
    ("windows-1257", &["cswindows1257"], Kind::Web(web::WINDOWS_1257)),
    ("windows-1258", &["cswindows1258"], Kind::Web(web::WINDOWS_1258)),
];

impl Encoding {
    pub(super) fn named(name: &str) -> Option<Encoding> {
        let same = |other: &&str| other.eq_ignore_ascii_case(name);
        let (name, _, kind) =
            ENCODINGS.iter().find(|(n, names, _)| same(n) || names.iter().any(&same))?;
        Some(Encoding { name, kind: *kind })
    }
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// `None` where a character cannot be represented.
    pub(super) fn encode(self, text: &str) -> Option<Vec<u8>> {
        match self.kind {
            Kind::Web(encoding) => {
                let (bytes, _, lossy) = encoding.encode(text);
                (!lossy).then(|| bytes.into_owned())
            }
            Kind::Bytes(limit) => {
                text.chars().map(|c| u8::try_from(c).ok().filter(|_| (c as u32) < limit)).collect()
            }
            Kind::Turkish => text
                .chars()
                .map(|c| match TURKISH.iter().find(|(_, t)| *t == c) {
                    Some((byte, _)) => Some(*byte),
                    None => u8::try_from(c).ok().filter(|b| TURKISH.iter().all(|(t, _)| t != b)),
                })
                .collect(),
            Kind::Utf16 { big_endian, mark } => {
                let mark = mark.then_some(0xfeff);
                let units = mark.into_iter().chain(text.encode_utf16());
                let bytes = |u: u16| if big_endian { u.to_be_bytes() } else { u.to_le_bytes() };
                Some(units.flat_map(bytes).collect())
            }
        }
    }

    /// `None` where bytes stand for no character.
    pub(super) fn decode(self, bytes: &[u8]) -> Option<String> {
        let text = match self.kind {
            Kind::Web(encoding) => {
                encoding.decode_without_bom_handling_and_without_replacement(bytes)?.into_owned()
            }
            Kind::Bytes(limit) => {
                let known = bytes.iter().all(|b| u32::from(*b) < limit);
                known.then(|| bytes.iter().map(|b| char::from(*b)).collect::<String>())?
            }
            Kind::Turkish => bytes
                .iter()
                .map(|b| TURKISH.iter().find(|(t, _)| t == b).map_or(char::from(*b), |(_, c)| *c))
                .collect(),
            Kind::Utf16 { big_endian, mark } => {
                let (big_endian, bytes) = match bytes {
                    [0xfe, 0xff, rest @ ..] if mark => (true, rest),
                    [0xff, 0xfe, rest @ ..] if mark => (false, rest),
                    bytes => (big_endian, bytes),
                };
                let (pairs, rest) = bytes.as_chunks::<2>();
                if !rest.is_empty() {
                    return None;
                }
                let unit = |pair: &[u8; 2]| match big_endian {
                    true => u16::from_be_bytes(*pair),
                    false => u16::from_le_bytes(*pair),
                };
                char::decode_utf16(pairs.iter().map(unit)).collect::<Result<String, _>>().ok()?
            }
        };
        // Some encodings give undefined bytes to control characters; the replacement character never
        // stands for itself here.
        let undefined = text.contains('\u{fffd}')
            || (matches!(self.kind, Kind::Web(_))
                && self.name.starts_with("windows")
                && text.chars().any(|c| ('\u{80}'..='\u{9f}').contains(&c)));
        (!undefined).then_some(text)
    }
}
