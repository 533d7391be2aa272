//! Functions that say by what they have been replaced.

use super::call::{CallError, Function, Parameter, ParameterType};

const VALUES: Parameter = Parameter::any("vals").null().unknown().dynamic().marked();

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("list", "Use `tolist`.", &[], ParameterType::Any, |_, _, _| Err(list()))
        .variadic(&VALUES)
        .typed_by(|_| Err(list())),
    Function::new("map", "Use `tomap`.", &[], ParameterType::Any, |_, _, _| Err(map()))
        .variadic(&VALUES)
        .typed_by(|_| Err(map())),
];

fn list() -> CallError {
    CallError::other(
        "the \"list\" function was deprecated in Terraform v0.12 and is no longer available; use tolist([ ... ]) syntax to write a literal list",
    )
}

fn map() -> CallError {
    CallError::other(
        "the \"map\" function was deprecated in Terraform v0.12 and is no longer available; use tomap({ ... }) syntax to write a literal map",
    )
}
