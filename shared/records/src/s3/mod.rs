//! The stores in a bucket of S3, or of a server that speaks its protocol.
//!
//! | room | what it does |
//! |---|---|
//! | `settings` | what is configured, and which of it is refused |
//! | `connection` | the clients, made from settings and an SDK configuration that is handed in |
//! | `failure` | names the cause of what a service refused |
//! | `denial` | who was denied what, from the words of a denial |
//! | `denied_remedy`, `key_remedy`, `commands` | what mends it |
//! | `contract` | what the bucket and its key must guarantee |

mod answer;
mod commands;
mod connection;
pub mod contract;
mod denial;
mod denied_remedy;
mod failure;
mod key_remedy;
mod settings;

pub use commands::Commands;
pub use connection::S3Connection;
pub use settings::{S3Settings, S3Timeouts};
