//! Views through their public interfaces.

mod hooks;
mod reader;
mod recorded;
mod states;
