//! The native syntax: lexer, abstract syntax and parser.

pub mod ast;
