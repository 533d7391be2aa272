//! `test_thing`: an object that does what a test asks of it.

use crate::schemas::{attributes, plain};
use crate::service::{Failure, Stop, Stopped};
use crate::world::World;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use values::schema::{Attribute, Block, Schema};
use values::{Path, Refinement, Type, Value};

pub(crate) const TYPE: &str = "test_thing";

/// Version 1: `name` was `label` in version 0.
///
/// - `kind` forces replacement; `zone` is chosen by the provider where it is not set.
/// - `token` makes creates idempotent: a second one with the same token gives the first's object.
/// - `slow_ms` makes creates and updates take that long after the object is there; with `stubborn`
///   also where the provider is asked to stop.
/// - `ripe_ms` makes a thing whole only that long after its creation, whoever waits: until then it has no tags.
///   A create waits for it, and where it is asked to stop gives the thing as it is.
/// - `fail_on` is `create`, `update`, `delete` or `read`: that call fails; with `partial`, a create
///   or update fails after the object was written, and says so.
pub(crate) fn schema() -> Schema {
    let attributes = attributes([
        ("id", plain(Type::String).computed()),
        ("name", plain(Type::String).required()),
        ("size", plain(Type::Number).optional()),
        ("tags", plain(Type::map(Type::String)).optional()),
        ("revision", plain(Type::Number).computed()),
        ("zone", plain(Type::String).optional().computed()),
        ("kind", plain(Type::String).optional()),
        ("secret", Attribute { sensitive: true, ..plain(Type::String).optional() }),
        ("password", Attribute { write_only: true, ..plain(Type::String).optional() }),
        ("token", plain(Type::String).optional()),
        ("slow_ms", plain(Type::Number).optional()),
        ("stubborn", plain(Type::Bool).optional()),
        ("ripe_ms", plain(Type::Number).optional()),
        ("fail_on", plain(Type::String).optional()),
        ("partial", plain(Type::Bool).optional()),
    ]);
    Schema { version: 1, block: Block { attributes, ..Block::default() } }
}

/// The attribute that identifies a thing: its id, which the world chooses, or its name, which is configured, where
/// `TEST_PROVIDER_NAME_IDENTITY` is set.
pub(crate) fn identifying() -> &'static str {
    match std::env::var_os("TEST_PROVIDER_NAME_IDENTITY") {
        Some(_) => "name",
        None => "id",
    }
}

pub(crate) fn identity_type() -> Type {
    Type::object([(identifying(), Type::String)])
}

pub(crate) fn identity(object: &Value) -> Option<Value> {
    let known = object.attribute(identifying()).filter(|v| v.is_known() && !v.is_null())?;
    Some(Value::object([(identifying(), known)]))
}

/// The id of the thing that is identified so; empty where there is none.
pub(crate) fn identified(world: &World, identity: &Value, ty: &Type) -> io::Result<String> {
    let given = text(identity, identifying()).unwrap_or_default();
    if identifying() == "id" {
        return Ok(given.to_string());
    }
    for id in world.ids(TYPE)? {
        let object = world.read(TYPE, &id, ty)?;
        if object.and_then(|object| text(&object, "name")).is_some_and(|name| name == given) {
            return Ok(id);
        }
    }
    Ok(String::new())
}

fn text(object: &Value, name: &str) -> Option<Arc<str>> {
    object.attribute(name)?.as_str().map(Arc::from)
}

fn fails(object: &Value, call: &str) -> bool {
    text(object, "fail_on").as_deref() == Some(call)
}

fn is_set(object: &Value, name: &str) -> bool {
    object.attribute(name).and_then(|v| v.as_bool()) == Some(true)
}

/// Takes the time that the object says; whether the provider was asked to stop before.
async fn dawdle(object: &Value, stop: &Stop) -> Result<(), Stopped> {
    let Some(slow) = duration(object, "slow_ms") else { return Ok(()) };
    match is_set(object, "stubborn") {
        true => {
            tokio::time::sleep(slow).await;
            Ok(())
        }
        false => stop.sleep(slow).await,
    }
}

fn duration(object: &Value, name: &str) -> Option<Duration> {
    let milliseconds = object.attribute(name)?.as_number()?.to_u64()?;
    Some(Duration::from_millis(milliseconds))
}

/// A thing as the world shows it before it is ripe.
fn unripe(object: &Value) -> Value {
    with(object, [("tags", Value::null(Type::map(Type::String)))])
}

fn with(object: &Value, changes: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let mut map: BTreeMap<Arc<str>, Value> = object.as_map().cloned().unwrap_or_default();
    map.extend(changes.into_iter().map(|(k, v)| (Arc::from(k), v)));
    Value::object(map)
}

/// A plan, and the attributes that force replacement.
pub(crate) fn plan(prior: &Value, proposed: &Value, config: &Value) -> (Value, Vec<Path>) {
    let unknown_id = || Value::unknown_refined(Type::String, Refinement::not_null());
    let unknown_revision = || Value::unknown_refined(Type::Number, Refinement::not_null());
    let zone_is_open = config.attribute("zone").is_none_or(|z| z.is_null());
    // Write-only: never part of a plan or a state.
    let proposed = with(proposed, [("password", Value::null(Type::String))]);
    let as_new = |object: &Value| {
        let planned = with(object, [("id", unknown_id()), ("revision", unknown_revision())]);
        match zone_is_open {
            true => with(&planned, [("zone", Value::unknown(Type::String))]),
            false => planned,
        }
    };
    if prior.is_null() {
        return (as_new(&proposed), Vec::new());
    }
    if proposed.attribute("kind") != prior.attribute("kind") {
        return (as_new(&proposed), vec![Path::attribute("kind")]);
    }
    match proposed == *prior {
        true => (proposed, Vec::new()),
        false => (with(&proposed, [("revision", unknown_revision())]), Vec::new()),
    }
}

pub(crate) async fn create(
    world: &World,
    planned: &Value,
    request_token: Option<&str>,
    ty: &Type,
    stop: &Stop,
) -> Result<Value, Failure> {
    if fails(planned, "create") && !is_set(planned, "partial") {
        return Err(Failure::nothing("The world refuses to create it"));
    }
    let new = uuid::Uuid::new_v4().to_string();
    let id = match request_token {
        Some(token) => world.id_of_token(token, &new)?,
        None => new,
    };
    let existing = match world.read(TYPE, &id, ty)? {
        Some(existing) => Some(existing),
        None => existing(world, planned, ty)?,
    };
    let object = match existing {
        Some(existing) => existing,
        None => {
            let zone = planned.attribute("zone").filter(|z| z.is_known() && !z.is_null());
            let object = with(
                planned,
                [
                    ("id", Value::string(&*id)),
                    ("revision", Value::number(1_i64)),
                    ("zone", zone.unwrap_or_else(|| Value::string("zone-a"))),
                ],
            );
            if let Some(ripe) = duration(planned, "ripe_ms") {
                world.ripen(&id, ripe)?;
            }
            world.write(TYPE, &id, &object, ty)?;
            object
        }
    };
    let left = world.until_ripe(&text(&object, "id").unwrap_or_default())?;
    if !left.is_zero() && stop.sleep(left).await.is_err() {
        let words = "The create was stopped before the object was whole";
        return Err(Failure::with(words, unripe(&object)));
    }
    settle(&object, "create", stop).await
}

/// The object that was created with the same token.
fn existing(world: &World, planned: &Value, ty: &Type) -> Result<Option<Value>, Failure> {
    let Some(token) = text(planned, "token") else { return Ok(None) };
    for id in world.ids(TYPE)? {
        if let Some(object) = world.read(TYPE, &id, ty)?
            && text(&object, "token").as_ref() == Some(&token)
        {
            return Ok(Some(object));
        }
    }
    Ok(None)
}

pub(crate) async fn update(
    world: &World,
    prior: &Value,
    planned: &Value,
    ty: &Type,
    stop: &Stop,
) -> Result<Value, Failure> {
    if fails(planned, "update") && !is_set(planned, "partial") {
        return Err(Failure::with("The world refuses to update it", prior.clone()));
    }
    let id = text(prior, "id").unwrap_or_default();
    let current = world
        .read(TYPE, &id, ty)?
        .ok_or_else(|| Failure::with("The object to update is gone", Value::null(ty.clone())))?;
    let revision = current.attribute("revision").and_then(|r| r.as_number()?.to_i64());
    let object = with(planned, [("revision", Value::number(revision.unwrap_or(0) + 1))]);
    world.write(TYPE, &id, &object, ty)?;
    settle(&object, "update", stop).await
}

/// What follows once the object is there.
async fn settle(object: &Value, call: &str, stop: &Stop) -> Result<Value, Failure> {
    if dawdle(object, stop).await.is_err() {
        let words = format!("The {call} was stopped before the object was ready");
        return Err(Failure::with(&words, object.clone()));
    }
    match fails(object, call) {
        true => Err(Failure::with("The object is there, but not as it should be", object.clone())),
        false => Ok(object.clone()),
    }
}

pub(crate) async fn delete(world: &World, prior: &Value, stop: &Stop) -> Result<(), Failure> {
    if fails(prior, "delete") {
        return Err(Failure::with("The world refuses to delete it", prior.clone()));
    }
    if dawdle(prior, stop).await.is_err() {
        return Err(Failure::with("The delete was stopped", prior.clone()));
    }
    Ok(world.remove(TYPE, &text(prior, "id").unwrap_or_default())?)
}

pub(crate) fn read(world: &World, current: &Value, ty: &Type) -> Result<Value, Failure> {
    if fails(current, "read") {
        return Err(Failure::nothing("The world cannot be read"));
    }
    let id = text(current, "id").unwrap_or_default();
    let Some(object) = world.read(TYPE, &id, ty)? else { return Ok(Value::null(ty.clone())) };
    match world.until_ripe(&id)?.is_zero() {
        true => Ok(object),
        false => Ok(unripe(&object)),
    }
}

/// A stored object of version 0 has `label` in place of `name`.
pub(crate) fn upgrade(version: i64, json: &[u8], ty: &Type) -> Result<Value, String> {
    if version >= 1 {
        return values::json::from_json(json, ty).map_err(|e| e.to_string());
    }
    let mut object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(json).map_err(|e| e.to_string())?;
    if let Some(label) = object.remove("label") {
        object.insert("name".into(), label);
    }
    for name in ty.attributes().into_iter().flatten().map(|(name, _)| name) {
        object.entry(name.to_string()).or_insert(serde_json::Value::Null);
    }
    let json = serde_json::to_vec(&object).map_err(|e| e.to_string())?;
    values::json::from_json(&json, ty).map_err(|e| e.to_string())
}

/// `data "test_thing"`: finds a thing by its name.
pub(crate) fn data_schema() -> Schema {
    let attributes = attributes([
        ("name", plain(Type::String).required()),
        ("id", plain(Type::String).computed()),
        ("size", plain(Type::Number).computed()),
        ("tags", plain(Type::map(Type::String)).computed()),
        ("revision", plain(Type::Number).computed()),
        ("zone", plain(Type::String).computed()),
    ]);
    Schema { version: 0, block: Block { attributes, ..Block::default() } }
}

pub(crate) fn look_up(world: &World, config: &Value, ty: &Type) -> Result<Value, Failure> {
    let name = text(config, "name").unwrap_or_default();
    for id in world.ids(TYPE)? {
        if let Some(object) = world.read(TYPE, &id, ty)?
            && text(&object, "name").as_ref() == Some(&name)
        {
            let names = ["name", "id", "size", "tags", "revision", "zone"];
            return Ok(Value::object(
                names.into_iter().filter_map(|n| Some((n, object.attribute(n)?))),
            ));
        }
    }
    Err(Failure::nothing(&format!("No thing is named {name:?}")))
}
