//! Who asks, by what the request carries.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::identifiers::Principal;
use runs::local_deployment::AccessTokens;

/// Whose token a header `authorization` carries. Browsers send it as a password, for requests that change nothing: another
/// site's page could have them send it with one that does.
pub(super) fn principal(tokens: &AccessTokens, method: &str, header: &str) -> Option<Principal> {
    let (scheme, given) = header.split_once(' ')?;
    let token = match scheme.to_ascii_lowercase().as_str() {
        "bearer" => given.trim().to_owned(),
        "basic" if method == "GET" => {
            let decoded = String::from_utf8(STANDARD.decode(given.trim()).ok()?).ok()?;
            decoded.split_once(':')?.1.to_owned()
        }
        _ => return None,
    };
    tokens.principal(&token).cloned()
}

#[cfg(test)]
mod tests {
    use super::principal;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use engine::random::Random;
    use runs::local_deployment::AccessTokens;

    struct Ones;

    impl Random for Ones {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(1);
        }
    }

    #[test]
    fn a_token_is_its_principal_and_browsers_may_only_read() {
        let folder = tempfile::tempdir().unwrap();
        let (tokens, made) = AccessTokens::open(folder.path(), ["ada"], &Ones).unwrap();
        let token = std::fs::read_to_string(&made[0].path).unwrap();
        let who = |method: &str, header: String| {
            principal(&tokens, method, &header).map(|principal| principal.to_string())
        };
        assert_eq!(who("POST", format!("Bearer {token}")).as_deref(), Some("ada"));
        assert_eq!(who("POST", format!("bearer {token}")).as_deref(), Some("ada"));
        assert_eq!(who("POST", format!("Bearer {token}1")), None);
        assert_eq!(who("POST", token.clone()), None);
        let basic = format!("Basic {}", STANDARD.encode(format!("anybody:{token}")));
        assert_eq!(who("GET", basic.clone()).as_deref(), Some("ada"));
        assert_eq!(who("POST", basic), None);
        // What is there already stays.
        let (_, made) = AccessTokens::open(folder.path(), ["ada"], &Ones).unwrap();
        assert!(made.is_empty());
    }
}
