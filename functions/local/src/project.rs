//! The `plumb.toml` that a directory belongs to, and the estate that the directory is.

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use runs::project::{self, EstateSelection, Project, SelectedEstate, StoreTable};
use std::io;
use std::path::{Path, PathBuf};

/// A project as a directory sees it.
#[derive(Debug)]
pub(crate) struct LocatedProject {
    pub(crate) project: Project,
    /// The folder that its paths are relative to.
    pub(crate) root: PathBuf,
    pub(crate) estate: SelectedEstate,
}

impl LocatedProject {
    /// Looks in the directory and in those above it, up to the repository's top or the user's home.
    ///
    /// # Errors
    /// Where the file cannot be used, or does not say which estate the directory is.
    pub(crate) fn find(
        directory: &Path,
        name: Option<&str>,
        environment: &ProcessEnvironment,
    ) -> Result<LocatedProject, Failure> {
        let (root, text) = read(directory, environment.home().as_deref())?;
        let file = root.join(project::FILE);
        let invalid = |error: project::ProjectError| {
            Failure::error(
                format!("Invalid {}", project::FILE),
                format!("In {}: {}", file.display(), error.to_string().trim_end()),
            )
        };
        let project = Project::parse(&text, environment.variables()).map_err(invalid)?;
        let relative = directory.strip_prefix(&root).unwrap_or(Path::new(""));
        let selection = EstateSelection { directory: relative, name };
        let estate = project.select(selection).map_err(invalid)?;
        Ok(LocatedProject { project, root, estate })
    }

    /// The directory of the store, where it is one.
    pub(crate) fn store_directory(&self, beside: PathBuf) -> Option<PathBuf> {
        match &self.project.store {
            StoreTable::Dir(table) => {
                Some(table.path.as_ref().map_or(beside, |path| self.root.join(path)))
            }
            StoreTable::S3(_) | StoreTable::Kubernetes(_) => None,
        }
    }

    /// Files of values that always apply to the estate, relative to its directory.
    pub(crate) fn var_files(&self) -> &[PathBuf] {
        self.estate.settings.as_ref().map_or(&[], |settings| &settings.var_files)
    }
}

/// The nearest file; nothing, in the directory itself, where there is none.
fn read(directory: &Path, home: Option<&Path>) -> Result<(PathBuf, String), Failure> {
    for folder in directory.ancestors() {
        let file = folder.join(project::FILE);
        match std::fs::read_to_string(&file) {
            Ok(text) => return Ok((folder.to_owned(), text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Failure::error(
                    format!("Failed to read {}", project::FILE),
                    format!("The file {} could not be read: {error}.", file.display()),
                ));
            }
        }
        // What lies above belongs to somebody else.
        if home == Some(folder) || folder.join(".git").exists() {
            break;
        }
    }
    Ok((directory.to_owned(), String::new()))
}
