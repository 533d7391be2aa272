//! What all decoding of blocks shares: where errors go, and how schemas and literals are read.

use std::collections::HashMap;
use std::sync::Arc;

use values::{Type, Value};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::evaluate::constant;
use crate::source::{FileId, Sources, Span};
use crate::syntax::ast::{
    Attribute, Block, Body, Expression, ExpressionKind, Syntax, Traversal, TraversalStep,
};
use crate::syntax::json::{duplicate_argument, extraneous_property, unpack};
use crate::syntax::{is_identifier, parse_traversal, suggest};

pub(super) const BAD_IDENTIFIER: &str = "A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.";

const STATIC_REFERENCE: &str = "A single static variable reference is required: only attribute access and indexing with constant keys. No calculations, function calls, template expressions, etc are allowed here.";

/// Decodes the blocks of one file.
pub(super) struct Decoder<'s> {
    pub(super) sources: &'s Sources,
    /// Whether the file is an override file, in which less is required.
    pub(super) overriding: bool,
    pub(super) diagnostics: Diagnostics,
}

/// The arguments and blocks that a block may have.
pub(super) struct BlockSchema {
    pub(super) attributes: &'static [Argument],
    pub(super) blocks: &'static [BlockType],
}

pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) required: bool,
}

pub(super) struct BlockType {
    pub(super) name: &'static str,
    pub(super) labels: &'static [&'static str],
}

pub(super) const fn optional(name: &'static str) -> Argument {
    Argument { name, required: false }
}

pub(super) const fn required(name: &'static str) -> Argument {
    Argument { name, required: true }
}

pub(super) const fn block(name: &'static str) -> BlockType {
    BlockType { name, labels: &[] }
}

pub(super) const fn labelled(name: &'static str, labels: &'static [&'static str]) -> BlockType {
    BlockType { name, labels }
}

/// What a schema found in a body.
pub(super) struct Content {
    attributes: Vec<Attribute>,
    /// Blocks of the schema with the right number of labels.
    pub(super) blocks: Vec<Block>,
}

impl Content {
    pub(super) fn take(&mut self, name: &str) -> Option<Attribute> {
        let at = self.attributes.iter().position(|attribute| &*attribute.name == name)?;
        Some(self.attributes.swap_remove(at))
    }

    pub(super) fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }
}

impl<'s> Decoder<'s> {
    pub(super) fn new(sources: &'s Sources, overriding: bool) -> Self {
        Self { sources, overriding, diagnostics: Diagnostics::new() }
    }

    pub(super) fn error(
        &mut self,
        summary: impl Into<String>,
        detail: impl Into<String>,
        at: Span,
    ) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(at));
    }

    pub(super) fn warning(
        &mut self,
        summary: impl Into<String>,
        detail: impl Into<String>,
        at: Span,
    ) {
        self.diagnostics.push(Diagnostic::warning(summary, detail).at(at));
    }

    /// A place as messages have it: `main.tf:3,1-8`.
    pub(super) fn place(&self, span: Span) -> String {
        self.sources.range(span).to_string()
    }

    /// Reads a body that must have nothing beside the schema.
    pub(super) fn content(&mut self, body: Body, schema: &BlockSchema) -> Content {
        self.whole_content(body, schema, false)
    }

    /// As [`Decoder::content`], and nothing is required.
    pub(super) fn relaxed_content(&mut self, body: Body, schema: &BlockSchema) -> Content {
        self.whole_content(body, schema, true)
    }

    fn whole_content(&mut self, body: Body, schema: &BlockSchema, relaxed: bool) -> Content {
        let (content, rest) = self.partial_content(body, schema, relaxed);
        for attribute in &rest.attributes {
            let name = &*attribute.name;
            if attribute.syntax == Syntax::Json {
                let unused =
                    schema.attributes.iter().map(|argument| argument.name).filter(|name| {
                        !content.attributes.iter().any(|attribute| &*attribute.name == *name)
                    });
                let candidates = unused.chain(schema.blocks.iter().map(|block| block.name));
                self.diagnostics.push(extraneous_property(attribute, candidates));
                continue;
            }
            let free = schema.attributes.iter().map(|argument| argument.name).filter(|candidate| {
                !content.attributes.iter().any(|attribute| &*attribute.name == *candidate)
            });
            let hint = match suggest(name, free) {
                Some(near) => format!(" Did you mean \"{near}\"?"),
                None if schema.blocks.iter().any(|block| block.name == name) => {
                    format!(" Did you mean to define a block of type \"{name}\"?")
                }
                None => String::new(),
            };
            self.error(
                "Unsupported argument",
                format!("An argument named \"{name}\" is not expected here.{hint}"),
                attribute.name_span,
            );
        }
        for block in &rest.blocks {
            let name = &*block.type_name;
            let hint = match suggest(name, schema.blocks.iter().map(|block| block.name)) {
                Some(near) => format!(" Did you mean \"{near}\"?"),
                None if schema.attributes.iter().any(|argument| argument.name == name) => format!(
                    " Did you mean to define argument \"{name}\"? If so, use the equals sign to assign it a value."
                ),
                None => String::new(),
            };
            self.error(
                "Unsupported block type",
                format!("Blocks of type \"{name}\" are not expected here.{hint}"),
                block.type_span,
            );
        }
        content
    }

    /// Takes what the schema describes out of a body and gives the rest. `relaxed` requires
    /// nothing.
    pub(super) fn partial_content(
        &mut self,
        mut body: Body,
        schema: &BlockSchema,
        relaxed: bool,
    ) -> (Content, Body) {
        let is_wanted = |name: &str| schema.attributes.iter().any(|argument| argument.name == name);
        let block_type = |name: &str| schema.blocks.iter().find(|candidate| candidate.name == name);
        let mut wanted: Vec<Attribute> = Vec::new();
        let mut blocks = Vec::new();
        let mut unpacking = Diagnostics::new();
        for attribute in std::mem::take(&mut body.attributes) {
            let json = attribute.syntax == Syntax::Json;
            if is_wanted(&attribute.name) {
                match wanted.iter().find(|first| json && first.name == attribute.name) {
                    Some(first) => {
                        unpacking.push(duplicate_argument(&attribute, first, self.sources));
                    }
                    None => wanted.push(attribute),
                }
            } else if let Some(expected) = block_type(&attribute.name).filter(|_| json) {
                blocks.extend(unpack(&attribute, expected.labels, &mut unpacking));
            } else {
                body.attributes.push(attribute);
            }
        }
        self.diagnostics.extend(unpacking);
        for argument in schema.attributes.iter().filter(|a| a.required && !relaxed) {
            if !wanted.iter().any(|attribute| &*attribute.name == argument.name) {
                let detail = format!(
                    "The argument \"{}\" is required, but no definition was found.",
                    argument.name
                );
                self.error("Missing required argument", detail, body.missing_item_span());
            }
        }
        for block in std::mem::take(&mut body.blocks) {
            match block_type(&block.type_name) {
                None => body.blocks.push(block),
                Some(expected) if self.has_labels(&block, expected) => blocks.push(block),
                Some(_) => {}
            }
        }
        (Content { attributes: wanted, blocks }, body)
    }

    fn has_labels(&mut self, block: &Block, expected: &BlockType) -> bool {
        let name = expected.name;
        let (given, wanted) = (block.labels.len(), expected.labels.len());
        let diagnostic = if let Some(extra) = block.labels.get(wanted) {
            let detail = match wanted {
                0 => format!("No labels are expected for {name} blocks."),
                _ => format!(
                    "Only {wanted} labels ({}) are expected for {name} blocks.",
                    expected.labels.join(", ")
                ),
            };
            Diagnostic::error(format!("Extraneous label for {name}"), detail).at(extra.span)
        } else if let Some(missing) = expected.labels.get(given) {
            let detail = format!(
                "All {name} blocks must have {wanted} labels ({}).",
                expected.labels.join(", ")
            );
            Diagnostic::error(format!("Missing {missing} for {name}"), detail)
                .at(block.open_brace_span)
        } else {
            return true;
        };
        self.diagnostics.push(diagnostic.within(block.type_span.to(block.open_brace_span)));
        false
    }

    /// The attributes of a body that must have no blocks, and whether it had none.
    pub(super) fn only_attributes(&mut self, mut body: Body) -> (Vec<Attribute>, bool) {
        if let Some(block) = body.blocks.first() {
            self.error(
                format!("Unexpected \"{}\" block", block.type_name),
                "Blocks are not allowed here.",
                block.type_span,
            );
        }
        let clean = body.blocks.is_empty();
        let mut attributes: Vec<Attribute> = Vec::with_capacity(body.attributes.len());
        let mut seen: HashMap<Arc<str>, Span> = HashMap::new();
        for attribute in std::mem::take(&mut body.attributes) {
            if attribute.syntax == Syntax::Json {
                if let Some(first) = seen.get(&attribute.name) {
                    let place = self.place(*first);
                    self.error(
                        "Duplicate attribute definition",
                        format!("The argument {:?} was already set at {place}.", attribute.name),
                        attribute.name_span,
                    );
                    continue;
                }
                seen.insert(attribute.name.clone(), attribute.span);
            }
            attributes.push(attribute);
        }
        (attributes, clean)
    }

    /// Adds the content of an escaping block (`_`) to the rest of the body around it.
    pub(super) fn merge_escaped(&mut self, rest: &mut Body, mut escaped: Body) {
        for attribute in std::mem::take(&mut escaped.attributes) {
            if let Some(first) = rest.attribute(&attribute.name) {
                let place = self.place(first.name_span);
                self.error(
                    "Duplicate argument",
                    format!("Argument \"{}\" was already set at {place}", attribute.name),
                    attribute.name_span,
                );
                continue;
            }
            rest.attributes.push(attribute);
        }
        rest.blocks.append(&mut std::mem::take(&mut escaped.blocks));
    }

    pub(super) fn check_identifier(&mut self, name: &str, summary: &str, at: Span) {
        if !is_identifier(name) {
            self.error(summary, BAD_IDENTIFIER, at);
        }
    }

    /// The value of an expression that may use neither variables nor functions; `None` after an
    /// error.
    pub(super) fn constant(&mut self, expression: &Expression) -> Option<Value> {
        let (value, diagnostics) = constant(expression);
        let failed = diagnostics.has_errors();
        self.diagnostics.extend(diagnostics);
        (!failed).then_some(value)
    }

    fn literal(&mut self, expression: &Expression, ty: &Type) -> Option<Value> {
        let (value, diagnostics) = constant(expression);
        self.diagnostics.extend(diagnostics);
        let reason = match values::convert::convert(&value, ty) {
            Err(error) => error.message,
            Ok(value) if !value.is_known() => "value must be known".to_owned(),
            Ok(value) if value.is_null() => "null value is not allowed".to_owned(),
            Ok(value) => return Some(value),
        };
        let diagnostic =
            Diagnostic::error("Unsuitable value type", format!("Unsuitable value: {reason}"));
        self.diagnostics.push(diagnostic.at(expression.start_span()).within(expression.span));
        None
    }

    /// A boolean that is written out.
    pub(super) fn literal_bool(&mut self, expression: &Expression) -> Option<bool> {
        self.literal(expression, &Type::Bool)?.as_bool()
    }

    /// A string that is written out.
    pub(super) fn literal_string(&mut self, expression: &Expression) -> Option<Arc<str>> {
        self.literal(expression, &Type::String)?.as_str().map(Arc::from)
    }

    /// What an argument says that stands for itself: in the JSON syntax the expression in the
    /// string. `None` after an error.
    pub(super) fn unquoted(
        &mut self,
        expression: &Expression,
        syntax: Syntax,
    ) -> Option<Expression> {
        match (&expression.kind, syntax) {
            (_, Syntax::Native) => Some(expression.clone()),
            (ExpressionKind::JsonString(text), _) => {
                let (inner, diagnostics) = text.expression(self.sources);
                let failed = diagnostics.has_errors();
                self.diagnostics.extend(diagnostics);
                (!failed).then_some(inner)
            }
            _ => {
                self.error(
                    "Invalid reference expression",
                    "A single reference string is required.",
                    expression.span,
                );
                None
            }
        }
    }

    /// The elements of a list that is written out.
    pub(super) fn list<'e>(&mut self, expression: &'e Expression) -> &'e [Expression] {
        match &expression.without_parentheses().kind {
            ExpressionKind::Tuple(elements) => elements,
            ExpressionKind::Invalid => &[],
            _ => {
                self.error(
                    "Invalid expression",
                    "A static list expression is required.",
                    expression.start_span(),
                );
                &[]
            }
        }
    }

    /// A reference that is written out.
    pub(super) fn traversal(&mut self, expression: &Expression) -> Option<Arc<Traversal>> {
        if let ExpressionKind::Invalid = expression.kind {
            return None;
        }
        let traversal = static_traversal(expression);
        if traversal.is_none() {
            self.error("Invalid expression", STATIC_REFERENCE, expression.span);
        }
        traversal
    }

    /// As [`Decoder::traversal`], but a reference in quotes is taken with a warning.
    pub(super) fn traversal_or_quoted(
        &mut self,
        expression: &Expression,
    ) -> Option<Arc<Traversal>> {
        match self.quoted_traversal(expression, Quoted::Reference) {
            Some(traversal) => traversal,
            None => self.traversal(expression),
        }
    }

    /// The traversal in a quoted string; the outer `None` where it is not one.
    pub(super) fn quoted_traversal(
        &mut self,
        expression: &Expression,
        what: Quoted,
    ) -> Option<Option<Arc<Traversal>>> {
        let text = expression.as_string_literal()?;
        let base = expression.span.start + 1;
        let file: FileId = expression.span.file;
        let (traversal, diagnostics) = parse_traversal(self.sources, file, text.as_bytes(), base);
        self.diagnostics.extend(diagnostics);
        let (noun, plural) = match what {
            Quoted::Reference => ("reference", "references"),
            Quoted::Keyword => ("keyword", "keywords"),
        };
        self.warning(
            format!("Quoted {plural} are deprecated"),
            format!(
                "In this context, {plural} are expected literally rather than in quotes. Terraform 0.11 and earlier required quotes, but quoted {plural} are now deprecated and will be removed in a future version of Terraform. Remove the quotes surrounding this {noun} to silence this warning."
            ),
            expression.span,
        );
        Some(traversal.map(Arc::new))
    }

    /// A word that is written out, quotes tolerated with a warning.
    pub(super) fn keyword(&mut self, expression: &Expression) -> Option<Arc<str>> {
        if let Some(quoted) = self.quoted_traversal(expression, Quoted::Keyword) {
            return quoted.filter(|t| t.steps.is_empty()).map(|t| t.root.clone());
        }
        expression.as_keyword().map(Arc::from)
    }

    pub(super) fn depends_on(&mut self, expression: &Expression) -> super::DependsOn {
        let elements = self.list(expression);
        elements.iter().filter_map(|element| self.traversal_or_quoted(element)).collect()
    }
}

impl Decoder<'_> {
    /// Reports `depends_on` of an override file.
    pub(super) fn refuse_depends_on_override(&mut self, depends_on: &super::DependsOn) {
        if let Some(first) = depends_on.first() {
            self.error(
                "Unsupported override",
                "The depends_on argument may not be overridden.",
                first.span(),
            );
        }
    }
}

/// What a quoted string should have been.
#[derive(Clone, Copy)]
pub(super) enum Quoted {
    Reference,
    Keyword,
}

/// The traversal that an expression is, through relative traversals.
pub(super) fn static_traversal(expression: &Expression) -> Option<Arc<Traversal>> {
    match &expression.kind {
        ExpressionKind::ScopeTraversal(traversal) => Some(traversal.clone()),
        ExpressionKind::JsonString(string) => string.traversal(),
        ExpressionKind::RelativeTraversal(relative) => {
            let source = static_traversal(&relative.source)?;
            let mut joined = Traversal::clone(&source);
            joined.steps.extend(relative.steps.iter().cloned());
            Some(Arc::new(joined))
        }
        _ => expression.as_keyword().map(|word| {
            // `true`, `false` and `null` are names to whoever asks for a traversal.
            Arc::new(Traversal {
                root: word.into(),
                root_span: expression.span,
                steps: Vec::<TraversalStep>::new(),
            })
        }),
    }
}

/// A body that nobody else holds; what is left behind is empty.
pub(super) fn take_body(body: &mut Arc<Body>) -> Body {
    let Body { syntax, span, end_span, .. } = **body;
    let empty = Body { attributes: Vec::new(), blocks: Vec::new(), syntax, span, end_span };
    match Arc::get_mut(body) {
        Some(body) => std::mem::replace(body, empty),
        None => empty,
    }
}

/// Replaces what an override file gives anew: arguments by name, blocks by type.
pub(super) fn merge_override(base: &mut Arc<Body>, mut overriding: Body) {
    if overriding.attributes.is_empty() && overriding.blocks.is_empty() {
        return;
    }
    let mut merged = Body {
        attributes: base.attributes.clone(),
        blocks: Vec::new(),
        syntax: base.syntax,
        span: base.span,
        end_span: base.end_span,
    };
    let given = std::mem::take(&mut overriding.attributes);
    // A member of JSON may occur many times, as blocks do: all replace all.
    merged.attributes.retain(|known| !given.iter().any(|given| given.name == known.name));
    merged.attributes.extend(given);
    let replaced: Vec<Arc<str>> =
        overriding.blocks.iter().map(|block| produced_type(block).clone()).collect();
    // A member of JSON may be such a block.
    merged
        .attributes
        .retain(|known| known.syntax == Syntax::Native || !replaced.contains(&known.name));
    // A base body is held by nobody else while a module is put together.
    if let Some(base) = Arc::get_mut(base) {
        merged.blocks = std::mem::take(&mut base.blocks);
    }
    merged.blocks.retain(|block| !replaced.contains(produced_type(block)));
    merged.blocks.append(&mut std::mem::take(&mut overriding.blocks));
    *base = Arc::new(merged);
}

/// The type of block that a block is, or makes if it is a dynamic one.
fn produced_type(block: &Block) -> &Arc<str> {
    match (&*block.type_name, block.labels.first()) {
        ("dynamic", Some(label)) => &label.text,
        _ => &block.type_name,
    }
}
