//! The stores in a bucket of S3, or of a server that speaks its protocol.
//!
//! | room | what it does |
//! |---|---|
//! | `settings` | what is configured, and which of it is refused |
//! | `connection` | the clients, made from settings and an SDK configuration that is handed in |
//! | `records`, `artifacts` | the stores |
//! | `settling` | conditional writes whose answer may be lost |
//! | `objects`, `listing` | the requests, each one call, and the pages of lists |
//! | `pacing` | how many requests are under way, and when one is sent again |
//! | `probing` | whether another server keeps its conditions |
//! | `answer`, `failure` | what came instead of success, and the name of its cause |
//! | `denial` | who was denied what, from the words of a denial |
//! | `denied_remedy`, `key_remedy`, `commands` | what mends it |
//! | `contract` | what the bucket and its key must guarantee |

mod answer;
mod artifacts;
mod commands;
mod connection;
pub mod contract;
mod denial;
mod denied_remedy;
mod failure;
mod key_remedy;
mod listing;
mod objects;
mod pacing;
mod probing;
mod records;
mod server_clock;
mod settings;
mod settling;

pub use artifacts::S3Artifacts;
pub use commands::Commands;
pub use connection::S3Connection;
pub use records::S3Store;
pub use settings::{S3Settings, S3Timeouts};
