//! What providers say, placed in the configuration that it is about.

use language::diagnostics::Diagnostic;
use language::source::Span;
use language::syntax::ast::Body;
use providers::{ProviderDiagnostic, ProviderError};
use values::{Path, PathStep};

/// A provider's diagnostics, at the attributes of the body that they name.
pub(crate) fn in_body(
    diagnostics: impl IntoIterator<Item = ProviderDiagnostic>,
    body: Option<&Body>,
    block: Option<Span>,
    address: &str,
) -> Vec<Diagnostic> {
    diagnostics
        .into_iter()
        .map(|d| {
            let mut diagnostic = match d.is_error() {
                true => Diagnostic::error(d.summary, d.detail),
                false => Diagnostic::warning(d.summary, d.detail),
            };
            let place = body
                .and_then(|body| locate(body, d.attribute.as_ref()?))
                .or(body.map(|b| b.end_span).filter(|_| d.attribute.is_some()))
                .or(block);
            if let Some(place) = place {
                diagnostic = diagnostic.at(place);
            }
            diagnostic.for_address(address)
        })
        .collect()
}

/// Why a provider did not do what it was asked.
#[derive(Debug)]
pub(crate) enum CallFailure {
    /// The call failed as a whole.
    Call(ProviderError),
    /// The provider says why.
    Refused(Vec<ProviderDiagnostic>),
}

impl CallFailure {
    /// One line for hooks.
    pub(crate) fn summary(&self) -> String {
        match self {
            CallFailure::Call(_) => "the provider could not be asked".into(),
            CallFailure::Refused(errors) => {
                errors.first().map_or_else(String::new, |error| error.summary.clone())
            }
        }
    }

    /// For people, at the attributes of the body that the provider names.
    pub(crate) fn into_diagnostics(
        self,
        body: Option<&Body>,
        block: Option<Span>,
        address: &str,
    ) -> Vec<Diagnostic> {
        match self {
            CallFailure::Call(error) => vec![failed_call(&error, block, address)],
            CallFailure::Refused(errors) => in_body(errors, body, block, address),
        }
    }
}

/// A call that failed as a whole.
pub(crate) fn failed_call(error: &ProviderError, place: Option<Span>, address: &str) -> Diagnostic {
    let summary = match error {
        ProviderError::Died { .. } | ProviderError::Transport { .. } => "Plugin did not respond",
        ProviderError::Protocol { .. } => "Provider produced invalid object",
        ProviderError::Unsupported { .. } => "Operation not supported by the provider",
        _ => "Provider call failed",
    };
    let diagnostic = Diagnostic::error(summary, error.to_string()).for_address(address);
    match place {
        Some(place) => diagnostic.at(place),
        None => diagnostic,
    }
}

/// Where the argument that a path leads to stands, as far down as the body goes.
pub(crate) fn locate(body: &Body, path: &Path) -> Option<Span> {
    let (first, rest) = path.0.split_first()?;
    let PathStep::Attribute(name) = first else { return None };
    if let Some(attribute) = body.attributes.iter().find(|a| a.name == *name) {
        return Some(attribute.expression.span);
    }
    let mut blocks = body.blocks.iter().filter(|b| *b.type_name == **name);
    let (block, rest) = match rest.split_first() {
        Some((PathStep::Index(i), rest)) => (blocks.nth(*i)?, rest),
        Some((PathStep::Key(_) | PathStep::Element(_), rest)) => (blocks.next()?, rest),
        _ => (blocks.next()?, rest),
    };
    locate(&block.body, &Path(rest.to_vec())).or(Some(block.type_span))
}
