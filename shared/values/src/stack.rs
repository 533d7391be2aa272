/// Runs a step of a recursion over something that may be nested deeply: makes more stack where the
/// thread's own is nearly used up.
pub(crate) fn deep<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, f)
}
