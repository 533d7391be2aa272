use super::error::SignatureError;
use super::packet::{multiprecision, take};
use super::signature::Digested;
use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use rsa::traits::PublicKeyParts;
use rsa::{BigUint, Pkcs1v15Sign, RsaPublicKey};
use sha1::{Digest, Sha1};

const VERSION: u8 = 4;
/// RSA, and RSA for signing alone.
const RSA: [u8; 2] = [1, 3];
const DSA: u8 = 17;
const ECDSA: u8 = 19;
const EDDSA: u8 = 22;
/// The curve that Ed25519 works on, as RFC 4880's successors name it.
const ED25519_CURVE: [u8; 9] = [0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x0f, 0x01];
/// What stands before a point that is written in its native form.
const NATIVE: u8 = 0x40;
/// Bits of an RSA key that is long enough to prove anything, and of one that takes no time to compute with.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2047..=8192;

/// A public key, or a part of one.
pub(super) struct PublicKey {
    pub(super) fingerprint: [u8; 20],
    /// As it is hashed into signatures about it.
    pub(super) body: Vec<u8>,
    material: Material,
}

enum Material {
    Rsa(RsaPublicKey),
    Ed25519([u8; 32]),
    /// One that cannot be used for verifying: keys for encryption are among them.
    Other(String),
}

impl PublicKey {
    pub(super) fn parse(body: &[u8]) -> Result<PublicKey, SignatureError> {
        if body.len() > usize::from(u16::MAX) {
            return Err(SignatureError::malformed("a key is too long to be hashed"));
        }
        let mut rest = body;
        let version = take(&mut rest, 1)?[0];
        if version != VERSION {
            return Err(SignatureError::Unsupported(format!("a key of version {version}")));
        }
        take(&mut rest, 4)?;
        let algorithm = take(&mut rest, 1)?[0];
        let material = match algorithm {
            _ if RSA.contains(&algorithm) => rsa(&mut rest)?,
            EDDSA => ed25519(&mut rest)?,
            other => Material::Other(algorithm_name(other)),
        };
        let mut hash = Sha1::new();
        hash.update(hashed_head(body));
        hash.update(body);
        Ok(PublicKey { fingerprint: hash.finalize().into(), body: body.to_vec(), material })
    }

    pub(super) fn id(&self) -> [u8; 8] {
        let mut id = [0; 8];
        id.copy_from_slice(&self.fingerprint[12..]);
        id
    }

    /// Whether this key has made a signature, given by its numbers.
    pub(super) fn verify(
        &self,
        digested: &Digested,
        mut numbers: &[u8],
    ) -> Result<(), SignatureError> {
        match &self.material {
            Material::Rsa(key) => {
                let number = multiprecision(&mut numbers)?;
                let signature = padded(number, key.size()).ok_or(SignatureError::Mismatch)?;
                let scheme = Pkcs1v15Sign {
                    hash_len: Some(digested.digest.len()),
                    prefix: digested.hash.prefix().into(),
                };
                key.verify(scheme, &digested.digest, &signature)
                    .map_err(|_| SignatureError::Mismatch)
            }
            Material::Ed25519(key) => {
                let mut signature = Vec::with_capacity(64);
                for _ in 0..2 {
                    let number = multiprecision(&mut numbers)?;
                    signature.extend(padded(number, 32).ok_or(SignatureError::Mismatch)?);
                }
                UnparsedPublicKey::new(&ED25519, key)
                    .verify(&digested.digest, &signature)
                    .map_err(|_| SignatureError::Mismatch)
            }
            Material::Other(name) => Err(SignatureError::Unsupported(name.clone())),
        }
    }
}

/// What stands before a key where it is hashed.
pub(super) fn hashed_head(body: &[u8]) -> [u8; 3] {
    // A longer key was never parsed.
    let [high, low] = u16::try_from(body.len()).unwrap_or(u16::MAX).to_be_bytes();
    [0x99, high, low]
}

fn rsa(rest: &mut &[u8]) -> Result<Material, SignatureError> {
    let modulus = BigUint::from_bytes_be(multiprecision(rest)?);
    let exponent = BigUint::from_bytes_be(multiprecision(rest)?);
    let bits = modulus.bits();
    if !RSA_BITS.contains(&bits) {
        return Ok(Material::Other(format!("an RSA key of {bits} bits")));
    }
    match RsaPublicKey::new_with_max_size(modulus, exponent, *RSA_BITS.end()) {
        Ok(key) => Ok(Material::Rsa(key)),
        Err(_) => Err(SignatureError::malformed("the signing key is no RSA key")),
    }
}

fn ed25519(rest: &mut &[u8]) -> Result<Material, SignatureError> {
    let length = usize::from(take(rest, 1)?[0]);
    if take(rest, length)? != ED25519_CURVE {
        return Ok(Material::Other("EdDSA on a curve other than Ed25519".to_owned()));
    }
    let point = multiprecision(rest)?;
    match point.split_first().map(|(form, point)| (*form, <[u8; 32]>::try_from(point))) {
        Some((NATIVE, Ok(point))) => Ok(Material::Ed25519(point)),
        _ => Err(SignatureError::malformed("the signing key is no Ed25519 key")),
    }
}

/// A number with its leading zeroes.
fn padded(number: &[u8], length: usize) -> Option<Vec<u8>> {
    let missing = length.checked_sub(number.len())?;
    Some([vec![0; missing].as_slice(), number].concat())
}

pub(super) fn algorithm_name(algorithm: u8) -> String {
    match algorithm {
        DSA => "DSA".to_owned(),
        ECDSA => "ECDSA".to_owned(),
        other => format!("the public key algorithm {other}"),
    }
}
