//! Functions that providers offer, as evaluation calls them: it is synchronous, they are not.

use super::EvalContext;
use futures::FutureExt;
use language::diagnostics::Diagnostic;
use language::functions::CallError;
use language::module::ModuleNode;
use language::scope::{ProviderFunction, ProviderFunctionName, ProviderParameter};
use providers::{CallFunctionRequest, FunctionParameter, FunctionSignature, ProviderSchema};
use std::future::Future;
use std::sync::Arc;
use tokio::runtime::{Handle, RuntimeFlavor};
use values::Value;
use values::address::ProviderAddress;

/// What a function takes and gives, in the words of one module.
pub(super) fn describe(
    context: &EvalContext,
    node: &ModuleNode,
    name: &ProviderFunctionName<'_>,
) -> Result<ProviderFunction, Box<Diagnostic>> {
    let Some(provider) = provider(node, name) else { return Err(Box::new(name.unknown())) };
    let schema = schema(context, provider)?;
    let Some(signature) = schema.functions.get(name.function) else {
        return Err(Box::new(Diagnostic::error(
            "Unknown provider function",
            format!(
                "The function {:?} is not available from the provider {:?}.",
                name.function, name.provider
            ),
        )));
    };
    Ok(described(signature))
}

/// Calls a function that [`describe`] knows.
pub(super) fn call(
    context: &EvalContext,
    node: &ModuleNode,
    name: &ProviderFunctionName<'_>,
    arguments: Vec<Value>,
) -> Result<Value, CallError> {
    let other = |message: String| CallError::Other { message };
    let provider = provider(node, name).ok_or_else(|| other(name.unknown().detail))?;
    let request = CallFunctionRequest { name: name.function.into(), arguments };
    let answer = wait(async {
        let running = context.pool.unconfigured(provider).await;
        let running = running.map_err(|errors| first(errors).detail)?;
        running.call_function(request).await.map_err(|error| error.to_string())
    });
    match answer.unwrap_or_else(|| Err(NO_THREAD.into())).map_err(other)? {
        Ok(value) => Ok(value),
        Err(refused) => Err(match refused.argument {
            Some(index) => CallError::Argument { index, message: refused.text },
            None => other(refused.text),
        }),
    }
}

/// The provider of a name, which the module must require.
fn provider<'n>(
    node: &'n ModuleNode,
    name: &ProviderFunctionName<'_>,
) -> Option<&'n ProviderAddress> {
    let required = node.module.settings.required_providers.get(name.provider)?;
    Some(&required.provider)
}

fn schema(
    context: &EvalContext,
    provider: &ProviderAddress,
) -> Result<Arc<ProviderSchema>, Box<Diagnostic>> {
    if let Some(known) = context.pool.schema(provider) {
        return Ok(known);
    }
    let unavailable = |why: &str| Box::new(Diagnostic::error("Failed to load plugin schemas", why));
    match wait(context.pool.unconfigured(provider)) {
        None => Err(unavailable(NO_THREAD)),
        Some(Err(errors)) => Err(Box::new(first(errors))),
        Some(Ok(_)) => context.pool.schema(provider).ok_or_else(|| unavailable("There are none.")),
    }
}

/// Starting a provider fails for one reason.
fn first(errors: Vec<Diagnostic>) -> Diagnostic {
    let none =
        || Diagnostic::error("Failed to load plugin schemas", "The provider did not say why.");
    errors.into_iter().next().unwrap_or_else(none)
}

fn described(signature: &FunctionSignature) -> ProviderFunction {
    let parameter = |parameter: &FunctionParameter| ProviderParameter {
        name: parameter.name.clone(),
        ty: parameter.ty.clone(),
        allow_null: parameter.allow_null,
        allow_unknown: parameter.allow_unknown,
    };
    ProviderFunction {
        parameters: signature.parameters.iter().map(parameter).collect(),
        variadic: signature.variadic.as_ref().map(parameter),
        returns: signature.returns.clone(),
    }
}

const NO_THREAD: &str =
    "the provider's answer cannot be waited for on a runtime of a single thread";

/// Waits for a provider without keeping its runtime from going on; `None` where nothing else could go on meanwhile.
fn wait<T>(answer: impl Future<Output = T>) -> Option<T> {
    let handle = Handle::current();
    match handle.runtime_flavor() {
        RuntimeFlavor::CurrentThread => answer.now_or_never(),
        _ => Some(tokio::task::block_in_place(|| handle.block_on(answer))),
    }
}
