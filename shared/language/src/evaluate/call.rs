//! Function calls.

use values::convert::convert;
use values::json::type_to_json;
use values::{Type, Value};

use super::provider_call::provider_function;
use super::{Evaluator, Locals};
use crate::diagnostics::{Diagnostic, FunctionCallNote, FunctionParameter, FunctionSignature};
use crate::functions::{self, CallError, Function, Parameter, ParameterType};
use crate::source::Span;
use crate::syntax::ast::{Expression, FunctionCall};
use crate::syntax::suggest;

/// An argument of a call: an expression, or an element of the expanded last one.
pub(super) enum Argument<'e> {
    Expression(&'e Expression),
    Element(Value, &'e Expression),
}

impl<'e> Argument<'e> {
    /// The expression that diagnostics are about.
    pub(super) fn expression(&self) -> &'e Expression {
        match self {
            Argument::Expression(expression) | Argument::Element(_, expression) => expression,
        }
    }

    pub(super) fn span(&self) -> Span {
        match self {
            Argument::Expression(expression) => expression.start_span(),
            Argument::Element(_, expression) => expression.span,
        }
    }
}

impl Evaluator<'_> {
    pub(super) fn call(
        &mut self,
        call: &FunctionCall,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        if self.scope.is_none() {
            self.diagnostics.push(
                Diagnostic::error(
                    "Function calls not allowed",
                    "Functions may not be called here.",
                )
                .at(expression.span),
            );
            return Value::dynamic();
        }
        if let Some(name) = provider_function(&call.name) {
            return self.provider_call(call, &name, expression, locals);
        }
        let function = match functions::lookup(&call.name) {
            Some(function) if function.name != "type" || self.console => function,
            _ => {
                let error = unknown_function(call, self.console).within(expression.span);
                self.fail(error, expression, locals);
                return Value::dynamic();
            }
        };
        let noted = || note(call, function);
        let Some(arguments) = self.arguments(call, &noted, expression, locals) else {
            return Value::dynamic();
        };
        if let Err(error) = function.check_arity(&call.name, arguments.len()) {
            let subject = match &error {
                functions::ArityError::NotEnough { .. } => call.close_span,
                functions::ArityError::TooMany { allowed, .. } => {
                    arguments.get(*allowed).map_or(call.name_span, Argument::span)
                }
            };
            let error = Diagnostic::error(error.summary(), error.to_string())
                .at(subject)
                .within(expression.span)
                .in_function_call(note(call, function));
            self.fail(error, expression, locals);
            return Value::dynamic();
        }
        let result = match function.name {
            "try" => self.try_each(&arguments, locals),
            "can" => Ok(self.can(&arguments, locals)),
            "templatestring" => {
                let start = self.diagnostics.len();
                let vars = self.argument(&arguments, 1, call, function, expression, locals);
                if self.has_failed_since(start) {
                    return Value::dynamic();
                }
                self.template_string(arguments.first(), &vars, locals)
            }
            _ => {
                let start = self.diagnostics.len();
                let values: Vec<Value> = (0..arguments.len())
                    .map(|at| self.argument(&arguments, at, call, function, expression, locals))
                    .collect();
                if self.has_failed_since(start) {
                    return Value::dynamic();
                }
                match (function.name, values.as_slice()) {
                    ("templatefile", [path, vars]) => self.template_file(path, vars),
                    ("type", [value]) => Ok(self.type_of(value)),
                    _ => match self.scope {
                        Some(scope) => function.call(&scope.function_context(), &values),
                        None => Ok(Value::dynamic()),
                    },
                }
            }
        };
        match result {
            Ok(value) => self.account_for(value, expression.span),
            Err(error) => {
                let (error, about) =
                    self.failed_call(&error, call, function, &arguments, expression);
                self.fail(error, about, locals);
                Value::dynamic()
            }
        }
    }

    /// The arguments in order, the last one expanded; `None` where that failed or has to wait.
    pub(super) fn arguments<'e>(
        &mut self,
        call: &'e FunctionCall,
        note: &dyn Fn() -> FunctionCallNote,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Option<Vec<Argument<'e>>> {
        let (plain, last) = match call.arguments.split_last() {
            Some((last, plain)) if call.expand_final => (plain, Some(last)),
            _ => (&call.arguments[..], None),
        };
        let mut arguments: Vec<Argument<'e>> = plain.iter().map(Argument::Expression).collect();
        let Some(last) = last else { return Some(arguments) };
        let start = self.diagnostics.len();
        let value = self.evaluate(last, locals);
        if self.has_failed_since(start) {
            return None;
        }
        let ty = value.ty();
        let expandable =
            matches!(ty, Type::Tuple(_) | Type::List(_) | Type::Set(_) | Type::Dynamic);
        let refusal = match (expandable, value.is_null()) {
            (false, _) => "must be of a tuple, list, or set type",
            (true, true) => "must not be null",
            (true, false) => {
                let elements = value.as_slice()?;
                arguments.extend(elements.iter().map(|element| {
                    Argument::Element(element.clone().with_marks(value.marks()), last)
                }));
                return Some(arguments);
            }
        };
        self.fail(
            Diagnostic::error(
                "Invalid expanding argument value",
                format!("The expanding argument (indicated by ...) {refusal}."),
            )
            .at(last.span)
            .within(expression.span)
            .in_function_call(note()),
            last,
            locals,
        );
        None
    }

    /// One argument, converted to its parameter's type.
    fn argument(
        &mut self,
        arguments: &[Argument<'_>],
        at: usize,
        call: &FunctionCall,
        function: &'static Function,
        expression: &Expression,
        locals: Locals<'_>,
    ) -> Value {
        let Some(argument) = arguments.get(at) else { return Value::dynamic() };
        let value = self.argument_value(argument, locals);
        let Some(parameter) = function.parameter(at) else { return value };
        if parameter.ty == ParameterType::Any {
            return value;
        }
        convert(&value, &parameter.ty.ty()).unwrap_or_else(|error| {
            self.fail(
                Diagnostic::error(
                    "Invalid function argument",
                    format!("Invalid value for {:?} parameter: {error}.", parameter.name),
                )
                .at(argument.span())
                .within(expression.span)
                .in_function_call(note(call, function)),
                argument.expression(),
                locals,
            );
            Value::dynamic()
        })
    }

    pub(super) fn argument_value(&mut self, argument: &Argument<'_>, locals: Locals<'_>) -> Value {
        match argument {
            Argument::Expression(expression) => self.evaluate(expression, locals),
            Argument::Element(value, _) => value.clone(),
        }
    }

    fn failed_call<'x>(
        &self,
        error: &CallError,
        call: &FunctionCall,
        function: &'static Function,
        arguments: &[Argument<'x>],
        expression: &'x Expression,
    ) -> (Diagnostic, &'x Expression) {
        let note = note(call, function);
        if let CallError::Argument { index, message } = error
            && let Some(parameter) = function.parameter(*index)
        {
            let error = Diagnostic::error(
                "Invalid function argument",
                format!("Invalid value for {:?} parameter: {message}.", parameter.name),
            )
            .in_function_call(note);
            return match arguments.get(*index) {
                Some(argument) => {
                    let error = error.at(argument.span()).within(expression.span);
                    (error, argument.expression())
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
        .in_function_call(note);
        (error, expression)
    }

    fn try_each(
        &mut self,
        arguments: &[Argument<'_>],
        locals: Locals<'_>,
    ) -> Result<Value, CallError> {
        if arguments.is_empty() {
            let message = "at least one argument is required".into();
            return Err(CallError::Other { message });
        }
        let start = self.diagnostics.len();
        for argument in arguments {
            let before = self.diagnostics.len();
            self.attempts += 1;
            let value = self.argument_value(argument, locals);
            self.attempts -= 1;
            if !self.has_failed_since(before) {
                self.diagnostics.truncate(start);
                // What is unknown may still turn out to fail, and then another argument counts.
                return Ok(if value.is_wholly_known() { value } else { Value::dynamic() });
            }
        }
        let mut message = String::from("no expression succeeded:\n");
        for error in self.diagnostics.split_off(start) {
            let place = match (error.subject, self.scope) {
                (Some(span), Some(scope)) => format!(" (at {})", scope.sources().range(span)),
                _ => String::new(),
            };
            message.push_str(&format!("- {}{place}\n  {}\n", error.summary, error.detail));
        }
        message.push_str("\nAt least one expression must produce a successful result");
        Err(CallError::Other { message })
    }

    fn can(&mut self, arguments: &[Argument<'_>], locals: Locals<'_>) -> Value {
        let Some(argument) = arguments.first() else { return Value::dynamic() };
        let start = self.diagnostics.len();
        self.attempts += 1;
        let value = self.argument_value(argument, locals);
        self.attempts -= 1;
        if self.has_failed_since(start) {
            self.diagnostics.truncate(start);
            return Value::bool(false);
        }
        match value.is_wholly_known() {
            true => Value::bool(true),
            false => Value::unknown(Type::Bool),
        }
    }
}

fn note(call: &FunctionCall, function: &'static Function) -> FunctionCallNote {
    let signature = FunctionSignature {
        name: function.name.into(),
        description: None,
        params: function.parameters.iter().map(described).collect(),
        variadic_param: function.variadic.map(described),
        return_type: type_json(&function.returns.ty()),
    };
    FunctionCallNote { called_as: call.name.to_string(), signature: Some(signature) }
}

fn described(parameter: &Parameter) -> FunctionParameter {
    FunctionParameter {
        name: parameter.name.into(),
        description: None,
        type_constraint: type_json(&parameter.ty.ty()),
    }
}

pub(super) fn type_json(ty: &Type) -> serde_json::Value {
    serde_json::from_str(&type_to_json(ty)).unwrap_or_default()
}

fn unknown_function(call: &FunctionCall, console: bool) -> Diagnostic {
    let name = &*call.name;
    let Some((namespace, _)) = name.split_once("::") else {
        let known = functions::all()
            .map(|function| function.name)
            .filter(|name| console || *name != "type");
        let hint = suggest(name, known)
            .map_or_else(String::new, |near| format!(" Did you mean {near:?}?"));
        let detail = format!("There is no function named {name:?}.{hint}");
        return Diagnostic::error("Call to unknown function", detail).at(call.name_span);
    };
    let detail = match namespace {
        "provider" => {
            "The function call must include the provider name after the \"provider::\" prefix."
                .into()
        }
        _ => format!(
            "The function namespace {namespace:?} is not valid. Provider function calls must use the \"provider::\" namespace prefix."
        ),
    };
    Diagnostic::error("Unknown provider function", detail).at(call.name_span)
}
