use super::value::{PathForm, ValueForm};
use super::{damaged, instance};
use crate::changes::{Action, ActionReason, OutputChange, ResourceInstanceChange};
use crate::object::DeposedKey;
use crate::record::body::SharedAddresses;
use crate::saved_plan::SavedPlanError;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
pub(super) struct ChangeForm {
    address: String,
    previous_address: Option<String>,
    deposed: Option<String>,
    provider: String,
    action: Action,
    reason: Option<ActionReason>,
    before: ValueForm,
    after: ValueForm,
    requires_replace: Vec<PathForm>,
    private: ByteBuf,
    dependencies: Vec<String>,
    create_before_destroy: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct OutputChangeForm {
    action: Action,
    before: ValueForm,
    after: ValueForm,
    sensitive: bool,
}

impl ChangeForm {
    pub(super) fn from_change(
        change: &ResourceInstanceChange,
    ) -> Result<ChangeForm, SavedPlanError> {
        let place = || change.address.to_string();
        let replace = change.requires_replace.iter().map(PathForm::from_path);
        Ok(ChangeForm {
            address: change.address.to_string(),
            previous_address: change.previous_address.as_ref().map(ToString::to_string),
            deposed: change.deposed.as_ref().map(ToString::to_string),
            provider: change.provider.to_string(),
            action: change.action,
            reason: change.reason,
            before: ValueForm::from_value(&change.before, place)?,
            after: ValueForm::from_value(&change.after, place)?,
            requires_replace: replace.collect::<Result<_, _>>()?,
            private: ByteBuf::from(change.private.to_vec()),
            dependencies: change.dependencies.iter().map(ToString::to_string).collect(),
            create_before_destroy: change.create_before_destroy,
        })
    }
    pub(super) fn into_change(
        self,
        shared: &mut SharedAddresses,
    ) -> Result<ResourceInstanceChange, SavedPlanError> {
        let replace = self.requires_replace.into_iter().map(PathForm::into_path);
        Ok(ResourceInstanceChange {
            address: instance(&self.address)?,
            previous_address: self.previous_address.as_deref().map(instance).transpose()?,
            deposed: self.deposed.as_deref().map(DeposedKey::from_stored),
            provider: shared
                .provider(&self.provider)
                .ok_or_else(|| damaged("the address of a provider's configuration"))?,
            action: self.action,
            reason: self.reason,
            before: self.before.into_value()?,
            after: self.after.into_value()?,
            requires_replace: replace.collect::<Result<_, _>>()?,
            private: self.private.into_vec().into(),
            dependencies: shared
                .dependencies(self.dependencies)
                .ok_or_else(|| damaged("the address of a dependency"))?,
            create_before_destroy: self.create_before_destroy,
        })
    }
}

impl OutputChangeForm {
    pub(super) fn from_change(
        name: &Arc<str>,
        change: &OutputChange,
    ) -> Result<OutputChangeForm, SavedPlanError> {
        let place = || format!("the output {name}");
        Ok(OutputChangeForm {
            action: change.action,
            before: ValueForm::from_value(&change.before, place)?,
            after: ValueForm::from_value(&change.after, place)?,
            sensitive: change.sensitive,
        })
    }
    pub(super) fn into_change(self) -> Result<OutputChange, SavedPlanError> {
        Ok(OutputChange {
            action: self.action,
            before: self.before.into_value()?,
            after: self.after.into_value()?,
            sensitive: self.sensitive,
        })
    }
}
