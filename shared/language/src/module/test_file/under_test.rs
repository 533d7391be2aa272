//! The configuration that a run works on.

use std::sync::Arc;

use indexmap::IndexMap;
use values::address::ModulePath;

use super::written_values::written;
use super::{Override, OverrideTarget, Run, TestFile, TestProvider};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::module::{
    Configuration, LocalProviderConfig, Module, ModuleNode, Output, ProviderConfig,
};
use crate::source::Span;
use crate::syntax::ast::{Attribute, Block, Body, Expression, Syntax, with_stack};

/// A module as a run sees it.
#[derive(Debug)]
pub struct UnderTest<'a> {
    base: &'a Configuration,
    providers: Vec<(LocalProviderConfig, &'a TestProvider)>,
}

impl<'a> UnderTest<'a> {
    /// The providers that a run of a file has in place of those of a module.
    ///
    /// # Errors
    /// Where the run names one that the file does not have.
    pub fn of(
        base: &'a Configuration,
        file: &'a TestFile,
        run: &Run,
    ) -> Result<UnderTest<'a>, Diagnostics> {
        let mut diagnostics = Diagnostics::new();
        let mut providers = Vec::new();
        for passed in &run.providers {
            let reference = &passed.in_parent;
            match file.providers.get(&reference.config) {
                Some(provider) => providers.push((passed.in_child.config.clone(), provider)),
                None => diagnostics.push(
                    Diagnostic::error(
                        format!("Missing provider definition for {}", reference.config),
                        "This provider block references a provider definition that does not exist.",
                    )
                    .at(passed
                        .in_child
                        .name_span
                        .to(reference.alias_span.unwrap_or(reference.name_span))),
                ),
            }
        }
        if run.providers.is_empty() {
            // What the module does not need is not started for its sake.
            let needed = base.provider_requirements();
            let module = &base.root.module;
            providers.extend(
                file.providers
                    .iter()
                    .filter(|(local, _)| {
                        needed.contains_key(&module.provider_for_local_name(&local.local_name))
                    })
                    .map(|(local, provider)| (local.clone(), provider)),
            );
        }
        match diagnostics.has_errors() {
            true => Err(diagnostics),
            false => Ok(UnderTest { base, providers }),
        }
    }

    /// The providers, by what the module calls them.
    pub fn providers(&self) -> impl Iterator<Item = (&LocalProviderConfig, &'a TestProvider)> {
        self.providers.iter().map(|(local, provider)| (local, *provider))
    }

    /// The configuration: providers have values in place of their expressions, and overridden modules nothing but
    /// their outputs. `evaluate` gives a value of the test, or nothing where that failed.
    pub fn configuration<'o>(
        &self,
        overrides: impl Iterator<Item = &'o Override>,
        evaluate: &mut dyn FnMut(&Expression) -> Option<values::Value>,
    ) -> Configuration {
        let mut root = Module::clone(&self.base.root.module);
        for (local, provider) in &self.providers {
            let config = ProviderConfig {
                local_name: local.local_name.clone(),
                alias: local.alias.clone(),
                config: Arc::new(evaluated(&provider.config.config, evaluate)),
                version: None,
                ..provider.config.clone()
            };
            root.provider_configs.insert(local.clone(), config);
        }
        let overridden: Vec<(ModulePath, &Override)> = overrides
            .filter_map(|found| match &found.target {
                OverrideTarget::Module(module) => Some((module.path(), found)),
                OverrideTarget::Resource(_) => None,
            })
            .collect();
        let node = &self.base.root;
        let children = match overridden.is_empty() {
            true => node.children.clone(),
            false => without(&node.children, &overridden),
        };
        let root = ModuleNode {
            path: node.path.clone(),
            module: Arc::new(root),
            children,
            source: node.source.clone(),
            call_span: node.call_span,
        };
        Configuration { root: Arc::new(root), sources: self.base.sources.clone() }
    }
}

type Children = IndexMap<Arc<str>, Arc<ModuleNode>>;

fn without(children: &Children, overridden: &[(ModulePath, &Override)]) -> Children {
    let replaced = |node: &Arc<ModuleNode>| -> Arc<ModuleNode> {
        let own = overridden.iter().find(|(path, _)| *path == node.path);
        let beneath = || {
            overridden.iter().any(|(path, _)| {
                path.0.len() > node.path.0.len() && path.0[..node.path.0.len()] == *node.path.0
            })
        };
        let (module, children) = match own {
            Some((_, found)) => (Arc::new(outputs_alone(&node.module, found)), Children::new()),
            None if beneath() => {
                (node.module.clone(), with_stack(|| without(&node.children, overridden)))
            }
            None => return node.clone(),
        };
        Arc::new(ModuleNode {
            path: node.path.clone(),
            module,
            children,
            source: node.source.clone(),
            call_span: node.call_span,
        })
    };
    children.iter().map(|(name, node)| (name.clone(), replaced(node))).collect()
}

/// A module that takes its arguments, and gives what it is told to. Outputs of which nothing is said are null.
fn outputs_alone(module: &Module, found: &Override) -> Module {
    let null = values::Value::dynamic_null();
    let output = |(name, output): (&Arc<str>, &Output)| {
        let value = found.values.value.attribute(name).unwrap_or_else(|| null.clone());
        // What is written in a test file is known.
        let expression = written(&value, output.expression.span);
        let expression = expression.unwrap_or_else(|| output.expression.clone());
        let replaced = Output {
            expression,
            depends_on: Vec::new(),
            preconditions: Vec::new(),
            ..output.clone()
        };
        (name.clone(), replaced)
    };
    let mut variables = module.variables.clone();
    for variable in variables.values_mut() {
        variable.validations.clear();
    }
    Module {
        directory: module.directory.clone(),
        settings: module.settings.clone(),
        variables,
        outputs: module.outputs.iter().map(output).collect(),
        ..Module::default()
    }
}

/// A body with values in place of expressions. In the JSON syntax, where an argument may be a block, expressions stay
/// as they are.
fn evaluated(body: &Body, evaluate: &mut dyn FnMut(&Expression) -> Option<values::Value>) -> Body {
    if body.syntax == Syntax::Json {
        return body.clone();
    }
    let attributes = body.attributes.iter().map(|attribute| {
        let span: Span = attribute.expression.span;
        let value = evaluate(&attribute.expression);
        let expression = value.and_then(|value| written(&value, span));
        let expression = expression.unwrap_or_else(|| attribute.expression.clone());
        Attribute { expression, ..attribute.clone() }
    });
    let attributes = attributes.collect();
    let blocks = body.blocks.iter().map(|block| {
        let body = with_stack(|| evaluated(&block.body, evaluate));
        Block { body, ..block.clone() }
    });
    let blocks = blocks.collect();
    Body { attributes, blocks, syntax: body.syntax, span: body.span, end_span: body.end_span }
}
