//! A provider in memory with things, tokens that are open for a while, and functions; and a clock that a test moves.

use crate::schematic::{Schematic, flat};
use async_trait::async_trait;
use engine::clock::Clock;
use engine::random::Random;
use providers::builtin::BuiltinProvider;
use providers::{
    ApplyResourceRequest, ApplyResourceResponse, CallFunctionRequest, ConfigureRequest,
    EphemeralHandle, FunctionError, FunctionParameter, FunctionSignature, ImportResourceRequest,
    ImportResourceResponse, OpenEphemeralRequest, OpenEphemeralResponse, PlanResourceRequest,
    PlanResourceResponse, Provider, ProviderDiagnostic, ProviderError, ProviderSchema, Providers,
    ReadDataSourceRequest, ReadDataSourceResponse, ReadResourceRequest, ReadResourceResponse,
    RenewEphemeralResponse, Response,
};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use values::address::ProviderAddress;
use values::schema::Attribute;
use values::{Type, Value};

const START: i64 = 1_700_000_000;

/// A clock that stands still until it is moved.
#[derive(Default)]
pub(crate) struct MovedClock(Arc<(Mutex<Duration>, Notify)>);

impl MovedClock {
    fn advance(&self, by: Duration) {
        *self.0.0.lock().unwrap() += by;
        self.0.1.notify_waiters();
    }
}

impl Clock for MovedClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(START).unwrap() + self.elapsed()
    }
    fn elapsed(&self) -> Duration {
        *self.0.0.lock().unwrap()
    }
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let (shared, until) = (self.0.clone(), self.elapsed() + duration);
        Box::pin(async move {
            loop {
                let moved = shared.1.notified();
                if *shared.0.lock().unwrap() >= until {
                    return;
                }
                moved.await;
            }
        })
    }
}

/// What happens while something is being created.
type Meanwhile = Box<dyn Fn() + Send>;

/// All that the provider was asked, and how to start it.
#[derive(Clone, Default)]
pub(crate) struct World {
    pub(crate) calls: Arc<Mutex<Vec<String>>>,
    pub(crate) clock: Arc<MovedClock>,
    /// Called while a thing whose name begins with "slow" is being created.
    pub(crate) meanwhile: Arc<Mutex<Option<Meanwhile>>>,
}

impl World {
    fn log(&self, call: impl Into<String>) {
        self.calls.lock().unwrap().push(call.into());
    }

    /// The calls so far, and none from then on.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

pub(crate) struct Tokens {
    pub(crate) world: World,
    pub(crate) random: Arc<dyn Random>,
}

#[async_trait]
impl Providers for Tokens {
    async fn start(&self, address: &ProviderAddress) -> Result<Arc<dyn Provider>, ProviderError> {
        if address.is_builtin() {
            return Ok(Arc::new(BuiltinProvider::new(self.random.clone(), None)));
        }
        let described = Schematic::new(address, schema());
        Ok(Arc::new(Running { described, world: self.world.clone() }))
    }
}

struct Running {
    described: Schematic,
    world: World,
}

fn schema() -> ProviderSchema {
    let text = || Attribute::plain(Type::String);
    let thing = flat([
        ("name", text().required()),
        ("id", text().computed()),
        ("password", Attribute { write_only: true, ..text().optional() }),
    ]);
    let token = flat([
        ("name", text().required()),
        ("value", Attribute { sensitive: true, ..text().computed() }),
        ("renew", Attribute::plain(Type::Number).optional()),
        ("fail_on", text().optional()),
    ]);
    let parameter = |name: &str| FunctionParameter {
        name: name.into(),
        ty: Type::String,
        allow_null: false,
        allow_unknown: false,
        description: None,
    };
    let join = FunctionSignature {
        parameters: vec![parameter("separator")],
        variadic: Some(parameter("parts")),
        returns: Type::String,
        summary: None,
        description: None,
        deprecation: None,
    };
    ProviderSchema {
        provider: flat([("token", text().optional())]),
        resources: [("test_thing".into(), thing)].into(),
        ephemeral: [("test_token".into(), token)].into(),
        functions: [("join".into(), join)].into(),
        ..ProviderSchema::default()
    }
}

fn text(object: &Value, name: &str) -> String {
    let value = object.attribute(name);
    value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn with<const N: usize>(object: &Value, changes: [(&str, Value); N]) -> Value {
    let mut map: BTreeMap<Arc<str>, Value> = object.as_map().cloned().unwrap_or_default();
    map.extend(changes.into_iter().map(|(name, value)| (Arc::from(name), value)));
    Value::object(map)
}

fn refused<T>(what: &str) -> Response<T> {
    Response::failed(ProviderDiagnostic::error(format!("{what} refused"), "By the test."))
}

/// `name;seconds until renewal;what fails`, as the provider's own bytes.
struct Handle(Vec<String>);

impl Handle {
    fn of(handle: &EphemeralHandle) -> Handle {
        let text = String::from_utf8(handle.private.as_deref().unwrap_or_default().to_vec());
        Handle(text.unwrap().split(';').map(str::to_owned).collect())
    }
    fn renew_at(&self, world: &World) -> Option<jiff::Timestamp> {
        let seconds = self.0[1].parse().ok()?;
        Some(world.clock.now() + Duration::from_secs(seconds))
    }
}

#[async_trait]
impl Provider for Running {
    fn address(&self) -> &ProviderAddress {
        self.described.address()
    }

    fn beneath(&self) -> Option<&dyn Provider> {
        Some(&self.described)
    }

    async fn schema(&self) -> Result<Response<Arc<ProviderSchema>>, ProviderError> {
        self.described.schema().await
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<Response<()>, ProviderError> {
        self.world.log(format!("configure {}", text(&request.config, "token")));
        Ok(Response::ok(()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequest,
    ) -> Result<Response<ReadResourceResponse>, ProviderError> {
        self.world.log(format!("read {}", text(&request.current, "name")));
        Ok(Response::ok(ReadResourceResponse {
            state: request.current,
            private: request.private,
            deferred: None,
            identity: None,
        }))
    }

    async fn plan_resource(
        &self,
        request: PlanResourceRequest,
    ) -> Result<Response<PlanResourceResponse>, ProviderError> {
        let proposed = &request.proposed_new_state;
        let planned_state = match proposed.is_null() {
            true => proposed.clone(),
            false => {
                let id = match request.prior_state.is_null() {
                    true => Value::unknown(Type::String),
                    false => proposed.attribute("id").unwrap(),
                };
                with(proposed, [("id", id), ("password", Value::null(Type::String))])
            }
        };
        Ok(Response::ok(PlanResourceResponse {
            planned_state,
            requires_replace: Vec::new(),
            planned_private: request.prior_private,
            legacy_type_system: false,
            deferred: None,
            planned_identity: None,
        }))
    }

    async fn apply_resource(
        &self,
        request: ApplyResourceRequest,
    ) -> Result<Response<ApplyResourceResponse>, ProviderError> {
        let planned = request.planned_state;
        let named = if planned.is_null() { &request.prior_state } else { &planned };
        let name = text(named, "name");
        let action = if planned.is_null() { "delete" } else { "apply" };
        self.world.log(format!("{action} {name} with {:?}", text(&request.config, "password")));
        if name.starts_with("slow") {
            if let Some(meanwhile) = &*self.world.meanwhile.lock().unwrap() {
                meanwhile();
            }
            for _ in 0..200 {
                self.world.clock.advance(Duration::from_secs(1));
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
            }
        }
        self.world.log(format!("{action} {name} done"));
        if name.starts_with("fails") {
            return Ok(refused("Apply"));
        }
        let new_state = match planned.is_null() {
            true => planned,
            false => {
                let id = planned.attribute("id").filter(Value::is_known);
                let id = id.unwrap_or_else(|| Value::string(format!("id-{name}")));
                with(&planned, [("id", id)])
            }
        };
        Ok(Response::ok(ApplyResourceResponse {
            new_state: Some(new_state),
            private: request.planned_private,
            legacy_type_system: false,
            identity: None,
        }))
    }

    async fn import_resource(
        &self,
        _: ImportResourceRequest,
    ) -> Result<Response<ImportResourceResponse>, ProviderError> {
        Ok(refused("Import"))
    }

    async fn read_data_source(
        &self,
        _: ReadDataSourceRequest,
    ) -> Result<Response<ReadDataSourceResponse>, ProviderError> {
        Ok(refused("Read"))
    }

    async fn open_ephemeral(
        &self,
        request: OpenEphemeralRequest,
    ) -> Result<Response<OpenEphemeralResponse>, ProviderError> {
        let (name, fail_on) = (text(&request.config, "name"), text(&request.config, "fail_on"));
        self.world.log(format!("open {name}"));
        if fail_on == "open" {
            return Ok(refused("Open"));
        }
        let seconds = request.config.attribute("renew");
        let seconds = seconds.as_ref().and_then(Value::as_number).map(ToString::to_string);
        let seconds = seconds.unwrap_or_default();
        let private = format!("{name};{seconds};{fail_on}").into_bytes();
        let handle = Handle(vec![name.clone(), seconds, fail_on]);
        let token = Value::string(format!("token of {name}"));
        Ok(Response::ok(OpenEphemeralResponse {
            result: with(&request.config, [("value", token)]),
            private: Some(private.into()),
            renew_at: handle.renew_at(&self.world),
            deferred: None,
        }))
    }

    async fn renew_ephemeral(
        &self,
        handle: EphemeralHandle,
    ) -> Result<Response<RenewEphemeralResponse>, ProviderError> {
        let known = Handle::of(&handle);
        let at = self.world.clock.elapsed().as_secs();
        self.world.log(format!("renew {} at {at}", known.0[0]));
        if known.0[2] == "renew" {
            return Ok(refused("Renewal"));
        }
        let renew_at = known.renew_at(&self.world);
        Ok(Response::ok(RenewEphemeralResponse { private: handle.private, renew_at }))
    }

    async fn close_ephemeral(
        &self,
        handle: EphemeralHandle,
    ) -> Result<Response<()>, ProviderError> {
        let known = Handle::of(&handle);
        self.world.log(format!("close {}", known.0[0]));
        match known.0[2] == "close" {
            true => Ok(refused("Close")),
            false => Ok(Response::ok(())),
        }
    }

    async fn call_function(
        &self,
        request: CallFunctionRequest,
    ) -> Result<Result<Value, FunctionError>, ProviderError> {
        let texts: Vec<&str> =
            request.arguments.iter().map(|a| a.as_str().unwrap_or_default()).collect();
        self.world.log(format!("call {} {texts:?}", request.name));
        let Some((separator, parts)) = texts.split_first() else {
            return Ok(Err(FunctionError { text: "nothing to do".into(), argument: None }));
        };
        if let Some(at) = parts.iter().position(|part| part.is_empty()) {
            let text = "a part must not be empty".into();
            return Ok(Err(FunctionError { text, argument: Some(at + 1) }));
        }
        Ok(Ok(Value::string(parts.join(separator))))
    }

    async fn stop(&self) -> Result<(), ProviderError> {
        Ok(())
    }

    async fn close(&self) {}
}
