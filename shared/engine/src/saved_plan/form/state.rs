use super::value::{PathForm, ValueForm};
use super::{damaged, instance};
use crate::object::{DeposedKey, Object, ObjectStatus, StoredIdentity, StoredObject};
use crate::plan::{RefreshedInstance, Seen};
use crate::record::body::{ObjectStatusBody, SharedAddresses};
use crate::saved_plan::SavedPlanError;
use crate::state::{ChecksState, InstanceState, Lineage, OutputState, Revision, State};
use records::Version;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::ResourceInstance;

#[derive(Serialize, Deserialize)]
pub(super) struct StateForm {
    lineage: Option<Arc<str>>,
    serial: u64,
    instances: BTreeMap<String, InstanceForm>,
    outputs: BTreeMap<Arc<str>, OutputForm>,
}

#[derive(Serialize, Deserialize)]
struct InstanceForm {
    current: Option<StoredForm>,
    deposed: BTreeMap<String, StoredForm>,
    version: Option<Version>,
    revision: Arc<str>,
}

#[derive(Serialize, Deserialize)]
struct OutputForm {
    value: ValueForm,
    version: Option<Version>,
}

#[derive(Serialize, Deserialize)]
struct StoredForm {
    provider: String,
    schema_version: u64,
    attributes: Arc<str>,
    sensitive_paths: Vec<PathForm>,
    identity: Option<(u64, Arc<str>)>,
    private: ByteBuf,
    dependencies: Vec<String>,
    create_before_destroy: bool,
    prevent_destroy: bool,
    status: ObjectStatusBody,
}

#[derive(Serialize, Deserialize)]
pub(super) struct RefreshedForm {
    provider: String,
    recorded: bool,
    configuration: Option<ValueForm>,
    current: Option<ObjectForm>,
    deposed: BTreeMap<String, ObjectForm>,
}

#[derive(Serialize, Deserialize)]
struct ObjectForm {
    value: ValueForm,
    identity: Option<ValueForm>,
    private: ByteBuf,
    dependencies: Vec<String>,
    create_before_destroy: bool,
    prevent_destroy: bool,
    status: ObjectStatusBody,
}

impl StateForm {
    pub(super) fn from_state(state: &State) -> Result<StateForm, SavedPlanError> {
        let instances = state.instances.iter().map(|(address, instance)| {
            Ok::<_, SavedPlanError>((address.to_string(), InstanceForm::from_state(instance)?))
        });
        let outputs = state.outputs.iter().map(|(name, output)| {
            let value = ValueForm::from_value(&output.value, || format!("the output {name}"))?;
            let form = OutputForm { value, version: output.version.clone() };
            Ok::<_, SavedPlanError>((name.clone(), form))
        });
        Ok(StateForm {
            lineage: state.lineage.as_ref().map(|l| l.0.clone()),
            serial: state.serial,
            instances: instances.collect::<Result<_, _>>()?,
            outputs: outputs.collect::<Result<_, _>>()?,
        })
    }
    pub(super) fn into_state(self, shared: &mut SharedAddresses) -> Result<State, SavedPlanError> {
        let mut instances = BTreeMap::new();
        for (address, form) in self.instances {
            instances.insert(instance(&address)?, Arc::new(form.into_state(shared)?));
        }
        let outputs = self.outputs.into_iter().map(|(name, form)| {
            let output = OutputState { value: form.value.into_value()?, version: form.version };
            Ok::<_, SavedPlanError>((name, output))
        });
        Ok(State {
            lineage: self.lineage.map(Lineage),
            serial: self.serial,
            instances,
            outputs: outputs.collect::<Result<_, _>>()?,
            // What earlier runs found is nothing to a plan.
            checks: ChecksState::default(),
        })
    }
}

impl InstanceForm {
    fn from_state(state: &InstanceState) -> Result<InstanceForm, SavedPlanError> {
        let deposed = state.deposed.iter().map(|(key, object)| {
            Ok::<_, SavedPlanError>((key.to_string(), StoredForm::from_object(object)?))
        });
        Ok(InstanceForm {
            current: state.current.as_ref().map(StoredForm::from_object).transpose()?,
            deposed: deposed.collect::<Result<_, _>>()?,
            version: state.version.clone(),
            revision: state.revision.0.clone(),
        })
    }
    fn into_state(self, shared: &mut SharedAddresses) -> Result<InstanceState, SavedPlanError> {
        let mut state = InstanceState {
            current: self.current.map(|form| form.into_object(shared)).transpose()?,
            deposed: BTreeMap::new(),
            version: self.version,
            revision: Revision(self.revision),
        };
        for (key, form) in self.deposed {
            state.deposed.insert(DeposedKey::from_stored(&key), form.into_object(shared)?);
        }
        Ok(state)
    }
}

impl StoredForm {
    fn from_object(object: &StoredObject) -> Result<StoredForm, SavedPlanError> {
        let paths = object.sensitive_paths.iter().map(PathForm::from_path);
        Ok(StoredForm {
            provider: object.provider.to_string(),
            schema_version: object.schema_version,
            attributes: object.attributes.clone(),
            sensitive_paths: paths.collect::<Result<_, _>>()?,
            identity: object
                .identity
                .as_ref()
                .map(|identity| (identity.schema_version, identity.attributes.clone())),
            private: ByteBuf::from(object.private.to_vec()),
            dependencies: object.dependencies.iter().map(ToString::to_string).collect(),
            create_before_destroy: object.create_before_destroy,
            prevent_destroy: object.prevent_destroy,
            status: object.status.into(),
        })
    }
    fn into_object(self, shared: &mut SharedAddresses) -> Result<StoredObject, SavedPlanError> {
        let paths = self.sensitive_paths.into_iter().map(PathForm::into_path);
        Ok(StoredObject {
            provider: shared
                .provider(&self.provider)
                .ok_or_else(|| damaged("the address of a provider's configuration"))?,
            schema_version: self.schema_version,
            attributes: self.attributes,
            sensitive_paths: paths.collect::<Result<_, _>>()?,
            identity: self
                .identity
                .map(|(schema_version, attributes)| StoredIdentity { schema_version, attributes }),
            private: self.private.into_vec().into(),
            dependencies: shared
                .dependencies(self.dependencies)
                .ok_or_else(|| damaged("the address of a dependency"))?,
            create_before_destroy: self.create_before_destroy,
            prevent_destroy: self.prevent_destroy,
            status: self.status.into(),
        })
    }
}

impl RefreshedForm {
    pub(super) fn from_refreshed(
        address: &ResourceInstance,
        refreshed: &RefreshedInstance,
    ) -> Result<RefreshedForm, SavedPlanError> {
        let form = |object| ObjectForm::from_object(address, object);
        let deposed = refreshed
            .deposed
            .iter()
            .map(|(key, object)| Ok::<_, SavedPlanError>((key.to_string(), form(object)?)));
        let configuration = refreshed
            .configuration
            .as_ref()
            .map(|value| ValueForm::from_value(value, || address.to_string()));
        Ok(RefreshedForm {
            provider: refreshed.provider.to_string(),
            recorded: refreshed.seen == Seen::Recorded,
            configuration: configuration.transpose()?,
            current: refreshed.current.as_ref().map(form).transpose()?,
            deposed: deposed.collect::<Result<_, _>>()?,
        })
    }
    pub(super) fn into_refreshed(
        self,
        shared: &mut SharedAddresses,
    ) -> Result<RefreshedInstance, SavedPlanError> {
        let provider = shared
            .provider(&self.provider)
            .ok_or_else(|| damaged("the address of a provider's configuration"))?;
        let configuration = self.configuration.map(ValueForm::into_value).transpose()?;
        let current = self.current.map(|form| form.into_object(shared)).transpose()?;
        let mut deposed = BTreeMap::new();
        for (key, form) in self.deposed {
            deposed.insert(DeposedKey::from_stored(&key), form.into_object(shared)?);
        }
        let seen = match self.recorded {
            true => Seen::Recorded,
            false => Seen::InTheWorld,
        };
        Ok(RefreshedInstance { provider, seen, configuration, current, deposed })
    }
}

impl ObjectForm {
    fn from_object(
        address: &ResourceInstance,
        object: &Object,
    ) -> Result<ObjectForm, SavedPlanError> {
        let value = |value| ValueForm::from_value(value, || address.to_string());
        Ok(ObjectForm {
            value: value(&object.value)?,
            identity: object.identity.as_ref().map(value).transpose()?,
            private: ByteBuf::from(object.private.to_vec()),
            dependencies: object.dependencies.iter().map(ToString::to_string).collect(),
            create_before_destroy: object.create_before_destroy,
            prevent_destroy: object.prevent_destroy,
            status: object.status.into(),
        })
    }
    fn into_object(self, shared: &mut SharedAddresses) -> Result<Object, SavedPlanError> {
        Ok(Object {
            value: self.value.into_value()?,
            identity: self.identity.map(ValueForm::into_value).transpose()?,
            private: self.private.into_vec().into(),
            dependencies: shared
                .dependencies(self.dependencies)
                .ok_or_else(|| damaged("the address of a dependency"))?,
            create_before_destroy: self.create_before_destroy,
            prevent_destroy: self.prevent_destroy,
            status: ObjectStatus::from(self.status),
        })
    }
}
