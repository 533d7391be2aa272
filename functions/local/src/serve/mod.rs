//! The API and the workflow in one process: what the functions and the state machine of a stack are in the cloud.

mod authorization;
mod drift;
mod functions;
mod http;
mod log;
mod slots;

pub(crate) use drift::look_on_schedule;
pub(crate) use functions::{LocalFunctions, Steps};
pub(crate) use http::{HttpServer, Responder};
pub(crate) use log::Log;
pub(crate) use slots::Slots;
