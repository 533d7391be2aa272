use super::error::SignatureError;
use super::packet::{big_endian, subpacket_length, take};
use super::public_key::{PublicKey, hashed_head};
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

/// A signature of a document as it is.
pub(super) const BINARY: u8 = 0x00;
/// A key says that a subkey belongs to it.
pub(super) const SUBKEY_BINDING: u8 = 0x18;
/// A subkey says that it belongs to a key.
pub(super) const PRIMARY_KEY_BINDING: u8 = 0x19;
/// A key says that it counts no more.
pub(super) const KEY_REVOCATION: u8 = 0x20;
/// A key says that a subkey counts no more.
pub(super) const SUBKEY_REVOCATION: u8 = 0x28;

const VERSION: u8 = 4;
const MAY_SIGN: u8 = 0x02;

const CREATION_TIME: u8 = 2;
const EXPIRATION_TIME: u8 = 3;
const ISSUER: u8 = 16;
const KEY_FLAGS: u8 = 27;
const EMBEDDED_SIGNATURE: u8 = 32;
const ISSUER_FINGERPRINT: u8 = 33;
/// Kinds of subpackets that may be critical though nothing here rests on them: preferences, and what keys are about.
const HARMLESS: [u8; 12] = [4, 5, 7, 9, 11, 21, 22, 23, 24, 25, 26, 30];

/// A signature.
pub(super) struct Signature {
    pub(super) kind: u8,
    hash: HashAlgorithm,
    /// The part that is hashed.
    head: Vec<u8>,
    /// First octets of the digest, which find most mismatches early.
    left: [u8; 2],
    numbers: Vec<u8>,
    created: Option<i64>,
    /// Seconds after its creation; zero is never.
    lifetime: i64,
    issuer: Option<[u8; 8]>,
    flags: Option<u8>,
    embedded: Option<Box<Signature>>,
}

/// How a document is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HashAlgorithm {
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

/// What a signature is of.
pub(super) struct Digested {
    pub(super) hash: HashAlgorithm,
    pub(super) digest: Vec<u8>,
}

impl HashAlgorithm {
    fn parse(number: u8) -> Result<HashAlgorithm, SignatureError> {
        Ok(match number {
            2 => HashAlgorithm::Sha1,
            8 => HashAlgorithm::Sha256,
            9 => HashAlgorithm::Sha384,
            10 => HashAlgorithm::Sha512,
            11 => HashAlgorithm::Sha224,
            1 => return Err(SignatureError::Unsupported("MD5".to_owned())),
            other => {
                return Err(SignatureError::Unsupported(format!("the hash algorithm {other}")));
            }
        })
    }

    /// What stands before a digest where RSA signs it (RFC 8017).
    pub(super) fn prefix(self) -> &'static [u8] {
        match self {
            HashAlgorithm::Sha1 => b"\x30\x21\x30\x09\x06\x05\x2b\x0e\x03\x02\x1a\x05\x00\x04\x14",
            HashAlgorithm::Sha224 => {
                b"\x30\x2d\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x04\x05\x00\x04\x1c"
            }
            HashAlgorithm::Sha256 => {
                b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"
            }
            HashAlgorithm::Sha384 => {
                b"\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30"
            }
            HashAlgorithm::Sha512 => {
                b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40"
            }
        }
    }

    fn digest(self, parts: &[&[u8]]) -> Vec<u8> {
        fn of<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
            let mut hash = D::new();
            parts.iter().for_each(|part| hash.update(part));
            hash.finalize().to_vec()
        }
        match self {
            HashAlgorithm::Sha1 => of::<Sha1>(parts),
            HashAlgorithm::Sha224 => of::<Sha224>(parts),
            HashAlgorithm::Sha256 => of::<Sha256>(parts),
            HashAlgorithm::Sha384 => of::<Sha384>(parts),
            HashAlgorithm::Sha512 => of::<Sha512>(parts),
        }
    }
}

impl Signature {
    pub(super) fn parse(body: &[u8]) -> Result<Signature, SignatureError> {
        Signature::parse_within(body, Depth::Outermost)
    }

    fn parse_within(body: &[u8], depth: Depth) -> Result<Signature, SignatureError> {
        let mut rest = body;
        let head = take(&mut rest, 6)?;
        if head[0] != VERSION {
            return Err(SignatureError::Unsupported(format!("a signature of version {}", head[0])));
        }
        let hashed = take(&mut rest, big_endian(&head[4..6]))?;
        let unhashed_length = big_endian(take(&mut rest, 2)?);
        let unhashed = take(&mut rest, unhashed_length)?;
        let left = take(&mut rest, 2)?;
        let mut signature = Signature {
            kind: head[1],
            hash: HashAlgorithm::parse(head[3])?,
            head: body[..head.len() + hashed.len()].to_vec(),
            left: [left[0], left[1]],
            numbers: rest.to_vec(),
            created: None,
            lifetime: 0,
            issuer: None,
            flags: None,
            embedded: None,
        };
        signature.read(hashed, Protected::Yes, depth)?;
        signature.read(unhashed, Protected::No, depth)?;
        Ok(signature)
    }

    /// Reads subpackets. Of those that nobody signed, only who made the signature counts: a wrong one finds no key that verifies it.
    fn read(
        &mut self,
        mut rest: &[u8],
        protected: Protected,
        depth: Depth,
    ) -> Result<(), SignatureError> {
        while !rest.is_empty() {
            let length = subpacket_length(&mut rest)?;
            let mut content = take(&mut rest, length)?;
            let kind = take(&mut content, 1)?[0];
            match kind & 0x7f {
                ISSUER => self.issuer = self.issuer.or_else(|| content.try_into().ok()),
                // Version, then fingerprint, whose end is the issuer.
                ISSUER_FINGERPRINT if content.first() == Some(&4) && content.len() == 21 => {
                    self.issuer = self.issuer.or_else(|| content[13..].try_into().ok());
                }
                EMBEDDED_SIGNATURE if depth == Depth::Outermost => {
                    let inner = Signature::parse_within(content, Depth::Embedded)?;
                    self.embedded = Some(Box::new(inner));
                }
                _ if protected == Protected::No => {}
                CREATION_TIME => self.created = Some(seconds(content)),
                EXPIRATION_TIME => self.lifetime = seconds(content),
                KEY_FLAGS => self.flags = Some(content.first().copied().unwrap_or(0)),
                other if kind & 0x80 != 0 && !HARMLESS.contains(&other) => {
                    return Err(SignatureError::Unsupported(format!(
                        "a signature that demands knowledge of subpacket {other}"
                    )));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The key that claims to have made it.
    pub(super) fn issuer(&self) -> Option<[u8; 8]> {
        self.issuer
    }
    pub(super) fn may_sign(&self) -> bool {
        self.flags.is_some_and(|flags| flags & MAY_SIGN != 0)
    }
    pub(super) fn embedded(&self) -> Option<&Signature> {
        self.embedded.as_deref()
    }
    pub(super) fn has_expired(&self, now: i64) -> bool {
        self.lifetime != 0
            && self.created.is_none_or(|created| created.saturating_add(self.lifetime) <= now)
    }

    /// Whether `key` made it, of this document.
    pub(super) fn verify_document(
        &self,
        document: &[u8],
        key: &PublicKey,
    ) -> Result<(), SignatureError> {
        if self.hash == HashAlgorithm::Sha1 {
            return Err(SignatureError::Unsupported("SHA-1".to_owned()));
        }
        self.verify(&[document], key)
    }

    /// Whether `key` made it, of a key and, where there is one, a subkey.
    pub(super) fn verify_keys(
        &self,
        primary: &PublicKey,
        subkey: Option<&PublicKey>,
        key: &PublicKey,
    ) -> Result<(), SignatureError> {
        let heads = (hashed_head(&primary.body), subkey.map(|key| hashed_head(&key.body)));
        let mut parts = vec![&heads.0[..], &primary.body];
        if let (Some(head), Some(subkey)) = (&heads.1, subkey) {
            parts.extend([&head[..], &subkey.body]);
        }
        self.verify(&parts, key)
    }

    fn verify(&self, parts: &[&[u8]], key: &PublicKey) -> Result<(), SignatureError> {
        let length = u32::try_from(self.head.len()).unwrap_or(u32::MAX).to_be_bytes();
        let end = [VERSION, 0xff];
        let mut hashed = parts.to_vec();
        hashed.extend([&self.head[..], &end, &length]);
        let digest = self.hash.digest(&hashed);
        if digest[..2] != self.left {
            return Err(SignatureError::Mismatch);
        }
        key.verify(&Digested { hash: self.hash, digest }, &self.numbers)
    }
}

/// A signature in a signature holds none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Outermost,
    Embedded,
}

/// Whether a subpacket is part of what was signed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Protected {
    Yes,
    No,
}

fn seconds(content: &[u8]) -> i64 {
    i64::try_from(big_endian(content.get(..4).unwrap_or_default())).unwrap_or(i64::MAX)
}
