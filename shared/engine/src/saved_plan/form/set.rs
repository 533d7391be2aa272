use super::instance;
use super::value::{PathForm, ValueForm};
use crate::reads::{LookedAt, ReadPath};
use crate::saved_plan::{SavedPlanError, SetMember};
use crate::state::Revision;
use records::Version;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::ResourceInstance;

pub(super) type SetForm = BTreeMap<String, MemberForm>;

#[derive(Serialize, Deserialize)]
pub(super) struct MemberForm {
    version: Version,
    revision: Arc<str>,
    looked_at: LookedAtForm,
}

#[derive(Serialize, Deserialize)]
enum LookedAtForm {
    Whole,
    Paths(Vec<ReadForm>),
    Configuring(Vec<PathForm>),
}

#[derive(Serialize, Deserialize)]
struct ReadForm {
    path: PathForm,
    planned: Option<ValueForm>,
}

pub(super) fn from_set(
    set: &BTreeMap<ResourceInstance, SetMember>,
) -> Result<SetForm, SavedPlanError> {
    set.iter()
        .map(|(address, member)| {
            let form = MemberForm {
                version: member.version.clone(),
                revision: member.revision.0.clone(),
                looked_at: LookedAtForm::from_looked_at(address, &member.looked_at)?,
            };
            Ok((address.to_string(), form))
        })
        .collect()
}

pub(super) fn into_set(
    form: SetForm,
) -> Result<BTreeMap<ResourceInstance, SetMember>, SavedPlanError> {
    form.into_iter()
        .map(|(address, form)| {
            let member = SetMember {
                version: form.version,
                revision: Revision(form.revision),
                looked_at: form.looked_at.into_looked_at()?,
            };
            Ok((instance(&address)?, member))
        })
        .collect()
}

impl LookedAtForm {
    fn from_looked_at(
        address: &ResourceInstance,
        looked_at: &LookedAt,
    ) -> Result<LookedAtForm, SavedPlanError> {
        let read = |read: &ReadPath| {
            let place = || format!("{address}{}", read.path);
            let planned = read.planned.as_ref().map(|value| ValueForm::from_value(value, place));
            Ok::<_, SavedPlanError>(ReadForm {
                path: PathForm::from_path(&read.path)?,
                planned: planned.transpose()?,
            })
        };
        Ok(match looked_at {
            LookedAt::Whole => LookedAtForm::Whole,
            LookedAt::Paths(paths) => {
                LookedAtForm::Paths(paths.iter().map(read).collect::<Result<_, _>>()?)
            }
            LookedAt::Configuring(paths) => LookedAtForm::Configuring(
                paths.iter().map(PathForm::from_path).collect::<Result<_, _>>()?,
            ),
        })
    }

    fn into_looked_at(self) -> Result<LookedAt, SavedPlanError> {
        let read = |form: ReadForm| {
            let planned = form.planned.map(ValueForm::into_value).transpose()?;
            Ok::<_, SavedPlanError>(ReadPath { path: form.path.into_path()?, planned })
        };
        Ok(match self {
            LookedAtForm::Whole => LookedAt::Whole,
            LookedAtForm::Paths(paths) => {
                LookedAt::Paths(paths.into_iter().map(read).collect::<Result<_, _>>()?)
            }
            LookedAtForm::Configuring(paths) => LookedAt::Configuring(
                paths.into_iter().map(PathForm::into_path).collect::<Result<_, _>>()?,
            ),
        })
    }
}
