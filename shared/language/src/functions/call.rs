//! What a function is, and how one is called: the rules that hold for all of them.

use super::FunctionContext;
use values::convert::convert;
use values::{Marks, Type, Value};

/// A function of the language: its signature, and what it does.
pub struct Function {
    /// Its name, without the `core::` prefix.
    pub name: &'static str,
    /// What it does, for `metadata functions` and editors.
    pub description: &'static str,
    /// The parameters that every call must fill.
    pub parameters: &'static [Parameter],
    /// The parameter that takes all further arguments, if there may be any.
    pub variadic: Option<&'static Parameter>,
    /// The type of its result as far as it is fixed: what `metadata functions` shows.
    pub returns: ParameterType,
    result_type: Option<ResultType>,
    maybe_null: bool,
    unpredictable: bool,
    body: Body,
}

/// The type of a function's result, given its arguments.
type ResultType = fn(&[Value]) -> Result<Type, CallError>;

/// One parameter of a function.
pub struct Parameter {
    /// Its name, as messages have it.
    pub name: &'static str,
    /// What arguments are converted to.
    pub ty: ParameterType,
    /// Whether null is an argument like any other; otherwise it is refused.
    pub allow_null: bool,
    /// Whether the function sees unknown arguments; otherwise they make the result unknown.
    pub allow_unknown: bool,
    /// Whether the function sees arguments whose type is not known; otherwise they make the type of
    /// the result unknown.
    pub allow_dynamic: bool,
    /// Whether the function sees marks; otherwise they are taken off and put onto the result.
    pub allow_marked: bool,
    /// Whether the marks of an argument that the function would see are on an unknown result, too.
    pub keep_marks: bool,
    /// What it is for; empty where the name says it.
    pub description: &'static str,
}

/// The types that occur in signatures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParameterType {
    /// any type
    Any,
    /// `bool`
    Bool,
    /// `number`
    Number,
    /// `string`
    String,
    /// `list(any)`
    List,
    /// `list(bool)`
    ListOfBool,
    /// `list(number)`
    ListOfNumber,
    /// `list(string)`
    ListOfString,
    /// `list(list(any))`
    ListOfList,
    /// `set(any)`
    Set,
    /// `set(string)`
    SetOfString,
    /// `map(any)`
    Map,
    /// `map(list(string))`
    MapOfListOfString,
}

/// Why a call failed, in Terraform's words and without the full stop: the caller puts them into a
/// diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// One argument is at fault: "Invalid value for NAME parameter: MESSAGE."
    #[error("{message}")]
    Argument {
        /// Position of the argument in the call.
        index: usize,
        /// What is wrong with it.
        message: String,
    },
    /// The call as a whole failed: "Call to function NAME failed: MESSAGE."
    #[error("{message}")]
    Other {
        /// What went wrong.
        message: String,
    },
}

/// A call has too few or too many arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArityError {
    /// Parameters are left without an argument.
    #[error(
        "Function {function:?} expects{} {required} argument(s). Missing value for {missing:?}.",
        if *.variadic { " at least" } else { "" }
    )]
    NotEnough {
        /// The function, as the call names it.
        function: String,
        /// How many it needs.
        required: usize,
        /// Whether it takes more than it needs.
        variadic: bool,
        /// The first parameter without an argument.
        missing: String,
    },
    /// There are more arguments than parameters.
    #[error("Function {function:?} expects only {allowed} argument(s).")]
    TooMany {
        /// The function, as the call names it.
        function: String,
        /// How many it takes; also the position of the first argument that is too many.
        allowed: usize,
    },
}

pub(super) type Implementation =
    fn(&FunctionContext<'_>, &[Value], &Type) -> Result<Value, CallError>;

enum Body {
    /// Computes the result from arguments that obey the parameters, and the result's type.
    Native(Implementation),
    /// Works on expressions rather than on values: see [`Function::is_special`].
    Special,
}

impl Function {
    /// A function whose result is never null.
    pub(super) const fn new(
        name: &'static str,
        description: &'static str,
        parameters: &'static [Parameter],
        returns: ParameterType,
        implementation: Implementation,
    ) -> Function {
        Function {
            name,
            description,
            parameters,
            variadic: None,
            returns,
            result_type: None,
            maybe_null: false,
            unpredictable: false,
            body: Body::Native(implementation),
        }
    }
    /// A function that the evaluator implements.
    pub(super) const fn special(
        name: &'static str,
        description: &'static str,
        parameters: &'static [Parameter],
        returns: ParameterType,
    ) -> Function {
        Function {
            name,
            description,
            parameters,
            variadic: None,
            returns,
            result_type: None,
            maybe_null: true,
            unpredictable: false,
            body: Body::Special,
        }
    }
    pub(super) const fn variadic(mut self, parameter: &'static Parameter) -> Function {
        self.variadic = Some(parameter);
        self
    }
    /// The type of the result follows from the arguments (which may be unknown) as this says.
    pub(super) const fn typed_by(mut self, result_type: ResultType) -> Function {
        self.result_type = Some(result_type);
        self
    }
    /// The result may be null, so an unknown one is not refined.
    pub(super) const fn maybe_null(mut self) -> Function {
        self.maybe_null = true;
        self
    }
    /// Gives another result at every call, and hence an unknown one while planning.
    pub(super) const fn unpredictable(mut self) -> Function {
        self.unpredictable = true;
        self
    }

    /// Whether the evaluator implements it, because it needs expressions, templates or references
    /// rather than values: `try`, `can`, `templatefile`, `templatestring` and `type`. These have a
    /// signature here, and [`Function::call`] refuses them.
    pub fn is_special(&self) -> bool {
        matches!(self.body, Body::Special)
    }
    /// The parameter that the argument at a position fills; `None` beyond the last one.
    pub fn parameter(&self, index: usize) -> Option<&'static Parameter> {
        self.parameters.get(index).or(self.variadic)
    }
    /// Whether a call with so many arguments can be made; `called_as` is its name in the call.
    ///
    /// # Errors
    /// With Terraform's text where it cannot.
    pub fn check_arity(&self, called_as: &str, arguments: usize) -> Result<(), ArityError> {
        let names: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name).collect();
        check_arity(called_as, arguments, &names, self.variadic.is_some())
    }

    /// Calls the function. Arguments are converted to the types of the parameters; null is refused,
    /// unknown arguments make the result unknown and marks travel to the result, but for parameters
    /// that say otherwise.
    ///
    /// # Errors
    /// Where an argument is refused or the function fails. The number of arguments is the caller's
    /// to check ([`Function::check_arity`]): a wrong one fails here too, less nicely.
    pub fn call(
        &self,
        context: &FunctionContext<'_>,
        arguments: &[Value],
    ) -> Result<Value, CallError> {
        let Body::Native(implementation) = self.body else {
            return Err(CallError::other("this function is called through the evaluator only"));
        };
        self.check_arity(self.name, arguments.len())
            .map_err(|e| CallError::other(e.to_string()))?;
        let mut converted = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            converted.push(match self.parameter(index) {
                Some(parameter) => parameter.ty.convert(argument, index)?,
                None => argument.clone(),
            });
        }

        let mut marks = Marks::NONE;
        let mut unknown = false;
        let mut dynamic = false;
        for (index, argument) in converted.iter_mut().enumerate() {
            let Some(parameter) = self.parameter(index) else { continue };
            if !parameter.allow_marked && !argument.deep_marks().is_empty() {
                marks = marks | argument.deep_marks();
                *argument = argument.unmark_deep();
            }
            // After an argument of unknown type, nothing more is said about the others.
            if !dynamic {
                if argument.is_null() && !parameter.allow_null {
                    return Err(CallError::argument(index, "argument must not be null"));
                }
                dynamic = !parameter.allow_dynamic && argument.ty() == Type::Dynamic;
            }
            unknown |= !parameter.allow_unknown && !argument.is_known();
        }
        if unknown && !dynamic {
            for (index, argument) in converted.iter().enumerate() {
                if self.parameter(index).is_some_and(|parameter| parameter.keep_marks) {
                    marks = marks | argument.marks();
                }
            }
        }
        if dynamic {
            return Ok(Value::dynamic().with_marks(marks));
        }
        let ty = match self.result_type {
            Some(result_type) => result_type(&converted)?,
            None => self.returns.ty(),
        };
        let result = match unknown || (self.unpredictable && context.pure_only) {
            true => Value::unknown(ty),
            false => implementation(context, &converted, &ty)?,
        };
        let result = match self.maybe_null {
            true => result,
            false => result.refine_not_null(),
        };
        Ok(result.with_marks(marks))
    }
}

/// Whether a function with parameters of these names can be called with so many arguments.
pub(crate) fn check_arity(
    called_as: &str,
    arguments: usize,
    parameters: &[&str],
    variadic: bool,
) -> Result<(), ArityError> {
    if let Some(missing) = parameters.get(arguments) {
        return Err(ArityError::NotEnough {
            function: called_as.into(),
            required: parameters.len(),
            variadic,
            missing: (*missing).into(),
        });
    }
    if !variadic && arguments > parameters.len() {
        return Err(ArityError::TooMany { function: called_as.into(), allowed: parameters.len() });
    }
    Ok(())
}

impl Parameter {
    pub(super) const fn new(name: &'static str, ty: ParameterType) -> Parameter {
        Parameter {
            name,
            ty,
            allow_null: false,
            allow_unknown: false,
            allow_dynamic: false,
            allow_marked: false,
            keep_marks: false,
            description: "",
        }
    }
    pub(super) const fn any(name: &'static str) -> Parameter {
        Parameter::new(name, ParameterType::Any)
    }
    pub(super) const fn number(name: &'static str) -> Parameter {
        Parameter::new(name, ParameterType::Number)
    }
    pub(super) const fn string(name: &'static str) -> Parameter {
        Parameter::new(name, ParameterType::String)
    }
    pub(super) const fn described(mut self, description: &'static str) -> Parameter {
        self.description = description;
        self
    }
    pub(super) const fn null(mut self) -> Parameter {
        self.allow_null = true;
        self
    }
    pub(super) const fn unknown(mut self) -> Parameter {
        self.allow_unknown = true;
        self
    }
    pub(super) const fn dynamic(mut self) -> Parameter {
        self.allow_dynamic = true;
        self
    }
    pub(super) const fn marked(mut self) -> Parameter {
        self.allow_marked = true;
        self
    }
    /// As `marked`, and nothing is disclosed by not being known yet.
    pub(super) const fn marked_even_unknown(mut self) -> Parameter {
        self.keep_marks = true;
        self.marked()
    }
}

impl ParameterType {
    /// The type itself.
    pub fn ty(self) -> Type {
        match self {
            ParameterType::Any => Type::Dynamic,
            ParameterType::Bool => Type::Bool,
            ParameterType::Number => Type::Number,
            ParameterType::String => Type::String,
            ParameterType::List => Type::list(Type::Dynamic),
            ParameterType::ListOfBool => Type::list(Type::Bool),
            ParameterType::ListOfNumber => Type::list(Type::Number),
            ParameterType::ListOfString => Type::list(Type::String),
            ParameterType::ListOfList => Type::list(Type::list(Type::Dynamic)),
            ParameterType::Set => Type::set(Type::Dynamic),
            ParameterType::SetOfString => Type::set(Type::String),
            ParameterType::Map => Type::map(Type::Dynamic),
            ParameterType::MapOfListOfString => Type::map(Type::list(Type::String)),
        }
    }
    fn convert(self, argument: &Value, index: usize) -> Result<Value, CallError> {
        if self == ParameterType::Any {
            return Ok(argument.clone());
        }
        convert(argument, &self.ty()).map_err(|e| CallError::argument(index, e.to_string()))
    }
}

impl CallError {
    pub(super) fn argument(index: usize, message: impl Into<String>) -> CallError {
        CallError::Argument { index, message: message.into() }
    }
    pub(super) fn other(message: impl Into<String>) -> CallError {
        CallError::Other { message: message.into() }
    }
}

impl ArityError {
    /// The diagnostic's summary; the text of the error is its detail.
    pub fn summary(&self) -> &'static str {
        match self {
            ArityError::NotEnough { .. } => "Not enough function arguments",
            ArityError::TooMany { .. } => "Too many function arguments",
        }
    }
}
