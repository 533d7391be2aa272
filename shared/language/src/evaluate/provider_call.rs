//! Calls of functions that providers offer.

use values::convert::convert;
use values::{Marks, Type, Value};

use super::call::{Argument, type_json};
use super::{Evaluator, Locals};
use crate::diagnostics::{Diagnostic, FunctionCallNote, FunctionParameter, FunctionSignature};
use crate::functions::{ArityError, CallError, check_arity};
use crate::scope::{ProviderFunction, ProviderFunctionName, ProviderParameter};
use crate::syntax::ast::{Expression, FunctionCall};

/// What `provider::name::function` names; of a longer name, the last part is the function's.
pub(super) fn provider_function(name: &str) -> Option<ProviderFunctionName<'_>> {
    let (provider, rest) = name.strip_prefix("provider::")?.split_once("::")?;
    let function = rest.rsplit("::").next().unwrap_or(rest);
    Some(ProviderFunctionName { written: name, provider, function })
}

impl Evaluator<'_> {
    pub(super) fn provider_call(
        &mut self,
        call: &FunctionCall,
        name: &ProviderFunctionName<'_>,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let Some(scope) = self.scope else { return Value::dynamic() };
        let offered = match name.written.split("::").count() {
            3 => scope.provider_function(name),
            _ => Err(Box::new(name.unknown())),
        };
        let offered = match offered {
            Ok(offered) => offered,
            Err(error) => {
                let error = error.at(call.name_span).within(expression.span);
                self.fail(error, expression, locals);
                return Value::dynamic();
            }
        };
        let noted = || note(call, name, &offered);
        let Some(arguments) = self.arguments(call, &noted, expression, locals) else {
            return Value::dynamic();
        };
        let names: Vec<&str> = offered.parameters.iter().map(|p| &*p.name).collect();
        if let Err(error) =
            check_arity(&call.name, arguments.len(), &names, offered.variadic.is_some())
        {
            let subject = match &error {
                ArityError::NotEnough { .. } => call.close_span,
                ArityError::TooMany { allowed, .. } => {
                    arguments.get(*allowed).map_or(call.name_span, Argument::span)
                }
            };
            let error = Diagnostic::error(error.summary(), error.to_string())
                .at(subject)
                .within(expression.span)
                .in_function_call(noted());
            self.fail(error, expression, locals);
            return Value::dynamic();
        }
        let start = self.diagnostics.len();
        let mut values = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            let value = self.argument_value(argument, locals);
            let ty = offered.parameter(index).map_or(&Type::Dynamic, |parameter| &parameter.ty);
            match convert(&value, ty) {
                Ok(value) => values.push(value),
                Err(error) => {
                    let message = error.to_string();
                    let refused = CallError::Argument { index, message };
                    let (error, about) =
                        failed(&refused, call, &offered, &noted, &arguments, expression);
                    self.fail(error, about, locals);
                }
            }
        }
        if self.has_failed_since(start) {
            return Value::dynamic();
        }
        let mut marks = Marks::NONE;
        let result = take_arguments(&offered, values, &mut marks).and_then(|known| match known {
            Some(values) => scope.call_provider_function(name, values),
            None => Ok(Value::unknown(offered.returns.clone())),
        });
        match result {
            Ok(value) => self.account_for(value.with_marks(marks), expression.span),
            Err(error) => {
                let (error, about) = failed(&error, call, &offered, &noted, &arguments, expression);
                self.fail(error, about, locals);
                Value::dynamic()
            }
        }
    }
}

/// The arguments as the function sees them, their marks put aside; `None` where something that is not
/// known makes the result unknown.
fn take_arguments(
    offered: &ProviderFunction,
    mut values: Vec<Value>,
    marks: &mut Marks,
) -> Result<Option<Vec<Value>>, CallError> {
    let mut known = true;
    for (index, value) in values.iter_mut().enumerate() {
        let Some(parameter) = offered.parameter(index) else { continue };
        *marks = *marks | value.deep_marks();
        *value = value.unmark_deep();
        if value.is_null() && !parameter.allow_null {
            return Err(CallError::Argument { index, message: "argument must not be null".into() });
        }
        known &= parameter.allow_unknown || value.is_wholly_known();
    }
    Ok(known.then_some(values))
}

/// The diagnostic for a call that failed, and the expression that it is about.
fn failed<'x>(
    error: &CallError,
    call: &FunctionCall,
    offered: &ProviderFunction,
    noted: &dyn Fn() -> FunctionCallNote,
    arguments: &[Argument<'x>],
    expression: &'x Expression,
) -> (Diagnostic, &'x Expression) {
    if let CallError::Argument { index, message } = error
        && let Some(parameter) = offered.parameter(*index)
    {
        let error = Diagnostic::error(
            "Invalid function argument",
            format!("Invalid value for {:?} parameter: {message}.", &*parameter.name),
        )
        .in_function_call(noted());
        return match arguments.get(*index) {
            Some(argument) => {
                (error.at(argument.span()).within(expression.span), argument.expression())
            }
            None => (error.at(expression.span), expression),
        };
    }
    let error = Diagnostic::error(
        "Error in function call",
        format!("Call to function {:?} failed: {error}.", call.name),
    )
    .at(call.name_span.to(call.open_span))
    .within(expression.span)
    .in_function_call(noted());
    (error, expression)
}

fn note(
    call: &FunctionCall,
    name: &ProviderFunctionName<'_>,
    offered: &ProviderFunction,
) -> FunctionCallNote {
    let signature = FunctionSignature {
        name: name.function.into(),
        description: None,
        params: offered.parameters.iter().map(described).collect(),
        variadic_param: offered.variadic.as_ref().map(described),
        return_type: type_json(&offered.returns),
    };
    FunctionCallNote { called_as: call.name.to_string(), signature: Some(signature) }
}

fn described(parameter: &ProviderParameter) -> FunctionParameter {
    FunctionParameter {
        name: parameter.name.to_string(),
        description: None,
        type_constraint: type_json(&parameter.ty),
    }
}
