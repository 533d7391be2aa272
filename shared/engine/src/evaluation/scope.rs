//! The scope of expressions in one module instance.

use super::context::{EvalContext, Operation};
use super::expansion::RepetitionData;
use super::provider_functions;
use super::working::Named;
use crate::object_codec::resource_schema;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::evaluate::follow;
use language::functions::{CallError, FunctionContext};
use language::module::{Available, ModuleNode, Repetition};
use language::reference::{PathAttribute, Reference, Subject, TerraformAttribute};
use language::scope::{ProviderFunction, ProviderFunctionName, Scope};
use language::source::{Sources, Span};
use language::syntax::ast::{IndexKey, TraversalStep};
use language::syntax::{is_identifier, suggest};
use std::sync::Arc;
use values::address::{InstanceKey, ModuleInstance, Resource, ResourceMode};
use values::schema::{Block, NestedBlock, Nesting};
use values::{Marks, Type, Value};

/// What expressions see in one module instance, and in one instance of a repeated block there.
pub(crate) struct ModuleScope<'a> {
    context: &'a EvalContext,
    node: &'a ModuleNode,
    module: &'a ModuleInstance,
    data: &'a RepetitionData,
    this: Option<Value>,
    /// The `check` block that the expression stands in.
    check: Option<Arc<str>>,
}

impl<'a> ModuleScope<'a> {
    pub(crate) fn new(
        context: &'a EvalContext,
        node: &'a ModuleNode,
        module: &'a ModuleInstance,
        data: &'a RepetitionData,
        this: Option<Value>,
    ) -> ModuleScope<'a> {
        ModuleScope { context, node, module, data, this, check: None }
    }

    /// The same for what stands in a `check` block.
    pub(crate) fn in_check(self, name: &Arc<str>) -> ModuleScope<'a> {
        ModuleScope { check: Some(name.clone()), ..self }
    }

    fn missing(reference: &Reference, summary: &str, detail: String) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(Diagnostic::error(summary, detail).at(reference.span));
        diagnostics
    }

    /// Whether the attributes that a reference to a resource names are in its schema.
    fn check_attribute(&self, reference: &Reference) -> Option<Diagnostic> {
        let resource = match &reference.subject {
            Subject::Resource(resource) => resource,
            Subject::SelfObject => return self.check_own_attribute(reference),
            _ => return None,
        };
        unsupported_attribute(self.context, self.node, resource, reference.remaining())
    }

    /// The same for `self`.
    fn check_own_attribute(&self, reference: &Reference) -> Option<Diagnostic> {
        let [TraversalStep::Attribute { name, span }, ..] = reference.remaining() else {
            return None;
        };
        let ty = self.this.as_ref()?.ty();
        unsupported(name, *span, ty.attributes()?.keys())
    }

    /// What was opened; nothing is known of it where nothing is opened.
    fn ephemeral(&self, reference: &Reference, resource: &Resource) -> Result<Value, Diagnostics> {
        let unknown = || Value::dynamic().with_marks(Marks::EPHEMERAL);
        if matches!(self.context.operation, Operation::Validate | Operation::Inspect) {
            return Ok(unknown());
        }
        let resource = resource.absolute(self.module);
        if let Some(expired) = self.context.pool.ephemerals.expired(&resource) {
            return Err(Self::missing(
                reference,
                "Ephemeral resource instance has expired",
                format!(
                    "The remote object for {expired} is no longer available due to a renewal error, so Terraform cannot evaluate this expression."
                ),
            ));
        }
        Ok(self.context.working.resource(&resource).unwrap_or_else(unknown))
    }

    /// What is known of a call before planning: which outputs it has, and whether it is repeated.
    fn unknown_module_call(&self, name: &Arc<str>, child: &ModuleNode) -> Value {
        let outputs = child.module.outputs.keys();
        let repetition = self.node.module.module_calls.get(name).map(|call| &call.repetition);
        let instance = || Type::object(outputs.clone().map(|o| (o.clone(), Type::Dynamic)));
        match repetition {
            Some(Repetition::Count(_)) => Value::unknown(Type::list(instance())),
            Some(Repetition::ForEach(_)) => Value::unknown(Type::map(instance())),
            _ => Value::object(outputs.map(|output| (output.clone(), Value::dynamic()))),
        }
    }

    /// The object of outputs of each instance of a call, put together.
    fn module_call(&self, name: &Arc<str>) -> Value {
        if let Some(value) = self.context.working.call_value(self.module, name) {
            return value;
        }
        let Some(child) = self.node.children.get(name) else { return Value::dynamic() };
        if self.context.operation == Operation::Validate {
            return self.unknown_module_call(name, child);
        }
        let Some(expansion) = self.context.working.call(self.module, name) else {
            return Value::dynamic();
        };
        let mut whole = true;
        let value = expansion.collect(|key: &InstanceKey| {
            let module = self.module.child(name.clone(), key.clone());
            Value::object(child.module.outputs.keys().map(|output| {
                let value = self.context.working.named(&module, Named::Output(output.clone()));
                whole &= value.is_some();
                (output.clone(), value.unwrap_or_else(Value::dynamic))
            }))
        });
        // Outputs that nobody waited for may still be missing: then the next reader asks again.
        if whole {
            self.context.working.set_call_value(self.module, name, value.clone());
        }
        value
    }
}

/// That resources of a type have no such attribute as the steps name after a reference to one, where they have none.
pub(crate) fn unsupported_attribute(
    context: &EvalContext,
    node: &ModuleNode,
    resource: &Resource,
    steps: &[TraversalStep],
) -> Option<Diagnostic> {
    let config = resource.in_module(&node.path);
    let provider = context.configuration.provider_for(&config)?;
    let schemas = context.pool.schema(&provider.provider)?;
    let schema = resource_schema(&schemas, resource.mode, &resource.ty)?;
    let steps = match steps {
        [TraversalStep::Index { .. }, rest @ ..] => rest,
        steps => steps,
    };
    unsupported_in_block(&schema.block, steps)
}

/// That a block has no such attribute as the steps name, where it has none; or that what it has cannot be gone into so.
fn unsupported_in_block(block: &Block, steps: &[TraversalStep]) -> Option<Diagnostic> {
    let (name, span, rest) = match steps {
        [] => return None,
        [TraversalStep::Attribute { name, span }, rest @ ..] => (name, *span, rest),
        [TraversalStep::Index { key, span }, ..] => {
            let detail = match key {
                IndexKey::String(name) if is_identifier(name) => format!(
                    "Only attribute access is allowed here. Did you mean to access attribute {name:?} using the dot operator?"
                ),
                IndexKey::Invalid => return None,
                _ => "Only attribute access is allowed here, using the dot operator.".to_owned(),
            };
            return Some(Diagnostic::error("Invalid index operation", detail).at(*span));
        }
        [TraversalStep::Splat { .. }, ..] => return None,
    };
    if let Some(attribute) = block.attributes.get(name) {
        return follow(&Value::unknown(attribute.implied_type()), rest).err().map(|e| *e);
    }
    if let Some(nested) = block.blocks.get(name) {
        return unsupported_in_blocks(name, nested, rest);
    }
    unsupported(name, span, block.attributes.keys().chain(block.blocks.keys()))
}

/// The same for what stands after the type of nested blocks.
fn unsupported_in_blocks(
    name: &Arc<str>,
    nested: &NestedBlock,
    steps: &[TraversalStep],
) -> Option<Diagnostic> {
    let (Nesting::List | Nesting::Set | Nesting::Map) = nested.nesting else {
        return unsupported_in_block(&nested.block, steps);
    };
    let (first, rest) = steps.split_first()?;
    let (summary, detail) = match (nested.nesting, first) {
        (Nesting::Set, _) => (
            "Cannot index a set value",
            format!(
                "Block type {name:?} is represented by a set of objects, and set elements do not have addressable keys. To find elements matching specific criteria, use a \"for\" expression with an \"if\" clause."
            ),
        ),
        (Nesting::List, TraversalStep::Attribute { .. }) => (
            "Invalid operation",
            format!(
                "Block type {name:?} is represented by a list of objects, so it must be indexed using a numeric key, like .{name}[0]."
            ),
        ),
        _ => return unsupported_in_block(&nested.block, rest),
    };
    Some(Diagnostic::error(summary, detail).at(first.span()))
}

/// That an object has no such attribute, where it has none.
pub(crate) fn unsupported<'k>(
    name: &Arc<str>,
    at: Span,
    known: impl Iterator<Item = &'k Arc<str>> + Clone,
) -> Option<Diagnostic> {
    if known.clone().any(|known| known == name) {
        return None;
    }
    let hint = suggest(name, known.map(|known| &**known))
        .map_or_else(String::new, |near| format!(" Did you mean {near:?}?"));
    let detail = format!(
        "This object has no argument, nested block, or exported attribute named {:?}.{hint}",
        &**name
    );
    Some(Diagnostic::error("Unsupported attribute", detail).at(at))
}

/// A module's directory as `path` gives it: relative to the root, with forward slashes.
fn directory_text(module: &language::module::Module) -> String {
    let text = module.directory.to_string_lossy().replace('\\', "/");
    if text.is_empty() { ".".into() } else { text }
}

impl Scope for ModuleScope<'_> {
    /// Every plan validates first, so that later walks need not ask again.
    fn check(&self, reference: &Reference) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        if !matches!(self.context.operation, Operation::Validate | Operation::Inspect) {
            return diagnostics;
        }
        let available = Available {
            count: self.data.count_index.is_some(),
            each: self.data.each_key.is_some(),
            self_object: self.this.is_some(),
        };
        let check = self.check.as_deref();
        diagnostics.extend(self.node.check_reference(reference, available));
        diagnostics.extend(self.node.check_visibility(reference, check));
        diagnostics.extend(self.check_attribute(reference));
        diagnostics
    }

    fn value(&self, reference: &Reference) -> Result<Value, Diagnostics> {
        let working = &self.context.working;
        let named = |name: Named| working.named(self.module, name).unwrap_or_else(Value::dynamic);
        Ok(match &reference.subject {
            Subject::Variable(name) => named(Named::Variable(name.clone())),
            Subject::Local(name) => named(Named::Local(name.clone())),
            Subject::Resource(resource) if resource.mode == ResourceMode::Ephemeral => {
                self.ephemeral(reference, resource)?
            }
            Subject::Resource(resource) => working
                .resource(&resource.absolute(self.module))
                .unwrap_or_else(Value::dynamic),
            Subject::ModuleCall(name) => self.module_call(name),
            Subject::Path(attribute) => Value::string(match attribute {
                PathAttribute::Module => directory_text(&self.node.module),
                PathAttribute::Root => directory_text(&self.context.configuration.root.module),
                PathAttribute::Cwd => {
                    self.context.environment.working_directory.to_string_lossy().into_owned()
                }
            }),
            Subject::Terraform(TerraformAttribute::Workspace) => {
                Value::shared_string(self.context.environment.workspace.clone())
            }
            Subject::Terraform(TerraformAttribute::Applying) => {
                Value::bool(self.context.operation == Operation::Apply)
                    .with_marks(Marks::EPHEMERAL)
            }
            // Names of tests, whose scope answers for them.
            Subject::Output(_) | Subject::Run(_) => Value::dynamic(),
            Subject::CountIndex => self.data.count_index.clone().ok_or_else(|| {
                Self::missing(
                    reference,
                    "Reference to \"count\" in non-counted context",
                    "The \"count\" object can only be used in \"module\", \"resource\", and \"data\" blocks, and only when the \"count\" argument is set.".into(),
                )
            })?,
            Subject::EachKey | Subject::EachValue => {
                let key = matches!(reference.subject, Subject::EachKey);
                let found = if key { &self.data.each_key } else { &self.data.each_value };
                found.clone().ok_or_else(|| {
                    Self::missing(
                        reference,
                        "Reference to \"each\" in context without for_each",
                        "The \"each\" object can be used only in \"module\" or \"resource\" blocks, and only when the \"for_each\" argument is set.".into(),
                    )
                })?
            }
            Subject::SelfObject => self.this.clone().ok_or_else(|| {
                Self::missing(
                    reference,
                    "Invalid \"self\" reference",
                    "The \"self\" object is not available in this context. This object can be used only in resource provisioner, connection, and postcondition blocks.".into(),
                )
            })?,
        })
    }

    fn provider_function(
        &self,
        name: &ProviderFunctionName<'_>,
    ) -> Result<ProviderFunction, Box<Diagnostic>> {
        provider_functions::describe(self.context, self.node, name)
    }

    fn call_provider_function(
        &self,
        name: &ProviderFunctionName<'_>,
        arguments: Vec<Value>,
    ) -> Result<Value, CallError> {
        provider_functions::call(self.context, self.node, name, arguments)
    }

    fn function_context(&self) -> FunctionContext<'_> {
        let environment = &self.context.environment;
        FunctionContext {
            files: &*environment.files,
            base_directory: std::path::Path::new("."),
            working_directory: &environment.working_directory,
            home_directory: environment.home_directory.as_deref(),
            pure_only: !matches!(self.context.operation, Operation::Apply | Operation::Inspect),
            now: environment.clock.now(),
            plan_timestamp: self.context.plan_timestamp,
            random: &*environment.random,
        }
    }

    fn sources(&self) -> &Sources {
        &self.context.configuration.sources
    }
}
