//! Whether references name what is declared, and what is available where they stand.

use std::sync::Arc;

use values::address::{Resource, ResourceMode};

use super::tree::{Configuration, ModuleNode};
use super::{CheckRule, Module, ModuleCall, Repetition, ResourceBlock};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::reference::{Reference, Subject, references_in};
use crate::source::Span;
use crate::syntax::ast::{Expression, Syntax, Traversal, TraversalStep};
use crate::syntax::json::extraneous_property;
use crate::syntax::suggest;

/// What is available to an expression beside what its module declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Available {
    /// `count.index`
    pub count: bool,
    /// `each.key` and `each.value`
    pub each: bool,
    /// `self`
    pub self_object: bool,
}

impl Available {
    /// Nothing more.
    pub const NOTHING: Available = Available { count: false, each: false, self_object: false };

    /// What the body of a block with this repetition may use.
    pub fn within(repetition: &Repetition) -> Available {
        Available {
            count: repetition.count().is_some(),
            each: repetition.for_each().is_some(),
            self_object: false,
        }
    }

    /// With `self` in addition.
    #[must_use]
    pub fn and_self(self) -> Available {
        Available { self_object: true, ..self }
    }
}

/// Checks the references of all expressions outside the bodies that a provider's schema describes:
/// locals, outputs, validations, `count` and `for_each`, `depends_on`, conditions, and the
/// arguments of module calls. Whoever knows the schema checks the others with
/// [`ModuleNode::check_reference`].
pub fn validate_references(configuration: &Configuration) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for node in configuration.modules() {
        Validation { node, check: None, diagnostics: &mut diagnostics }.module();
    }
    diagnostics
}

/// Checks that every module call gives the arguments that the module's variables ask for.
pub fn validate_module_arguments(configuration: &Configuration) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for node in configuration.modules() {
        for (name, child) in &node.children {
            if let Some(call) = node.module.module_calls.get(name) {
                check_arguments(call, &child.module, &mut diagnostics);
            }
        }
    }
    diagnostics
}

fn check_arguments(call: &ModuleCall, child: &Module, diagnostics: &mut Diagnostics) {
    let body = &call.config;
    for variable in child.variables.values() {
        if variable.is_required() && body.attribute(&variable.name).is_none() {
            let detail = format!(
                "The argument \"{}\" is required, but no definition was found.",
                variable.name
            );
            let missing = Diagnostic::error("Missing required argument", detail);
            diagnostics.push(missing.at(body.missing_item_span()));
        }
    }
    for attribute in &body.attributes {
        let name = &attribute.name;
        if child.variables.contains_key(name) {
            continue;
        }
        let free = child.variables.keys().map(|name| &**name);
        if attribute.syntax == Syntax::Json {
            let free = free.filter(|name| body.attribute(name).is_none());
            diagnostics.push(extraneous_property(attribute, free));
            continue;
        }
        let hint = suggest(name, free.filter(|name| body.attribute(name).is_none()))
            .map_or_else(String::new, |near| format!(" Did you mean \"{near}\"?"));
        diagnostics.push(
            Diagnostic::error(
                "Unsupported argument",
                format!("An argument named \"{name}\" is not expected here.{hint}"),
            )
            .at(attribute.name_span),
        );
    }
    for block in &body.blocks {
        let name = &block.type_name;
        let hint = match child.variables.contains_key(name) {
            true => format!(
                " Did you mean to define argument \"{name}\"? If so, use the equals sign to assign it a value."
            ),
            false => String::new(),
        };
        diagnostics.push(
            Diagnostic::error(
                "Unsupported block type",
                format!("Blocks of type \"{name}\" are not expected here.{hint}"),
            )
            .at(block.type_span),
        );
    }
}

impl ModuleNode {
    /// Why a reference names nothing here, or nothing that is available; `None` where all is well.
    /// Attributes of resources and outputs of modules are left to evaluation.
    pub fn check_reference(
        &self,
        reference: &Reference,
        available: Available,
    ) -> Option<Diagnostic> {
        let (summary, detail) = match &reference.subject {
            Subject::Variable(name) => self.check_variable(name)?,
            Subject::Local(name) => self.check_local(name)?,
            Subject::Resource(resource) => self.check_resource(resource, reference)?,
            Subject::ModuleCall(name) => self.check_module_call(name)?,
            // Of the last two only tests know, which check them themselves.
            Subject::Path(_) | Subject::Terraform(_) | Subject::Output(_) | Subject::Run(_) => {
                return None;
            }
            Subject::CountIndex if available.count => return None,
            Subject::EachKey | Subject::EachValue if available.each => return None,
            Subject::SelfObject if available.self_object => return None,
            Subject::CountIndex => (
                "Reference to \"count\" in non-counted context",
                "The \"count\" object can only be used in \"module\", \"resource\", and \"data\" blocks, and only when the \"count\" argument is set.".to_owned(),
            ),
            Subject::EachKey => (
                "Reference to \"each\" in context without for_each",
                "The \"each\" object can be used only in \"module\" or \"resource\" blocks, and only when the \"for_each\" argument is set.".to_owned(),
            ),
            Subject::EachValue => (
                "each.value cannot be used in this context",
                "A reference to \"each.value\" has been used in a context in which it is unavailable, such as when the configuration no longer contains the value in its \"for_each\" expression. Remove this reference to each.value in your configuration to work around this error.".to_owned(),
            ),
            Subject::SelfObject => (
                "Invalid \"self\" reference",
                "The \"self\" object is not available in this context. This object can be used only in resource provisioner, connection, and postcondition blocks.".to_owned(),
            ),
        };
        Some(Diagnostic::error(summary, detail).at(reference.span))
    }

    /// Why a reference from a `check` block, or from elsewhere, must not reach what it names: the data source
    /// inside a check is for that check alone.
    pub fn check_visibility(
        &self,
        reference: &Reference,
        check: Option<&str>,
    ) -> Option<Diagnostic> {
        let Subject::Resource(resource) = &reference.subject else { return None };
        let container = self.module.resources.get(resource)?.check.as_deref()?;
        if check == Some(container) {
            return None;
        }
        let detail = format!(
            "The referenced data resource \"{}\" \"{}\" is not available from this context.",
            resource.ty, resource.name
        );
        Some(Diagnostic::error("Reference to scoped resource", detail).at(reference.span))
    }

    fn check_variable(&self, name: &Arc<str>) -> Option<(&'static str, String)> {
        if self.module.variables.contains_key(name) {
            return None;
        }
        let hint = match suggest(name, self.module.variables.keys().map(|name| &**name)) {
            Some(near) => format!("Did you mean \"{near}\"?"),
            None => format!("This variable can be declared with a variable \"{name}\" {{}} block."),
        };
        Some((
            "Reference to undeclared input variable",
            format!("An input variable with the name \"{name}\" has not been declared. {hint}"),
        ))
    }

    fn check_local(&self, name: &Arc<str>) -> Option<(&'static str, String)> {
        if self.module.locals.contains_key(name) {
            return None;
        }
        let hint = suggest(name, self.module.locals.keys().map(|name| &**name))
            .map_or_else(String::new, |near| format!(" Did you mean \"{near}\"?"));
        Some((
            "Reference to undeclared local value",
            format!("A local value with the name \"{name}\" has not been declared.{hint}"),
        ))
    }

    fn check_module_call(&self, name: &Arc<str>) -> Option<(&'static str, String)> {
        if self.module.module_calls.contains_key(name) {
            return None;
        }
        let hint = suggest(name, self.module.module_calls.keys().map(|name| &**name))
            .map_or_else(String::new, |near| format!(" Did you mean \"{near}\"?"));
        Some((
            "Reference to undeclared module",
            format!("No module call named \"{name}\" is declared in {}.{hint}", self.shown()),
        ))
    }

    fn check_resource(
        &self,
        resource: &Resource,
        reference: &Reference,
    ) -> Option<(&'static str, String)> {
        let Some(block) = self.module.resources.get(resource) else {
            let kind = match resource.mode {
                ResourceMode::Managed => "A managed",
                ResourceMode::Data => "A data",
                ResourceMode::Ephemeral => "An ephemeral",
            };
            let data = Resource::data(resource.ty.clone(), resource.name.clone());
            let hint = match resource.mode {
                ResourceMode::Managed if self.module.resources.contains_key(&data) => {
                    format!("\n\nDid you mean the data resource {data}?")
                }
                _ => String::new(),
            };
            return Some((
                "Reference to undeclared resource",
                format!(
                    "{kind} resource \"{}\" \"{}\" has not been declared in {}.{hint}",
                    resource.ty,
                    resource.name,
                    self.shown()
                ),
            ));
        };
        match (reference.remaining().first(), &block.repetition) {
            (Some(TraversalStep::Index { .. }), Repetition::Single) => Some((
                "Unexpected resource instance key",
                format!(
                    "Because {resource} does not have \"count\" or \"for_each\" set, references to it must not include an index key. Remove the bracketed index to refer to the single instance of this resource."
                ),
            )),
            (Some(TraversalStep::Attribute { .. }), Repetition::Count(_)) => {
                Some(missing_key(resource, "count", "count.index"))
            }
            (Some(TraversalStep::Attribute { .. }), Repetition::ForEach(_)) => {
                Some(missing_key(resource, "for_each", "each.key"))
            }
            _ => None,
        }
    }

    fn shown(&self) -> String {
        match self.path.is_root() {
            true => "the root module".to_owned(),
            false => self.path.to_string(),
        }
    }
}

fn missing_key(resource: &Resource, argument: &str, example: &str) -> (&'static str, String) {
    (
        "Missing resource instance key",
        format!(
            "Because {resource} has \"{argument}\" set, its attributes must be accessed on specific instances.\n\nFor example, to correlate with indices of a referring resource, use:\n    {resource}[{example}]"
        ),
    )
}

struct Validation<'c, 'd> {
    node: &'c ModuleNode,
    /// The `check` block that is looked at.
    check: Option<&'c str>,
    diagnostics: &'d mut Diagnostics,
}

impl<'c> Validation<'c, '_> {
    fn module(&mut self) {
        let node: &'c ModuleNode = self.node;
        let module = &node.module;
        for variable in module.variables.values() {
            self.rules(&variable.validations, Available::NOTHING);
        }
        for local in module.locals.values() {
            self.expression(&local.expression, Available::NOTHING);
        }
        for resource in module.resources.values() {
            self.resource(resource);
        }
        for call in module.module_calls.values() {
            self.repetition(&call.repetition);
            self.depends_on(&call.depends_on);
            // Whether there is a count or for_each is asked only when instances are known.
            let available = Available { count: true, each: true, self_object: false };
            for attribute in &call.config.attributes {
                self.expression(&attribute.expression, available);
            }
        }
        for output in module.outputs.values() {
            self.expression(&output.expression, Available::NOTHING);
            self.depends_on(&output.depends_on);
            self.rules(&output.preconditions, Available::NOTHING);
        }
        for check in module.checks.values() {
            self.check = Some(&check.name);
            self.rules(&check.asserts, Available::NOTHING);
        }
        self.check = None;
    }

    fn resource(&mut self, resource: &ResourceBlock) {
        self.repetition(&resource.repetition);
        self.depends_on(&resource.depends_on);
        let available = Available::within(&resource.repetition);
        for trigger in &resource.lifecycle.replace_triggered_by {
            self.expression(trigger, available);
        }
        self.rules(&resource.lifecycle.preconditions, available);
        self.rules(&resource.lifecycle.postconditions, available.and_self());
    }

    fn repetition(&mut self, repetition: &Repetition) {
        match repetition {
            Repetition::Single => {}
            Repetition::Count(expression) | Repetition::ForEach(expression) => {
                self.expression(expression, Available::NOTHING);
            }
        }
    }

    fn rules(&mut self, rules: &[CheckRule], available: Available) {
        for rule in rules {
            self.expression(&rule.condition, available);
            self.expression(&rule.error_message, available);
        }
    }

    fn expression(&mut self, expression: &Expression, available: Available) {
        for reference in references_in(expression) {
            match reference {
                Ok(reference) => {
                    self.diagnostics.extend(self.node.check_reference(&reference, available));
                    self.diagnostics.extend(self.node.check_visibility(&reference, self.check));
                }
                Err(diagnostic) => self.diagnostics.push(*diagnostic),
            }
        }
    }

    /// After a first error only the form of the others is looked at.
    fn depends_on(&mut self, traversals: &[Arc<Traversal>]) {
        let before = self.diagnostics.len();
        for traversal in traversals {
            let reference = match Reference::parse(traversal) {
                Ok(reference) => reference,
                Err(diagnostic) => {
                    self.diagnostics.push(*diagnostic);
                    continue;
                }
            };
            if let Some(at) = steps_beyond_object(&reference) {
                self.diagnostics.push(
                    Diagnostic::error(
                        "Invalid depends_on reference",
                        "References in depends_on must be to a whole object (resource, etc), not to an attribute of an object.",
                    )
                    .at(at),
                );
            }
            if self.diagnostics.len() == before {
                let problem = self.node.check_reference(&reference, Available::NOTHING);
                self.diagnostics.extend(problem);
                self.diagnostics.extend(self.node.check_visibility(&reference, self.check));
            }
        }
    }
}

/// Where a reference goes on after the object that it names and its instance key. An output of a module is an object,
/// too, also one that is not declared.
fn steps_beyond_object(reference: &Reference) -> Option<Span> {
    let is_call = matches!(reference.subject, Subject::ModuleCall(_));
    let takes_key = is_call || matches!(reference.subject, Subject::Resource(_));
    let beyond = match reference.remaining() {
        [TraversalStep::Index { .. }, beyond @ ..] if takes_key => beyond,
        steps => steps,
    };
    let beyond = match beyond {
        [TraversalStep::Attribute { .. }, beyond @ ..] if is_call => beyond,
        steps => steps,
    };
    let (first, last) = (beyond.first()?, beyond.last()?);
    Some(first.span().to(last.span()))
}
