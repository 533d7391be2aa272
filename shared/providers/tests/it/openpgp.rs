//! Signatures and keys that GnuPG made.

use providers::install::{SignatureError, verify_detached};

const DOCUMENT: &[u8] = include_bytes!("openpgp_files/document.txt");
const NOW: i64 = 1_800_000_000;

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("openpgp_files/", $name))
    };
}
macro_rules! key {
    ($name:literal) => {
        include_str!(concat!("openpgp_files/", $name, ".asc"))
    };
}

fn verify(signature: &[u8], key: &str) -> Result<String, SignatureError> {
    verify_detached(DOCUMENT, signature, [key], NOW).map(|signer| signer.key_id())
}

#[test]
fn signatures_with_rsa_and_ed25519_hold() {
    assert_eq!(verify(file!("rsa.sig"), key!("rsa")).unwrap(), "F11E785DCF8E7576");
    assert_eq!(verify(file!("rsa-sha256.sig"), key!("rsa")).unwrap(), "F11E785DCF8E7576");
    assert_eq!(verify(file!("ed.sig"), key!("ed")).unwrap(), "0B276C232AB2D829");
}

#[test]
fn a_subkey_signs_for_its_key() {
    let signer = verify_detached(DOCUMENT, file!("sub.sig"), [key!("sub")], NOW).unwrap();
    assert_ne!(signer.key_id(), "96C0EF485D9162E5", "that is the subkey");
    assert!(signer.fingerprint().ends_with(&signer.key_id()));
}

#[test]
fn the_key_that_fits_is_found_among_others() {
    let keys = [key!("ec"), key!("ed"), key!("rsa")];
    assert!(verify_detached(DOCUMENT, file!("rsa.sig"), keys, NOW).is_ok());
    let ring = keys.concat();
    assert!(verify(file!("rsa.sig"), &ring).is_err(), "a block holds one key ring");
}

#[test]
fn nobody_known_has_signed() {
    assert_eq!(verify(file!("rsa.sig"), key!("sub")), Err(SignatureError::UnknownIssuer));
    let nobody = verify_detached(DOCUMENT, file!("rsa.sig"), [], NOW);
    assert_eq!(nobody, Err(SignatureError::UnknownIssuer));
}

#[test]
fn another_document_was_signed() {
    for (signature, key) in [
        (&file!("rsa.sig")[..], key!("rsa")),
        (file!("sub.sig"), key!("sub")),
        (file!("ed.sig"), key!("ed")),
    ] {
        let other = verify_detached(b"another", signature, [key], NOW);
        assert_eq!(other, Err(SignatureError::Mismatch));
    }
}

#[test]
fn what_proves_nothing_is_refused_by_name() {
    for (signature, key, name) in [
        (&file!("dsa.sig")[..], key!("dsa"), "DSA"),
        (file!("ec.sig"), key!("ec"), "ECDSA"),
        (file!("small.sig"), key!("small"), "1024 bits"),
        (file!("rsa-sha1.sig"), key!("rsa"), "SHA-1"),
        (file!("rsa-text.sig"), key!("rsa"), "type 0x01"),
    ] {
        let error = verify(signature, key).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("not supported"), "{error}");
    }
}

#[test]
fn time_and_revocation_end_a_signature() {
    assert_eq!(verify(file!("rsa-expired.sig"), key!("rsa")), Err(SignatureError::Expired));
    let before = 1_577_836_800 + 60;
    assert!(verify_detached(DOCUMENT, file!("rsa-expired.sig"), [key!("rsa")], before).is_ok());
    assert_eq!(verify(file!("rsa.sig"), key!("rsa-revoked")), Err(SignatureError::Revoked));
}

/// The packets of a file of GnuPG's, which writes lengths of one and two octets.
fn packets(bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let (mut packets, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let tag = (bytes[at] >> 2) & 0x0f;
        let (head, length) = match bytes[at] & 3 {
            0 => (2, usize::from(bytes[at + 1])),
            _ => (3, usize::from(bytes[at + 1]) << 8 | usize::from(bytes[at + 2])),
        };
        packets.push((tag, &bytes[at..at + head + length]));
        at += head + length;
    }
    packets
}

fn unarmored(text: &str) -> Vec<u8> {
    use base64::Engine;
    let lines = text.lines().filter(|line| !line.starts_with(['-', '=']) && !line.is_empty());
    base64::engine::general_purpose::STANDARD.decode(lines.collect::<String>()).unwrap()
}

fn armored(bytes: &[u8]) -> String {
    use base64::Engine;
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    format!(
        "-----BEGIN PGP PUBLIC KEY BLOCK-----\nComment: a test\n\n{text}\n=AAAA\n-----END PGP PUBLIC KEY BLOCK-----"
    )
}

#[test]
fn a_subkey_that_its_key_does_not_own_is_refused() {
    let bytes = unarmored(key!("sub"));
    let all = packets(&bytes);
    let whole: Vec<u8> = all.iter().flat_map(|(_, packet)| packet.to_vec()).collect();
    assert!(verify(file!("sub.sig"), &armored(&whole)).is_ok());
    let first_subkey = all.iter().position(|(tag, _)| *tag == 14).unwrap();
    let mut unbound = all.clone();
    unbound.remove(first_subkey + 1);
    let unbound: Vec<u8> = unbound.iter().flat_map(|(_, packet)| packet.to_vec()).collect();
    assert_eq!(verify(file!("sub.sig"), &armored(&unbound)), Err(SignatureError::Unbound));

    // Somebody else's key claims the subkey.
    let theirs = unarmored(key!("rsa"));
    let mut stolen = packets(&theirs);
    stolen.extend(&all[first_subkey..first_subkey + 2]);
    let stolen: Vec<u8> = stolen.iter().flat_map(|(_, packet)| packet.to_vec()).collect();
    assert_eq!(verify(file!("sub.sig"), &armored(&stolen)), Err(SignatureError::Unbound));
}

#[test]
fn no_changed_signature_holds_and_none_makes_it_panic() {
    for (name, signature, key) in
        [("rsa", &file!("rsa.sig")[..], key!("rsa")), ("ed", file!("ed.sig"), key!("ed"))]
    {
        for at in 0..signature.len() {
            let mut changed = signature.to_vec();
            changed[at] ^= 1;
            let held = verify(&changed, key).is_ok();
            assert!(!held || proves_nothing(signature, at), "{name} at {at}");
        }
        for length in 0..signature.len() {
            assert!(verify(&signature[..length], key).is_err(), "{name} of {length}");
        }
    }
}

/// Whether an octet is in the unhashed part, which says again who signed, or in the length of a number in bits, of which only
/// the octets count.
fn proves_nothing(signature: &[u8], at: usize) -> bool {
    let two = |at: usize| usize::from(signature[at]) << 8 | usize::from(signature[at + 1]);
    let body = if signature[0] & 3 == 0 { 2 } else { 3 };
    let unhashed = body + 6 + two(body + 4);
    let mut number = unhashed + 2 + two(unhashed) + 2;
    let unhashed = unhashed..number - 2;
    while number < signature.len() {
        if (number..number + 2).contains(&at) {
            return true;
        }
        number += 2 + two(number).div_ceil(8);
    }
    unhashed.contains(&at)
}

#[test]
fn a_key_that_is_too_long_to_be_hashed_is_refused() {
    let mut body = vec![0; 70_000];
    body[0] = 4;
    body[5] = 17;
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    let key = [&[0x80 | 6 << 2 | 2], &length[..], &body].concat();
    let refused = verify(file!("rsa.sig"), &armored(&key));
    assert!(matches!(refused, Err(SignatureError::Malformed(_))), "{refused:?}");
}

#[test]
fn no_changed_key_makes_it_panic() {
    let bytes = unarmored(key!("sub"));
    for at in (0..bytes.len()).step_by(5) {
        let mut changed = bytes.clone();
        changed[at] ^= 0xff;
        let _ = verify(file!("sub.sig"), &armored(&changed));
        let _ = verify(file!("sub.sig"), &armored(&bytes[..at]));
    }
    let endless = key!("rsa").split("-----END").next().unwrap();
    for text in ["", "-----BEGIN PGP PUBLIC KEY BLOCK-----", endless] {
        assert!(matches!(verify(file!("rsa.sig"), text), Err(SignatureError::Malformed(_))));
    }
}
