//! `checksum=` in a package's address.

use super::error::PackageError;
use sha2::digest::Digest;

/// How a checksum is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Md5,
    Sha1,
    Sha256,
    Sha512,
}

/// What an archive's bytes must come to.
#[derive(Clone, Debug)]
pub(super) struct Checksum {
    algorithm: Algorithm,
    value: Vec<u8>,
}

impl Checksum {
    /// Reads `ALGORITHM:HEX` or `HEX`, whose length tells the algorithm.
    ///
    /// # Errors
    /// Where it is neither.
    pub(super) fn parse(text: &str) -> Result<Checksum, PackageError> {
        let invalid = |problem: String| PackageError::InvalidChecksum { problem };
        let (named, value) = match text.split_once(':') {
            Some((name, value)) => (Some(name), value),
            None => (None, text),
        };
        if named == Some("file") {
            return Err(invalid(
                "files of checksums are not read; write the archive's own checksum into its address".into(),
            ));
        }
        let value = hex::decode(value).map_err(|error| invalid(error.to_string()))?;
        let algorithm = match (named.map(str::to_ascii_lowercase).as_deref(), value.len()) {
            (Some("md5"), _) | (None, 16) => Algorithm::Md5,
            (Some("sha1"), _) | (None, 20) => Algorithm::Sha1,
            (Some("sha256"), _) | (None, 32) => Algorithm::Sha256,
            (Some("sha512"), _) | (None, 64) => Algorithm::Sha512,
            (Some(other), _) => return Err(invalid(format!("unsupported checksum type: {other}"))),
            (None, _) => return Err(invalid(format!("unknown type for checksum {text}"))),
        };
        Ok(Checksum { algorithm, value })
    }

    /// Whether bytes come to it.
    ///
    /// # Errors
    /// Where they do not.
    pub(super) fn verify(&self, bytes: &[u8], url: &str) -> Result<(), PackageError> {
        let actual = match self.algorithm {
            Algorithm::Md5 => md5::Md5::digest(bytes).to_vec(),
            Algorithm::Sha1 => sha1::Sha1::digest(bytes).to_vec(),
            Algorithm::Sha256 => sha2::Sha256::digest(bytes).to_vec(),
            Algorithm::Sha512 => sha2::Sha512::digest(bytes).to_vec(),
        };
        match actual == self.value {
            true => Ok(()),
            false => Err(PackageError::ChecksumMismatch {
                url: url.to_owned(),
                expected: hex::encode(&self.value),
                actual: hex::encode(actual),
            }),
        }
    }
}
