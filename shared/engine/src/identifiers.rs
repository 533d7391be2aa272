//! Names of plans, runs and people, and where new ones come from.

use crate::random::Random;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// As it was written down somewhere.
            pub fn from_stored(text: impl Into<Arc<str>>) -> $name {
                $name(text.into())
            }
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

identifier! {
    /// A saved plan, and with it the one transaction that may apply it.
    PlanId
}
identifier! {
    /// One execution from trigger to report.
    RunId
}
identifier! {
    /// Who asked for something: an IAM principal, a JWT subject, a user name.
    Principal
}
identifier! {
    /// Makes every body that is written differ from every other.
    WriteId
}

impl PlanId {
    /// A new one.
    pub fn new(random: &dyn Random) -> PlanId {
        PlanId(hexadecimal(random).into())
    }
}
impl RunId {
    /// A new one.
    pub fn new(random: &dyn Random) -> RunId {
        RunId(hexadecimal(random).into())
    }
}
impl WriteId {
    /// A new one.
    pub fn new(random: &dyn Random) -> WriteId {
        WriteId(hexadecimal(random).into())
    }
}

/// 128 random bits in hexadecimal.
pub(crate) fn hexadecimal(random: &dyn Random) -> String {
    let mut bytes = [0; 16];
    random.fill(&mut bytes);
    hex::encode(bytes)
}
