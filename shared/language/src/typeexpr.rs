//! Type constraints. Stands in for the evaluator's own until that is merged.

use values::Type;

/// A type constraint with the defaults of its optional attributes.
#[derive(Clone, Debug)]
pub struct TypeConstraint {
    /// The type.
    pub ty: Type,
}
