use super::error::SignatureError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const BEGIN: &str = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
const END: &str = "-----END PGP PUBLIC KEY BLOCK-----";

/// The content of the first block of public keys in a text. Its checksum proves nothing, and is passed over.
pub(super) fn public_key_block(text: &str) -> Result<Vec<u8>, SignatureError> {
    let wrong = || SignatureError::malformed("the signing key is not a public key in ASCII armor");
    let (_, rest) = text.split_once(BEGIN).ok_or_else(wrong)?;
    let (block, _) = rest.split_once(END).ok_or_else(wrong)?;
    let lines = block.lines().map(str::trim).filter(|line| !line.is_empty());
    // Headers hold what base64 never does.
    let content = lines.filter(|line| !line.contains(':') && !line.starts_with('='));
    STANDARD.decode(content.collect::<String>()).map_err(|_| wrong())
}
