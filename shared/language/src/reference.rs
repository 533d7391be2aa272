//! References: what a traversal in an expression names.

mod walk;

use std::fmt;
use std::sync::Arc;

use values::address::{Resource, ResourceMode};

use crate::diagnostics::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{IndexKey, Traversal, TraversalStep};
use crate::syntax::suggest;

pub(crate) use walk::{Bound, Visit, visit_traversals};
pub use walk::{references_in, traversals_in};

/// A reference in an expression: the object that it names, and the static steps from there.
///
/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The object.
    pub subject: Subject,
    /// Where the part that names the subject stands, with an instance key if there is one.
    pub span: Span,
    traversal: Arc<Traversal>,
    consumed: usize,
}

/// The objects that a reference can name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// `var.name`
    Variable(Arc<str>),
    /// `local.name`
    Local(Arc<str>),
    /// `type.name`, `data.type.name`, `ephemeral.type.name`: all instances.
    Resource(Resource),
    /// `module.name`: all instances.
    ModuleCall(Arc<str>),
    /// `path.…`
    Path(PathAttribute),
    /// `terraform.…`
    Terraform(TerraformAttribute),
    /// `count.index`
    CountIndex,
    /// `each.key`
    EachKey,
    /// `each.value`
    EachValue,
    /// `self`
    SelfObject,
    /// `output.name`, in a test: an output of the module under test.
    Output(Arc<str>),
    /// `run.name`, in a test: the outputs of an earlier run.
    Run(Arc<str>),
}

/// The attributes of `path`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathAttribute {
    /// The directory of the module.
    Module,
    /// The directory of the root module.
    Root,
    /// The working directory.
    Cwd,
}

/// The attributes of `terraform`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TerraformAttribute {
    /// The name of the workspace.
    Workspace,
    /// Whether this is an apply; ephemeral.
    Applying,
}

impl Reference {
    /// What a traversal names.
    ///
    /// # Errors
    /// Where it names nothing that the language has, in Terraform's words.
    pub fn parse(traversal: &Arc<Traversal>) -> Result<Reference, Box<Diagnostic>> {
        let parser = Parser { traversal };
        match &*traversal.root {
            "var" => parser.single(|name, _| Ok(Subject::Variable(name.clone()))),
            "local" => parser.single(|name, _| Ok(Subject::Local(name.clone()))),
            "count" => parser.single(|name, span| match &**name {
                "index" => Ok(Subject::CountIndex),
                _ => Err(Box::new(
                    Diagnostic::error(
                        "Invalid \"count\" attribute",
                        format!(
                            "The \"count\" object does not have an attribute named {name:?}. The only supported attribute is count.index, which is the index of each instance of a resource block that has the \"count\" argument set."
                        ),
                    )
                    .at(span),
                )),
            }),
            "each" => parser.single(|name, span| match &**name {
                "key" => Ok(Subject::EachKey),
                "value" => Ok(Subject::EachValue),
                _ => Err(Box::new(
                    Diagnostic::error(
                        "Invalid \"each\" attribute",
                        format!(
                            "The \"each\" object does not have an attribute named {name:?}. The supported attributes are each.key and each.value, the current key and value pair of the \"for_each\" attribute set."
                        ),
                    )
                    .at(span),
                )),
            }),
            "path" => parser.single(|name, span| match &**name {
                "module" => Ok(Subject::Path(PathAttribute::Module)),
                "root" => Ok(Subject::Path(PathAttribute::Root)),
                "cwd" => Ok(Subject::Path(PathAttribute::Cwd)),
                _ => {
                    let hint = did_you_mean(name, ["cwd", "module", "root"]);
                    Err(Box::new(
                        Diagnostic::error(
                            "Invalid \"path\" attribute",
                            format!(
                                "The \"path\" object does not have an attribute named {name:?}.{hint}"
                            ),
                        )
                        .at(span),
                    ))
                }
            }),
            "terraform" => parser.single(|name, span| match &**name {
                "workspace" => Ok(Subject::Terraform(TerraformAttribute::Workspace)),
                "applying" => Ok(Subject::Terraform(TerraformAttribute::Applying)),
                "env" => Err(Box::new(
                    Diagnostic::error(
                        "Invalid \"terraform\" attribute",
                        "The terraform.env attribute was deprecated in v0.10 and removed in v0.12. The \"state environment\" concept was renamed to \"workspace\" in v0.12, and so the workspace name can now be accessed using the terraform.workspace attribute.",
                    )
                    .at(span),
                )),
                _ => Err(Box::new(
                    Diagnostic::error(
                        "Invalid \"terraform\" attribute",
                        format!(
                            "The \"terraform\" object does not have an attribute named {name:?}. The only supported attributes are terraform.workspace, the name of the currently-selected workspace, and terraform.applying, a boolean which is true only during apply."
                        ),
                    )
                    .at(span),
                )),
            }),
            "module" => parser.module(),
            "self" => Ok(parser.done(Subject::SelfObject, traversal.root_span, 0)),
            "data" => parser.prefixed(
                ResourceMode::Data,
                "The \"data\" object must be followed by two attribute names: the data source type and the resource name.",
            ),
            "ephemeral" => parser.prefixed(
                ResourceMode::Ephemeral,
                "The \"ephemeral\" object must be followed by two attribute names: the ephemeral resource type and the resource name.",
            ),
            "resource" => parser.prefixed(
                ResourceMode::Managed,
                "The \"resource\" object must be followed by two attribute names: the resource type and the resource name.",
            ),
            root @ ("template" | "lazy" | "arg") => Err(Box::new(
                Diagnostic::error(
                    "Reserved symbol name",
                    format!(
                        "The symbol name {root:?} is reserved for use in a future Terraform version. If you are using a provider that already uses this as a resource type name, add the prefix \"resource.\" to force interpretation as a resource type name."
                    ),
                )
                .at(traversal.root_span),
            )),
            _ => parser.resource(ResourceMode::Managed, traversal.root.clone(), 0),
        }
    }

    /// What a traversal names in a test, where there are also `output` and `run`.
    ///
    /// # Errors
    /// As [`Reference::parse`].
    pub fn parse_in_test(traversal: &Arc<Traversal>) -> Result<Reference, Box<Diagnostic>> {
        let parser = Parser { traversal };
        match &*traversal.root {
            "output" => parser.single(|name, _| Ok(Subject::Output(name.clone()))),
            "run" => parser.single(|name, _| Ok(Subject::Run(name.clone()))),
            _ => Reference::parse(traversal),
        }
    }

    /// The static steps after the subject. For a resource or module call they begin with the
    /// instance key, where there is one.
    pub fn remaining(&self) -> &[TraversalStep] {
        self.traversal.steps.get(self.consumed..).unwrap_or_default()
    }

    /// The whole traversal.
    pub fn traversal(&self) -> &Arc<Traversal> {
        &self.traversal
    }
}

struct Parser<'t> {
    traversal: &'t Arc<Traversal>,
}

type Parsed = Result<Reference, Box<Diagnostic>>;

fn invalid(detail: impl Into<String>, span: Span) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("Invalid reference", detail).at(span))
}

impl Parser<'_> {
    fn done(&self, subject: Subject, span: Span, consumed: usize) -> Reference {
        Reference { subject, span, traversal: self.traversal.clone(), consumed }
    }

    fn single(
        &self,
        subject: impl FnOnce(&Arc<str>, Span) -> Result<Subject, Box<Diagnostic>>,
    ) -> Parsed {
        let root = &self.traversal.root;
        match self.traversal.steps.first() {
            None => Err(invalid(
                format!(
                    "The {root:?} object cannot be accessed directly. Instead, access one of its attributes."
                ),
                self.traversal.root_span,
            )),
            Some(TraversalStep::Attribute { name, span }) => {
                let span = self.traversal.root_span.to(*span);
                Ok(self.done(subject(name, span)?, span, 1))
            }
            Some(other) => Err(invalid(
                format!("The {root:?} object does not support this operation."),
                other.span(),
            )),
        }
    }

    fn module(&self) -> Parsed {
        let mut reference = self.single(|name, _| Ok(Subject::ModuleCall(name.clone())))?;
        let mut rest = reference.remaining();
        if let Some(TraversalStep::Index { key, span }) = rest.first() {
            check_instance_key(key, "module", *span)?;
            reference.span = reference.span.to(*span);
            rest = &self.traversal.steps[2..];
        }
        match rest.first() {
            None => {}
            Some(TraversalStep::Attribute { span, .. }) => {
                reference.span = reference.span.to(*span);
            }
            Some(other) => {
                return Err(invalid(
                    "Module instance objects do not support this operation.",
                    other.span(),
                ));
            }
        }
        Ok(reference)
    }

    fn prefixed(&self, mode: ResourceMode, missing: &str) -> Parsed {
        let steps = &self.traversal.steps;
        match steps.first() {
            Some(TraversalStep::Attribute { name, .. }) if steps.len() >= 2 => {
                self.resource(mode, name.clone(), 1)
            }
            Some(other) if steps.len() >= 2 => {
                Err(invalid("The \"data\" object does not support this operation.", other.span()))
            }
            _ => Err(invalid(missing, self.traversal.span())),
        }
    }

    /// `at` is the step that names the resource, after its type.
    fn resource(&self, mode: ResourceMode, ty: Arc<str>, at: usize) -> Parsed {
        let what = match mode {
            ResourceMode::Managed => "a resource type",
            ResourceMode::Data => "a data source",
            ResourceMode::Ephemeral => "an ephemeral resource type",
        };
        let refused = |span| {
            invalid(
                format!(
                    "A reference to {what} must be followed by at least one attribute access, specifying the resource name."
                ),
                span,
            )
        };
        let (name, mut span) = match self.traversal.steps.get(at) {
            None => return Err(refused(self.traversal.span())),
            Some(TraversalStep::Attribute { name, span }) => (name, *span),
            Some(other) => return Err(refused(other.span())),
        };
        if let Some(TraversalStep::Index { key, span: key_span }) = self.traversal.steps.get(at + 1)
        {
            check_instance_key(key, "resource", *key_span)?;
            span = *key_span;
        }
        let subject = Subject::Resource(Resource { mode, ty, name: name.clone() });
        Ok(self.done(subject, self.traversal.root_span.to(span), at + 1))
    }
}

fn check_instance_key(key: &IndexKey, of: &str, span: Span) -> Result<(), Box<Diagnostic>> {
    let reason = match key {
        IndexKey::String(_) | IndexKey::Invalid => return Ok(()),
        IndexKey::Number(digits) => match values::Number::parse(digits) {
            Some(number) if number.is_integer() => return Ok(()),
            _ => {
                "value must be a whole number, between -9223372036854775808 and 9223372036854775807"
            }
        },
        IndexKey::Bool(_) | IndexKey::Null => "either a string or an integer is required",
    };
    Err(Box::new(
        Diagnostic::error(
            "Invalid index key",
            format!("Invalid index for {of} instance: {reason}."),
        )
        .at(span),
    ))
}

impl PathAttribute {
    /// As it is written after `path.`.
    pub fn as_str(self) -> &'static str {
        match self {
            PathAttribute::Module => "module",
            PathAttribute::Root => "root",
            PathAttribute::Cwd => "cwd",
        }
    }
}

impl TerraformAttribute {
    /// As it is written after `terraform.`.
    pub fn as_str(self) -> &'static str {
        match self {
            TerraformAttribute::Workspace => "workspace",
            TerraformAttribute::Applying => "applying",
        }
    }
}

/// As it is written in configuration.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Variable(name) => write!(f, "var.{name}"),
            Subject::Local(name) => write!(f, "local.{name}"),
            Subject::Resource(resource) => write!(f, "{resource}"),
            Subject::ModuleCall(name) => write!(f, "module.{name}"),
            Subject::Path(attribute) => write!(f, "path.{}", attribute.as_str()),
            Subject::Terraform(attribute) => write!(f, "terraform.{}", attribute.as_str()),
            Subject::CountIndex => f.write_str("count.index"),
            Subject::EachKey => f.write_str("each.key"),
            Subject::EachValue => f.write_str("each.value"),
            Subject::SelfObject => f.write_str("self"),
            Subject::Output(name) => write!(f, "output.{name}"),
            Subject::Run(name) => write!(f, "run.{name}"),
        }
    }
}

/// As it is written in configuration.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.subject)?;
        self.remaining().iter().try_for_each(|step| write!(f, "{step}"))
    }
}

/// ` Did you mean "…"?`, or nothing.
pub(crate) fn did_you_mean<'c>(
    given: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> String {
    suggest(given, candidates).map_or_else(String::new, |near| format!(" Did you mean {near:?}?"))
}
