//! Randomness, handed in.

/// A source of bytes that nobody can foresee.
pub trait Random: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}
