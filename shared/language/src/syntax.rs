//! The native syntax: lexer, abstract syntax and parser.
//!
//! A parser never gives up: it reports what it finds, mends what it can and returns a tree in which
//! [`ast::ExpressionKind::Invalid`] stands where an expression is missing.

pub mod ast;
mod display;
mod lexer;
mod literal;
mod parser;
mod suggestion;
mod token;

pub use literal::quote;
pub use parser::{
    is_identifier, parse_body, parse_expression, parse_partial_traversal, parse_template,
    parse_traversal,
};
pub use suggestion::suggest;
