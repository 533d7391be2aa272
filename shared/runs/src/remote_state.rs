//! Outputs of other states and estates, as `data "terraform_remote_state"` reads them.

use crate::project::{EstateSelection, Project, ProjectError};
use crate::stores::{Places, StoreSurroundings, Stores, StoresError};
use crate::terraform_backend::{BackendError, BackendReader, BackendSettings};
use crate::workspace::WorkspaceName;
use async_trait::async_trait;
use engine::clock::Clock;
use engine::estate::Estate;
use engine::existing_state::DEFAULT_WORKSPACE;
use engine::random::Random;
use language::files::FileSystem;
use providers::{RemoteStateError, RemoteStateReader, RemoteStateRequest};
use records::{Opening, StoreError};
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use values::{Marks, Value};

/// Reads the backend `local`: state files, and the records of an estate beside one. The records count where the path is
/// the one that Terraform would keep that estate's state under, or the file there has the estate's lineage: it is from
/// before. A file of another name and lineage is another state.
pub struct StateFiles {
    files: Arc<dyn FileSystem>,
    estates: Option<KnownEstates>,
    backends: Option<BackendReader>,
}

/// The estates that a project knows, wherever their records are.
pub struct KnownEstates {
    /// Where relative paths begin.
    pub working_directory: PathBuf,
    /// What `plumb.toml` says.
    pub project: Project,
    /// The folder that its paths are relative to.
    pub root: PathBuf,
    /// The folder of an estate's own store, in the estate's directory.
    pub store: PathBuf,
    /// What stores are opened with.
    pub surroundings: Arc<dyn StoreSurroundings>,
    /// What an estate is opened with.
    pub clock: Arc<dyn Clock>,
    /// What an estate is opened with.
    pub random: Arc<dyn Random>,
}

impl StateFiles {
    /// Reads where `files` resolves paths.
    pub fn new(files: Arc<dyn FileSystem>) -> StateFiles {
        StateFiles { files, estates: None, backends: None }
    }

    /// Reads estates, too.
    #[must_use]
    pub fn with_estates(self, estates: KnownEstates) -> StateFiles {
        StateFiles { estates: Some(estates), ..self }
    }

    /// Reads backends of Terraform, too.
    #[must_use]
    pub fn with_backends(self, backends: BackendReader) -> StateFiles {
        StateFiles { backends: Some(backends), ..self }
    }

    /// The state in a backend of Terraform.
    async fn in_backend(
        &self,
        request: &RemoteStateRequest,
    ) -> Result<BTreeMap<Arc<str>, Value>, RemoteStateError> {
        let backend = request.backend.to_string();
        let known = BackendReader::KINDS.contains(&&*request.backend);
        let Some(reader) = self.backends.as_ref().filter(|_| known) else {
            return Err(RemoteStateError::UnknownBackend { backend });
        };
        let failed = |detail: String| RemoteStateError::Read { backend: backend.clone(), detail };
        let settings = BackendSettings::of_value(&backend, &request.config)
            .map_err(|error| failed(error.to_string()))?;
        let state = match reader.read(&settings, &request.workspace).await {
            Ok(state) => state,
            Err(error @ BackendError::Setting { .. }) => {
                let detail = error.to_string();
                return Err(RemoteStateError::Configuration { backend, detail });
            }
            Err(error) => return Err(failed(error.to_string())),
        };
        let Some(file) = state.file else {
            return Err(RemoteStateError::Absent { backend });
        };
        let place = &state.place;
        let file: StateFile = serde_json::from_slice(&file)
            .map_err(|error| failed(format!("{place} is no state: {error}")))?;
        file.outputs(place).map_err(failed)
    }

    /// The file at a path; `None` where there is none.
    fn file(&self, path: &str) -> Result<Option<StateFile>, RemoteStateError> {
        let text = match self.files.read(Path::new(path)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(read_failed(format!("{path}: {error}"))),
        };
        let file = serde_json::from_slice(&text);
        file.map(Some).map_err(|e| read_failed(format!("{path} is no state: {e}")))
    }
}

impl KnownEstates {
    /// The outputs of a workspace of the estate whose state file would be at `path` in the default one, and is `file`; `None`
    /// where there is none.
    async fn outputs(
        &self,
        path: &Path,
        workspace: &str,
        file: Option<&StateFile>,
    ) -> Result<Option<BTreeMap<Arc<str>, Value>>, RemoteStateError> {
        let failed = |error: &dyn std::fmt::Display| read_failed(error.to_string());
        let Some(folder) = path.parent() else { return Ok(None) };
        let directory = normal(&self.working_directory.join(folder));
        let unknown = Project::default();
        let (project, root) = match directory.strip_prefix(&self.root) {
            Ok(_) => (&self.project, &self.root),
            // Another project's, of which nothing is known but where records are kept by default.
            Err(_) => (&unknown, &directory),
        };
        let relative = directory.strip_prefix(root).unwrap_or(Path::new(""));
        let name = match project.select(EstateSelection { directory: relative, name: None }) {
            Ok(estate) => WorkspaceName::new(workspace)
                .and_then(|workspace| workspace.estate(&estate.name, project))
                .map_err(|error| failed(&error))?,
            Err(ProjectError::NoEstate { .. }) => return Ok(None),
            Err(_) if file.is_some() => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        let beside = directory.join(&self.store);
        let places = Places { root, beside: &beside };
        let surroundings = &*self.surroundings;
        let stores = Stores::open(project, &name, places, Opening::Existing, surroundings).await;
        let records = match stores {
            Ok(stores) => stores.records,
            Err(StoresError::Store(StoreError::RootMissing { .. })) => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        let (clock, random) = (self.clock.clone(), self.random.clone());
        let estate = Estate::open(records, "", name, clock, random).map_err(|e| failed(&e))?;
        let header = estate.read_header().await.map_err(|e| failed(&e))?;
        let Some(header) = header else { return Ok(None) };
        let is_default = path.file_name().is_some_and(|name| name == DEFAULT_FILE);
        let is_former = file.is_some_and(|file| *file.lineage == *header.lineage.0);
        if !is_default && !is_former {
            return Ok(None);
        }
        let outputs = estate.outputs().await.map_err(|e| failed(&e))?;
        Ok(Some(outputs.into_iter().map(|(name, output)| (name, output.value)).collect()))
    }
}

/// The same path without `.` and `..`, as far as the text tells.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

const BACKEND: &str = "local";
const DEFAULT_FILE: &str = "terraform.tfstate";

#[derive(serde::Deserialize)]
struct StateFile {
    #[serde(default)]
    lineage: String,
    #[serde(default)]
    outputs: BTreeMap<Arc<str>, OutputForm>,
}

#[derive(serde::Deserialize)]
struct OutputForm {
    value: Box<serde_json::value::RawValue>,
    #[serde(rename = "type")]
    ty: Box<serde_json::value::RawValue>,
    #[serde(default)]
    sensitive: bool,
}

#[async_trait]
impl RemoteStateReader for StateFiles {
    async fn outputs(
        &self,
        request: RemoteStateRequest,
    ) -> Result<BTreeMap<Arc<str>, Value>, RemoteStateError> {
        if &*request.backend != BACKEND {
            return self.in_backend(&request).await;
        }
        let (default, path) = paths(&request)?;
        let (file, workspace) = (self.file(&path)?, &*request.workspace);
        if let Some(estates) = &self.estates
            && let Some(outputs) =
                estates.outputs(Path::new(&default), workspace, file.as_ref()).await?
        {
            return Ok(outputs);
        }
        let Some(state) = file else {
            return Err(RemoteStateError::Absent { backend: BACKEND.into() });
        };
        state.outputs(&path).map_err(read_failed)
    }
}

impl StateFile {
    /// Its outputs, sensitive ones marked; else what is wrong with them.
    fn outputs(self, place: &str) -> Result<BTreeMap<Arc<str>, Value>, String> {
        let mut outputs = BTreeMap::new();
        for (name, output) in self.outputs {
            let ty = values::json::type_from_json(output.ty.get().as_bytes());
            let value =
                ty.and_then(|ty| values::json::from_json(output.value.get().as_bytes(), &ty));
            let value = value.map_err(|e| format!("the output {name} in {place}: {e}"))?;
            let marks = if output.sensitive { Marks::SENSITIVE } else { Marks::NONE };
            outputs.insert(name, value.with_marks(marks));
        }
        Ok(outputs)
    }
}

fn read_failed(detail: String) -> RemoteStateError {
    RemoteStateError::Read { backend: BACKEND.into(), detail }
}

/// The state file of the default workspace, and of the one that is asked for.
fn paths(request: &RemoteStateRequest) -> Result<(String, String), RemoteStateError> {
    let wrong =
        |detail: String| RemoteStateError::Configuration { backend: BACKEND.into(), detail };
    let mut path = DEFAULT_FILE.to_owned();
    let mut folder = "terraform.tfstate.d".to_owned();
    if let Some(config) = request.config.as_map() {
        for (name, value) in config {
            let text = value.as_str().map(str::to_owned);
            match (&**name, text) {
                (_, None) if value.is_null() => {}
                ("path", Some(text)) => path = text,
                ("workspace_dir", Some(text)) => folder = text,
                ("path" | "workspace_dir", None) => {
                    return Err(wrong(format!("{name:?} must be a string")));
                }
                _ => return Err(wrong(format!("unexpected attribute {name:?}"))),
            }
        }
    }
    let own = match &*request.workspace {
        DEFAULT_WORKSPACE => path.clone(),
        workspace => format!("{folder}/{workspace}/{DEFAULT_FILE}"),
    };
    Ok((path, own))
}
