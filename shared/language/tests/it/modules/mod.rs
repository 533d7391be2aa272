//! What is said about a configuration, against recorded facts.

mod facts;
mod sources;
