//! The test provider against the plugin client, and the code generated for both.

mod generated;
mod lifecycle;
mod process;
mod scene;
mod watchdog;
