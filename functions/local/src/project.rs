//! The `plumb.toml` that a directory belongs to, and the estate that the directory is.

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::session::invalid_workspace;
use engine::record::key::EstateName;
use runs::project::{
    self, DirectoryTable, EstateSelection, Project, ProjectError, SelectedEstate, StoreTable,
};
use runs::workspace::WorkspaceName;
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
        let invalid = |error: ProjectError| invalid(&file, &error);
        let project = Project::parse(&text, environment.variables()).map_err(invalid)?;
        let relative = directory.strip_prefix(&root).unwrap_or(Path::new(""));
        let selection = EstateSelection { directory: relative, name };
        let estate = project.select(selection).map_err(invalid)?;
        Ok(LocatedProject { project, root, estate })
    }

    /// The project that another file describes, for the estate of `like` or the one that is named. The environment
    /// overrides nothing of it.
    ///
    /// # Errors
    /// Where the file cannot be used.
    pub(crate) fn of_file(
        file: &Path,
        like: &LocatedProject,
        name: Option<&str>,
    ) -> Result<LocatedProject, Failure> {
        let text = std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
        let project = Project::parse(&text, []).map_err(|error| invalid(file, &error))?;
        let estate = match name {
            Some(name) => named(name)?,
            None => SelectedEstate { name: like.estate.name.clone(), settings: None },
        };
        Ok(LocatedProject { project, root: like.root.clone(), estate })
    }

    /// A store in a directory, and the estate that is alone in it or the one that is named.
    ///
    /// # Errors
    /// Where the name is none.
    pub(crate) fn of_directory(
        path: PathBuf,
        name: Option<&str>,
    ) -> Result<LocatedProject, Failure> {
        let mut project = Project::default();
        let selection = EstateSelection { directory: Path::new(""), name: None };
        let estate = match name {
            Some(name) => named(name)?,
            None => project.select(selection).map_err(|error| invalid(&path, &error))?,
        };
        project.store = StoreTable::Dir(DirectoryTable { path: Some(path.clone()) });
        Ok(LocatedProject { project, root: path, estate })
    }

    /// The same project, for the estate that a workspace of its estate is.
    ///
    /// # Errors
    /// Where that cannot be an estate.
    pub(crate) fn in_workspace(self, workspace: &WorkspaceName) -> Result<LocatedProject, Failure> {
        let name = workspace.estate(&self.estate.name, &self.project);
        let name = name.map_err(invalid_workspace)?;
        Ok(LocatedProject { estate: SelectedEstate { name, ..self.estate }, ..self })
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

/// The project of a directory, whichever estate the directory is.
///
/// # Errors
/// Where its file cannot be used.
pub(crate) fn locate(
    directory: &Path,
    environment: &ProcessEnvironment,
) -> Result<(PathBuf, Project), Failure> {
    let (root, text) = read(directory, environment.home().as_deref())?;
    let project = Project::parse(&text, environment.variables());
    let project = project.map_err(|error| invalid(&root.join(project::FILE), &error))?;
    Ok((root, project))
}

fn unreadable(file: &Path, error: &io::Error) -> Failure {
    Failure::error(
        format!("Failed to read {}", project::FILE),
        format!("The file {} could not be read: {error}.", file.display()),
    )
}

fn invalid(file: &Path, error: &ProjectError) -> Failure {
    Failure::error(
        format!("Invalid {}", project::FILE),
        format!("In {}: {}", file.display(), error.to_string().trim_end()),
    )
}

fn named(name: &str) -> Result<SelectedEstate, Failure> {
    let name = EstateName::new(name);
    let name = name.map_err(|e| Failure::error("Invalid name of an estate", format!("{e}.")))?;
    Ok(SelectedEstate { name, settings: None })
}

/// The nearest file; nothing, in the directory itself, where there is none.
fn read(directory: &Path, home: Option<&Path>) -> Result<(PathBuf, String), Failure> {
    for folder in directory.ancestors() {
        let file = folder.join(project::FILE);
        match std::fs::read_to_string(&file) {
            Ok(text) => return Ok((folder.to_owned(), text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&file, &error)),
        }
        // What lies above belongs to somebody else.
        if home == Some(folder) || folder.join(".git").exists() {
            break;
        }
    }
    Ok((directory.to_owned(), String::new()))
}
