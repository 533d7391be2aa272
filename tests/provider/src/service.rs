//! The calls of the protocol, answered from the world.

use crate::encoding::{
    decode, encode, encode_identity, error, internal, meta, module, path_to_wire,
};
use crate::ephemeral::Token;
use crate::parricide::Parricide;
use crate::server::Provider;
use crate::world::{LoggedCall, World};
use crate::{ephemeral, functions, nested, request_tokens, schemas, thing};
use providers::protocol::tfplugin6 as wire;
use std::io;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::sync::watch;
use tonic::{Request, Response, Status};
use values::json::type_to_json;
use values::{Path, Type, Value};

/// A call that failed: why, and what there is all the same.
pub(crate) struct Failure {
    message: String,
    state: Option<Value>,
}

impl Failure {
    pub(crate) fn nothing(message: &str) -> Failure {
        Failure { message: message.into(), state: None }
    }
    pub(crate) fn with(message: &str, state: Value) -> Failure {
        Failure { message: message.into(), state: Some(state) }
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Failure {
        Failure { message: format!("The world is broken: {e}"), state: None }
    }
}

/// Whether the provider was asked to stop.
pub(crate) struct Stop(watch::Receiver<bool>);

/// The provider was asked to stop.
pub(crate) struct Stopped;

impl Stop {
    /// Waits, unless the provider is asked to stop before.
    pub(crate) async fn sleep(&self, duration: Duration) -> Result<(), Stopped> {
        let mut stop = self.0.clone();
        let stopped = stop.wait_for(|stopped| *stopped);
        match tokio::time::timeout(duration, stopped).await {
            Ok(_) => Err(Stopped),
            Err(_) => Ok(()),
        }
    }
}

/// The provider: unconfigured at first.
pub(crate) struct Service {
    world: OnceLock<World>,
    stop: watch::Sender<bool>,
    thing: Type,
    nested: Type,
    parricide: Option<Parricide>,
    /// The version of the plugin protocol.
    protocol: u8,
}

impl Service {
    pub(crate) fn new(parricide: Option<Parricide>, protocol: u8) -> Service {
        Service {
            parricide,
            protocol,
            world: OnceLock::new(),
            stop: watch::Sender::new(false),
            thing: thing::schema().block.implied_type(),
            nested: nested::schema().block.implied_type(),
        }
    }
}

/// A call in the log from its start to its end.
struct Logged<'s> {
    world: &'s World,
    call: LoggedCall,
    parricide: Option<&'s Parricide>,
}

impl Logged<'_> {
    fn end(mut self, phase: &str) -> Result<(), Status> {
        self.call.phase = phase.into();
        self.world.log(&self.call).map_err(internal)?;
        self.parricide.map_or(Ok(()), |p| p.consider(self.world)).map_err(internal)
    }
}

/// The phase in which a call about a token ends, and what is said.
fn outcome(token: &Token, call: &str) -> (&'static str, Vec<wire::Diagnostic>) {
    match token.fails(call) {
        true => ("failed", vec![error(format!("The world refuses to {call} it"))]),
        false => ("finished", Vec::new()),
    }
}

impl Service {
    fn world(&self) -> Result<&World, Status> {
        self.world
            .get()
            .ok_or_else(|| Status::failed_precondition("the provider is not configured"))
    }

    fn stop(&self) -> Stop {
        Stop(self.stop.subscribe())
    }

    fn resource_type(&self, name: &str) -> Result<&Type, Status> {
        match name {
            thing::TYPE => Ok(&self.thing),
            nested::TYPE => Ok(&self.nested),
            _ => Err(Status::invalid_argument(format!("no resource type {name}"))),
        }
    }

    fn begin(&self, call: &str, ty: &str, object: Option<String>) -> Result<Logged<'_>, Status> {
        let call = LoggedCall {
            call: call.into(),
            ty: (!ty.is_empty()).then(|| ty.into()),
            object,
            phase: "started".into(),
            password: None,
            module: None,
            pid: std::process::id(),
        };
        let world = self.world()?;
        world.log(&call).map_err(internal)?;
        Ok(Logged { world, call, parricide: self.parricide.as_ref() })
    }

    fn name_of(object: &Value) -> Option<String> {
        let text = |name| Some(object.attribute(name)?.as_str()?.to_owned());
        text("name").or_else(|| text("id"))
    }

    async fn change(
        &self,
        ty: &str,
        action: &str,
        prior: &Value,
        planned: &Value,
        token: Option<&str>,
    ) -> Result<Value, Failure> {
        let object_type = self.resource_type(ty).map_err(|e| Failure::nothing(e.message()))?;
        let world = self.world().map_err(|e| Failure::nothing(e.message()))?;
        let stop = self.stop();
        match (ty, action) {
            (thing::TYPE, "create") => {
                thing::create(world, planned, token, object_type, &stop).await
            }
            (thing::TYPE, "update") => {
                thing::update(world, prior, planned, object_type, &stop).await
            }
            (thing::TYPE, _) => {
                thing::delete(world, prior, &stop).await?;
                Ok(Value::null(object_type.clone()))
            }
            (_, "delete") => {
                let id = prior.attribute("id");
                let id = id.as_ref().and_then(Value::as_str).unwrap_or_default();
                world.remove(ty, id)?;
                Ok(Value::null(object_type.clone()))
            }
            _ => nested::write(world, planned, object_type),
        }
    }
}

type Answer<T> = Result<Response<T>, Status>;

fn answer<T>(value: T) -> Answer<T> {
    Ok(Response::new(value))
}

#[tonic::async_trait]
impl Provider for Service {
    async fn get_provider_schema(
        &self,
        _: Request<wire::get_provider_schema::Request>,
    ) -> Answer<wire::get_provider_schema::Response> {
        let thing = (thing::TYPE.into(), schemas::to_wire(&thing::schema()));
        // Protocol 5 has no nested attributes.
        let nested = (nested::TYPE.into(), schemas::to_wire(&nested::schema()));
        let nested = (self.protocol >= 6).then_some(nested);
        answer(wire::get_provider_schema::Response {
            provider: Some(schemas::to_wire(&schemas::provider())),
            provider_meta: Some(schemas::to_wire(&schemas::provider_meta())),
            resource_schemas: std::iter::once(thing).chain(nested).collect(),
            data_source_schemas: [(thing::TYPE.into(), schemas::to_wire(&thing::data_schema()))]
                .into(),
            ephemeral_resource_schemas: [(
                ephemeral::TYPE.into(),
                schemas::to_wire(&ephemeral::schema()),
            )]
            .into(),
            functions: functions::signatures(),
            server_capabilities: Some(wire::ServerCapabilities {
                plan_destroy: false,
                get_provider_schema_optional: true,
                move_resource_state: false,
            }),
            diagnostics: Vec::new(),
        })
    }

    async fn get_resource_identity_schemas(
        &self,
        _: Request<wire::get_resource_identity_schemas::Request>,
    ) -> Answer<wire::get_resource_identity_schemas::Response> {
        let id = wire::resource_identity_schema::IdentityAttribute {
            name: thing::identifying().into(),
            r#type: type_to_json(&Type::String).into_bytes(),
            required_for_import: true,
            ..Default::default()
        };
        let schema = wire::ResourceIdentitySchema { version: 0, identity_attributes: vec![id] };
        answer(wire::get_resource_identity_schemas::Response {
            identity_schemas: [(thing::TYPE.into(), schema)].into(),
            diagnostics: Vec::new(),
        })
    }

    async fn validate_provider_config(
        &self,
        _: Request<wire::validate_provider_config::Request>,
    ) -> Answer<wire::validate_provider_config::Response> {
        answer(Default::default())
    }

    async fn configure_provider(
        &self,
        request: Request<wire::configure_provider::Request>,
    ) -> Answer<wire::configure_provider::Response> {
        let ty = schemas::provider().block.implied_type();
        let config = decode(request.get_ref().config.as_ref(), &ty)?;
        let folder = config.attribute("world");
        let Some(folder) = folder.as_ref().and_then(Value::as_str) else {
            let diagnostics = vec![error("The world is not known")];
            return answer(wire::configure_provider::Response { diagnostics });
        };
        let world = World::open(folder).map_err(internal)?;
        if self.world.set(world).is_err() {
            return Err(Status::failed_precondition("the provider is configured already"));
        }
        self.begin("configure", "", None)?.end("finished")?;
        answer(Default::default())
    }

    async fn stop_provider(
        &self,
        _: Request<wire::stop_provider::Request>,
    ) -> Answer<wire::stop_provider::Response> {
        self.stop.send_replace(true);
        if self.world.get().is_some() {
            self.begin("stop", "", None)?.end("finished")?;
        }
        answer(Default::default())
    }

    async fn validate_resource_config(
        &self,
        request: Request<wire::validate_resource_config::Request>,
    ) -> Answer<wire::validate_resource_config::Response> {
        let request = request.get_ref();
        let config = decode(request.config.as_ref(), self.resource_type(&request.type_name)?)?;
        let mut diagnostics = Vec::new();
        if config.attribute("name").is_some_and(|n| n.as_str() == Some("")) {
            diagnostics.push(wire::Diagnostic {
                detail: "A thing without a name cannot be told from others.".into(),
                attribute: Some(path_to_wire(&Path::attribute("name"))),
                ..error("Empty name")
            });
        }
        answer(wire::validate_resource_config::Response { diagnostics })
    }

    async fn upgrade_resource_state(
        &self,
        request: Request<wire::upgrade_resource_state::Request>,
    ) -> Answer<wire::upgrade_resource_state::Response> {
        let request = request.get_ref();
        let ty = self.resource_type(&request.type_name)?;
        let json = request.raw_state.as_ref().map(|r| &*r.json).unwrap_or_default();
        let upgraded = match &*request.type_name {
            thing::TYPE => thing::upgrade(request.version, json, ty),
            _ => values::json::from_json(json, ty).map_err(|e| e.to_string()),
        };
        let (state, diagnostics) = match upgraded {
            Ok(state) => (encode(&state, ty)?, Vec::new()),
            Err(e) => (None, vec![error(e)]),
        };
        answer(wire::upgrade_resource_state::Response { upgraded_state: state, diagnostics })
    }

    async fn upgrade_resource_identity(
        &self,
        request: Request<wire::upgrade_resource_identity::Request>,
    ) -> Answer<wire::upgrade_resource_identity::Response> {
        let ty = thing::identity_type();
        let json = request.into_inner().raw_identity.unwrap_or_default().json;
        let identity = values::json::from_json(&json, &ty).map_err(internal)?;
        answer(wire::upgrade_resource_identity::Response {
            upgraded_identity: Some(wire::ResourceIdentityData {
                identity_data: encode(&identity, &ty)?,
            }),
            diagnostics: Vec::new(),
        })
    }

    async fn read_resource(
        &self,
        request: Request<wire::read_resource::Request>,
    ) -> Answer<wire::read_resource::Response> {
        let request = request.into_inner();
        let ty = self.resource_type(&request.type_name)?;
        let current = decode(request.current_state.as_ref(), ty)?;
        let mut logged = self.begin("read", &request.type_name, Service::name_of(&current))?;
        logged.call.module = module(&meta(request.provider_meta.as_ref())?);
        let read = match &*request.type_name {
            thing::TYPE => thing::read(self.world()?, &current, ty),
            other => {
                let id = current.attribute("id");
                let id = id.as_ref().and_then(Value::as_str).unwrap_or_default();
                let object = self.world()?.read(other, id, ty).map_err(Failure::from);
                object.map(|o| o.unwrap_or_else(|| Value::null(ty.clone())))
            }
        };
        let (state, diagnostics, phase) = match read {
            Ok(state) => (state, Vec::new(), "finished"),
            Err(e) => (current, vec![error(e.message)], "failed"),
        };
        logged.end(phase)?;
        answer(wire::read_resource::Response {
            new_state: encode(&state, ty)?,
            diagnostics,
            private: request.private,
            deferred: None,
            new_identity: match &*request.type_name {
                thing::TYPE => encode_identity(&state)?,
                _ => None,
            },
        })
    }

    async fn plan_resource_change(
        &self,
        request: Request<wire::plan_resource_change::Request>,
    ) -> Answer<wire::plan_resource_change::Response> {
        let request = request.into_inner();
        let ty = self.resource_type(&request.type_name)?;
        let prior = decode(request.prior_state.as_ref(), ty)?;
        let proposed = decode(request.proposed_new_state.as_ref(), ty)?;
        let config = decode(request.config.as_ref(), ty)?;
        let named = if proposed.is_null() { &prior } else { &proposed };
        let mut logged = self.begin("plan", &request.type_name, Service::name_of(named))?;
        logged.call.module = module(&meta(request.provider_meta.as_ref())?);
        let (planned, replace) = match &*request.type_name {
            _ if proposed.is_null() => (proposed, Vec::new()),
            thing::TYPE => thing::plan(&prior, &proposed, &config),
            _ => (nested::plan(&prior, &proposed), Vec::new()),
        };
        logged.end("finished")?;
        answer(wire::plan_resource_change::Response {
            planned_identity: match &*request.type_name {
                thing::TYPE if !planned.is_null() => encode_identity(&planned)?,
                _ => None,
            },
            planned_state: encode(&planned, ty)?,
            requires_replace: replace.iter().map(path_to_wire).collect(),
            planned_private: request.prior_private,
            ..Default::default()
        })
    }

    async fn apply_resource_change(
        &self,
        request: Request<wire::apply_resource_change::Request>,
    ) -> Answer<wire::apply_resource_change::Response> {
        let request = request.into_inner();
        let ty = self.resource_type(&request.type_name)?;
        let prior = decode(request.prior_state.as_ref(), ty)?;
        let planned = decode(request.planned_state.as_ref(), ty)?;
        let action = match (prior.is_null(), planned.is_null()) {
            (true, _) => "create",
            (false, true) => "delete",
            (false, false) => "update",
        };
        let named = if planned.is_null() { &prior } else { &planned };
        let mut logged = self.begin(action, &request.type_name, Service::name_of(named))?;
        let config = decode(request.config.as_ref(), ty)?;
        let password = config.attribute("password");
        logged.call.password = password.and_then(|p| Some(p.as_str()?.to_owned()));
        let meta = meta(request.provider_meta.as_ref())?;
        logged.call.module = module(&meta);
        let token = request_tokens::of(&meta);
        let ty_name = &request.type_name;
        let changed = self.change(ty_name, action, &prior, &planned, token.as_deref()).await;
        let (state, diagnostics, phase) = match changed {
            Ok(state) => (state, Vec::new(), "finished"),
            Err(Failure { message, state }) => {
                // Without a state of its own a failed change has changed nothing.
                (state.unwrap_or(prior), vec![error(message)], "failed")
            }
        };
        logged.end(phase)?;
        answer(wire::apply_resource_change::Response {
            new_identity: match &*request.type_name {
                thing::TYPE => encode_identity(&state)?,
                _ => None,
            },
            new_state: encode(&state, ty)?,
            private: request.planned_private,
            diagnostics,
            legacy_type_system: false,
        })
    }

    async fn import_resource_state(
        &self,
        request: Request<wire::import_resource_state::Request>,
    ) -> Answer<wire::import_resource_state::Response> {
        let request = request.into_inner();
        let ty = self.resource_type(&request.type_name)?;
        let mut id = request.id;
        if let Some(data) = request.identity {
            let identity = decode(data.identity_data.as_ref(), &thing::identity_type())?;
            id = thing::identified(self.world()?, &identity, ty).map_err(internal)?;
        }
        let logged = self.begin("import", &request.type_name, Some(id.clone()))?;
        let token = request_tokens::of_import(&id).map(str::to_owned);
        if let Some(token) = &token {
            id = self.world()?.id_with_token(token).map_err(internal)?.unwrap_or_default();
        }
        let found = self.world()?.read(&request.type_name, &id, ty).map_err(internal)?;
        let Some(object) = found else {
            if token.is_some() {
                // Nothing was made with it, which is an answer.
                logged.end("finished")?;
                return answer(wire::import_resource_state::Response::default());
            }
            logged.end("failed")?;
            let message = format!("There is no {} with id {id:?}", request.type_name);
            return answer(wire::import_resource_state::Response {
                diagnostics: vec![error(message)],
                ..Default::default()
            });
        };
        logged.end("finished")?;
        let identity = match &*request.type_name {
            thing::TYPE => encode_identity(&object)?,
            _ => None,
        };
        let imported = wire::import_resource_state::ImportedResource {
            type_name: request.type_name,
            state: encode(&object, ty)?,
            private: Vec::new(),
            identity,
        };
        answer(wire::import_resource_state::Response {
            imported_resources: vec![imported],
            ..Default::default()
        })
    }

    async fn move_resource_state(
        &self,
        _: Request<wire::move_resource_state::Request>,
    ) -> Answer<wire::move_resource_state::Response> {
        Err(Status::unimplemented("MoveResourceState"))
    }

    async fn validate_data_resource_config(
        &self,
        _: Request<wire::validate_data_resource_config::Request>,
    ) -> Answer<wire::validate_data_resource_config::Response> {
        answer(Default::default())
    }

    async fn read_data_source(
        &self,
        request: Request<wire::read_data_source::Request>,
    ) -> Answer<wire::read_data_source::Response> {
        let request = request.into_inner();
        let ty = thing::data_schema().block.implied_type();
        let config = decode(request.config.as_ref(), &ty)?;
        let mut logged = self.begin("data", &request.type_name, Service::name_of(&config))?;
        logged.call.module = module(&meta(request.provider_meta.as_ref())?);
        match thing::look_up(self.world()?, &config, &self.thing) {
            Ok(state) => {
                logged.end("finished")?;
                let state = encode(&state, &ty)?;
                answer(wire::read_data_source::Response { state, ..Default::default() })
            }
            Err(e) => {
                logged.end("failed")?;
                let diagnostics = vec![error(e.message)];
                answer(wire::read_data_source::Response { diagnostics, ..Default::default() })
            }
        }
    }

    async fn validate_ephemeral_resource_config(
        &self,
        _: Request<wire::validate_ephemeral_resource_config::Request>,
    ) -> Answer<wire::validate_ephemeral_resource_config::Response> {
        answer(Default::default())
    }

    async fn open_ephemeral_resource(
        &self,
        request: Request<wire::open_ephemeral_resource::Request>,
    ) -> Answer<wire::open_ephemeral_resource::Response> {
        let request = request.into_inner();
        let ty = ephemeral::schema().block.implied_type();
        let config = decode(request.config.as_ref(), &ty)?;
        let token = Token::of(&config);
        let logged = self.begin("open", &request.type_name, token.name.clone())?;
        let (phase, diagnostics) = outcome(&token, "open");
        logged.end(phase)?;
        answer(wire::open_ephemeral_resource::Response {
            result: encode(&token.result(&config), &ty)?,
            private: token.to_private(),
            renew_at: token.renew_at(),
            diagnostics,
            ..Default::default()
        })
    }

    async fn renew_ephemeral_resource(
        &self,
        request: Request<wire::renew_ephemeral_resource::Request>,
    ) -> Answer<wire::renew_ephemeral_resource::Response> {
        let request = request.into_inner();
        let token = Token::from_private(request.private.as_deref());
        let logged = self.begin("renew", &request.type_name, token.name.clone())?;
        let (phase, diagnostics) = outcome(&token, "renew");
        logged.end(phase)?;
        answer(wire::renew_ephemeral_resource::Response {
            private: request.private,
            renew_at: token.renew_at(),
            diagnostics,
        })
    }

    async fn close_ephemeral_resource(
        &self,
        request: Request<wire::close_ephemeral_resource::Request>,
    ) -> Answer<wire::close_ephemeral_resource::Response> {
        let request = request.into_inner();
        let token = Token::from_private(request.private.as_deref());
        let logged = self.begin("close", &request.type_name, token.name.clone())?;
        let (phase, diagnostics) = outcome(&token, "close");
        logged.end(phase)?;
        answer(wire::close_ephemeral_resource::Response { diagnostics })
    }

    async fn get_functions(
        &self,
        _: Request<wire::get_functions::Request>,
    ) -> Answer<wire::get_functions::Response> {
        let functions = functions::signatures();
        answer(wire::get_functions::Response { functions, diagnostics: Vec::new() })
    }

    async fn call_function(
        &self,
        request: Request<wire::call_function::Request>,
    ) -> Answer<wire::call_function::Response> {
        // Functions need no configuration, and without one there is no log.
        let logged = match self.world.get() {
            Some(_) => Some(self.begin("function", "", Some(request.get_ref().name.clone()))?),
            None => None,
        };
        let response = functions::call(request.get_ref());
        if let Some(logged) = logged {
            logged.end(if response.error.is_none() { "finished" } else { "failed" })?;
        }
        answer(response)
    }
}
