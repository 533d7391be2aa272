use super::{ModuleInstance, ProviderAddress, ProviderConfigAddress, ResourceInstance};
use std::fmt;
use std::str::FromStr;

/// A text is not an address.
#[derive(Debug, Clone, thiserror::Error, PartialEq)]
#[error("invalid address {text:?}: {reason}")]
pub struct AddressError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Writes a string in quotes with HCL's escapes.
pub(crate) fn write_quoted(f: &mut impl fmt::Write, s: &str) -> fmt::Result {
    f.write_str("\"")?;
    let mut chars = s.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '$' | '%' if chars.peek() == Some(&'{') => {
                f.write_char(c)?;
                f.write_char(c)?;
            }
            c => f.write_char(c)?,
        }
    }
    f.write_str("\"")
}

fn pending(text: &str) -> AddressError {
    AddressError { text: text.into(), reason: "pending".into() }
}

impl FromStr for ResourceInstance {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        Err(pending(text))
    }
}
impl FromStr for ModuleInstance {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        Err(pending(text))
    }
}
impl FromStr for ProviderAddress {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        Err(pending(text))
    }
}
impl FromStr for ProviderConfigAddress {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        Err(pending(text))
    }
}
