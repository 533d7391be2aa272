//! What holds of any bytes whatever, by the part that reads them: nothing panics, recurses or allocates without bound,
//! and what is promised beside that is asserted. The targets in `fuzz/` look for bytes of which it does not hold; the
//! tests try those that were kept.

mod diagnostics;
mod evaluation;
mod json_syntax;
mod meaning;
mod messagepack;
mod module;
mod native_syntax;
mod template;
mod tfvars;

pub use json_syntax::json_syntax;
pub use messagepack::messagepack;
pub use native_syntax::native_syntax;
pub use template::template;
pub use tfvars::tfvars;
