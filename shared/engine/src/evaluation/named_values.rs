//! Variables, locals, outputs, module calls and provider configurations: vertices that planning,
//! applying and validating have in common.

use super::working::Named;
use super::{
    CheckedObject, EvalContext, Operation, Reader, RepetitionData, check_rules_for,
    evaluate_expansion_in_parts,
};
use crate::graph::Walked;
use language::diagnostics::Diagnostic;
use language::module::{Output, Variable};
use language::source::Span;
use language::variables::{ValueSource, final_value};
use providers::ConfigureRequest;
use std::sync::Arc;
use values::address::{ModuleInstance, ModulePath, ProviderConfigAddress};
use values::{Marks, Type, Value};

/// The version of the language that providers are told.
pub(crate) const TERRAFORM_VERSION: &str = "1.11.4";

fn outcome(ok: bool) -> Walked {
    if ok { Walked::Done } else { Walked::Failed }
}

pub(crate) fn variable(context: &EvalContext, path: &ModulePath, name: &Arc<str>) -> Walked {
    let Some(variable) = context.node(path).and_then(|n| n.module.variables.get(name)) else {
        return Walked::Failed;
    };
    let mut ok = true;
    for module in context.working.module_instances(path).iter() {
        let value = match module.is_root() {
            true => root_variable(context, variable),
            false => argument(context, module, variable),
        };
        let Some(value) = value else {
            ok = false;
            continue;
        };
        context.working.set_named(module, Named::Variable(name.clone()), value);
        if !variable.validations.is_empty() {
            let subject = place(context, module, variable);
            ok &= context.check_variable(module, variable, subject);
        }
    }
    outcome(ok)
}

fn root_variable(context: &EvalContext, variable: &Variable) -> Option<Value> {
    let given = context.variables.get(&variable.name).cloned();
    let unasked = match context.operation {
        Operation::Validate => true,
        Operation::Inspect => variable.default.is_none(),
        _ => false,
    };
    if given.is_none() && unasked {
        let marks = marks(variable);
        return Some(Value::unknown(variable.constraint.ty.without_optional()).with_marks(marks));
    }
    match final_value(variable, given.as_ref(), &context.configuration.sources) {
        Ok(value) => Some(value),
        Err(diagnostic) => {
            context.report([*diagnostic]);
            None
        }
    }
}

/// Where a variable's value was given: the argument, or the declaration.
fn place(context: &EvalContext, module: &ModuleInstance, variable: &Variable) -> Span {
    let argument = || {
        let parent = context.node(&module.parent()?.path())?;
        let call = parent.module.module_calls.get(&module.0.last()?.name)?;
        Some(call.config.attribute(&variable.name)?.expression.span)
    };
    let tested = || match &context.variables.get(&variable.name)?.source {
        ValueSource::Test(span) if module.is_root() => Some(*span),
        _ => None,
    };
    argument().or_else(tested).unwrap_or(variable.span)
}

fn argument(context: &EvalContext, module: &ModuleInstance, variable: &Variable) -> Option<Value> {
    let parent = module.parent()?;
    let call = context.node(&parent.path())?.module.module_calls.get(&module.0.last()?.name)?;
    let argument = call.config.attribute(&variable.name);
    let Some(argument) = argument else {
        return final_value(variable, None, &context.configuration.sources).ok();
    };
    // Whether a call is repeated is asked only when its instances are known.
    let data = match context.operation {
        Operation::Validate => RepetitionData::unknown(),
        _ => context.working.call_data(module),
    };
    let (given, reads) = context.evaluate(&parent, &data, None, |evaluation| {
        evaluation.expression_in_parts(&argument.expression)
    })?;
    let reads = match keeps_parts(&variable.constraint.ty) {
        true => reads,
        false => reads.merged(),
    };
    let reader = Reader::Named(module.clone(), Named::Variable(variable.name.clone()));
    context.keep_reads(reader, reads);
    if given.deep_marks().is_ephemeral() && !variable.ephemeral {
        context.report([Diagnostic::error(
            "Ephemeral value not allowed",
            "This input variable is not declared as accepting a ephemeral values, so it cannot be set to a result derived from an ephemeral value.",
        )
        .at(argument.expression.span)]);
        return None;
    }
    let (path, name) = (module.path(), &variable.name);
    let declared = context.configuration.sources.range(variable.span);
    if given.is_null() && !variable.nullable {
        if variable.default.is_some() {
            return final_value(variable, None, &context.configuration.sources).ok();
        }
        context.report([Diagnostic::error(
            "Required variable not set",
            format!(
                "The given value is not suitable for {path}.var.{name} defined at {declared}: required variable may not be set to null."
            ),
        )
        .at(argument.expression.span)]);
        return None;
    }
    match variable.constraint.apply(&given) {
        Ok(value) => Some(value.with_marks(marks(variable))),
        Err(error) => {
            context.report([Diagnostic::error(
                "Invalid value for input variable",
                format!(
                    "The given value is not suitable for {path}.var.{name} declared at {declared}: {}.",
                    error.message
                ),
            )
            .at(argument.expression.span)]);
            None
        }
    }
}

/// Whether conversion to this type leaves every part of a value on its own. Elements of collections of any
/// type are converted to the one type that fits them all.
fn keeps_parts(ty: &Type) -> bool {
    match ty {
        Type::List(element) | Type::Set(element) | Type::Map(element) => !element.has_dynamic(),
        Type::Tuple(elements) => elements.iter().all(keeps_parts),
        Type::Object(object) => object.attributes.values().all(keeps_parts),
        _ => true,
    }
}

fn marks(variable: &Variable) -> Marks {
    let mut marks = Marks::NONE;
    if variable.sensitive {
        marks = marks | Marks::SENSITIVE;
    }
    if variable.ephemeral {
        marks = marks | Marks::EPHEMERAL;
    }
    marks
}

pub(crate) fn local(context: &EvalContext, path: &ModulePath, name: &Arc<str>) -> Walked {
    let Some(local) = context.node(path).and_then(|n| n.module.locals.get(name)) else {
        return Walked::Failed;
    };
    let mut ok = true;
    for module in context.working.module_instances(path).iter() {
        let data = RepetitionData::default();
        let evaluated =
            context.evaluate(module, &data, None, |e| e.expression_in_parts(&local.expression));
        match evaluated {
            Some((value, reads)) => {
                let named = Named::Local(name.clone());
                context.keep_reads(Reader::Named(module.clone(), named), reads);
                context.working.set_named(module, Named::Local(name.clone()), value);
            }
            None => ok = false,
        }
    }
    outcome(ok)
}

pub(crate) fn output(context: &EvalContext, path: &ModulePath, name: &Arc<str>) -> Walked {
    let Some(output) = context.node(path).and_then(|n| n.module.outputs.get(name)) else {
        return Walked::Failed;
    };
    let mut ok = true;
    for module in context.working.module_instances(path).iter() {
        let data = RepetitionData::default();
        let reader = Reader::Named(module.clone(), Named::Output(name.clone()));
        if context.operation != Operation::Validate
            && !check_rules_for(
                &reader,
                context,
                module,
                &data,
                None,
                CheckedObject::OutputPrecondition(name),
                &output.preconditions,
            )
        {
            ok = false;
            continue;
        }
        let evaluated =
            context.evaluate(module, &data, None, |e| e.expression_in_parts(&output.expression));
        let Some((mut value, reads)) = evaluated else {
            ok = false;
            continue;
        };
        context.keep_reads(reader, reads);
        if module.is_root() && !context.can_be_stored(&value, output.expression.span) {
            ok = false;
            continue;
        }
        if let Some(refused) = ephemeral_output(module, output, &value) {
            context.report([refused]);
            ok = false;
            continue;
        }
        if output.ephemeral {
            value = value.with_marks(Marks::EPHEMERAL);
        }
        // As in Terraform 1.11, `sensitive` on a module's output hides it nowhere but in a root module: what is
        // derived from it needs no mark of its own. Values that are sensitive themselves stay so.
        if output.sensitive && module.is_root() {
            value = value.sensitive();
        } else if module.is_root() && value.deep_marks().is_sensitive() {
            context.report([Diagnostic::error(
                "Output refers to sensitive values",
                "To reduce the risk of accidentally exporting sensitive data that was intended to be only internal, Terraform requires that any root module output containing sensitive data be explicitly marked as sensitive, to confirm your intent.\n\nIf you do intend to export this data, annotate the output value as sensitive by adding the following argument:\n    sensitive = true",
            )
            .at(output.span)]);
            ok = false;
            continue;
        }
        context.working.set_named(module, Named::Output(name.clone()), value);
    }
    outcome(ok)
}

/// What an output may not do with ephemeral values.
fn ephemeral_output(module: &ModuleInstance, output: &Output, value: &Value) -> Option<Diagnostic> {
    if output.ephemeral && module.is_root() {
        let detail = "Ephemeral outputs are not allowed in context of a root module";
        return Some(Diagnostic::error("Ephemeral output not allowed", detail).at(output.span));
    }
    if value.deep_marks().is_ephemeral() && !output.ephemeral {
        let detail = "This output value is not declared as returning an ephemeral value, so it cannot be set to a result derived from an ephemeral value.";
        let error = Diagnostic::error("Ephemeral value not allowed", detail);
        return Some(error.at(output.expression.span));
    }
    None
}

/// Expands a module call in every instance of the calling module.
pub(crate) fn module(context: &EvalContext, path: &ModulePath) -> Walked {
    let (Some(parent_path), Some(name)) = (path.parent(), path.name()) else {
        return Walked::Done;
    };
    let Some(call) = context.node(&parent_path).and_then(|n| n.module.module_calls.get(name))
    else {
        return Walked::Failed;
    };
    let validating = context.operation == Operation::Validate;
    let mut instances = Vec::new();
    let mut ok = true;
    for parent in context.working.module_instances(&parent_path).iter() {
        let data = RepetitionData::default();
        let evaluated = context.evaluate(parent, &data, None, |e| {
            evaluate_expansion_in_parts(e, &call.repetition, validating)
        });
        let Some((Some(expansion), reads)) = evaluated else {
            ok = false;
            continue;
        };
        context.keep_reads(Reader::Call(parent.clone(), name.clone()), reads);
        let expansion = if validating { expansion.forget_keys() } else { expansion };
        instances.extend(expansion.keys().into_iter().map(|key| parent.child(name.clone(), key)));
        context.working.set_call(parent, name, expansion);
    }
    context.working.set_module_instances(path.clone(), instances);
    outcome(ok)
}

/// Decodes a provider's configuration, and configures it unless validating.
pub(crate) async fn provider(context: &EvalContext, address: &ProviderConfigAddress) -> Walked {
    let provider = match context.pool.start(address).await {
        Ok(provider) => provider,
        Err(diagnostics) => {
            context.report(diagnostics);
            return Walked::Failed;
        }
    };
    let Some(schema) = context.pool.schema(&address.provider) else { return Walked::Failed };
    if context.pool.doubles.mocks(address) {
        return Walked::Done;
    }
    let block = context.configuration.provider_config(address);
    let config = match block {
        Some(block) => {
            let module = ModuleInstance(
                address
                    .module
                    .0
                    .iter()
                    .map(|name| values::address::ModuleStep {
                        name: name.clone(),
                        key: values::address::InstanceKey::None,
                    })
                    .collect(),
            );
            let data = RepetitionData::default();
            let reader = Reader::Provider(address.clone());
            context.evaluate_for(&reader, &module, &data, None, |e| {
                e.body(&block.config, &schema.provider.block)
            })
        }
        None => Some(schema.provider.block.empty_value()),
    };
    let Some(config) = config else { return Walked::Failed };
    let body = block.map(|b| &*b.config);
    let place = block.map(|b| b.span);
    let shown = address.to_string();
    let placed = |d| crate::provider_diagnostics::in_body(d, body, place, &shown);
    let config = config.unmark_deep();
    // What a configuration leaves out cannot be required by a provider that nobody configured.
    let missing = schema.provider.block.attributes.values().any(|a| a.required);
    if context.operation == Operation::Validate && (block.is_none() || !config.is_wholly_known()) {
        return Walked::Done;
    }
    if block.is_none() && missing {
        context.report([Diagnostic::error(
            "Invalid provider configuration",
            format!("Provider {:?} requires explicit configuration. Add a provider block to the root module and configure the provider's required arguments as described in the provider documentation.\n", address.provider.to_string()),
        )]);
        return Walked::Failed;
    }
    match provider.validate_provider_config(&config).await {
        // What validation makes of the configuration is not used: Configure gets it as written.
        Ok(response) => {
            if context.report(placed(response.diagnostics)) {
                return Walked::Failed;
            }
        }
        Err(e) => {
            context.report([crate::provider_diagnostics::failed_call(&e, place, &shown)]);
            return Walked::Failed;
        }
    }
    if context.operation == Operation::Validate {
        return Walked::Done;
    }
    let request = ConfigureRequest {
        terraform_version: TERRAFORM_VERSION.into(),
        config,
        deferral_allowed: false,
        write_only_allowed: true,
    };
    match provider.configure(request).await {
        Ok(response) => outcome(!context.report(placed(response.diagnostics))),
        Err(e) => {
            context.report([crate::provider_diagnostics::failed_call(&e, place, &shown)]);
            Walked::Failed
        }
    }
}
