//! Which attributes of resources a plan's changes rest on, so that drift elsewhere need not be shown.
//!
//! References are followed through locals, variables, outputs and the arguments of resources, as
//! they are written: whether evaluation would look at them is not asked.

use crate::plan_view::RelevantAttribute;
use engine::changes::Action;
use engine::plan::Plan;
use language::decode::{interpreted, references_in_body};
use language::diagnostics::Diagnostic;
use language::module::{Configuration, Module, Repetition};
use language::reference::{Reference, Subject, references_in};
use language::syntax::ast::{Body, Expression, IndexKey, TraversalStep};
use std::collections::{BTreeMap, BTreeSet};
use values::address::{InstanceKey, ModuleInstance, Resource};
use values::{Number, Path, PathStep, Value};

/// The attributes of resources that the changed instances and outputs of a plan refer to, directly
/// or through others, in the order of their addresses.
pub fn relevant_attributes(configuration: &Configuration, plan: &Plan) -> Vec<RelevantAttribute> {
    let mut walk = Walk {
        configuration,
        plan,
        seen: BTreeSet::new(),
        waiting: Vec::new(),
        found: BTreeMap::new(),
    };
    let changed = plan.changes.resources.iter().filter(|change| change.action != Action::NoOp);
    // Instances of one resource have their references in common.
    let changed: BTreeSet<_> =
        changed.map(|c| (c.address.module.clone(), c.address.resource.clone())).collect();
    for (module, resource) in &changed {
        walk.resource(module, resource, &[]);
    }
    let root = ModuleInstance::root();
    let outputs = plan.changes.outputs.iter().filter(|(_, change)| change.action != Action::NoOp);
    for (name, _) in outputs {
        if let Some(output) = configuration.root.module.outputs.get(name) {
            walk.expression(&root, None, &output.expression);
        }
    }
    while let Some(pending) = walk.waiting.pop() {
        walk.follow(&pending);
    }
    walk.found.into_values().collect()
}

/// A reference and where it stands.
struct Pending {
    module: ModuleInstance,
    /// The resource around it, whose repetition `count` and `each` are about.
    within: Option<Resource>,
    reference: Reference,
}

struct Walk<'a> {
    configuration: &'a Configuration,
    plan: &'a Plan,
    seen: BTreeSet<(ModuleInstance, Option<Resource>, String)>,
    waiting: Vec<Pending>,
    found: BTreeMap<(String, String), RelevantAttribute>,
}

impl<'a> Walk<'a> {
    fn module(&self, module: &ModuleInstance) -> Option<&'a Module> {
        Some(&self.configuration.get(&module.path())?.module)
    }

    fn expression(
        &mut self,
        module: &ModuleInstance,
        within: Option<&Resource>,
        expression: &Expression,
    ) {
        self.references(module, within, references_in(expression));
    }

    fn references(
        &mut self,
        module: &ModuleInstance,
        within: Option<&Resource>,
        references: Vec<Result<Reference, Box<Diagnostic>>>,
    ) {
        for reference in references.into_iter().flatten() {
            if let Subject::Resource(resource) = &reference.subject {
                self.find(module, resource, &reference);
            }
            let repeated = matches!(
                reference.subject,
                Subject::CountIndex | Subject::EachKey | Subject::EachValue
            );
            let within = within.filter(|_| repeated).cloned();
            if self.seen.insert((module.clone(), within.clone(), reference.to_string())) {
                self.waiting.push(Pending { module: module.clone(), within, reference });
            }
        }
    }

    fn find(&mut self, module: &ModuleInstance, resource: &Resource, reference: &Reference) {
        let (key, steps) = instance_key(reference.remaining());
        let absolute = resource.absolute(module);
        let resource = absolute.instance(key);
        let path = Path(steps.iter().filter_map(path_step).collect());
        let order = (resource.to_string(), path.to_string());
        self.found.insert(order, RelevantAttribute { resource, path });
    }

    /// Adds what the object that a reference names refers to itself.
    fn follow(&mut self, pending: &Pending) {
        let Pending { module, within, reference } = pending;
        let Some(declared) = self.module(module) else { return };
        match &reference.subject {
            Subject::Variable(name) => {
                let (Some(step), Some(caller)) = (module.0.last(), module.parent()) else { return };
                let call = self.module(&caller).and_then(|m| m.module_calls.get(&step.name));
                if let Some(argument) = call.and_then(|call| call.config.attribute(name)) {
                    self.expression(&caller, None, &argument.expression);
                }
            }
            Subject::Local(name) => {
                if let Some(local) = declared.locals.get(name) {
                    self.expression(module, None, &local.expression);
                }
            }
            Subject::ModuleCall(name) => {
                let (key, steps) = instance_key(reference.remaining());
                let callee = module.child(name.clone(), key);
                let Some(called) = self.module(&callee) else { return };
                match steps.first() {
                    Some(TraversalStep::Attribute { name, .. }) => {
                        if let Some(output) = called.outputs.get(name) {
                            self.expression(&callee, None, &output.expression);
                        }
                    }
                    _ => {
                        for output in called.outputs.values() {
                            self.expression(&callee, None, &output.expression);
                        }
                    }
                }
            }
            Subject::CountIndex | Subject::EachKey | Subject::EachValue => {
                let block = within.as_ref().and_then(|resource| declared.resources.get(resource));
                if let Some(Repetition::Count(expression) | Repetition::ForEach(expression)) =
                    block.map(|block| &block.repetition)
                {
                    self.expression(module, None, expression);
                }
            }
            Subject::Resource(resource) => {
                let (_, steps) = instance_key(reference.remaining());
                self.resource(module, resource, steps);
            }
            Subject::Path(_)
            | Subject::Terraform(_)
            | Subject::SelfObject
            | Subject::Output(_)
            | Subject::Run(_) => {}
        }
    }

    /// Adds what a resource's configuration refers to, at the argument or block that `steps` lead to.
    fn resource(&mut self, module: &ModuleInstance, resource: &Resource, steps: &[TraversalStep]) {
        let Some(block) = self.module(module).and_then(|m| m.resources.get(resource)) else {
            return;
        };
        let address = resource.in_module(&module.path());
        let provider = self.configuration.provider_for(&address).map(|config| config.provider);
        let schema = provider.and_then(|p| self.plan.schemas.get(&p, resource.mode, &resource.ty));
        let Some(schema) = schema else { return };
        let body = interpreted(&block.config, &schema.block);
        let name = match steps.first() {
            None => {
                let references = references_in_body(&body, &schema.block);
                return self.references(module, Some(resource), references);
            }
            Some(TraversalStep::Attribute { name, .. }) => name,
            Some(TraversalStep::Index { key: IndexKey::String(name), .. }) => name,
            Some(_) => return,
        };
        if let Some(argument) = body.attribute(name) {
            return self.expression(module, Some(resource), &argument.expression);
        }
        // Which of several blocks is meant is not looked into.
        let produced = body.blocks.iter().filter(|block| {
            block.type_name == *name
                || (&*block.type_name == "dynamic"
                    && block.labels.first().is_some_and(|label| label.text == *name))
        });
        let part = Body {
            attributes: Vec::new(),
            blocks: produced.cloned().collect(),
            syntax: body.syntax,
            span: body.span,
            end_span: body.end_span,
        };
        let references = references_in_body(&part, &schema.block);
        self.references(module, Some(resource), references);
    }
}

/// The instance key that steps begin with, and the steps after it.
pub(crate) fn instance_key(steps: &[TraversalStep]) -> (InstanceKey, &[TraversalStep]) {
    let [TraversalStep::Index { key, .. }, rest @ ..] = steps else {
        return (InstanceKey::None, steps);
    };
    match key {
        IndexKey::String(text) => (InstanceKey::String(text.clone()), rest),
        IndexKey::Number(digits) => {
            (digits.parse().map_or(InstanceKey::None, InstanceKey::Int), rest)
        }
        IndexKey::Bool(_) | IndexKey::Null | IndexKey::Invalid => (InstanceKey::None, rest),
    }
}

pub(crate) fn path_step(step: &TraversalStep) -> Option<PathStep> {
    match step {
        TraversalStep::Attribute { name, .. } => Some(PathStep::Attribute(name.clone())),
        TraversalStep::Index { key: IndexKey::String(text), .. } => {
            Some(PathStep::Key(text.clone()))
        }
        TraversalStep::Index { key: IndexKey::Number(digits), .. } => match digits.parse() {
            Ok(index) => Some(PathStep::Index(index)),
            Err(_) => Number::parse(digits).map(|n| PathStep::Element(Value::number(n))),
        },
        TraversalStep::Index { .. } | TraversalStep::Splat { .. } => None,
    }
}
