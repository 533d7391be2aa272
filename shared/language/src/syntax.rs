//! The native syntax and JSON: lexers, parsers and the abstract syntax of both.
//!
//! A parser never gives up: it reports what it finds, mends what it can and returns a tree in which
//! [`ast::ExpressionKind::Invalid`] stands where an expression is missing.

pub mod ast;
mod display;
pub(crate) mod json;
mod lexer;
mod literal;
mod parser;
mod suggestion;
pub(crate) mod token;

pub(crate) use json::parse_json_arguments;
pub use json::{JsonString, parse_json_body};
pub(crate) use lexer::tokens_with_comments;
pub(crate) use literal::escape_literal;
pub use literal::quote;
pub use parser::{
    is_identifier, is_unfinished, parse_body, parse_expression, parse_partial_traversal,
    parse_template, parse_traversal,
};
pub use suggestion::suggest;
