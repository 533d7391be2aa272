//! Ephemeral resources in plan and apply: opened before what uses them, closed after it, and kept nowhere.

mod closing;
mod opening;

pub(crate) use closing::{close, close_after_use, close_all, close_left};
pub(crate) use opening::open;
