//! What an evaluation needs from its surroundings.

use values::Value;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::functions::FunctionContext;
use crate::reference::Reference;
use crate::source::{Sources, Span};

/// Gives values to references and functions to calls. Implemented by whoever evaluates: the engine
/// for a module instance, a map of constants in tests.
pub trait Scope {
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

    /// Calls `provider::local_name::function`; `arguments` are not converted yet.
    ///
    /// # Errors
    /// Where the provider has no such function, or it fails; without places, which the evaluator
    /// adds.
    fn call_provider_function(
        &self,
        call: &ProviderFunctionCall<'_>,
    ) -> Result<Value, ProviderFunctionError> {
        Err(ProviderFunctionError::Refused(Box::new(
            Diagnostic::error(
                "Provider functions not available",
                format!("The function {:?} cannot be called here.", call.written),
            )
            .at(call.span),
        )))
    }

    /// Files, clock and randomness for the built-in functions, and which of them may be used.
    fn function_context(&self) -> FunctionContext<'_>;

    /// The registry that spans belong to; templates that functions read are added to it.
    fn sources(&self) -> &Sources;
}

/// A call of a function that a provider offers.
#[derive(Debug)]
pub struct ProviderFunctionCall<'c> {
    /// The whole name as it is written.
    pub written: &'c str,
    /// The provider's local name in the module.
    pub provider: &'c str,
    /// The function's name within the provider.
    pub function: &'c str,
    /// The arguments as they were evaluated.
    pub arguments: &'c [Value],
    /// Where the name stands.
    pub span: Span,
}

/// Why a provider's function gave no value.
#[derive(Debug)]
pub enum ProviderFunctionError {
    /// The call as a whole is refused; complete with its place.
    Refused(Box<Diagnostic>),
    /// The function failed with this message.
    Failed(String),
    /// The function, or the conversion to its parameter's type, refused one argument.
    Argument {
        /// Which, from 0.
        index: usize,
        /// The parameter's name.
        parameter: String,
        /// Why.
        message: String,
    },
}
