//! Opening: all instances of an ephemeral resource, before anything that uses them.

use crate::declared::Declared;
use crate::evaluation::{
    CheckedObject, EvalContext, Reader, RepetitionData, blocking, check_rules_for,
};
use crate::graph::Walked;
use crate::hooks::EphemeralStep;
use crate::object_change::planned_unknown;
use crate::provider_diagnostics::{CallFailure, in_body};
use futures::stream::{self, StreamExt};
use language::diagnostics::Diagnostic;
use providers::{OpenEphemeralRequest, OpenEphemeralResponse, ProviderDiagnostic};
use std::sync::Arc;
use values::address::{ConfigResource, ResourceInstance};
use values::{Marks, Value};

/// Opens the instances of a resource whose configuration is known; of the others, nothing is known for now but their
/// arguments. What was opened stays open until [`super::close`], also after an error.
pub(crate) async fn open(context: &Arc<EvalContext>, resource: &ConfigResource) -> Walked {
    let Some(declared) = Declared::of(context, resource) else { return Walked::Failed };
    let declared = Arc::new(declared);
    let modules = context.working.module_instances(&resource.module);
    let mut ok = true;
    let mut instances = Vec::new();
    for module in modules.iter() {
        let Some(expansion) = declared.expand(context, module).await else {
            ok = false;
            continue;
        };
        let absolute = resource.resource.absolute(module);
        let keys = expansion.keys().into_iter();
        instances.extend(keys.map(|key| Opening {
            data: expansion.data(&key),
            address: absolute.instance(key),
            context: context.clone(),
            declared: declared.clone(),
        }));
        context.working.set_expansion(absolute, expansion);
    }
    let limit = context.environment.parallelism.max(1);
    let opened = stream::iter(instances).map(|opening| Arc::new(opening).open());
    let opened = opened.buffer_unordered(limit).fold(ok, |all, one| async move { all && one });
    if !opened.await {
        return Walked::Failed;
    }
    for module in modules.iter() {
        context.working.finish_resource(&resource.resource.absolute(module));
    }
    Walked::Done
}

/// One instance with all that opening it needs.
struct Opening {
    context: Arc<EvalContext>,
    declared: Arc<Declared>,
    address: ResourceInstance,
    data: RepetitionData,
}

impl Opening {
    async fn open(self: Arc<Self>) -> bool {
        let context = &self.context;
        let Some(_permit) = context.permit().await else { return false };
        if context.stop.is_stopping() {
            return false;
        }
        let Some(config) = self.configuration().await else { return false };
        let schema = &self.declared.schema;
        if !config.is_wholly_known() {
            let known = planned_unknown(&schema.block, &config.unmark_deep());
            self.set(&config, &known);
            context.environment.hook(|h| h.ephemeral_deferred(&self.address));
            return true;
        }
        let sent = config.unmark_deep();
        let answer = match self.call(sent).await {
            Ok((answer, warnings)) => {
                self.report(warnings);
                answer
            }
            Err(failure) => {
                let (body, place) = self.declared.place();
                context.report(failure.into_diagnostics(body, place, &self.address.to_string()));
                return false;
            }
        };
        let provider = self.declared.provider.clone();
        context.pool.ephemerals.keep(&self.address, provider, &answer, &context.environment);
        if !self.is_valid(&answer) {
            return false;
        }
        let value = self.set(&config, &answer.result);
        self.postconditions(value).await
    }

    /// Preconditions and configuration.
    async fn configuration(self: &Arc<Self>) -> Option<Value> {
        let this = self.clone();
        blocking(move || {
            let Opening { context, declared, address, data } = &*this;
            let block = declared.block()?;
            let (reader, module) = (Reader::Instance(address.clone()), &address.module);
            let rules = &block.lifecycle.preconditions;
            let object = CheckedObject::ResourcePrecondition;
            if !check_rules_for(&reader, context, module, data, None, object, rules) {
                return None;
            }
            context.evaluate_for(&reader, module, data, None, |e| {
                e.body(&block.config, &declared.schema.block)
            })
        })
        .await
    }

    /// What was not known when the configuration was validated is validated now.
    async fn call(
        &self,
        config: Value,
    ) -> Result<(OpenEphemeralResponse, Vec<ProviderDiagnostic>), CallFailure> {
        let (provider, ty) = (&self.declared.provider, self.address.resource.ty.clone());
        let validated = provider.validate_ephemeral_config(&ty, &config).await;
        let validated = validated.map_err(CallFailure::Call)?.into_result();
        let ((), mut warnings) = validated.map_err(CallFailure::Refused)?;
        let (environment, step) = (&self.context.environment, EphemeralStep::Open);
        environment.hook(|h| h.pre_ephemeral(&self.address, step));
        let request = OpenEphemeralRequest { ty, config, deferral_allowed: false };
        let answer = provider.open_ephemeral(request).await.map_err(CallFailure::Call);
        let answer = answer.and_then(|a| a.into_result().map_err(CallFailure::Refused));
        let said = answer.as_ref().err().map(CallFailure::summary);
        environment.hook(|h| h.post_ephemeral(&self.address, step, said.as_deref()));
        let (answer, more) = answer?;
        warnings.extend(more);
        Ok((answer, warnings))
    }

    /// Whether an answer keeps to the protocol's rules; else it is reported.
    fn is_valid(&self, answer: &OpenEphemeralResponse) -> bool {
        let complaint = match answer {
            answer if answer.deferred.is_some() => "put opening off, which nobody allowed,",
            answer if answer.result.is_null() => "produced a null object",
            answer if !answer.result.is_wholly_known() => {
                "produced a value that is not wholly known"
            }
            _ => return true,
        };
        let error = Diagnostic::error(
            "Provider produced invalid object",
            format!(
                "Provider {:?} {complaint} for {}.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
                self.declared.provider.address().to_string(),
                self.address
            ),
        );
        let error = error.for_address(self.address.to_string());
        self.context.report([match self.declared.block() {
            Some(block) => error.at(block.span),
            None => error,
        }]);
        false
    }

    /// Notes what expressions see of the instance: all of it is ephemeral, and sensitive what its configuration says is.
    /// As in Terraform, the schema hides nothing more.
    fn set(&self, config: &Value, value: &Value) -> Value {
        let paths = config.marked_paths();
        let sensitive = paths.iter().filter(|(_, marks)| marks.is_sensitive());
        let sensitive = sensitive.map(|(path, _)| (path, Marks::SENSITIVE));
        let value = value.unmark_deep().mark_paths(sensitive).with_marks(Marks::EPHEMERAL);
        self.context.working.set_instance(&self.address, value.clone());
        value
    }

    async fn postconditions(self: &Arc<Self>, value: Value) -> bool {
        let this = self.clone();
        blocking(move || {
            let Opening { context, declared, address, data } = &*this;
            let Some(block) = declared.block() else { return false };
            let (reader, module) = (Reader::Instance(address.clone()), &address.module);
            let rules = &block.lifecycle.postconditions;
            let object = CheckedObject::ResourcePostcondition;
            check_rules_for(&reader, context, module, data, Some(&value), object, rules)
        })
        .await
    }

    fn report(&self, diagnostics: Vec<ProviderDiagnostic>) {
        let (body, place) = self.declared.place();
        self.context.report(in_body(diagnostics, body, place, &self.address.to_string()));
    }
}
