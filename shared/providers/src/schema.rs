use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;
use values::schema::{Description, Schema};
use values::{Type, Value};

/// All that a provider says of itself.
#[derive(Clone, Debug, Default)]
pub struct ProviderSchema {
    /// Its own configuration.
    pub provider: TypedSchema,
    /// `provider_meta` blocks, where it takes any.
    pub provider_meta: Option<TypedSchema>,
    /// Managed resource types.
    pub resources: BTreeMap<Arc<str>, TypedSchema>,
    /// Data sources.
    pub data_sources: BTreeMap<Arc<str>, TypedSchema>,
    /// Ephemeral resource types.
    pub ephemeral: BTreeMap<Arc<str>, TypedSchema>,
    /// Identities of managed resource types, of those that have one.
    pub identities: BTreeMap<Arc<str>, IdentitySchema>,
    /// Functions.
    pub functions: BTreeMap<Arc<str>, FunctionSignature>,
    /// What it offers beside the calls that all have.
    pub capabilities: Capabilities,
}

/// A schema together with the type that it implies, which is costly to compute and asked for at
/// every call. Cheap to clone.
#[derive(Clone, Debug)]
pub struct TypedSchema(Arc<(Schema, Type)>);

/// Optional parts of the protocol that a provider offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Wants to be asked for a plan before a destroy too.
    pub plan_destroy: bool,
    /// Works without having been asked for its schema first.
    pub get_provider_schema_optional: bool,
    /// Can take over objects of other resource types.
    pub move_resource_state: bool,
}

/// What identifies an object of a resource type in the real world.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentitySchema {
    /// Version of stored identities.
    pub version: u64,
    /// Attributes by name.
    pub attributes: BTreeMap<Arc<str>, IdentityAttribute>,
    /// The object type of identities.
    pub ty: Type,
}

/// One attribute of an identity.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityAttribute {
    /// Its type.
    pub ty: Type,
    /// An import must give it.
    pub required_for_import: bool,
    /// An import may give it.
    pub optional_for_import: bool,
    /// Text for people.
    pub description: Option<Arc<str>>,
}

/// A function of a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSignature {
    /// Parameters in order.
    pub parameters: Vec<FunctionParameter>,
    /// What takes all further arguments.
    pub variadic: Option<FunctionParameter>,
    /// Type of the result.
    pub returns: Type,
    /// One line for people.
    pub summary: Option<Arc<str>>,
    /// Text for people.
    pub description: Option<Description>,
    /// Why it should not be used any more.
    pub deprecation: Option<Arc<str>>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionParameter {
    /// Its name, for messages.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Null may be passed.
    pub allow_null: bool,
    /// Unknown values may be passed; otherwise the result is unknown without a call.
    pub allow_unknown: bool,
    /// Text for people.
    pub description: Option<Description>,
}

impl TypedSchema {
    /// The object type of configurations and states.
    pub fn ty(&self) -> &Type {
        &self.0.1
    }
    /// The null object of this schema.
    pub fn null(&self) -> Value {
        Value::null(self.0.1.clone())
    }
}

impl Deref for TypedSchema {
    type Target = Schema;
    fn deref(&self) -> &Schema {
        &self.0.0
    }
}

impl From<Schema> for TypedSchema {
    fn from(schema: Schema) -> TypedSchema {
        let ty = schema.block.implied_type();
        TypedSchema(Arc::new((schema, ty)))
    }
}

impl Default for TypedSchema {
    fn default() -> TypedSchema {
        TypedSchema::from(Schema::default())
    }
}

impl IdentitySchema {
    /// An identity of these attributes.
    pub fn new(version: u64, attributes: BTreeMap<Arc<str>, IdentityAttribute>) -> IdentitySchema {
        let ty = Type::object(attributes.iter().map(|(k, a)| (k.clone(), a.ty.clone())));
        IdentitySchema { version, attributes, ty }
    }
}
