use std::fmt;
use std::str::FromStr;

/// An operating system and architecture, in the names of provider packages: `linux_amd64`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Platform {
    os: String,
    architecture: String,
}

/// A text names no platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not two words separated by an underscore, such as linux_amd64")]
pub struct InvalidPlatform(String);

impl Platform {
    /// The platform that this program was built for.
    pub fn current() -> Platform {
        let os = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            other => other,
        };
        Platform { os: os.to_owned(), architecture: architecture.to_owned() }
    }
    /// The operating system.
    pub fn os(&self) -> &str {
        &self.os
    }
    /// The architecture.
    pub fn architecture(&self) -> &str {
        &self.architecture
    }
}

impl FromStr for Platform {
    type Err = InvalidPlatform;
    fn from_str(text: &str) -> Result<Platform, InvalidPlatform> {
        let word = |word: &str| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        match text.split_once('_') {
            Some((os, architecture)) if word(os) && word(architecture) => {
                Ok(Platform { os: os.to_owned(), architecture: architecture.to_owned() })
            }
            _ => Err(InvalidPlatform(text.to_owned())),
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.os, self.architecture)
    }
}
