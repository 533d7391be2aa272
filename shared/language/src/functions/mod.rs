//! The functions of the language: those of Terraform 1.11, by name.
//!
//! [`lookup`] finds one, [`Function::call`] calls it. Each area has a room of its own; what holds
//! for all functions (conversion of arguments, null, unknown, marks) is in `call`.

mod arguments;
mod call;
mod collections;
mod context;
mod conversion;
mod dates;
mod elementary;
mod encoding;
mod expressions;
mod filesystem;
mod format;
mod glob;
mod hashing;
mod maps;
mod network;
mod numbers;
mod retired;
mod sequences;
mod sets;
mod special;
mod strings;

pub(crate) use call::check_arity;
pub use call::{ArityError, CallError, Function, Parameter, ParameterType};
pub use context::{FunctionContext, Random};

use std::sync::LazyLock;

static ALL: LazyLock<Vec<&'static Function>> = LazyLock::new(|| {
    let areas: &[&'static [Function]] = &[
        collections::FUNCTIONS,
        conversion::FUNCTIONS,
        dates::FUNCTIONS,
        encoding::FUNCTIONS,
        expressions::FUNCTIONS,
        filesystem::FUNCTIONS,
        format::FUNCTIONS,
        hashing::FUNCTIONS,
        maps::FUNCTIONS,
        network::FUNCTIONS,
        numbers::FUNCTIONS,
        sequences::FUNCTIONS,
        sets::FUNCTIONS,
        special::FUNCTIONS,
        strings::FUNCTIONS,
    ];
    let mut all: Vec<&'static Function> = areas.iter().flat_map(|area| area.iter()).collect();
    all.sort_by_key(|function| function.name);
    all
});

/// The function of a name, which may be spelled `core::name`.
pub fn lookup(name: &str) -> Option<&'static Function> {
    let name = name.strip_prefix("core::").unwrap_or(name);
    match ALL.binary_search_by_key(&name, |function| function.name) {
        Ok(index) => ALL.get(index).copied(),
        Err(_) => retired::FUNCTIONS.iter().find(|function| function.name == name),
    }
}

/// All functions, sorted by name, without those that only say what to use in their place.
pub fn all() -> impl ExactSizeIterator<Item = &'static Function> {
    ALL.iter().copied()
}
