//! Failures that a run expects: those that come are no errors, and those that do not come are.

use language::diagnostics::{Checkable, Diagnostic, Diagnostics, FailedCondition, Severity};
use language::module::test_file::{Run, parse_expected_failure};
use language::source::Span;
use values::address::{InstanceKey, ResourceInstance};

/// What a run expects to fail.
pub(super) struct Expectations(Vec<Expected>);

struct Expected {
    object: Checkable,
    span: Span,
    met: bool,
}

impl Expectations {
    /// # Errors
    /// Where the run expects failures of something that cannot fail.
    pub(super) fn of(run: &Run) -> Result<Expectations, Diagnostics> {
        let mut all = Vec::new();
        let mut diagnostics = Diagnostics::new();
        for traversal in &run.expect_failures {
            match parse_expected_failure(traversal) {
                Ok((object, span)) => all.push(Expected { object, span, met: false }),
                Err(error) => diagnostics.push(*error),
            }
        }
        match diagnostics.has_errors() {
            true => Err(diagnostics),
            false => Ok(Expectations(all)),
        }
    }

    /// What remains to be said after the operation that decides: expected failures are taken out, failed checks are
    /// errors, and so are failures that were expected and did not come.
    pub(super) fn judge(mut self, diagnostics: Diagnostics) -> Diagnostics {
        let mut remaining = Diagnostics::new();
        for diagnostic in diagnostics {
            let Some(condition) = &diagnostic.condition else {
                remaining.push(diagnostic);
                continue;
            };
            if condition.found == Severity::Warning {
                remaining.push(diagnostic);
                continue;
            }
            if let Some(expected) = self.expected(condition) {
                expected.met = true;
                continue;
            }
            remaining.push(diagnostic.as_error());
        }
        let missing = self.0.into_iter().filter(|expected| !expected.met);
        remaining.extend(missing.map(|expected| {
            let detail = format!(
                "The checkable object, {}, was expected to report an error but did not.",
                expected.object
            );
            Diagnostic::error("Missing expected failure", detail).at(expected.span)
        }));
        remaining
    }

    /// What is said of a plan that failed before it could be applied, although some of that was expected.
    pub(super) fn explain(&self, mut diagnostics: Diagnostics) -> Diagnostics {
        let mut explanations = Vec::new();
        for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.is_error()) {
            let Some(condition) = &diagnostic.condition else { continue };
            let expected = self.0.iter().find(|expected| concerns(&expected.object, condition));
            let Some(expected) = expected else { continue };
            let warning = Diagnostic::warning(
                "Expected failure while planning",
                format!(
                    "A custom condition within {} failed during the planning stage and prevented the requested apply operation. While this was an expected failure, the apply operation could not be executed and so the overall test case will be marked as a failure and the original diagnostic included in the test report.",
                    condition.object
                ),
            );
            // As in Terraform, a resource as a whole is not pointed at.
            explanations.push(match expected.object == condition.object {
                true if !is_whole(&expected.object) => warning.at(expected.span),
                _ => warning,
            });
        }
        diagnostics.extend(explanations);
        diagnostics
    }

    fn expected(&mut self, condition: &FailedCondition) -> Option<&mut Expected> {
        self.0.iter_mut().find(|expected| concerns(&expected.object, condition))
    }
}

fn is_whole(object: &Checkable) -> bool {
    matches!(object, Checkable::Resource(ResourceInstance { key: InstanceKey::None, .. }))
}

/// Whether a condition belongs to what is expected to fail, which is in the root module.
fn concerns(expected: &Checkable, condition: &FailedCondition) -> bool {
    if !condition.module.is_root() {
        return false;
    }
    match (expected, &condition.object) {
        (Checkable::Resource(expected), Checkable::Resource(failed)) => {
            expected == failed
                || (expected.key == InstanceKey::None
                    && expected.containing() == failed.containing())
        }
        (expected, failed) => expected == failed,
    }
}
