//! The names under which the product speaks of itself.

/// Its name in sentences.
pub const NAME: &str = "Plumbline";
/// Its command.
pub const COMMAND: &str = "plumb";
/// The release of Terraform whose formats are written, for programs that check it.
pub const TERRAFORM_VERSION: &str = "1.11.4";
