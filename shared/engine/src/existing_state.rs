//! State that may exist outside the records.
//!
//! An empty plan against living infrastructure would build it twice: where something says that state is
//! kept elsewhere, an estate without records is refused.

/// Where a configuration says that its state is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfiguredBackend {
    /// It says nothing.
    None,
    /// `backend "local"`, with the path of its file relative to the root module.
    Local {
        /// The file; `terraform.tfstate` where the block names none.
        path: String,
    },
    /// Any other `backend` block.
    Remote {
        /// Its type.
        ty: String,
    },
    /// A `cloud` block.
    Cloud,
}

/// The root module's folder, as far as this room needs it.
pub trait ExistingFiles {
    /// Whether there is a file or folder of this path, relative to the root module.
    ///
    /// # Errors
    /// Where that cannot be found out.
    fn exists(&self, path: &str) -> std::io::Result<bool>;
}

/// Whether a person said that nothing exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewEstate {
    /// `-new-estate` was given.
    Declared,
    /// It was not.
    NotDeclared,
}

/// An estate without records is not planned or applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExistingStateError {
    /// State may exist elsewhere.
    #[error(
        "this estate has no records, but {evidence}. Planning it as if nothing existed could build everything \
         twice. Take the state over with `plumb migrate`, or, if truly nothing exists, say so with `-new-estate`"
    )]
    MayExist {
        /// What says so.
        evidence: String,
    },
    /// It cannot be found out.
    #[error("cannot find out whether {path} exists beside the configuration: {source}")]
    Unreadable {
        /// The path.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
}

/// What Terraform leaves beside a configuration.
const BESIDE: [&str; 2] = ["terraform.tfstate", "terraform.tfstate.d"];
/// The workspace that a configuration has without being asked.
pub const DEFAULT_WORKSPACE: &str = "default";
/// Where Terraform keeps the states of other workspaces, a folder for each.
pub const WORKSPACES_BESIDE: &str = "terraform.tfstate.d";

/// Refuses an estate without records where state may exist elsewhere.
///
/// # Errors
/// Naming what says so, and `plumb migrate`.
pub fn check_existing_state(
    has_records: bool,
    backend: &ConfiguredBackend,
    files: &dyn ExistingFiles,
    workspace: &str,
    new_estate: NewEstate,
) -> Result<(), ExistingStateError> {
    if has_records || new_estate == NewEstate::Declared {
        return Ok(());
    }
    let may_exist = |evidence: String| Err(ExistingStateError::MayExist { evidence });
    let exists = |path: &str| {
        files
            .exists(path)
            .map_err(|source| ExistingStateError::Unreadable { path: path.to_owned(), source })
    };
    let is_default = workspace == DEFAULT_WORKSPACE;
    match backend {
        ConfiguredBackend::Cloud => {
            return may_exist(
                "its configuration keeps state in HCP Terraform (a cloud block)".into(),
            );
        }
        ConfiguredBackend::Remote { ty } => {
            return may_exist(format!("its configuration keeps state in the backend {ty:?}"));
        }
        ConfiguredBackend::Local { path } if is_default && exists(path)? => {
            return may_exist(format!("the state file of its local backend, {path}, exists"));
        }
        ConfiguredBackend::Local { .. } | ConfiguredBackend::None => {}
    }
    // Of another workspace only its own state counts.
    let own = format!("{WORKSPACES_BESIDE}/{workspace}");
    let beside: &[&str] = if is_default { &BESIDE } else { &[&own] };
    for path in beside {
        if exists(path)? {
            return may_exist(format!("{path} exists beside its configuration"));
        }
    }
    Ok(())
}
