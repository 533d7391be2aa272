use values::Path;

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The call failed.
    Error,
    /// The call succeeded, and the user should know something.
    Warning,
}

/// What a provider has to say to the user about a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderDiagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// One line.
    pub summary: String,
    /// The rest; may be empty.
    pub detail: String,
    /// What it is about, within the configuration or object of the call.
    pub attribute: Option<Path>,
}

/// A provider's answer to one call: a value, diagnostics, or both.
#[derive(Clone, Debug)]
#[must_use]
pub struct Response<T> {
    /// The answer; absent only where a diagnostic is an error. An error does not make a value that
    /// came with it worthless: a failed apply tells what there is.
    pub value: Option<T>,
    /// Diagnostics in the provider's order.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

impl ProviderDiagnostic {
    /// An error about the call as a whole.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic {
            severity: Severity::Error,
            summary: summary.into(),
            detail: detail.into(),
            attribute: None,
        }
    }
    /// A warning about the call as a whole.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic {
            severity: Severity::Warning,
            ..ProviderDiagnostic::error(summary, detail)
        }
    }
    /// The same, about one attribute.
    #[must_use]
    pub fn at(self, attribute: Path) -> ProviderDiagnostic {
        ProviderDiagnostic { attribute: Some(attribute), ..self }
    }
    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl<T> Response<T> {
    /// An answer without diagnostics.
    pub fn ok(value: T) -> Response<T> {
        Response { value: Some(value), diagnostics: Vec::new() }
    }
    /// An answer with diagnostics beside it.
    pub fn with(value: T, diagnostics: Vec<ProviderDiagnostic>) -> Response<T> {
        Response { value: Some(value), diagnostics }
    }
    /// No answer but one error.
    pub fn failed(error: ProviderDiagnostic) -> Response<T> {
        debug_assert!(error.is_error());
        Response { value: None, diagnostics: vec![error] }
    }
    /// Whether a diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(ProviderDiagnostic::is_error)
    }
    /// The value and its warnings, or all diagnostics where one is an error.
    ///
    /// Not for applies, where the value counts beside errors too.
    ///
    /// # Errors
    /// Where a diagnostic is an error.
    pub fn into_result(self) -> Result<(T, Vec<ProviderDiagnostic>), Vec<ProviderDiagnostic>> {
        match self.value {
            Some(value) if !self.diagnostics.iter().any(ProviderDiagnostic::is_error) => {
                Ok((value, self.diagnostics))
            }
            _ => Err(self.diagnostics),
        }
    }
    /// The same diagnostics with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Response<U> {
        Response { value: self.value.map(f), diagnostics: self.diagnostics }
    }
}
