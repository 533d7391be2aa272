use super::FORMAT;
use super::form::{InstanceForm, ResourceForm, StateForm, StepForm, StepKind};
use crate::object::{DeposedKey, ObjectStatus, StoredIdentity, StoredObject};
use crate::record::body::SharedAddresses;
use crate::state::{InstanceState, Lineage, OutputState, State};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;
use std::sync::Arc;
use values::address::{
    AbsoluteResource, InstanceKey, ModuleInstance, Resource, ResourceInstance, ResourceMode,
};
use values::json::{from_json, type_from_json};
use values::{Path, PathStep, Type};

/// A state file cannot be taken over. Nothing of it is, then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateFileError {
    /// It is no state.
    #[error("it is no state file of Terraform: {0}")]
    NotState(#[source] serde_json::Error),
    /// It is encrypted, as OpenTofu can do.
    #[error("it is encrypted; decrypt it with OpenTofu (`tofu state pull`), and name the result")]
    Encrypted,
    /// It has another format.
    #[error(
        "it has format version {found}, and {FORMAT} is what can be read. Terraform 0.13 and newer write {FORMAT}: run \
         `terraform apply -refresh-only` with one of them first"
    )]
    Format {
        /// The version it names.
        found: u64,
    },
    /// A part of it cannot be read.
    #[error("{place}: {problem}")]
    Damaged {
        /// The resource, instance or output.
        place: String,
        /// What is wrong there.
        problem: &'static str,
    },
}

/// Reads a state file.
///
/// # Errors
/// Where any part of it cannot be read: what is left out would be made again.
pub fn read(text: &[u8]) -> Result<State, StateFileError> {
    let head: Head = serde_json::from_slice(text).map_err(StateFileError::NotState)?;
    if head.encrypted_data.is_some() {
        return Err(StateFileError::Encrypted);
    }
    if head.version != FORMAT {
        return Err(StateFileError::Format { found: head.version });
    }
    let form: StateForm = serde_json::from_slice(text).map_err(StateFileError::NotState)?;
    let mut state = State {
        lineage: (!form.lineage.is_empty()).then(|| Lineage(form.lineage.into())),
        serial: form.serial,
        ..State::default()
    };
    for (name, output) in form.outputs {
        let damaged = |problem| damaged(format!("the output {name}"), problem);
        let ty = type_from_json(output.ty.to_string().as_bytes());
        let ty = ty.map_err(|_| damaged("its type cannot be read"))?;
        let value = from_json(output.value.to_string().as_bytes(), &ty);
        let value = value.map_err(|_| damaged("its value is not of its type"))?;
        let value = if output.sensitive { value.sensitive() } else { value };
        state.outputs.insert(name.into(), OutputState { value, version: None });
    }
    let mut shared = SharedAddresses::default();
    for resource in form.resources {
        read_resource(resource, &mut shared, &mut state)?;
    }
    Ok(state)
}

#[derive(serde::Deserialize)]
struct Head {
    #[serde(default)]
    version: u64,
    encrypted_data: Option<serde::de::IgnoredAny>,
}

fn damaged(place: String, problem: &'static str) -> StateFileError {
    StateFileError::Damaged { place, problem }
}

fn read_resource(
    form: ResourceForm,
    shared: &mut SharedAddresses,
    state: &mut State,
) -> Result<(), StateFileError> {
    let ResourceForm { module, mode, ty, name, provider, instances } = form;
    let place = match module.as_str() {
        "" => format!("{ty}.{name}"),
        module => format!("{module}.{ty}.{name}"),
    };
    let damaged = |problem| damaged(place.clone(), problem);
    let mode = match mode.as_str() {
        "managed" => ResourceMode::Managed,
        "data" => ResourceMode::Data,
        _ => return Err(damaged("its mode is neither managed nor data")),
    };
    let module = match module.as_str() {
        "" => ModuleInstance::root(),
        text => text.parse().map_err(|_| damaged("its module is no address"))?,
    };
    let resource = Resource { mode, ty: ty.into(), name: name.into() };
    let resource = AbsoluteResource { module, resource };
    for instance in instances {
        let key = match &instance.index_key {
            None => InstanceKey::None,
            Some(Json::String(text)) => InstanceKey::String(text.as_str().into()),
            Some(index) => InstanceKey::Int(
                index.as_u64().ok_or_else(|| damaged("the key of an instance cannot be read"))?,
            ),
        };
        let address = resource.instance(key);
        let deposed = match instance.deposed.as_str() {
            "" => None,
            key if key.len() == 8 => Some(DeposedKey::from_stored(key)),
            _ => return Err(damaged("the key of a deposed object has not eight digits")),
        };
        let object = read_object(&address, &provider, instance, shared)?;
        let slot: &mut InstanceState = Arc::make_mut(state.instances.entry(address).or_default());
        let before = match deposed {
            None => slot.current.replace(object),
            Some(key) => slot.deposed.insert(key, object),
        };
        if before.is_some() {
            return Err(damaged("it has an object twice"));
        }
    }
    Ok(())
}

fn read_object(
    address: &ResourceInstance,
    provider: &str,
    form: InstanceForm,
    shared: &mut SharedAddresses,
) -> Result<StoredObject, StateFileError> {
    let damaged = |problem| damaged(address.to_string(), problem);
    if form.provider.is_some() {
        return Err(damaged(
            "it has a provider of its own (for_each of a provider, which OpenTofu has and Terraform has not)",
        ));
    }
    let provider = shared.provider(provider).ok_or_else(|| {
        damaged(
            "its provider is no address such as provider[\"registry.terraform.io/hashicorp/aws\"]. Terraform 0.13 and \
             newer write it so: run `terraform apply -refresh-only` with one of them first",
        )
    })?;
    let attributes = match (form.attributes, form.attributes_flat) {
        (Some(attributes), _) => attributes.to_string().into(),
        (None, None) => "{}".into(),
        (None, Some(_)) => {
            return Err(damaged(
                "its attributes are in the form of Terraform 0.11: run `terraform apply -refresh-only` with a newer \
                 one first",
            ));
        }
    };
    let identity = form.identity.map(|identity| StoredIdentity {
        schema_version: form.identity_schema_version,
        attributes: identity.to_string().into(),
    });
    let paths = form.sensitive_attributes.into_iter().map(read_path);
    Ok(StoredObject {
        provider,
        schema_version: form.schema_version,
        attributes,
        sensitive_paths: paths
            .collect::<Option<_>>()
            .ok_or_else(|| damaged("the path of a sensitive attribute cannot be read"))?,
        identity,
        private: STANDARD
            .decode(&form.private)
            .map_err(|_| damaged("its private data are no base64"))?
            .into(),
        dependencies: shared
            .dependencies(form.dependencies)
            .ok_or_else(|| damaged("a dependency is no address of a resource"))?,
        create_before_destroy: form.create_before_destroy,
        // A state file does not say.
        prevent_destroy: false,
        status: match form.status.as_str() {
            "" => ObjectStatus::Ready,
            "tainted" => ObjectStatus::Tainted,
            _ => return Err(damaged("its status is neither empty nor \"tainted\"")),
        },
    })
}

fn read_path(steps: Vec<StepForm>) -> Option<Path> {
    let step = |StepForm { kind, value }| match kind {
        StepKind::GetAttr => Some(PathStep::Attribute(value.as_str()?.into())),
        StepKind::Index => match (value.get("type")?.as_str(), value.get("value")?) {
            (Some("string"), Json::String(key)) => Some(PathStep::Key(key.as_str().into())),
            (Some("number"), Json::Number(index)) => {
                usize::try_from(index.as_u64()?).ok().map(PathStep::Index)
            }
            _ => {
                from_json(value.to_string().as_bytes(), &Type::Dynamic).ok().map(PathStep::Element)
            }
        },
    };
    steps.into_iter().map(step).collect::<Option<_>>().map(Path)
}
