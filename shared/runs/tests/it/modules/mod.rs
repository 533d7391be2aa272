//! Modules installed from loopback servers and local repositories.

mod archives;
mod buckets;
mod folders;
mod registries;
mod repositories;
mod scene;
