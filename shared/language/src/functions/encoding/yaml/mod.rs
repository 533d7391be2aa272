//! YAML: reading the subset that values have a place for, and writing in Terraform's form.

mod decode;
mod encode;

pub(super) use decode::decode;
pub(super) use encode::encode;
