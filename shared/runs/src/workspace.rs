//! Workspaces: one root module with several estates.
//!
//! The default workspace is the estate itself; the workspace `dev` of the estate `service` is the estate `service..dev`, in the same
//! store. Which workspaces there are is listed beside the records of the default one.

use crate::project::Project;
use engine::existing_state::{DEFAULT_WORKSPACE, WORKSPACES_BESIDE};
use engine::record::key::{EstateName, EstateNameError};
use std::fmt;
use std::sync::Arc;

/// What stands between the names of an estate and of a workspace. No workspace has it in its name, so that no two of them are
/// one estate.
const SEPARATOR: &str = "..";

/// The name of a workspace.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkspaceName(Arc<str>);

/// A workspace cannot be worked in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The text is no name of one.
    #[error(
        "the workspace name {0:?} is not allowed. The name must contain only URL safe characters, and no path separators"
    )]
    InvalidName(String),
    /// It cannot be told from another one's.
    #[error(
        "the workspace name {0:?} is not allowed: a name here neither begins with a dot nor has two dots in a row, which stand between an estate and its workspace"
    )]
    Dots(String),
    /// The estate that it would be is another one.
    #[error(
        "the workspace {workspace:?} of the estate {estate:?} would be the estate {taken:?}, which plumb.toml names: choose another name"
    )]
    Taken {
        /// The workspace.
        workspace: String,
        /// The estate.
        estate: String,
        /// The estate that the workspace would be.
        taken: String,
    },
    /// Estate and workspace make no name together.
    #[error("{0}. It is made of the names of an estate and of its workspace")]
    Estate(#[from] EstateNameError),
}

impl WorkspaceName {
    /// Checks a name: characters that stand for themselves in a URL, as Terraform wants it.
    ///
    /// # Errors
    /// Where it is none.
    pub fn new(name: &str) -> Result<WorkspaceName, WorkspaceError> {
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_.~$&+=:@".contains(c);
        if name.is_empty() || !name.chars().all(is_safe) {
            return Err(WorkspaceError::InvalidName(name.to_owned()));
        }
        if name.starts_with('.') || name.contains(SEPARATOR) {
            return Err(WorkspaceError::Dots(name.to_owned()));
        }
        Ok(WorkspaceName(name.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the one that there is without being asked for.
    pub fn is_default(&self) -> bool {
        &*self.0 == DEFAULT_WORKSPACE
    }

    /// The estate that this workspace of an estate is.
    ///
    /// # Errors
    /// Where the names make none together, or the project names another such estate.
    pub fn estate(&self, of: &EstateName, project: &Project) -> Result<EstateName, WorkspaceError> {
        if self.is_default() {
            return Ok(of.clone());
        }
        let name = format!("{of}{SEPARATOR}{self}");
        match project.estates.contains_key(&name) {
            false => Ok(EstateName::new(&name)?),
            true => Err(WorkspaceError::Taken {
                workspace: self.to_string(),
                estate: of.to_string(),
                taken: name,
            }),
        }
    }

    /// The file in which Terraform keeps this workspace's state beside the configuration, if `path` is that of the default
    /// one.
    pub fn state_file(&self, path: &str) -> String {
        match self.is_default() {
            true => path.to_owned(),
            false => format!("{WORKSPACES_BESIDE}/{self}/terraform.tfstate"),
        }
    }
}

impl Default for WorkspaceName {
    fn default() -> WorkspaceName {
        WorkspaceName(DEFAULT_WORKSPACE.into())
    }
}
impl fmt::Display for WorkspaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl fmt::Debug for WorkspaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::{WorkspaceError, WorkspaceName};
    use crate::project::Project;
    use engine::record::key::EstateName;

    fn estate(of: &str, workspace: &str, project: &Project) -> Result<String, WorkspaceError> {
        let of = EstateName::new(of).unwrap();
        Ok(WorkspaceName::new(workspace)?.estate(&of, project)?.to_string())
    }

    #[test]
    fn a_workspace_is_an_estate_of_its_own() {
        let project = Project::default();
        assert_eq!(estate("service", "default", &project).unwrap(), "service");
        assert_eq!(estate("service", "dev", &project).unwrap(), "service..dev");
    }

    #[test]
    fn no_two_workspaces_are_one_estate() {
        let project = Project::default();
        for name in ["", "a/b", "a b", "ü"] {
            let refused = estate("service", name, &project);
            assert!(matches!(refused, Err(WorkspaceError::InvalidName(_))), "{name}");
        }
        for name in [".a", "a..b"] {
            assert!(matches!(estate("service", name, &project), Err(WorkspaceError::Dots(_))));
        }
        let all = [("a", "b"), ("a.", "b"), ("a..b", "c"), ("a", "b.c"), ("a..b.", "c")];
        let names: std::collections::BTreeSet<String> =
            all.iter().map(|(of, name)| estate(of, name, &project).unwrap()).collect();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn an_estate_that_the_project_names_is_no_workspace() {
        let text =
            "[estates.service]\ndirectory = \"a\"\n[estates.\"service..dev\"]\ndirectory = \"b\"\n";
        let project = Project::parse(text, []).unwrap();
        assert!(matches!(estate("service", "dev", &project), Err(WorkspaceError::Taken { .. })));
    }
}
