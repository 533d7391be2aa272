//! A provider whose things are in the simulated world. Planning needs nobody's permission; whatever asks the world does.

use crate::request::{Kind, ProcessId};
use crate::scheduler::Scheduler;
use crate::things::{Change, Facts, Outcome, PlanNumber};
use crate::world::World;
use async_trait::async_trait;
use engine::random::Random;
use providers::builtin::BuiltinProvider;
use providers::{
    ApplyResourceRequest, ApplyResourceResponse, ConfigureRequest, IdentityAttribute,
    IdentitySchema, ImportResourceRequest, ImportResourceResponse, ImportedResource,
    PlanResourceRequest, PlanResourceResponse, Provider, ProviderDiagnostic, ProviderError,
    ProviderSchema, Providers, ReadDataSourceRequest, ReadDataSourceResponse, ReadResourceRequest,
    ReadResourceResponse, Response, TypedSchema, UpgradeIdentityRequest,
    UpgradeResourceStateRequest,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use values::address::ProviderAddress;
use values::schema::{Attribute, Block, Schema};
use values::{Path, Type, Value};

/// Things that nothing identifies but what the provider answers.
pub const THING: &str = "sim_thing";
/// Things of which each has a name of its own, by which it can be imported.
pub const NAMED: &str = "sim_named";

const TOKEN: &str = "plumbline_request_token";

/// The address of the provider.
#[must_use]
pub fn address() -> ProviderAddress {
    ProviderAddress::implied("sim")
}

/// The providers of one process.
pub struct SimulatedProviders {
    provider: Arc<SimulatedProvider>,
    builtin: Arc<BuiltinProvider>,
}

struct SimulatedProvider {
    scheduler: Scheduler,
    process: ProcessId,
    plan: Option<PlanNumber>,
    address: ProviderAddress,
    schema: Arc<ProviderSchema>,
}

impl SimulatedProviders {
    /// The providers of a process, which works for a plan.
    #[must_use]
    pub fn new(
        scheduler: Scheduler,
        process: ProcessId,
        plan: Option<PlanNumber>,
        random: Arc<dyn Random>,
    ) -> Self {
        let tokens = scheduler.lock().world.tokens;
        let provider = SimulatedProvider {
            scheduler,
            process,
            plan,
            address: address(),
            schema: Arc::new(schema(tokens)),
        };
        Self { provider: Arc::new(provider), builtin: Arc::new(BuiltinProvider::new(random, None)) }
    }
}

#[async_trait]
impl Providers for SimulatedProviders {
    async fn start(&self, wanted: &ProviderAddress) -> Result<Arc<dyn Provider>, ProviderError> {
        match () {
            () if *wanted == self.provider.address => Ok(self.provider.clone()),
            () if wanted.is_builtin() => Ok(self.builtin.clone()),
            () => Err(ProviderError::NotInstalled { provider: wanted.clone() }),
        }
    }
}

fn schema(tokens: bool) -> ProviderSchema {
    let text = || Attribute::plain(Type::String);
    let attributes = [
        ("id", text().computed()),
        ("label", text().required()),
        ("value", text().optional()),
        ("place", text().optional()),
        ("link", text().optional()),
        ("stamp", text().computed()),
        ("hits", text().computed()),
    ];
    let attributes = attributes.into_iter().map(|(name, a)| (Arc::from(name), a)).collect();
    let resource =
        TypedSchema::from(Schema { version: 0, block: Block { attributes, ..Block::default() } });
    let label = IdentityAttribute {
        ty: Type::String,
        required_for_import: true,
        optional_for_import: false,
        description: None,
    };
    let identity = IdentitySchema::new(0, [(Arc::from("label"), label)].into());
    let meta = || {
        let attributes = [(Arc::from(TOKEN), text().optional())].into();
        TypedSchema::from(Schema { version: 0, block: Block { attributes, ..Block::default() } })
    };
    ProviderSchema {
        resources: [(Arc::from(THING), resource.clone()), (Arc::from(NAMED), resource)].into(),
        identities: [(Arc::from(NAMED), identity)].into(),
        provider_meta: tokens.then(meta),
        ..ProviderSchema::default()
    }
}

fn text(object: &Value, name: &str) -> Option<String> {
    object.attribute(name)?.as_str().map(str::to_owned)
}

/// What a value says of a thing; unknown attributes are left out.
fn facts(object: &Value) -> Option<Facts> {
    (!object.is_null()).then(|| Facts {
        id: text(object, "id").unwrap_or_default(),
        label: text(object, "label").unwrap_or_default(),
        value: text(object, "value"),
        place: text(object, "place"),
        link: text(object, "link"),
        stamp: text(object, "stamp").unwrap_or_default(),
        hits: text(object, "hits").and_then(|hits| hits.parse().ok()).unwrap_or_default(),
    })
}

fn value(facts: &Facts) -> Value {
    let optional = |text: &Option<String>| match text {
        Some(text) => Value::string(text),
        None => Value::null(Type::String),
    };
    Value::object([
        ("id", Value::string(&facts.id)),
        ("label", Value::string(&facts.label)),
        ("value", optional(&facts.value)),
        ("place", optional(&facts.place)),
        ("link", optional(&facts.link)),
        ("stamp", Value::string(&facts.stamp)),
        ("hits", Value::string(facts.hits.to_string())),
    ])
}

fn identity(ty: &str, facts: &Facts) -> Option<Value> {
    (ty == NAMED).then(|| Value::object([("label", Value::string(&facts.label))]))
}

impl SimulatedProvider {
    fn null(&self, ty: &str) -> Value {
        self.schema.resources.get(ty).map_or_else(Value::dynamic_null, TypedSchema::null)
    }

    fn died(&self, call: &'static str) -> ProviderError {
        ProviderError::Died {
            provider: self.address.clone(),
            call,
            detail: "simulated".into(),
            stderr: String::new(),
        }
    }

    async fn look<T: Send + 'static>(
        &self,
        what: String,
        look: impl Fn(&mut World) -> (T, String) + Send + 'static,
    ) -> Result<T, ProviderError> {
        let lost = Err(self.died("ReadResource"));
        self.scheduler.ask(self.process, Kind::Read, what, look, |found, _| Ok(found), lost).await
    }
}

#[async_trait]
impl Provider for SimulatedProvider {
    fn address(&self) -> &ProviderAddress {
        &self.address
    }

    async fn schema(&self) -> Result<Response<Arc<ProviderSchema>>, ProviderError> {
        Ok(Response::ok(self.schema.clone()))
    }

    async fn validate_provider_config(
        &self,
        config: &Value,
    ) -> Result<Response<Value>, ProviderError> {
        Ok(Response::ok(config.clone()))
    }

    async fn validate_resource_config(
        &self,
        _ty: &str,
        _config: &Value,
        _write_only_allowed: bool,
    ) -> Result<Response<()>, ProviderError> {
        Ok(Response::ok(()))
    }

    async fn validate_data_config(
        &self,
        _ty: &str,
        _config: &Value,
    ) -> Result<Response<()>, ProviderError> {
        Ok(Response::ok(()))
    }

    async fn configure(&self, _request: ConfigureRequest) -> Result<Response<()>, ProviderError> {
        Ok(Response::ok(()))
    }

    async fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> Result<Response<Value>, ProviderError> {
        let ty = self.null(&request.ty).ty();
        Ok(match values::json::from_json(&request.json, &ty) {
            Ok(state) => Response::ok(state),
            Err(e) => {
                Response::failed(ProviderDiagnostic::error("not stored by us", e.to_string()))
            }
        })
    }

    async fn upgrade_resource_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Result<Response<Value>, ProviderError> {
        let ty = Type::object([("label", Type::String)]);
        Ok(match values::json::from_json(&request.json, &ty) {
            Ok(identity) => Response::ok(identity),
            Err(e) => {
                Response::failed(ProviderDiagnostic::error("not stored by us", e.to_string()))
            }
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequest,
    ) -> Result<Response<ReadResourceResponse>, ProviderError> {
        let id = text(&request.current, "id").unwrap_or_default();
        let found = self
            .look(format!("read {id}"), move |world| {
                let found = world.things.all.get(&id).map(|thing| thing.at(world.now));
                let words = found.as_ref().map_or_else(|| "gone".to_owned(), |f| f.stamp.clone());
                (found, words)
            })
            .await?;
        Ok(Response::ok(ReadResourceResponse {
            identity: found.as_ref().and_then(|facts| identity(&request.ty, facts)),
            state: found.as_ref().map_or_else(|| self.null(&request.ty), value),
            private: request.private,
            deferred: None,
        }))
    }

    async fn plan_resource(
        &self,
        request: PlanResourceRequest,
    ) -> Result<Response<PlanResourceResponse>, ProviderError> {
        let mut requires_replace = Vec::new();
        let mut planned = request.proposed_new_state.clone();
        if !planned.is_null() {
            let mut attributes: BTreeMap<Arc<str>, Value> =
                planned.as_map().cloned().unwrap_or_default();
            let prior = &request.prior_state;
            let differs = |name: &str| prior.attribute(name) != attributes.get(name).cloned();
            let unknown = || Value::unknown_not_null(Type::String);
            let (created, replaced) = (prior.is_null(), !prior.is_null() && differs("place"));
            let updated = ["value", "label", "link"].into_iter().any(differs);
            if replaced {
                requires_replace.push(Path::attribute("place"));
            }
            if created || replaced {
                attributes.insert("id".into(), unknown());
                attributes.insert("hits".into(), unknown());
            }
            if created || replaced || updated {
                attributes.insert("stamp".into(), unknown());
            }
            planned = Value::object(attributes);
        }
        Ok(Response::ok(PlanResourceResponse {
            planned_state: planned,
            requires_replace,
            planned_private: request.prior_private,
            legacy_type_system: false,
            deferred: None,
            planned_identity: request.prior_identity,
        }))
    }

    async fn apply_resource(
        &self,
        request: ApplyResourceRequest,
    ) -> Result<Response<ApplyResourceResponse>, ProviderError> {
        let meta = request.provider_meta.as_ref();
        let change = Change {
            plan: self.plan,
            ty: request.ty.to_string(),
            prior: facts(&request.prior_state),
            planned: facts(&request.planned_state),
            token: meta.and_then(|meta| text(meta, TOKEN)),
        };
        let what = match (&change.prior, &change.planned) {
            (None, Some(planned)) => format!("CREATE {}", planned.label),
            (Some(prior), Some(_)) => format!("UPDATE {} ({})", prior.id, prior.label),
            (Some(prior), None) => format!("DELETE {} ({})", prior.id, prior.label),
            (None, None) => "nothing".to_owned(),
        };
        let (null, ty, private) =
            (self.null(&request.ty), request.ty.clone(), request.planned_private.clone());
        let (deletes, prior) = (change.planned.is_none(), request.prior_state.clone());
        let sent = self.scheduler.now();
        let perform = move |world: &mut World| {
            let outcome = world.change(&change, sent);
            let words = match (&outcome.id, outcome.refused, world.slow_until) {
                (id, Some(why), _) => format!("{why} {}", id.as_deref().unwrap_or_default()),
                (Some(id), None, Some(until)) => format!("{id} until {}", until.as_secs_f64()),
                (id, None, _) => id.clone().unwrap_or_else(|| "gone".to_owned()),
            };
            (outcome, words)
        };
        let answer = move |outcome: Outcome, world: &mut World| {
            let thing = outcome.id.as_ref().and_then(|id| world.things.all.get(id));
            let unfinished = |until: &(Duration, _)| world.now < until.0;
            let stopped = thing.and_then(|t| t.unfinished.as_ref()).is_some_and(unfinished);
            let refused = match stopped {
                true => Some("stopped before its end"),
                false => outcome.refused,
            };
            let now = thing.map(|thing| thing.at(world.now));
            let new_state = match (&now, refused) {
                (Some(facts), _) if !deletes || refused.is_some() => Some(value(facts)),
                // What was known of it is all that can be told.
                (_, Some(_)) if !prior.is_null() => Some(prior),
                _ => Some(null),
            };
            let response = ApplyResourceResponse {
                identity: now.as_ref().and_then(|facts| identity(&ty, facts)),
                new_state,
                private,
                legacy_type_system: false,
            };
            let said = refused.map(|why| ProviderDiagnostic::error(why, ""));
            Ok(Response::with(response, said.into_iter().collect()))
        };
        let lost = Err(self.died("ApplyResourceChange"));
        let answered =
            self.scheduler.ask(self.process, Kind::Call, what, perform, answer, lost).await;
        let response = answered.as_ref().ok().and_then(|answer| answer.value.as_ref());
        let state = response.and_then(|response| response.new_state.as_ref());
        if let Some(stamp) = state.and_then(|state| text(state, "stamp")) {
            self.scheduler.told(self.process, stamp);
        }
        answered
    }

    async fn import_resource(
        &self,
        request: ImportResourceRequest,
    ) -> Result<Response<ImportResourceResponse>, ProviderError> {
        let token = request.id.strip_prefix(TOKEN).and_then(|rest| rest.strip_prefix('='));
        let token = token.map(str::to_owned);
        let label = request.identity.as_ref().and_then(|identity| text(identity, "label"));
        let by_token = token.is_some();
        let (ty, id) = (request.ty.to_string(), request.id.to_string());
        let what = format!("import {id}{}", label.as_deref().unwrap_or_default());
        let found = self
            .look(what, move |world| {
                let things = &world.things;
                let thing = match (&token, &label) {
                    (Some(token), _) => things.by_token(token),
                    (None, Some(label)) => things.by_label(&ty, label),
                    (None, None) => things.all.get(&id),
                };
                let found = thing.map(|thing| thing.at(world.now));
                let words = found.as_ref().map_or_else(|| "none".to_owned(), |f| f.id.clone());
                (found, words)
            })
            .await?;
        if found.is_none() && !by_token {
            let none = ProviderDiagnostic::error("Cannot import what does not exist", "");
            return Ok(Response::failed(none));
        }
        let imported = found.iter().map(|facts| ImportedResource {
            ty: request.ty.clone(),
            state: value(facts),
            private: Arc::from([]),
            identity: identity(&request.ty, facts),
        });
        let imported = imported.collect();
        Ok(Response::ok(ImportResourceResponse { imported, deferred: None }))
    }

    async fn read_data_source(
        &self,
        request: ReadDataSourceRequest,
    ) -> Result<Response<ReadDataSourceResponse>, ProviderError> {
        Ok(Response::ok(ReadDataSourceResponse { state: request.config, deferred: None }))
    }

    async fn stop(&self) -> Result<(), ProviderError> {
        self.scheduler.hurry(self.process);
        Ok(())
    }

    async fn close(&self) {}
}
