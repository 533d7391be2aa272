//! Test doubles: what stands in for providers, and for single resources, while a module is tested.
//!
//! A double keeps a provider's schema and its validation, calls nothing else of it, and makes up what it would
//! compute. What it makes up follows from a seed and the instance's address, so that a plan and its apply agree.

mod composition;
mod provider;

use crate::random::Random;
use provider::Double;
use providers::{Provider, ProviderSchema};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::Value;
use values::address::{InstanceKey, ProviderConfigAddress, ResourceInstance, ResourceMode};

/// Values in place of what a provider would compute.
#[derive(Clone, Debug)]
pub struct DoubleValues {
    /// An object; attributes that it lacks are made up.
    pub values: Value,
    /// Whether they are known while planning already.
    pub known_in_plan: bool,
    /// Where they are written, for messages.
    pub place: String,
}

/// What stands in for a provider: values by mode and type.
#[derive(Clone, Debug, Default)]
pub struct MockedProvider {
    /// What instances of a type have.
    pub types: BTreeMap<(ResourceMode, Arc<str>), DoubleValues>,
    /// What certain instances have; an address without a key means all instances of the resource.
    pub instances: BTreeMap<ResourceInstance, DoubleValues>,
}

/// All doubles of a test run.
#[derive(Clone, Debug, Default)]
pub struct Doubles {
    /// Provider configurations that are mocked.
    pub providers: BTreeMap<ProviderConfigAddress, Arc<MockedProvider>>,
    /// What certain instances have, whatever their provider; an address without a key means all instances of the
    /// resource.
    pub instances: BTreeMap<ResourceInstance, DoubleValues>,
    seed: [u8; 16],
}

impl Doubles {
    /// No doubles yet; what they will make up is drawn here.
    pub fn new(random: &dyn Random) -> Doubles {
        let mut seed = [0; 16];
        random.fill(&mut seed);
        Doubles { seed, ..Doubles::default() }
    }

    /// Whether a provider configuration is mocked, so that it needs none.
    pub(crate) fn mocks(&self, address: &ProviderConfigAddress) -> bool {
        self.providers.contains_key(address)
    }

    /// A running provider, or what stands in for it.
    pub(crate) fn of_provider(
        &self,
        address: &ProviderConfigAddress,
        real: Arc<dyn Provider>,
        schemas: Arc<ProviderSchema>,
    ) -> Arc<dyn Provider> {
        match self.mocks(address) {
            true => Arc::new(Double {
                real,
                schemas,
                seed: self.seed,
                instance: None,
                own: None,
                overrides: false,
            }),
            false => real,
        }
    }

    /// A running provider as one instance meets it.
    pub(crate) fn of_instance(
        &self,
        address: &ProviderConfigAddress,
        running: &Arc<dyn Provider>,
        schemas: &Arc<ProviderSchema>,
        instance: &ResourceInstance,
    ) -> Arc<dyn Provider> {
        if self.instances.is_empty() && self.providers.is_empty() {
            return running.clone();
        }
        let mock = self.providers.get(address);
        let given = find(&self.instances, instance).or_else(|| find(&mock?.instances, instance));
        let resource = &instance.resource;
        let own = given.or_else(|| mock?.types.get(&(resource.mode, resource.ty.clone())));
        if own.is_none() && mock.is_none() {
            return running.clone();
        }
        Arc::new(Double {
            real: running.clone(),
            schemas: schemas.clone(),
            seed: self.seed,
            instance: Some(instance.clone()),
            own: own.cloned(),
            overrides: given.is_some(),
        })
    }
}

fn find<'d>(
    all: &'d BTreeMap<ResourceInstance, DoubleValues>,
    instance: &ResourceInstance,
) -> Option<&'d DoubleValues> {
    if all.is_empty() {
        return None;
    }
    let whole = || ResourceInstance { key: InstanceKey::None, ..instance.clone() };
    all.get(instance).or_else(|| all.get(&whole()))
}
