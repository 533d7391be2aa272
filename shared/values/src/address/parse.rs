use super::{
    AbsoluteResource, ConfigResource, InstanceKey, ModuleInstance, ModulePath, ProviderAddress,
    ProviderConfigAddress, Resource, ResourceInstance, ResourceMode,
};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

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

/// A reader of traversals: names, `.`, `[0]`, `["key"]`.
struct Scanner<'a> {
    rest: &'a str,
}

type Scan<T> = Result<T, String>;

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Scanner<'a> {
        Scanner { rest: text.trim() }
    }
    fn take(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
    fn peek_name(&self) -> Option<&'a str> {
        let mut end = 0;
        for (i, c) in self.rest.char_indices() {
            let part = c == '_' || c.is_alphabetic() || i > 0 && (c == '-' || c.is_numeric());
            if !part {
                break;
            }
            end = i + c.len_utf8();
        }
        (end > 0).then(|| &self.rest[..end])
    }
    fn name(&mut self, what: &str) -> Scan<&'a str> {
        let name = self.peek_name().ok_or_else(|| match self.rest.is_empty() {
            true => format!("{what} is required here"),
            false => format!("{what} is required at {:?}", self.rest),
        })?;
        self.rest = &self.rest[name.len()..];
        Ok(name)
    }
    fn dot(&mut self, before: &str) -> Scan<()> {
        match self.take('.') {
            true => Ok(()),
            false if self.rest.is_empty() => Err(format!("it ends before {before}")),
            false => Err(format!("a dot and {before} are required at {:?}", self.rest)),
        }
    }
    /// `["…"]` after the bracket.
    fn quoted(&mut self) -> Scan<String> {
        let mut out = String::new();
        let mut chars = self.rest.char_indices();
        if chars.next().is_none_or(|(_, c)| c != '"') {
            return Err("a key in quotes is required".into());
        }
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(out);
                }
                '\\' => out.push(escape(&mut chars)?),
                '\n' => return Err("a key must not span lines".into()),
                '$' | '%' => {
                    let mut ahead = chars.clone();
                    match (ahead.next().map(|c| c.1), ahead.next().map(|c| c.1)) {
                        (Some('{'), _) => {
                            return Err("a key must not be a template".into());
                        }
                        (Some(second), Some('{')) if second == c => chars = ahead,
                        _ => {
                            out.push(c);
                            continue;
                        }
                    }
                    out.push(c);
                    out.push('{');
                }
                c => out.push(c),
            }
        }
        Err("a key's closing quote is missing".into())
    }
    fn key(&mut self) -> Scan<InstanceKey> {
        if !self.take('[') {
            return Ok(InstanceKey::None);
        }
        let key = if self.rest.starts_with('"') {
            let text = self.quoted()?;
            InstanceKey::String(text.into())
        } else {
            let end = self.rest.find(']').ok_or("a closing bracket is missing")?;
            let digits = self.rest[..end].trim();
            let index = digits.parse::<u64>().ok().filter(|_| !digits.starts_with('+'));
            self.rest = &self.rest[end..];
            InstanceKey::Int(index.ok_or_else(|| {
                format!("an instance key is a whole number or a text in quotes, not {digits}")
            })?)
        };
        match self.take(']') {
            true => Ok(key),
            false => Err("a closing bracket is missing".into()),
        }
    }
    fn end(&self) -> Scan<()> {
        match self.rest.is_empty() {
            true => Ok(()),
            false => Err(format!("there is more after it: {:?}", self.rest)),
        }
    }

    /// `module.a["k"].` as often as it stands; what follows, if anything, is left.
    fn modules(&mut self) -> Scan<ModuleInstance> {
        let mut steps = Vec::new();
        while self.peek_name() == Some("module") {
            self.name("a module")?;
            self.dot("a module name")?;
            let name = self.name("a module name")?.into();
            steps.push(super::ModuleStep { name, key: self.key()? });
            if !self.rest.is_empty() {
                self.dot("a resource or module")?;
                if self.rest.is_empty() {
                    return Err("it ends in a dot".into());
                }
            }
        }
        Ok(ModuleInstance(steps.into()))
    }
    fn resource(&mut self) -> Scan<Resource> {
        let first = self.name("a resource type")?;
        let mode = match first {
            "resource" => Some(ResourceMode::Managed),
            "data" => Some(ResourceMode::Data),
            "ephemeral" => Some(ResourceMode::Ephemeral),
            _ => None,
        };
        let ty = match mode {
            Some(_) => {
                self.dot("a resource type")?;
                self.name("a resource type")?
            }
            None => first,
        };
        self.dot("a resource name")?;
        let name = self.name("a resource name")?;
        let mode = mode.unwrap_or(ResourceMode::Managed);
        Ok(Resource { mode, ty: ty.into(), name: name.into() })
    }
}

fn escape(chars: &mut std::str::CharIndices<'_>) -> Scan<char> {
    match chars.next().map(|(_, c)| c) {
        Some('n') => Ok('\n'),
        Some('r') => Ok('\r'),
        Some('t') => Ok('\t'),
        Some('"') => Ok('"'),
        Some('\\') => Ok('\\'),
        Some('u') => code_point(chars, 4),
        Some('U') => code_point(chars, 8),
        _ => Err("an escape is not one of \\n, \\r, \\t, \\\", \\\\, \\uNNNN, \\UNNNNNNNN".into()),
    }
}

fn code_point(chars: &mut std::str::CharIndices<'_>, digits: u32) -> Scan<char> {
    let mut value = 0u32;
    for _ in 0..digits {
        let digit = chars.next().and_then(|(_, c)| c.to_digit(16));
        value = value << 4 | digit.ok_or("an escape needs hexadecimal digits")?;
    }
    char::from_u32(value).ok_or_else(|| "an escape names no character".to_owned())
}

fn parse<T>(text: &str, read: impl FnOnce(&mut Scanner<'_>) -> Scan<T>) -> Result<T, AddressError> {
    let mut scanner = Scanner::new(text);
    read(&mut scanner)
        .and_then(|found| scanner.end().map(|()| found))
        .map_err(|reason| AddressError { text: text.into(), reason })
}

/// The module path of an instance path without keys.
fn without_keys(module: &ModuleInstance) -> Scan<ModulePath> {
    match module.0.iter().all(|s| s.key == InstanceKey::None) {
        true => Ok(module.path()),
        false => Err("a module instance key is not allowed here".into()),
    }
}

impl FromStr for ResourceInstance {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        parse(text, |s| {
            let module = s.modules()?;
            let resource = s.resource()?;
            Ok(ResourceInstance { module, resource, key: s.key()? })
        })
    }
}
impl FromStr for AbsoluteResource {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        parse(text, |s| Ok(AbsoluteResource { module: s.modules()?, resource: s.resource()? }))
    }
}
impl FromStr for ConfigResource {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        parse(text, |s| {
            let module = without_keys(&s.modules()?)?;
            Ok(ConfigResource { module, resource: s.resource()? })
        })
    }
}
impl FromStr for Resource {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        parse(text, |s| s.resource())
    }
}
impl FromStr for ModuleInstance {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        parse(text, |s| s.modules())
    }
}
impl FromStr for ModulePath {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        parse(text, |s| without_keys(&s.modules()?))
    }
}

/// `provider["registry.terraform.io/hashicorp/aws"].alias`, with `module.a.` before it.
impl FromStr for ProviderConfigAddress {
    type Err = AddressError;
    fn from_str(text: &str) -> Result<Self, AddressError> {
        parse(text, |s| {
            let module = without_keys(&s.modules()?)?;
            if s.name("the word provider")? != "provider" {
                return Err("a provider configuration begins with the word provider".into());
            }
            if !s.take('[') {
                return Err("the provider's address is required in brackets".into());
            }
            let source = s.quoted()?;
            if !s.take(']') {
                return Err("a closing bracket is missing".into());
            }
            let provider = source.parse::<ProviderAddress>().map_err(|e| e.reason)?;
            let alias = match s.rest.is_empty() {
                true => None,
                false => {
                    s.dot("an alias")?;
                    Some(Arc::from(s.name("an alias")?))
                }
            };
            Ok(ProviderConfigAddress { module, provider, alias })
        })
    }
}
