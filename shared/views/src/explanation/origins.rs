//! Where a value comes from: references as they are written, followed from declaration to declaration.

use super::difference::difference_at;
use super::one_line::{is_sensitive_at, one_line, one_line_json};
use super::scene::{Place, Scene};
use crate::json::Json;
use crate::relevant_attributes::{instance_key, path_step};
use crate::value_json::{Shape, known, sensitive};
use engine::changes::Action;
use language::decode::{interpreted, references_in_body};
use language::diagnostics::Diagnostic;
use language::module::{Repetition, ResourceBlock};
use language::reference::{Reference, Subject, references_in};
use language::source::Span;
use language::syntax::ast::{
    Body, Expression, ExpressionKind, IndexKey, ObjectItem, TraversalStep,
};
use language::variables::ValueSource;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use values::address::{
    ConfigResource, InstanceKey, ModuleInstance, ModulePath, Resource, ResourceInstance,
    ResourceMode,
};
use values::{Path, PathStep};

/// Deepest chain of references that is shown. All of it is followed.
const DEEPEST: usize = 40;

/// One reference, and what it leads to.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) reference: String,
    /// Where what it names is declared; of a variable, where its value is given.
    pub(super) place: Option<Place>,
    /// Of a root module's variable, its value and where that is from.
    pub(super) given: Option<(String, &'static str)>,
    /// Of a resource, what becomes of its instances. Unchanged ones are left out.
    pub(super) fates: Vec<Fate>,
    /// Of a resource: whether evaluating looked at none of its instances.
    pub(super) ignored: bool,
    pub(super) from: Vec<Origin>,
}

/// What becomes of an instance that is referred to.
#[derive(Clone, Debug)]
pub(super) struct Fate {
    pub(super) address: ResourceInstance,
    pub(super) action: Action,
    /// The part that is referred to, before and after; `None` where it stays as it is.
    pub(super) difference: Option<(String, String)>,
    /// Whether it was changed behind the records, or read anew, and not by the plan.
    pub(super) outside: bool,
    /// Whether the reference is to all of it.
    pub(super) whole: bool,
}

/// Where an expression stands.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scope {
    path: ModulePath,
    /// The module's instance; `None` where it may be any.
    instance: Option<ModuleInstance>,
    /// Whose repetition `count` and `each` are about.
    repeated: Option<Repeated>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Repeated {
    Resource(Resource),
    Call(Arc<str>),
}

impl Scope {
    /// Where the arguments of a resource stand.
    pub(super) fn of(module: &ModuleInstance, resource: &Resource) -> Scope {
        Scope {
            path: module.path(),
            instance: Some(module.clone()),
            repeated: Some(Repeated::Resource(resource.clone())),
        }
    }

    /// In a module, outside of any block that is repeated.
    pub(super) fn module(module: &ModuleInstance) -> Scope {
        Scope { path: module.path(), instance: Some(module.clone()), repeated: None }
    }

    /// The same, outside of any block that is repeated.
    fn plain(&self) -> Scope {
        Scope { repeated: None, ..self.clone() }
    }

    /// Where the call of this module stands.
    fn caller(&self) -> Option<(Scope, Arc<str>)> {
        let name = self.path.name()?.clone();
        let path = self.path.parent()?;
        let instance = self.instance.as_ref().and_then(ModuleInstance::parent);
        Some((Scope { path, instance, repeated: Some(Repeated::Call(name.clone())) }, name))
    }
}

type References = Vec<Result<Reference, Box<Diagnostic>>>;

/// A reference that was met, before it is put into the tree.
struct Node {
    parent: Option<usize>,
    depth: usize,
    origin: Origin,
}

impl Scene<'_> {
    /// What references lead to, directly and through others.
    pub(super) fn trace(&self, scope: &Scope, references: References) -> Vec<Origin> {
        let mut nodes = Vec::<Node>::new();
        let mut seen = BTreeSet::new();
        let mut waiting = VecDeque::from([(None, scope.clone(), references)]);
        while let Some((parent, scope, references)) = waiting.pop_front() {
            let depth = parent.map_or(0, |parent: usize| nodes[parent].depth + 1);
            // What is too deep to be shown stands beside the one that it was met in.
            let parent = match parent {
                Some(parent) if depth > DEEPEST => nodes[parent].parent,
                parent => parent,
            };
            let depth = depth.min(DEEPEST);
            let mut here = BTreeSet::new();
            for reference in references.into_iter().flatten() {
                let text = reference.to_string();
                // Written twice in one expression, it is told of once.
                if !here.insert(text.clone()) {
                    continue;
                }
                let (origin, next) = self.follow(&scope, &reference);
                nodes.push(Node { parent, depth, origin });
                let repeated = matches!(
                    reference.subject,
                    Subject::CountIndex | Subject::EachKey | Subject::EachValue
                );
                let place = if repeated { scope.clone() } else { scope.plain() };
                if let Some((scope, references)) = next
                    && seen.insert((place, text))
                {
                    waiting.push_back((Some(nodes.len() - 1), scope, references));
                }
            }
        }
        tree(nodes)
    }

    /// What a reference names, and the references that this is made of.
    fn follow(
        &self,
        scope: &Scope,
        reference: &Reference,
    ) -> (Origin, Option<(Scope, References)>) {
        let mut origin = Origin {
            reference: reference.to_string(),
            place: None,
            given: None,
            fates: Vec::new(),
            ignored: false,
            from: Vec::new(),
        };
        let next = match &reference.subject {
            Subject::Variable(name) => self.variable(scope, name, reference, &mut origin),
            Subject::Local(name) => self.module(&scope.path).and_then(|module| {
                let local = module.locals.get(name)?;
                origin.place = Some(self.place(local.span));
                let expression = narrowed(&local.expression, reference.remaining());
                Some((scope.plain(), references_in(expression)))
            }),
            Subject::ModuleCall(name) => self.call(scope, name, reference, &mut origin),
            Subject::CountIndex | Subject::EachKey | Subject::EachValue => {
                self.repetition(scope).map(|expression| {
                    origin.place = Some(self.place(expression.span));
                    (scope.plain(), references_in(expression))
                })
            }
            Subject::Resource(resource) => {
                self.resource(scope, resource, reference, &mut origin);
                None
            }
            Subject::Path(_)
            | Subject::Terraform(_)
            | Subject::SelfObject
            | Subject::Output(_)
            | Subject::Run(_) => None,
        };
        (origin, next)
    }

    fn variable(
        &self,
        scope: &Scope,
        name: &Arc<str>,
        reference: &Reference,
        origin: &mut Origin,
    ) -> Option<(Scope, References)> {
        let variable = self.module(&scope.path)?.variables.get(name)?;
        let default = variable.default_span.unwrap_or(variable.span);
        if let Some((caller, call)) = scope.caller() {
            let call = self.module(&caller.path)?.module_calls.get(&call)?;
            let Some(argument) = call.config.attribute(name) else {
                origin.place = Some(self.place(default));
                let hidden = variable.sensitive || variable.ephemeral;
                let value = one_line(variable.default.as_ref(), hidden);
                origin.given = Some((value, "default"));
                return None;
            };
            origin.place = Some(self.place(argument.span));
            let expression = narrowed(&argument.expression, reference.remaining());
            return Some((caller, references_in(expression)));
        }
        let value = self.saved.plan.variables.get(name);
        let from = match (self.given.get(name), value) {
            (Some(ValueSource::File(span) | ValueSource::Test(span)), _) => {
                origin.place = Some(self.place(*span));
                ""
            }
            (Some(ValueSource::CommandLine), _) => "-var",
            (Some(ValueSource::Environment), _) => "an environment variable",
            (Some(ValueSource::Prompt), _) => "the prompt",
            (Some(ValueSource::Caller) | None, Some(_)) => "given when it was planned",
            (Some(ValueSource::Caller) | None, None) => {
                origin.place = Some(self.place(default));
                if variable.ephemeral { "ephemeral" } else { "default" }
            }
        };
        if origin.place.is_none() {
            origin.place = Some(self.place(variable.span));
        }
        let steps = Path(reference.remaining().iter().map_while(path_step).collect());
        let value = value.or(variable.default.as_ref());
        let part = value.map(|value| steps.get(value).unwrap_or_else(|| value.clone()));
        let hidden = variable.sensitive || variable.ephemeral;
        let text = match part {
            Some(part) => one_line(Some(&part), hidden),
            None => "(not kept)".to_owned(),
        };
        origin.given = Some((text, from));
        None
    }

    fn call(
        &self,
        scope: &Scope,
        name: &Arc<str>,
        reference: &Reference,
        origin: &mut Origin,
    ) -> Option<(Scope, References)> {
        let call = self.module(&scope.path)?.module_calls.get(name)?;
        let (key, steps) = instance_key(reference.remaining());
        let any = key == InstanceKey::None && !matches!(call.repetition, Repetition::Single);
        let instance = scope.instance.as_ref().filter(|_| !any);
        let callee = Scope {
            path: scope.path.child(name.clone()),
            instance: instance.map(|module| module.child(name.clone(), key)),
            repeated: None,
        };
        let module = self.module(&callee.path)?;
        let references = match steps.split_first() {
            Some((TraversalStep::Attribute { name, .. }, rest)) => {
                let output = module.outputs.get(name)?;
                origin.place = Some(self.place(output.span));
                references_in(narrowed(&output.expression, rest))
            }
            _ => {
                origin.place = Some(self.place(call.span));
                let outputs = module.outputs.values();
                outputs.flat_map(|output| references_in(&output.expression)).collect()
            }
        };
        Some((callee, references))
    }

    /// The expression that decides how often a block is there.
    fn repetition(&self, scope: &Scope) -> Option<&Expression> {
        let module = self.module(&scope.path)?;
        let repetition = match scope.repeated.as_ref()? {
            Repeated::Resource(resource) => &module.resources.get(resource)?.repetition,
            Repeated::Call(name) => &module.module_calls.get(name)?.repetition,
        };
        repetition_expression(repetition)
    }

    fn resource(
        &self,
        scope: &Scope,
        resource: &Resource,
        reference: &Reference,
        origin: &mut Origin,
    ) {
        let address = resource.in_module(&scope.path);
        origin.place = self.block(&address).map(|block| self.place(block.span));
        let (key, steps) = instance_key(reference.remaining());
        let path = Path(steps.iter().map_while(path_step).collect());
        let is_meant = |address: &ResourceInstance| {
            scope.instance.as_ref().is_none_or(|module| address.module == *module)
                && (key == InstanceKey::None || address.key == key)
        };
        let (write_set, read_set) = (&self.saved.write_set, &self.saved.read_set);
        let mut looked_at = false;
        let mut any = false;
        for change in self.changes_of(&address).iter().filter(|c| is_meant(&c.address)) {
            let address = &change.address;
            any = true;
            looked_at |= write_set.contains_key(address) || read_set.contains_key(address);
            let fate = |action, difference, outside| Fate {
                address: address.clone(),
                action,
                difference,
                outside,
                whole: path.is_root(),
            };
            if change.action != Action::NoOp {
                let difference = difference_at(&self.view, change, &path);
                let difference = difference.filter(|_| !path.is_root());
                origin.fates.push(fate(change.action, difference, false));
            } else if let Some(drift) = self.drift(address)
                && let Some(difference) = difference_at(&self.view, drift, &path)
            {
                origin.fates.push(fate(Action::NoOp, Some(difference), true));
            }
        }
        if resource.mode == ResourceMode::Data {
            origin.fates.extend(self.read_anew(&address, is_meant, &path));
        }
        origin.ignored = any && !looked_at && resource.mode != ResourceMode::Ephemeral;
    }

    /// Data sources that gave another value this time than what is recorded.
    fn read_anew(
        &self,
        resource: &ConfigResource,
        is_meant: impl Fn(&ResourceInstance) -> bool,
        path: &Path,
    ) -> Vec<Fate> {
        let refreshed = self.saved.plan.refreshed.iter();
        let meant = refreshed.filter(|(address, instance)| {
            instance.configuration.is_some() && address.config() == *resource && is_meant(address)
        });
        let fate = |(address, instance): (&ResourceInstance, &engine::plan::RefreshedInstance)| {
            let now = path.get(&instance.current.as_ref()?.value)?;
            let recorded = self.saved.plan.previous.instances.get(address)?.current.as_ref()?;
            let object = Json::parse_prefix(&recorded.attributes)?;
            let was = json_at(&object, path)?;
            // Sets and numbers have many spellings; only what is plainly another value is told of.
            let is_plain = matches!(was, Json::String(_) | Json::Bool(_) | Json::Null);
            if !is_plain || known(&now) == *was {
                return None;
            }
            let provider = &instance.provider.provider;
            let (mode, ty) = (address.resource.mode, &address.resource.ty);
            let schema = self.saved.plan.schemas.get(provider, mode, ty)?;
            let mask = sensitive(&instance.current.as_ref()?.value, Shape::Block(&schema.block));
            let sensitive = is_sensitive_at(&mask, path)
                || recorded.sensitive_paths.iter().any(|hidden| path.starts_with(hidden));
            let before = match sensitive {
                true => "(sensitive value)".to_owned(),
                false => one_line_json(was),
            };
            Some(Fate {
                address: address.clone(),
                action: Action::NoOp,
                difference: Some((before, one_line(Some(&now), sensitive))),
                outside: true,
                whole: false,
            })
        };
        meant.filter_map(fate).collect()
    }

    /// The references of one part of a resource's configuration, and where that part is set.
    pub(super) fn references_at(
        &self,
        resource: &ConfigResource,
        path: &Path,
    ) -> Option<(Option<Place>, References)> {
        let block = self.block(resource)?;
        let provider = self.configuration.provider_for(resource)?.provider;
        let kind = &resource.resource;
        let schema = self.saved.plan.schemas.get(&provider, kind.mode, &kind.ty)?;
        let body = interpreted(&block.config, &schema.block);
        let Some((PathStep::Attribute(name), rest)) = path.0.split_first() else {
            return Some((None, references_in_body(&body, &schema.block)));
        };
        if let Some(argument) = body.attribute(name) {
            let expression = narrowed_by_path(&argument.expression, rest);
            let place = self.place(match rest.is_empty() {
                true => argument.span,
                false => expression.span,
            });
            return Some((Some(place), references_in(expression)));
        }
        let produced = body.blocks.iter().filter(|block| {
            block.type_name == *name
                || (&*block.type_name == "dynamic"
                    && block.labels.first().is_some_and(|label| label.text == *name))
        });
        let produced: Vec<_> = produced.cloned().collect();
        let place = self.place(produced.first()?.header_span());
        let part = Body {
            attributes: Vec::new(),
            blocks: produced,
            syntax: body.syntax,
            span: body.span,
            end_span: body.end_span,
        };
        Some((Some(place), references_in_body(&part, &schema.block)))
    }

    /// What is written about a resource beside its arguments, with a name for each.
    pub(super) fn meta_references(
        &self,
        block: &ResourceBlock,
    ) -> Vec<(&'static str, Span, References)> {
        let mut found = Vec::new();
        let name = match &block.repetition {
            Repetition::ForEach(_) => "for_each",
            _ => "count",
        };
        if let Some(expression) = repetition_expression(&block.repetition) {
            found.push((name, expression.span, references_in(expression)));
        }
        for expression in &block.lifecycle.replace_triggered_by {
            found.push(("replace_triggered_by", expression.span, references_in(expression)));
        }
        for traversal in &block.depends_on {
            found.push(("depends_on", traversal.root_span, vec![Reference::parse(traversal)]));
        }
        found
    }
}

pub(super) fn repetition_expression(repetition: &Repetition) -> Option<&Expression> {
    repetition.count().or_else(|| repetition.for_each())
}

/// Puts each node below the one that it was met in.
fn tree(nodes: Vec<Node>) -> Vec<Origin> {
    let mut nodes: Vec<_> = nodes.into_iter().map(|n| (n.parent, Some(n.origin))).collect();
    let mut roots = Vec::new();
    // A node stands behind its parent, so that from the end each is whole when it is taken.
    for at in (0..nodes.len()).rev() {
        let parent = nodes[at].0;
        let Some(mut origin) = nodes[at].1.take() else { continue };
        origin.from.reverse();
        match parent.and_then(|parent| nodes[parent].1.as_mut()) {
            Some(above) => above.from.push(origin),
            None => roots.push(origin),
        }
    }
    roots.reverse();
    roots
}

/// Every resource that origins lead to, with the reference to it.
pub(super) fn fates(origins: &[Origin]) -> Vec<(&str, &Fate)> {
    let mut found = Vec::new();
    let mut waiting: Vec<&Origin> = origins.iter().rev().collect();
    while let Some(origin) = waiting.pop() {
        found.extend(origin.fates.iter().map(|fate| (origin.reference.as_str(), fate)));
        waiting.extend(origin.from.iter().rev());
    }
    found
}

/// The part of an expression that some steps lead to, as far as it is written out.
fn narrowed<'e>(expression: &'e Expression, steps: &[TraversalStep]) -> &'e Expression {
    let names = steps.iter().map_while(|step| match step {
        TraversalStep::Attribute { name, .. }
        | TraversalStep::Index { key: IndexKey::String(name), .. } => Some(&**name),
        _ => None,
    });
    narrowed_by_names(expression, names)
}

fn narrowed_by_path<'e>(expression: &'e Expression, steps: &[PathStep]) -> &'e Expression {
    let names = steps.iter().map_while(|step| match step {
        PathStep::Attribute(name) | PathStep::Key(name) => Some(&**name),
        PathStep::Index(_) | PathStep::Element(_) => None,
    });
    narrowed_by_names(expression, names)
}

fn narrowed_by_names<'e, 'n>(
    expression: &'e Expression,
    names: impl Iterator<Item = &'n str>,
) -> &'e Expression {
    let mut expression = expression;
    for name in names {
        let ExpressionKind::Object(items) = &expression.without_parentheses().kind else { break };
        let key = |item: &ObjectItem| -> Option<String> {
            let literal = item.key.literal_name().map(str::to_owned);
            literal.or_else(|| item.key.expression.as_string_literal().map(ToString::to_string))
        };
        // A computed key may be any, and the last of two counts.
        let keys: Option<Vec<String>> = items.iter().map(key).collect();
        let Some(at) = keys.and_then(|keys| keys.iter().rposition(|key| key == name)) else {
            break;
        };
        expression = &items[at].value;
    }
    expression
}

/// A part of an object as it is recorded. What may be of any type is recorded as `{"type": …, "value": …}`.
fn json_at<'j>(json: &'j Json, path: &Path) -> Option<&'j Json> {
    path.0.iter().try_fold(json, |json, step| match step {
        PathStep::Attribute(key) | PathStep::Key(key) => {
            let object = json.as_object()?;
            let inner = || {
                let is_typed = object.len() == 2 && object.contains_key("type");
                object.get("value").filter(|_| is_typed)?.as_object()?.get(key)
            };
            object.get(key).or_else(inner)
        }
        PathStep::Index(at) => json.as_array()?.get(*at),
        PathStep::Element(_) => None,
    })
}
