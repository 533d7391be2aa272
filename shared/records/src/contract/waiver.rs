//! Waivers: what a team accepts, setting by setting.

use std::collections::BTreeSet;

use super::{Setting, StoreKind};

/// The settings that `allow_insecure` names. Each costs a line in every run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waivers(BTreeSet<Setting>);

impl Waivers {
    /// Nothing is waived.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads the names of `allow_insecure` for stores that have these settings.
    ///
    /// # Errors
    ///
    /// Where a name is that of no setting, or of another store's; the error says the right names.
    pub fn parse<N: AsRef<str>>(
        names: impl IntoIterator<Item = N>,
        settings: &[Setting],
    ) -> Result<Self, WaiverError> {
        let mut waived = BTreeSet::new();
        for name in names {
            let name = name.as_ref();
            let setting = Setting::named(name).ok_or_else(|| WaiverError::Unknown {
                name: name.to_owned(),
                right: names_of(settings),
            })?;
            if !settings.contains(&setting) {
                return Err(WaiverError::OtherStore {
                    setting,
                    store: setting.store(),
                    right: names_of(settings),
                });
            }
            waived.insert(setting);
        }
        Ok(Self(waived))
    }

    /// Whether a setting is waived.
    #[must_use]
    pub fn covers(&self, setting: Setting) -> bool {
        self.0.contains(&setting)
    }

    /// The settings, in the order of reports.
    pub fn iter(&self) -> impl Iterator<Item = Setting> + '_ {
        self.0.iter().copied()
    }
}

/// Why a name in `allow_insecure` is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaiverError {
    /// No store has such a setting.
    #[error("allow_insecure names {name:?}, which is no setting; {right}")]
    Unknown {
        /// The name.
        name: String,
        /// What it may name.
        right: RightNames,
    },

    /// A store of another kind has it.
    #[error(
        "allow_insecure names {setting}, a setting of {store} stores, and this is none; {right}"
    )]
    OtherStore {
        /// The setting.
        setting: Setting,
        /// The kind of store that has it.
        store: StoreKind,
        /// What it may name.
        right: RightNames,
    },
}

/// The names that `allow_insecure` may hold for the store at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RightNames(Vec<Setting>);

impl RightNames {
    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.0
    }
}

impl std::fmt::Display for RightNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return f.write_str("a store in a directory has nothing to waive: remove it");
        }
        let names: Vec<_> = self.0.iter().map(|setting| setting.name()).collect();
        write!(f, "it may name {}", names.join(", "))
    }
}

fn names_of(settings: &[Setting]) -> RightNames {
    let sorted: BTreeSet<_> = settings.iter().copied().collect();
    RightNames(sorted.into_iter().collect())
}
