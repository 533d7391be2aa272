//! The file: magic, format, header, compressed content.
//!
//! ```text
//! 8 bytes  "PLUMBPLN"
//! 2 bytes  format, big endian
//! 4 bytes  length of the header, big endian
//!          header, JSON: engine, lengths, digest, MAC
//!          content, MessagePack in deflate
//! ```

use super::form::PlanForm;
use super::{
    FORMAT, PlanDigest, PlanSignature, PlanSigner, SavedPlan, SavedPlanError, UnverifiedPlan,
};
use bytes::Bytes;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{Read, Write};

const MAGIC: &[u8; 8] = b"PLUMBPLN";
const PREFIX: usize = MAGIC.len() + 2 + 4;
const MAX_HEADER: usize = 64 * 1024;
/// A plan of this size is unpacked whatever it was packed into.
const UNSUSPICIOUS: u64 = 64 << 20;
/// Plans are repetitive, but not more than this.
const MAX_RATIO: u64 = 200;
const MAX_CONTENT: u64 = 2 << 30;

#[derive(Serialize, Deserialize)]
struct Header {
    engine: String,
    content_length: u64,
    compressed_length: u64,
    digest: String,
    signature: PlanSignature,
}

/// A plan in its final bytes, without a MAC.
pub struct UnsignedPlan {
    engine: String,
    content_length: u64,
    compressed: Vec<u8>,
    digest: PlanDigest,
}

/// A plan file.
#[derive(Clone, Debug)]
pub struct EncodedPlan {
    /// The file: to be written whole and for its owner only.
    pub bytes: Bytes,
    /// The digest of all that it says.
    pub digest: PlanDigest,
}

impl SavedPlan {
    /// Packs the plan: the part that takes processor time and no key.
    ///
    /// # Errors
    /// Where an ephemeral value would be kept, or a value cannot be written.
    pub fn pack(&self) -> Result<UnsignedPlan, SavedPlanError> {
        let form = PlanForm::from_plan(self)?;
        let content = rmp_serde::to_vec(&form)
            .map_err(|e| SavedPlanError::Unwritable { problem: e.to_string() })?;
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        let compressed = encoder
            .write_all(&content)
            .and_then(|()| encoder.finish())
            .map_err(|e| SavedPlanError::Unwritable { problem: e.to_string() })?;
        let (engine, content_length) = (self.engine.to_string(), content.len() as u64);
        let limit = limit(compressed.len() as u64);
        if content_length > limit {
            return Err(SavedPlanError::TooLarge { declared: content_length, limit });
        }
        let digest = digest(FORMAT, &engine, content_length, &compressed);
        Ok(UnsignedPlan { engine, content_length, compressed, digest })
    }

    /// Packs and signs.
    ///
    /// # Errors
    /// As [`SavedPlan::pack`] and [`UnsignedPlan::sign`].
    pub async fn encode(&self, signer: &dyn PlanSigner) -> Result<EncodedPlan, SavedPlanError> {
        self.pack()?.sign(signer).await
    }
}

impl UnsignedPlan {
    /// The digest of all that it says.
    pub fn digest(&self) -> &PlanDigest {
        &self.digest
    }
    /// Puts the MAC to it.
    ///
    /// # Errors
    /// Where no MAC could be made.
    pub async fn sign(self, signer: &dyn PlanSigner) -> Result<EncodedPlan, SavedPlanError> {
        let header = Header {
            engine: self.engine,
            content_length: self.content_length,
            compressed_length: self.compressed.len() as u64,
            digest: self.digest.to_string(),
            signature: signer.sign(&self.digest).await?,
        };
        let header = serde_json::to_vec(&header)
            .map_err(|e| SavedPlanError::Unwritable { problem: e.to_string() })?;
        let length = match u32::try_from(header.len()) {
            Ok(length) if header.len() <= MAX_HEADER => length,
            _ => return Err(SavedPlanError::Unwritable { problem: "its MAC is too long".into() }),
        };
        let mut bytes = Vec::with_capacity(PREFIX + header.len() + self.compressed.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT.to_be_bytes());
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(&self.compressed);
        Ok(EncodedPlan { bytes: bytes.into(), digest: self.digest })
    }
}

/// Everything but the MAC: what is not in here could be exchanged.
fn digest(format: u16, engine: &str, content_length: u64, compressed: &[u8]) -> PlanDigest {
    let mut hash = Sha256::new();
    hash.update(MAGIC);
    hash.update(format.to_be_bytes());
    hash.update((engine.len() as u64).to_be_bytes());
    hash.update(engine.as_bytes());
    hash.update(content_length.to_be_bytes());
    hash.update(compressed);
    PlanDigest(hash.finalize().into())
}

fn limit(compressed: u64) -> u64 {
    compressed.saturating_mul(MAX_RATIO).clamp(UNSUSPICIOUS, MAX_CONTENT)
}

fn damaged(problem: &str) -> SavedPlanError {
    SavedPlanError::Damaged { problem: problem.into() }
}

pub(super) fn parse(bytes: &[u8]) -> Result<UnverifiedPlan, SavedPlanError> {
    let Some((magic, rest)) = bytes.split_first_chunk::<8>() else {
        return Err(SavedPlanError::NotAPlan);
    };
    if magic != MAGIC {
        return Err(SavedPlanError::NotAPlan);
    }
    let short = |expected: usize| SavedPlanError::WrongLength {
        expected: expected as u64,
        found: bytes.len() as u64,
    };
    let (format, rest) = rest.split_first_chunk::<2>().ok_or_else(|| short(PREFIX))?;
    let format = u16::from_be_bytes(*format);
    if format != FORMAT {
        return Err(SavedPlanError::UnknownFormat { found: format });
    }
    let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(|| short(PREFIX))?;
    let length = u32::from_be_bytes(*length) as usize;
    if length > MAX_HEADER {
        return Err(damaged("its header is too long"));
    }
    let (header, compressed) =
        rest.split_at_checked(length).ok_or_else(|| short(PREFIX + length))?;
    let header: Header =
        serde_json::from_slice(header).map_err(|_| damaged("its header cannot be read"))?;
    let found = compressed.len() as u64;
    if header.compressed_length != found {
        let before = (PREFIX + length) as u64;
        return Err(SavedPlanError::WrongLength {
            expected: header.compressed_length.saturating_add(before),
            found: found + before,
        });
    }
    let limit = limit(found);
    if header.content_length > limit {
        return Err(SavedPlanError::TooLarge { declared: header.content_length, limit });
    }
    let digest = digest(format, &header.engine, header.content_length, compressed);
    if digest.to_string() != header.digest {
        return Err(damaged("its content does not match its digest"));
    }
    let plan = unpack(compressed, header.content_length)?;
    if *plan.engine != *header.engine {
        return Err(damaged("its header and its content name different engines"));
    }
    Ok(UnverifiedPlan { digest, signature: header.signature, plan })
}

fn unpack(compressed: &[u8], length: u64) -> Result<SavedPlan, SavedPlanError> {
    let mut content = Vec::new();
    DeflateDecoder::new(compressed)
        .take(length.saturating_add(1))
        .read_to_end(&mut content)
        .map_err(|_| damaged("its content cannot be unpacked"))?;
    if content.len() as u64 != length {
        return Err(damaged("its content has another length than its header says"));
    }
    let form: PlanForm =
        rmp_serde::from_slice(&content).map_err(|_| damaged("its content cannot be read"))?;
    form.into_plan()
}
