//! What an evaluation needs from its surroundings.

use std::sync::Arc;

use values::{Type, Value};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::functions::{CallError, FunctionContext};
use crate::reference::Reference;
use crate::source::Sources;
use crate::syntax::ast::Traversal;

/// Gives values to references and functions to calls. Implemented by whoever evaluates: the engine
/// for a module instance, a map of constants in tests.
pub trait Scope {
    /// What a traversal names here.
    ///
    /// # Errors
    /// Where it names nothing that there is.
    fn parse(&self, traversal: &Arc<Traversal>) -> Result<Reference, Box<Diagnostic>> {
        Reference::parse(traversal)
    }

    /// Checks a reference before anything is evaluated, whether or not evaluation will look at it:
    /// whether its subject is declared, available here, and may have these attributes.
    fn check(&self, reference: &Reference) -> Diagnostics {
        let _ = reference;
        Diagnostics::new()
    }

    /// The value of the reference's subject as a whole (all instances of a resource or module
    /// call); the evaluator applies the remaining steps.
    ///
    /// # Errors
    /// Where there is no such object here. Such errors are reported even inside `try` and `can`.
    fn value(&self, reference: &Reference) -> Result<Value, Diagnostics>;

    /// What `provider::local_name::function` takes and gives.
    ///
    /// # Errors
    /// Where there is no such function; without its place, which the evaluator adds.
    fn provider_function(
        &self,
        name: &ProviderFunctionName<'_>,
    ) -> Result<ProviderFunction, Box<Diagnostic>> {
        Err(Box::new(Diagnostic::error(
            "Provider functions not available",
            format!("The function {:?} cannot be called here.", name.written),
        )))
    }

    /// Calls a function that [`Scope::provider_function`] has described. Arguments are of the
    /// parameters' types and carry no marks; null and unknown ones are among them only where their
    /// parameters take them.
    ///
    /// # Errors
    /// Where the function refuses them, or its provider cannot be asked.
    fn call_provider_function(
        &self,
        name: &ProviderFunctionName<'_>,
        arguments: Vec<Value>,
    ) -> Result<Value, CallError> {
        let _ = arguments;
        let message = format!("the function {:?} cannot be called here", name.written);
        Err(CallError::Other { message })
    }

    /// Files, clock and randomness for the built-in functions, and which of them may be used.
    fn function_context(&self) -> FunctionContext<'_>;

    /// The registry that spans belong to; templates that functions read are added to it.
    fn sources(&self) -> &Sources;
}

/// Names a function that a provider offers.
#[derive(Clone, Copy, Debug)]
pub struct ProviderFunctionName<'c> {
    /// The whole name as it is written.
    pub written: &'c str,
    /// The provider's local name in the module.
    pub provider: &'c str,
    /// The function's name within the provider.
    pub function: &'c str,
}

impl ProviderFunctionName<'_> {
    /// That no provider with this name offers such a function in this module.
    pub fn unknown(&self) -> Diagnostic {
        Diagnostic::error(
            "Unknown provider function",
            format!(
                "There is no function named {:?}. Ensure that provider name {:?} is declared in this module's required_providers block, and that this provider offers a function named {:?}.",
                self.written, self.provider, self.function
            ),
        )
    }
}

/// What a provider's function takes and gives.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderFunction {
    /// The parameters that every call must fill.
    pub parameters: Vec<ProviderParameter>,
    /// The parameter that takes all further arguments, if there may be any.
    pub variadic: Option<ProviderParameter>,
    /// The type of the result.
    pub returns: Type,
}

/// One parameter of a provider's function.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderParameter {
    /// Its name, as messages have it.
    pub name: Arc<str>,
    /// What arguments are converted to.
    pub ty: Type,
    /// Whether null is an argument like any other; otherwise it is refused.
    pub allow_null: bool,
    /// Whether the function sees arguments that are not wholly known; otherwise they make the result
    /// unknown.
    pub allow_unknown: bool,
}

impl ProviderFunction {
    /// The parameter that the argument at a position fills; `None` beyond the last one.
    pub fn parameter(&self, index: usize) -> Option<&ProviderParameter> {
        self.parameters.get(index).or(self.variadic.as_ref())
    }
}
