//! Plan files on disk.

use crate::failure::Failure;
use crate::whole_file::{self, Readers};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// More than any plan has; whatever is larger was named by mistake.
const LARGEST: u64 = 1 << 30;

/// # Errors
/// Where it cannot be read.
pub(crate) fn read(path: &str) -> Result<Vec<u8>, Failure> {
    let failed = |error: io::Error| {
        Failure::error(
            format!("Failed to load \"{path}\" as a plan file"),
            format!("The file could not be read: {error}."),
        )
    };
    let file = File::open(path).map_err(failed)?;
    let mut content = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut content).map_err(failed)?;
    match content.len() as u64 > LARGEST {
        true => Err(failed(io::Error::other("it is larger than any plan"))),
        false => Ok(content),
    }
}

/// Writes a plan whole or not at all, for its owner alone: it holds sensitive values.
///
/// # Errors
/// Where it cannot be written.
pub(crate) fn write(path: &str, content: &[u8]) -> Result<(), Failure> {
    whole_file::write(Path::new(path), content, Readers::Owner).map_err(|error| {
        Failure::error(
            "Failed to write plan file",
            format!("The plan file could not be written to {path}: {error}."),
        )
    })
}
