//! The stores in a bucket of S3, or of a server that speaks its protocol.
//!
//! | room | what it does |
//! |---|---|
//! | `settings` | what is configured, and which of it is refused |
//! | `connection` | the clients, made from settings and an SDK configuration that is handed in |
//! | `failure` | names the cause of what a service refused |

mod answer;
mod connection;
mod failure;
mod settings;

pub use connection::S3Connection;
pub use settings::{S3Settings, S3Timeouts};
