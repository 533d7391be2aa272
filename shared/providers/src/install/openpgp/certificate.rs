use super::error::SignatureError;
use super::packet::{
    PUBLIC_KEY, PUBLIC_SUBKEY, Packet, SIGNATURE, USER_ATTRIBUTE, USER_ID, packets,
};
use super::public_key::PublicKey;
use super::signature::{
    KEY_REVOCATION, PRIMARY_KEY_BINDING, SUBKEY_BINDING, SUBKEY_REVOCATION, Signature,
};

/// A public key with its subkeys, and what it says of them.
pub(super) struct Certificate {
    pub(super) primary: PublicKey,
    revocations: Vec<Signature>,
    subkeys: Vec<Subkey>,
}

struct Subkey {
    key: PublicKey,
    signatures: Vec<Signature>,
}

/// What the signatures that come next are about.
enum About {
    Primary,
    /// Somebody's name, which nothing here rests on.
    Name,
    Subkey,
    /// A subkey that cannot be read: one of a newer kind, for encryption.
    Nothing,
}

impl Certificate {
    /// All keys of a key ring.
    pub(super) fn parse_all(bytes: &[u8]) -> Result<Vec<Certificate>, SignatureError> {
        let mut all: Vec<Certificate> = Vec::new();
        let mut about = About::Nothing;
        for packet in packets(bytes) {
            let Packet { tag, body } = packet?;
            if tag == PUBLIC_KEY {
                let primary = PublicKey::parse(body)?;
                all.push(Certificate { primary, revocations: vec![], subkeys: vec![] });
                about = About::Primary;
                continue;
            }
            let Some(current) = all.last_mut() else {
                return Err(SignatureError::malformed("the signing key begins with no key"));
            };
            match (tag, &about) {
                (USER_ID | USER_ATTRIBUTE, _) => about = About::Name,
                (PUBLIC_SUBKEY, _) => {
                    about = match PublicKey::parse(body) {
                        Ok(key) => {
                            current.subkeys.push(Subkey { key, signatures: vec![] });
                            About::Subkey
                        }
                        Err(_) => About::Nothing,
                    }
                }
                // What cannot be read proves nothing, and takes nothing away that could be proven.
                (SIGNATURE, About::Primary) => current
                    .revocations
                    .extend(Signature::parse(body).ok().filter(|s| s.kind == KEY_REVOCATION)),
                (SIGNATURE, About::Subkey) => {
                    if let Some(subkey) = current.subkeys.last_mut() {
                        subkey.signatures.extend(Signature::parse(body).ok());
                    }
                }
                _ => {}
            }
        }
        Ok(all)
    }

    /// The key that claims to have made a signature, where it is one of these.
    ///
    /// # Errors
    /// Where it may not make any.
    pub(super) fn signer(
        &self,
        signature: &Signature,
    ) -> Result<Option<&PublicKey>, SignatureError> {
        let Some(issuer) = signature.issuer() else { return Ok(None) };
        let subkey = self.subkeys.iter().find(|subkey| subkey.key.id() == issuer);
        if subkey.is_none() && self.primary.id() != issuer {
            return Ok(None);
        }
        let revoked = |by: &Signature| by.verify_keys(&self.primary, None, &self.primary).is_ok();
        if self.revocations.iter().any(revoked) {
            return Err(SignatureError::Revoked);
        }
        match subkey {
            None => Ok(Some(&self.primary)),
            Some(subkey) => self.admit(subkey).map(|()| Some(&subkey.key)),
        }
    }

    /// Whether a subkey belongs to the key, and is meant for signing: both have to say so.
    fn admit(&self, subkey: &Subkey) -> Result<(), SignatureError> {
        let says = |signature: &Signature| {
            signature.verify_keys(&self.primary, Some(&subkey.key), &self.primary).is_ok()
        };
        let of = |kind| subkey.signatures.iter().filter(move |s| s.kind == kind);
        if of(SUBKEY_REVOCATION).any(says) {
            return Err(SignatureError::Revoked);
        }
        let agrees = |binding: &Signature| {
            binding.embedded().filter(|back| back.kind == PRIMARY_KEY_BINDING).is_some_and(|back| {
                back.verify_keys(&self.primary, Some(&subkey.key), &subkey.key).is_ok()
            })
        };
        match of(SUBKEY_BINDING).any(|s| s.may_sign() && agrees(s) && says(s)) {
            true => Ok(()),
            false => Err(SignatureError::Unbound),
        }
    }
}
