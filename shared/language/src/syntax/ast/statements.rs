//! Files and blocks: bodies, arguments, blocks and their labels.

use super::{Expression, Syntax, with_stack};
use crate::source::Span;
use std::sync::Arc;

/// The content of a file or block.
///
/// In the JSON syntax blocks look like arguments: they are among the attributes until
/// [`interpreted`](crate::decode::interpreted) by a schema.
#[derive(Debug)]
pub struct Body {
    /// In source order; of two with the same name the first.
    pub attributes: Vec<Attribute>,
    /// In source order.
    pub blocks: Vec<Block>,
    /// What it is written in.
    pub syntax: Syntax,
    /// From the opening to the closing brace, or the whole file.
    pub span: Span,
    /// The empty range at the end; in JSON the closing brace.
    pub end_span: Span,
}

impl Body {
    /// The attribute with that name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| &*attribute.name == name)
    }

    /// Where it is reported that something is missing.
    pub fn missing_item_span(&self) -> Span {
        match self.syntax {
            Syntax::Native => self.span.start_point(),
            Syntax::Json => self.end_span,
        }
    }
}

impl Clone for Body {
    fn clone(&self) -> Self {
        with_stack(|| Self {
            attributes: self.attributes.clone(),
            blocks: self.blocks.clone(),
            syntax: self.syntax,
            span: self.span,
            end_span: self.end_span,
        })
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if !self.blocks.is_empty() {
            let blocks = std::mem::take(&mut self.blocks);
            with_stack(|| drop(blocks));
        }
    }
}

/// `name = expression`
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name.
    pub name: Arc<str>,
    /// Where the name stands.
    pub name_span: Span,
    /// Where the equals sign stands.
    pub equals_span: Span,
    /// The value.
    pub expression: Expression,
    /// What it is written in. In JSON it may be a block, or many.
    pub syntax: Syntax,
    /// From the name to the end of the value.
    pub span: Span,
}

/// `type "label" { … }`
#[derive(Clone, Debug)]
pub struct Block {
    /// The block type.
    pub type_name: Arc<str>,
    /// Where the type stands.
    pub type_span: Span,
    /// Labels in source order.
    pub labels: Vec<Label>,
    /// Where the opening brace stands; the type's place if there is none.
    pub open_brace_span: Span,
    /// Where the closing brace stands; the type's place if there is none.
    pub close_brace_span: Span,
    /// The content.
    pub body: Body,
}

impl Block {
    /// The header: type and labels; in JSON, where they may stand far apart, the opening brace or
    /// bracket.
    pub fn header_span(&self) -> Span {
        if self.body.syntax == Syntax::Json {
            return self.open_brace_span;
        }
        self.labels.last().map_or(self.type_span, |label| self.type_span.to(label.span))
    }

    /// From the type to the closing brace.
    pub fn span(&self) -> Span {
        self.type_span.to(self.close_brace_span)
    }
}

/// One label of a block.
#[derive(Clone, Debug)]
pub struct Label {
    /// Its text, escapes resolved.
    pub text: Arc<str>,
    /// Where it stands, with quotes.
    pub span: Span,
    /// Whether it is quoted.
    pub quoted: bool,
}
