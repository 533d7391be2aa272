//! Settling the calls that a dead transaction of somebody else had in flight: without its plan, from its claims
//! and from our own configuration of providers.

use super::settling::{Outcome, Settling};
use crate::context::Context;
use crate::evaluation::EvalContext;
use crate::object::{DeposedKey, Object, ObjectStatus, StoredObject};
use crate::object_codec::{encode, resource_schema};
use crate::plan::Plan;
use crate::planning::with_providers;
use crate::provider_meta::running_for;
use crate::record::body::{Claim, ClaimedAction, ClaimedObject, SharedAddresses};
use crate::state::InstanceState;
use crate::stop::Deadline;
use crate::transaction::{InFlight, Settled, Settler};
use async_trait::async_trait;
use language::diagnostics::Diagnostic;
use language::module::Configuration;
use providers::TypedSchema;
use std::sync::Arc;
use values::address::ProviderConfigAddress;

/// Asks providers, configured as the taker's own plan has them.
pub struct ProviderSettler {
    context: Context,
    configuration: Arc<Configuration>,
    plan: Arc<Plan>,
    deadline: Option<Deadline>,
}

impl ProviderSettler {
    /// `context` is used for this alone: a provider is started, asked, and ended for each call in flight. Its observers hear of
    /// waiting, and of no read. What cannot be known before the deadline is left.
    pub fn new(
        context: Context,
        configuration: Arc<Configuration>,
        plan: Arc<Plan>,
        deadline: Option<Deadline>,
    ) -> ProviderSettler {
        ProviderSettler { context, configuration, plan, deadline }
    }
}

#[async_trait]
impl Settler for ProviderSettler {
    async fn settle(&self, in_flight: &InFlight) -> Settled {
        self.context.settle(&self.configuration, &self.plan, in_flight, self.deadline).await
    }
}

/// The key and the object, if one is recorded, that a call is about.
fn subject(in_flight: &InFlight) -> (Option<DeposedKey>, Option<&StoredObject>) {
    match &in_flight.claim.object {
        ClaimedObject::Current => (None, in_flight.recorded.current.as_ref()),
        ClaimedObject::Deposed(key) => {
            let key = DeposedKey::from_stored(key);
            let object = in_flight.recorded.deposed.get(&key);
            (Some(key), object)
        }
    }
}

/// Who was asked; `None` where nothing tells any more.
pub(crate) fn asked(
    configuration: &Configuration,
    in_flight: &InFlight,
) -> Option<ProviderConfigAddress> {
    let (_, object) = subject(in_flight);
    let any = object.or_else(|| in_flight.recorded.deposed.values().next());
    let declared = || configuration.provider_for(&in_flight.address.config());
    any.map(|object| object.provider.clone()).or_else(declared)
}

/// What became of a create of which no provider can tell, or whose provider makes nothing outside the record.
pub(crate) fn settled_without_asking(
    provider: &ProviderConfigAddress,
    in_flight: &InFlight,
) -> Option<Settled> {
    let InFlight { claim, recorded, .. } = in_flight;
    let is_identified = claim.token.is_some() || claim.import_identity.is_some();
    match (claim.action, provider.provider.is_builtin()) {
        (ClaimedAction::Create, true) => Some(Settled::Known(Box::new(not_made(recorded, claim)))),
        (ClaimedAction::Create, false) if !is_identified => Some(Settled::InDoubt),
        _ => None,
    }
}

/// Finds out what became of one call, of which nothing can come to pass any more.
pub(crate) async fn settle(
    context: EvalContext,
    plan: &Plan,
    in_flight: &InFlight,
    provider_address: &ProviderConfigAddress,
) -> Settled {
    let InFlight { address, claim, recorded, .. } = in_flight;
    let (key, object) = subject(in_flight);
    let reading = with_providers(context, plan, [provider_address].into()).await;
    let context = &reading.walk.context;
    let errors = context.take_diagnostics();
    let not_now = |errors: &mut dyn Iterator<Item = Diagnostic>| {
        let said: Vec<String> = errors.map(|e| format!("{}: {}", e.summary, e.detail)).collect();
        Settled::NotNow(said.join("; "))
    };
    let pool = &context.pool;
    let provider = running_for(context, provider_address, &address.module.path())
        .filter(|_| !errors.has_errors());
    let schemas = pool.schema(&provider_address.provider);
    let schema = schemas
        .as_ref()
        .and_then(|schemas| resource_schema(schemas, address.resource.mode, &address.resource.ty));
    let (Some(provider), Some(schemas), Some(schema)) = (provider, &schemas, schema) else {
        return not_now(&mut errors.into_iter());
    };
    let settling = Settling {
        environment: &context.environment,
        provider: &*provider,
        schemas,
        schema,
        configured: provider_address,
        address,
    };
    match settling.settle(claim, object).await {
        Outcome::InDoubt(_) => Settled::InDoubt,
        Outcome::NotNow(errors) => not_now(&mut errors.into_iter()),
        Outcome::NotThere if claim.action == ClaimedAction::Create => {
            Settled::Known(Box::new(not_made(recorded, claim)))
        }
        Outcome::NotThere => {
            let mut state = recorded.clone();
            super::put(&mut state, key.as_ref(), None);
            Settled::Known(Box::new(state))
        }
        Outcome::There(object) => {
            let mut object = with_dependencies(*object, claim);
            if claim.provisioners.is_some() {
                object.status = ObjectStatus::Tainted;
            }
            match there(recorded, key.as_ref(), provider_address, schema, &object) {
                Ok(state) => Settled::Known(Box::new(state)),
                Err(problem) => Settled::NotNow(problem),
            }
        }
    }
}

/// A create that made nothing: what was put aside for it is current again.
fn not_made(recorded: &InstanceState, claim: &Claim) -> InstanceState {
    let mut state = recorded.clone();
    let aside = claim.put_aside.as_deref().map(DeposedKey::from_stored);
    let aside = aside.and_then(|key| state.deposed.remove(&key));
    state.current = state.current.take().or(aside);
    state
}

fn there(
    recorded: &InstanceState,
    key: Option<&DeposedKey>,
    provider: &ProviderConfigAddress,
    schema: &TypedSchema,
    object: &Object,
) -> Result<InstanceState, String> {
    let stored = encode(provider, schema, object).map_err(|e| e.to_string())?;
    let mut state = recorded.clone();
    super::put(&mut state, key, Some(stored));
    Ok(state)
}

/// What a create has made depends on what its claim says.
fn with_dependencies(mut object: Object, claim: &Claim) -> Object {
    if claim.action == ClaimedAction::Create {
        let mut addresses = SharedAddresses::default();
        let named = claim.dependencies.iter().filter_map(|text| addresses.resource(text));
        object.dependencies = named.collect();
        object.create_before_destroy = claim.put_aside.is_some();
    }
    object
}
