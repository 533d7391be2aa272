//! Tokens that prove who asks: a file for each principal.

use super::owner_file::{self, OwnerFileError};
use engine::identifiers::Principal;
use engine::random::Random;
use engine::record::key::encode;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes of a token, before they are written in hexadecimal.
const LENGTH: usize = 32;

/// The tokens of all principals. Whoever has a token is its principal.
#[derive(Clone, Debug, Default)]
pub struct AccessTokens {
    /// By digest, so that how long a comparison takes says nothing about a token.
    principals: BTreeMap<[u8; 32], Principal>,
}

/// A token that was made just now: what it is stands in its file alone.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Whose.
    pub principal: String,
    /// Where it is kept.
    pub path: PathBuf,
}

impl AccessTokens {
    /// The tokens of these principals, and those that had to be made.
    ///
    /// # Errors
    /// Where a file cannot be read or made, or others can read it.
    pub fn open<'p>(
        folder: &Path,
        principals: impl IntoIterator<Item = &'p str>,
        random: &dyn Random,
    ) -> Result<(AccessTokens, Vec<NewToken>), OwnerFileError> {
        let (mut tokens, mut made) = (AccessTokens::default(), Vec::new());
        for principal in principals {
            let path = folder.join(encode(principal));
            let token = match owner_file::read(&path)? {
                Some(token) => token,
                None => {
                    let mut bytes = [0; LENGTH];
                    random.fill(&mut bytes);
                    owner_file::create(&path, &hex::encode(bytes), random)?;
                    // Of two processes that make it at once, one has.
                    let empty = || OwnerFileError::Empty { path: path.clone() };
                    let token = owner_file::read(&path)?.ok_or_else(empty)?;
                    made.push(NewToken { principal: principal.to_owned(), path });
                    token
                }
            };
            let digest = Sha256::digest(token.as_bytes()).into();
            tokens.principals.insert(digest, Principal::from_stored(principal));
        }
        Ok((tokens, made))
    }

    /// Whose token it is.
    pub fn principal(&self, token: &str) -> Option<&Principal> {
        let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        self.principals.get(&digest)
    }
}
