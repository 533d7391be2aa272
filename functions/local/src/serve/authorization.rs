//! Who asks, by what the request carries.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::identifiers::Principal;
use runs::api::Authentication;
use runs::local_deployment::AccessTokens;

/// Whose token a header `authorization` carries, and how. Browsers send it as a password, which they do by themselves.
pub(super) fn principal(
    tokens: &AccessTokens,
    header: &str,
) -> Option<(Principal, Authentication)> {
    let (scheme, given) = header.split_once(' ')?;
    let (token, authentication) = match scheme.to_ascii_lowercase().as_str() {
        "bearer" => (given.trim().to_owned(), Authentication::Explicit),
        "basic" => {
            let decoded = String::from_utf8(STANDARD.decode(given.trim()).ok()?).ok()?;
            (decoded.split_once(':')?.1.to_owned(), Authentication::Ambient)
        }
        _ => return None,
    };
    Some((tokens.principal(&token)?.clone(), authentication))
}

#[cfg(test)]
mod tests {
    use super::principal;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use engine::identifiers::Principal;
    use engine::random::Random;
    use runs::api::Authentication;
    use runs::local_deployment::AccessTokens;

    struct Ones;

    impl Random for Ones {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(1);
        }
    }

    #[test]
    fn a_token_is_its_principal_however_it_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let (tokens, made) = AccessTokens::open(folder.path(), ["ada"], &Ones).unwrap();
        let token = std::fs::read_to_string(&made[0].path).unwrap();
        let who = |header: String| principal(&tokens, &header);
        let ada = |how| Some((Principal::from_stored("ada"), how));
        assert_eq!(who(format!("Bearer {token}")), ada(Authentication::Explicit));
        assert_eq!(who(format!("bearer {token}")), ada(Authentication::Explicit));
        assert_eq!(who(format!("Bearer {token}1")), None);
        assert_eq!(who(token.clone()), None);
        let basic = |text: String| format!("Basic {}", STANDARD.encode(text));
        assert_eq!(who(basic(format!("anybody:{token}"))), ada(Authentication::Ambient));
        assert_eq!(who(basic(format!("{token}:anything"))), None);
        assert_eq!(who(basic(token.clone())), None);
        // What is there already stays.
        let (_, made) = AccessTokens::open(folder.path(), ["ada"], &Ones).unwrap();
        assert!(made.is_empty());
    }
}
