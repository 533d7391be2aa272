//! Outputs of other states, as `data "terraform_remote_state"` reads them.

use async_trait::async_trait;
use language::files::FileSystem;
use providers::{RemoteStateError, RemoteStateReader, RemoteStateRequest};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use values::{Marks, Value};

/// Reads state files: the backend `local`.
pub struct StateFiles {
    files: Arc<dyn FileSystem>,
}

impl StateFiles {
    /// Reads where `files` resolves paths.
    pub fn new(files: Arc<dyn FileSystem>) -> StateFiles {
        StateFiles { files }
    }
}

const BACKEND: &str = "local";

#[derive(serde::Deserialize)]
struct StateFile {
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
            return Err(RemoteStateError::UnknownBackend { backend: request.backend.to_string() });
        }
        let path = path(&request)?;
        let read = |detail: String| RemoteStateError::Read { backend: BACKEND.into(), detail };
        let text = match self.files.read(Path::new(&path)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RemoteStateError::Absent { backend: BACKEND.into() });
            }
            Err(error) => return Err(read(format!("{path}: {error}"))),
        };
        let state: StateFile =
            serde_json::from_slice(&text).map_err(|e| read(format!("{path} is no state: {e}")))?;
        let mut outputs = BTreeMap::new();
        for (name, output) in state.outputs {
            let ty = values::json::type_from_json(output.ty.get().as_bytes());
            let value =
                ty.and_then(|ty| values::json::from_json(output.value.get().as_bytes(), &ty));
            let value = value.map_err(|e| read(format!("the output {name} in {path}: {e}")))?;
            let marks = if output.sensitive { Marks::SENSITIVE } else { Marks::NONE };
            outputs.insert(name, value.with_marks(marks));
        }
        Ok(outputs)
    }
}

fn path(request: &RemoteStateRequest) -> Result<String, RemoteStateError> {
    let wrong =
        |detail: String| RemoteStateError::Configuration { backend: BACKEND.into(), detail };
    let mut path = "terraform.tfstate".to_owned();
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
    Ok(match &*request.workspace {
        "default" => path,
        workspace => format!("{folder}/{workspace}/terraform.tfstate"),
    })
}
