//! The vertices of the engine's graphs, and the edges that the configuration gives.

use crate::graph::{Graph, VertexId};
use crate::object::DeposedKey;
use language::module::{Configuration, ModuleNode, ProvisionerWhen};
use language::reference::{Reference, Subject, references_in};
use language::syntax::ast::{Body, Expression, ExpressionKind, Traversal, TraversalStep};
use std::fmt;
use std::sync::Arc;
use values::address::{
    AbsoluteResource, ConfigResource, ModulePath, ProviderConfigAddress, ResourceInstance,
    ResourceMode,
};

/// One piece of work.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Vertex {
    /// The values of a variable in all instances of its module.
    Variable(ModulePath, Arc<str>),
    /// The values of a local in all instances of its module.
    Local(ModulePath, Arc<str>),
    /// The values of an output in all instances of its module.
    Output(ModulePath, Arc<str>),
    /// The expansion of a module's call.
    Module(ModulePath),
    /// The assertions of a check block in all instances of its module.
    Check(ModulePath, Arc<str>),
    /// Applying: all changes are made, so that check blocks may look at what came of them.
    Settled,
    /// Configuring a provider.
    Provider(ProviderConfigAddress),
    /// Planning: all instances of a resource. Applying: their values together, once all are there. An ephemeral
    /// resource is opened in both.
    Resource(ConfigResource),
    /// An ephemeral resource is not needed any more: all its instances are closed.
    Close(ConfigResource),
    /// Applying: the expansion of a resource.
    Expansion(ConfigResource),
    /// Applying: create, update, read, or take as it is.
    Change(ResourceInstance),
    /// Applying: delete the current or a deposed object.
    Destroy(ResourceInstance, Option<DeposedKey>),
    /// Applying: all changes of a resource's instances in one module instance are done.
    Changed(AbsoluteResource),
    /// Applying: so are its deletions, of objects replaced before or after their replacement.
    Destroyed(AbsoluteResource, Replaced),
}

impl Vertex {
    /// Whether it is visited even if what it waits for has failed.
    pub(crate) fn is_always_visited(&self) -> bool {
        matches!(self, Vertex::Close(_))
    }
}

/// When a deleted object's replacement is created, if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Replaced {
    /// Before the deletion.
    Before,
    /// After it, or never.
    After,
}

/// As Terraform names vertices in messages about cycles.
impl fmt::Display for Vertex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut within = |module: &ModulePath| match module.is_root() {
            true => Ok(()),
            false => write!(f, "{module}."),
        };
        match self {
            Vertex::Variable(module, name) => {
                within(module)?;
                write!(f, "var.{name}{}", if module.is_root() { "" } else { " (expand)" })
            }
            Vertex::Local(module, name) => {
                within(module)?;
                write!(f, "local.{name} (expand)")
            }
            Vertex::Output(module, name) => {
                within(module)?;
                write!(f, "output.{name} (expand)")
            }
            Vertex::Module(path) => write!(f, "{path} (expand)"),
            Vertex::Check(module, name) => {
                within(module)?;
                write!(f, "check.{name}")
            }
            Vertex::Settled => write!(f, "changes (done)"),
            Vertex::Provider(address) => write!(f, "{address}"),
            Vertex::Resource(resource) => write!(f, "{resource}"),
            Vertex::Close(resource) => write!(f, "{resource} (close)"),
            Vertex::Expansion(resource) => write!(f, "{resource} (expand)"),
            Vertex::Change(address) => write!(f, "{address}"),
            Vertex::Destroy(address, None) => write!(f, "{address} (destroy)"),
            Vertex::Destroy(address, Some(key)) => {
                write!(f, "{address} (destroy deposed {key})")
            }
            Vertex::Changed(resource) => write!(f, "{resource} (changed)"),
            Vertex::Destroyed(resource, _) => write!(f, "{resource} (destroyed)"),
        }
    }
}

/// Adds vertices and edges of a configuration to a graph.
pub(crate) struct ConfigurationEdges<'a> {
    pub(crate) configuration: &'a Configuration,
    pub(crate) graph: &'a mut Graph<Vertex>,
}

impl ConfigurationEdges<'_> {
    /// Variables, locals, outputs and module calls, with all that they refer to.
    pub(crate) fn add_named_values(&mut self) {
        let nodes: Vec<Arc<ModuleNode>> = self.configuration.modules().cloned().collect();
        for node in &nodes {
            let own = self.module_vertex(&node.path);
            for (name, local) in &node.module.locals {
                let id = self.graph.add(Vertex::Local(node.path.clone(), name.clone()));
                self.after(id, own);
                self.refer(id, node, &local.expression);
            }
            for (name, output) in &node.module.outputs {
                let id = self.graph.add(Vertex::Output(node.path.clone(), name.clone()));
                self.after(id, own);
                self.refer(id, node, &output.expression);
                self.depend(id, node, &output.depends_on);
                for rule in &output.preconditions {
                    self.refer(id, node, &rule.condition);
                    self.refer(id, node, &rule.error_message);
                }
            }
            for name in node.module.variables.keys() {
                let id = self.graph.add(Vertex::Variable(node.path.clone(), name.clone()));
                self.after(id, own);
                self.add_variable_edges(id, node, name);
            }
            for (name, check) in &node.module.checks {
                let id = self.graph.add(Vertex::Check(node.path.clone(), name.clone()));
                self.after(id, own);
                for rule in &check.asserts {
                    self.refer(id, node, &rule.condition);
                    self.refer(id, node, &rule.error_message);
                }
                // Without it, there is nothing to assert.
                if let Some(data) = &check.data {
                    let data = Vertex::Resource(data.in_module(&node.path));
                    let on = self.graph.add(data);
                    self.graph.connect(id, on);
                }
            }
            for (name, call) in &node.module.module_calls {
                let id = self.graph.add(Vertex::Module(node.path.child(name.clone())));
                self.after(id, own);
                for expression in call.count().into_iter().chain(call.for_each()) {
                    self.refer(id, node, expression);
                }
                // Whoever uses an output of the module waits for what the module waits for.
                self.depend(id, node, &call.depends_on);
            }
        }
    }

    fn add_variable_edges(&mut self, id: VertexId, node: &ModuleNode, name: &Arc<str>) {
        let Some(variable) = node.module.variables.get(name) else { return };
        for rule in &variable.validations {
            for expression in [&rule.condition, &rule.error_message] {
                // A validation looks at its own variable, which is what it validates.
                for target in self.targets(node, references_in(expression).into_iter().flatten()) {
                    if target != Vertex::Variable(node.path.clone(), name.clone()) {
                        let on = self.graph.add(target);
                        self.graph.connect(id, on);
                    }
                }
            }
        }
        let (Some(parent), Some(call)) = (node.path.parent(), node.path.name()) else { return };
        let Some(parent) = self.configuration.get(&parent).cloned() else { return };
        let Some(call) = parent.module.module_calls.get(call) else { return };
        if let Some(argument) = call.config.attributes.iter().find(|a| a.name == *name) {
            self.refer(id, &parent, &argument.expression);
        }
    }

    /// Makes a vertex wait for a module's expansion.
    pub(crate) fn module_vertex(&mut self, path: &ModulePath) -> Option<VertexId> {
        (!path.is_root()).then(|| self.graph.add(Vertex::Module(path.clone())))
    }

    pub(crate) fn after(&mut self, id: VertexId, on: Option<VertexId>) {
        if let Some(on) = on {
            self.graph.connect(id, on);
        }
    }

    /// Makes a vertex wait for all that an expression refers to.
    pub(crate) fn refer(&mut self, id: VertexId, node: &ModuleNode, expression: &Expression) {
        let references = references_in(expression).into_iter().flatten();
        for target in self.targets(node, references) {
            let on = self.graph.add(target);
            self.graph.connect(id, on);
        }
    }

    /// Makes a vertex wait for all that a body refers to, whatever its schema.
    pub(crate) fn refer_body(&mut self, id: VertexId, node: &ModuleNode, body: &Body) {
        for target in self.targets(node, references_in_body(body)) {
            let on = self.graph.add(target);
            self.graph.connect(id, on);
        }
    }

    /// The same without `own`: such references are refused where they cannot be carried out.
    fn refer_to_others(&mut self, id: VertexId, node: &ModuleNode, body: &Body, own: &Vertex) {
        let targets = self.targets(node, references_in_body(body)).into_iter();
        for target in targets.filter(|target| target != own) {
            let on = self.graph.add(target);
            self.graph.connect(id, on);
        }
    }

    /// Makes a vertex wait for what `depends_on` names.
    pub(crate) fn depend(&mut self, id: VertexId, node: &ModuleNode, depends: &[Arc<Traversal>]) {
        for target in self.depended(node, depends) {
            if *self.graph.vertex(id) != target {
                let on = self.graph.add(target);
                self.graph.connect(id, on);
            }
        }
    }

    /// What `depends_on` names: of a module, everything in it.
    pub(crate) fn depended(&self, node: &ModuleNode, depends: &[Arc<Traversal>]) -> Vec<Vertex> {
        let mut found = Vec::new();
        for reference in depends.iter().filter_map(|t| Reference::parse(t).ok()) {
            match &reference.subject {
                // An output is waited for alone.
                Subject::ModuleCall(name) if output_named(reference.remaining()).is_none() => {
                    let path = node.path.child(name.clone());
                    let inside = self.configuration.modules().filter(|m| {
                        m.path.0.len() >= path.0.len() && m.path.0[..path.0.len()] == *path.0
                    });
                    for module in inside {
                        found.extend(
                            module
                                .module
                                .resources
                                .keys()
                                .map(|resource| Vertex::Resource(resource.in_module(&module.path))),
                        );
                        found.extend(
                            module
                                .module
                                .outputs
                                .keys()
                                .map(|output| Vertex::Output(module.path.clone(), output.clone())),
                        );
                    }
                }
                _ => found.extend(self.targets(node, [reference])),
            }
        }
        found
    }

    /// The vertices that references in a module name.
    pub(crate) fn targets(
        &self,
        node: &ModuleNode,
        references: impl IntoIterator<Item = Reference>,
    ) -> Vec<Vertex> {
        let mut found = Vec::new();
        for reference in references {
            match &reference.subject {
                Subject::Variable(name) => {
                    found.push(Vertex::Variable(node.path.clone(), name.clone()));
                }
                Subject::Local(name) => {
                    found.push(Vertex::Local(node.path.clone(), name.clone()));
                }
                Subject::Resource(resource) => {
                    found.push(Vertex::Resource(resource.in_module(&node.path)));
                }
                Subject::ModuleCall(name) => {
                    let Some(child) = node.children.get(name) else { continue };
                    found.push(Vertex::Module(child.path.clone()));
                    match output_named(reference.remaining()) {
                        Some(output) if child.module.outputs.contains_key(&**output) => {
                            found.push(Vertex::Output(child.path.clone(), output.clone()));
                        }
                        _ => {
                            found.extend(
                                child.module.outputs.keys().map(|output| {
                                    Vertex::Output(child.path.clone(), output.clone())
                                }),
                            )
                        }
                    }
                }
                _ => {}
            }
        }
        // What is not declared has no vertex; static validation has reported it.
        found.retain(|target| self.is_declared(target));
        found
    }

    fn is_declared(&self, target: &Vertex) -> bool {
        let module = |path: &ModulePath| self.configuration.get(path).map(|node| &node.module);
        match target {
            Vertex::Variable(path, name) => {
                module(path).is_some_and(|m| m.variables.contains_key(name))
            }
            Vertex::Local(path, name) => module(path).is_some_and(|m| m.locals.contains_key(name)),
            Vertex::Resource(r) => {
                module(&r.module).is_some_and(|m| m.resources.contains_key(&r.resource))
            }
            _ => true,
        }
    }

    /// All edges of a resource's block: its own references, and those that its module's callers
    /// impose by `depends_on`. Destroying evaluates no configuration and needs none of them.
    pub(crate) fn add_resource_edges(&mut self, id: VertexId, resource: &ConfigResource) {
        let Some(node) = self.configuration.get(&resource.module).cloned() else { return };
        let own = self.module_vertex(&node.path);
        self.after(id, own);
        let Some(block) = node.module.resources.get(&resource.resource) else { return };
        for expression in block.count().into_iter().chain(block.for_each()) {
            self.refer(id, &node, expression);
        }
        self.refer_body(id, &node, &block.config);
        self.depend(id, &node, &block.depends_on);
        let lifecycle = &block.lifecycle;
        for expression in &lifecycle.replace_triggered_by {
            self.refer(id, &node, expression);
        }
        for rule in lifecycle.preconditions.iter().chain(&lifecycle.postconditions) {
            for expression in [&rule.condition, &rule.error_message] {
                let own = Vertex::Resource(resource.clone());
                for target in self.targets(&node, references_in(expression).into_iter().flatten()) {
                    if target != own {
                        let on = self.graph.add(target);
                        self.graph.connect(id, on);
                    }
                }
            }
        }
        // What runs while it is destroyed refers to nothing but itself.
        let created = block.provisioners.iter().filter(|p| p.when == ProvisionerWhen::Create);
        let connections = created.clone().filter_map(|p| p.connection.as_ref());
        let connections = connections.chain(&block.connection).map(|c| &c.config);
        for body in connections.chain(created.map(|p| &p.config)) {
            self.refer_to_others(id, &node, body, &Vertex::Resource(resource.clone()));
        }
        for (caller, depends) in self.module_depends_on(&resource.module) {
            self.depend(id, &caller, &depends);
        }
    }

    /// Makes resources wait for what the identifiers of their imported objects refer to.
    pub(crate) fn add_import_edges(&mut self) {
        let root = self.configuration.root.clone();
        for import in &root.module.imports {
            let vertex = Vertex::Resource(import.target.clone());
            let Some(id) = self.graph.id(&vertex) else { continue };
            self.refer(id, &root, &import.id);
            for expression in import.for_each.iter().chain(computed_keys(&import.to)) {
                self.refer(id, &root, expression);
            }
        }
    }

    /// The `depends_on` of every call on the way to a module, with the module that makes it.
    pub(crate) fn module_depends_on(
        &self,
        path: &ModulePath,
    ) -> Vec<(Arc<ModuleNode>, Vec<Arc<Traversal>>)> {
        let mut found = Vec::new();
        let mut node = self.configuration.root.clone();
        for name in path.0.iter() {
            if let Some(call) = node.module.module_calls.get(name)
                && !call.depends_on.is_empty()
            {
                found.push((node.clone(), call.depends_on.clone()));
            }
            let Some(child) = node.children.get(name).cloned() else { break };
            node = child;
        }
        found
    }

    /// A provider's vertex with all that its configuration refers to.
    pub(crate) fn add_provider(&mut self, address: &ProviderConfigAddress) -> VertexId {
        let vertex = Vertex::Provider(address.clone());
        if let Some(id) = self.graph.id(&vertex) {
            return id;
        }
        let id = self.graph.add(vertex);
        if let Some(node) = self.configuration.get(&address.module).cloned() {
            let own = self.module_vertex(&node.path);
            self.after(id, own);
            if let Some(config) = self.configuration.provider_config(address) {
                let body = config.config.clone();
                self.refer_body(id, &node, &body);
            }
        }
        id
    }
}

/// All that a body refers to, whatever its schema.
pub(crate) fn references_in_body(body: &Body) -> Vec<Reference> {
    let own = body.attributes.iter().flat_map(|attribute| references_in(&attribute.expression));
    let inner = body.blocks.iter().flat_map(|block| references_in_body(&block.body));
    own.flatten().chain(inner).collect()
}

/// The resources that a vertex depends on, itself or through values, providers and ephemeral resources, but not
/// through other resources.
pub(crate) fn direct_resources(graph: &Graph<Vertex>, of: VertexId) -> Vec<ConfigResource> {
    let mut seen = crate::hashing::HashSet::default();
    let mut found = std::collections::BTreeSet::new();
    let mut pending: Vec<VertexId> = graph.dependencies(of).collect();
    while let Some(id) = pending.pop() {
        if !seen.insert(id) {
            continue;
        }
        match graph.vertex(id) {
            Vertex::Resource(resource) if resource.resource.mode != ResourceMode::Ephemeral => {
                found.insert(resource.clone());
            }
            _ => pending.extend(graph.dependencies(id)),
        }
    }
    if let Vertex::Resource(own) = graph.vertex(of) {
        found.remove(own);
    }
    found.into_iter().collect()
}

/// The expressions of computed keys in an address.
fn computed_keys(address: &Expression) -> Vec<&Expression> {
    match &address.kind {
        ExpressionKind::RelativeTraversal(relative) => computed_keys(&relative.source),
        ExpressionKind::Index(index) => {
            let mut keys = computed_keys(&index.collection);
            keys.push(&index.key);
            keys
        }
        _ => Vec::new(),
    }
}

/// The output that the steps after a module call name, after an instance key or not.
fn output_named(steps: &[TraversalStep]) -> Option<&Arc<str>> {
    match steps {
        [TraversalStep::Attribute { name, .. }, ..] => Some(name),
        [TraversalStep::Index { .. }, TraversalStep::Attribute { name, .. }, ..] => Some(name),
        _ => None,
    }
}
