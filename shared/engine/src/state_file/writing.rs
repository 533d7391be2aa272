use super::FORMAT;
use super::form::{InstanceForm, OutputForm, ResourceForm, StateForm, StepForm, StepKind};
use crate::checks::to_forms;
use crate::object::{ObjectStatus, StoredObject};
use crate::state::State;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use values::address::{AbsoluteResource, InstanceKey};
use values::json::{JsonError, to_json, type_to_json};
use values::{Path, PathStep, Type};

/// Writes a state as a file of Terraform, as the version `terraform_version` would: two spaces of indentation and a
/// line break at the end. What a file cannot say is left out: which objects must not be destroyed, and which could be
/// kept in part only.
///
/// # Errors
/// Where a value is not wholly known, or what is recorded is no JSON.
pub fn write(state: &State, terraform_version: &str) -> Result<Vec<u8>, JsonError> {
    let mut outputs = BTreeMap::new();
    for (name, output) in &state.outputs {
        let value = output.value.unmark_deep();
        let ty = value.ty();
        let form = OutputForm {
            value: parsed(&to_json(&value, &ty)?)?,
            ty: parsed(&type_to_json(&ty))?,
            sensitive: output.value.deep_marks().is_sensitive(),
        };
        outputs.insert(name.to_string(), form);
    }
    let checks = to_forms(&state.checks.results);
    let form = StateForm {
        version: FORMAT,
        terraform_version: terraform_version.to_owned(),
        serial: state.serial,
        lineage: state.lineage.as_ref().map(|lineage| lineage.0.to_string()).unwrap_or_default(),
        outputs,
        resources: resources(state)?,
        check_results: (!checks.is_empty()).then_some(checks),
    };
    let mut text = serde_json::to_vec_pretty(&form).map_err(invalid)?;
    text.push(b'\n');
    Ok(text)
}

fn invalid(error: serde_json::Error) -> JsonError {
    JsonError(error.to_string())
}

/// As a tree, which is indented like all around it.
fn parsed(text: &str) -> Result<Json, JsonError> {
    serde_json::from_str(text).map_err(invalid)
}

/// By module, mode, type and name, as Terraform orders them.
fn resources(state: &State) -> Result<Vec<ResourceForm>, JsonError> {
    let mut resources = BTreeMap::<[String; 4], ResourceForm>::new();
    for (address, instance) in &state.instances {
        let objects = instance.current.iter().map(|object| ("", object));
        let deposed = instance.deposed.iter().map(|(key, object)| (key.as_str(), object));
        for (deposed, object) in objects.chain(deposed) {
            let AbsoluteResource { module, resource } = address.containing();
            let form = ResourceForm {
                module: module.to_string(),
                mode: resource.mode.as_str().into(),
                ty: resource.ty.to_string(),
                name: resource.name.to_string(),
                provider: object.provider.to_string(),
                instances: Vec::new(),
            };
            let order =
                [form.module.clone(), form.mode.clone(), form.ty.clone(), form.name.clone()];
            let form = resources.entry(order).or_insert(form);
            form.instances.push(instance_form(&address.key, deposed, object)?);
        }
    }
    Ok(resources.into_values().collect())
}

fn instance_form(
    key: &InstanceKey,
    deposed: &str,
    object: &StoredObject,
) -> Result<InstanceForm, JsonError> {
    let identity = object.identity.as_ref();
    let paths = object.sensitive_paths.iter().map(path_form);
    Ok(InstanceForm {
        index_key: match key {
            InstanceKey::None => None,
            InstanceKey::Int(index) => Some((*index).into()),
            InstanceKey::String(text) => Some((&**text).into()),
        },
        status: match object.status {
            ObjectStatus::Ready => String::new(),
            ObjectStatus::Tainted | ObjectStatus::Incomplete => "tainted".into(),
        },
        deposed: deposed.to_owned(),
        provider: None,
        schema_version: object.schema_version,
        attributes: Some(parsed(&object.attributes)?),
        attributes_flat: None,
        sensitive_attributes: paths.collect::<Result<_, _>>()?,
        identity_schema_version: identity.map_or(0, |identity| identity.schema_version),
        identity: identity.map(|i| parsed(&i.attributes)).transpose()?,
        private: STANDARD.encode(&object.private),
        dependencies: object.dependencies.iter().map(ToString::to_string).collect(),
        create_before_destroy: object.create_before_destroy,
    })
}

fn path_form(path: &Path) -> Result<Vec<StepForm>, JsonError> {
    let index = |value: Json| StepForm { kind: StepKind::Index, value };
    let step = |step: &PathStep| {
        Ok(match step {
            PathStep::Attribute(name) => {
                StepForm { kind: StepKind::GetAttr, value: (&**name).into() }
            }
            PathStep::Key(key) => index(json!({ "value": &**key, "type": "string" })),
            PathStep::Index(position) => index(json!({ "value": position, "type": "number" })),
            PathStep::Element(value) => index(parsed(&to_json(value, &Type::Dynamic)?)?),
        })
    };
    path.0.iter().map(step).collect()
}
