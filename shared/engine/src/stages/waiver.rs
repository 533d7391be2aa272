use crate::identifiers::Principal;
use std::fmt;
use values::Path;
use values::address::{AddressError, ResourceInstance};

/// A finding that a person accepts: `-accept-drift=ADDRESS[.attr]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiver {
    /// The instance.
    pub address: ResourceInstance,
    /// The attribute, as a verdict names it (`.tags["team"]`); `None` for all of the instance.
    pub path: Option<String>,
    /// Who accepts it, where that is known.
    pub principal: Option<Principal>,
}

impl Waiver {
    /// Accepted by this principal.
    #[must_use]
    pub fn by(mut self, principal: Principal) -> Waiver {
        self.principal = Some(principal);
        self
    }

    /// Whether this finding is meant.
    pub(super) fn accepts(&self, address: &ResourceInstance, path: Option<&Path>) -> bool {
        let named =
            || self.path.as_deref().zip(path).is_some_and(|(own, path)| own == path.to_string());
        self.address == *address && (self.path.is_none() || named())
    }
}

/// As it is given, with who accepts it where that is known.
impl fmt::Display for Waiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.address, self.path.as_deref().unwrap_or_default())?;
        match &self.principal {
            Some(principal) => write!(f, " (accepted by {principal})"),
            None => Ok(()),
        }
    }
}

impl std::str::FromStr for Waiver {
    type Err = AddressError;

    /// `ADDRESS`, or `ADDRESS` and the path of an attribute.
    fn from_str(text: &str) -> Result<Waiver, AddressError> {
        let whole = match text.parse() {
            Ok(address) => return Ok(Waiver { address, path: None, principal: None }),
            Err(error) => error,
        };
        // The address is the longest beginning that is one.
        let ends = text.rmatch_indices(['.', '[']).map(|(end, _)| text.split_at(end));
        for (address, path) in ends {
            if let Ok(address) = address.parse() {
                return Ok(Waiver { address, path: Some(path.into()), principal: None });
            }
        }
        Err(whole)
    }
}
