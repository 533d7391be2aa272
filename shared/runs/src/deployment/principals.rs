//! Who may do what.

use super::Deployment;
use engine::identifiers::Principal;
use engine::record::key::EstateName;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt;

/// Names every estate.
pub(super) const EVERY_ESTATE: &str = "*";

/// Something that a principal may do to an estate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// See runs, reports and drift.
    Read,
    /// Start runs that plan.
    Plan,
    /// Approve plans, or decline them.
    Approve,
    /// Apply plans that earlier runs made.
    Apply,
    /// Stop runs.
    Cancel,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::Read => "read",
            Action::Plan => "plan",
            Action::Approve => "approve",
            Action::Apply => "apply",
            Action::Cancel => "cancel",
        })
    }
}

/// What a principal may do. Who is not listed may do nothing.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrincipalTable {
    /// The estates; `"*"` for all.
    pub estates: BTreeSet<String>,
    /// What it may do to them.
    pub actions: BTreeSet<Action>,
    /// Its logins at the hosts of repositories, and the addresses of e-mail that it writes commits with where a host knows no
    /// login of them, so that an author does not approve a change of their own.
    #[serde(default)]
    pub git_logins: BTreeSet<String>,
}

impl Deployment {
    /// The entry of a principal: its own, or the one that names all sessions of its role
    /// (`arn:aws:sts::111122223333:assumed-role/Deployer/*`).
    pub fn principal(&self, principal: &Principal) -> Option<&PrincipalTable> {
        let name = principal.as_str();
        let exact = self.principals.get(name);
        let sessions = || {
            let (role, session) = name.rsplit_once('/')?;
            let whole = !session.is_empty() && role.contains(":assumed-role/");
            self.principals.get(&format!("{role}/*")).filter(|_| whole)
        };
        exact.or_else(sessions)
    }

    /// Whether a principal may do something to an estate.
    pub fn permits(&self, principal: &Principal, action: Action, estate: &EstateName) -> bool {
        self.principal(principal).is_some_and(|table| {
            let covered =
                table.estates.contains(EVERY_ESTATE) || table.estates.contains(estate.as_str());
            covered && table.actions.contains(&action)
        })
    }
}
