//! Which estate a directory is.

use super::{EstateTable, Project, ProjectError, StoreTable};
use engine::record::key::EstateName;
use std::path::{Component, Path};

/// The name of an estate that has its store to itself.
const ALONE: &str = "default";

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub struct EstateSelection<'a> {
    /// The root module's directory, relative to `plumb.toml`.
    pub directory: &'a Path,
    /// The estate that a person named.
    pub name: Option<&'a str>,
}

/// The estate to work on.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectedEstate {
    /// Its name.
    pub name: EstateName,
    /// What the file says of it; `None` where it says nothing and need not.
    pub settings: Option<EstateTable>,
}

impl Project {
    /// The estate of a directory.
    ///
    /// # Errors
    /// Where there is none, or more than one and nobody said which.
    pub fn select(&self, selection: EstateSelection<'_>) -> Result<SelectedEstate, ProjectError> {
        let directory = shown(selection.directory);
        let here: Vec<&String> = self
            .estates
            .iter()
            .filter(|(_, estate)| shown(&estate.directory) == directory)
            .map(|(name, _)| name)
            .collect();
        let name = match (selection.name, &here[..]) {
            (Some(name), _) => self.asked_for(name, &directory)?,
            (None, [only]) => only,
            (None, []) => return self.alone(directory),
            (None, _) => {
                let estates = here.into_iter().cloned().collect();
                return Err(ProjectError::Ambiguous { directory, estates });
            }
        };
        let settings = self.estates.get(name).cloned();
        Ok(SelectedEstate { name: valid(name)?, settings })
    }

    fn asked_for<'n>(&self, name: &'n str, directory: &str) -> Result<&'n str, ProjectError> {
        match self.estates.get(name) {
            Some(estate) if shown(&estate.directory) == directory => Ok(name),
            Some(estate) => Err(ProjectError::Selection(format!(
                "the estate {name:?} is that of the directory {:?}, not of {directory:?}; change to it, or use \
                 -chdir",
                shown(&estate.directory)
            ))),
            None => Err(ProjectError::Selection(format!(
                "plumb.toml has no estate {name:?}; it has {}",
                match self.estates.is_empty() {
                    true => "none".to_owned(),
                    false => self.estates.keys().cloned().collect::<Vec<_>>().join(", "),
                }
            ))),
        }
    }

    /// A store that no other estate can be in asks for no name.
    fn alone(&self, directory: String) -> Result<SelectedEstate, ProjectError> {
        let store = match &self.store {
            StoreTable::Dir(settings) if settings.path.is_none() => {
                return Ok(SelectedEstate { name: valid(ALONE)?, settings: None });
            }
            StoreTable::Dir(_) => "a directory",
            StoreTable::S3(_) => "the bucket",
            StoreTable::Kubernetes(_) => "the namespace",
        };
        Err(ProjectError::NoEstate { directory, store })
    }
}

fn valid(name: &str) -> Result<EstateName, ProjectError> {
    EstateName::new(name).map_err(|error| ProjectError::Selection(error.to_string()))
}

/// A directory as the file writes it: `.` for the file's own.
fn shown(directory: &Path) -> String {
    let parts = directory.components().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
        _ => None,
    });
    let text = parts.collect::<Vec<_>>().join("/");
    if text.is_empty() { ".".to_owned() } else { text }
}
