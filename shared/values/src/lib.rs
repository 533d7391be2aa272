//! Types and values of the Terraform language.
//!
//! [`Value`] is cheap to clone: collections are shared, and each collection carries a summary of
//! what it holds (unknowns, marks), so that asking costs nothing. Unknown values carry
//! [`Refinement`]s. [`Marks`] (sensitive, ephemeral) travel with values.
//!
//! The codecs are those of Terraform: the JSON of state and plan ([`json`]) and the MessagePack of
//! the plugin protocol ([`msgpack`]).

pub mod address;
pub mod convert;
pub mod json;
mod marks;
pub mod msgpack;
mod number;
mod operations;
mod path;
pub mod quote;
mod refine;
pub mod schema;
mod stack;
mod types;
mod value;

pub use marks::Marks;
pub use number::{Number, NumberFormat};
pub use operations::{ElementsIter, OperationError};
pub use path::{Path, PathStep};
pub use refine::{Contradiction, Refiner};
pub use types::{ObjectType, Type};
pub use value::{Bound, Elements, Kind, Refinement, Value};
