//! The names under which the product speaks of itself.

/// Its name in sentences.
pub const NAME: &str = "Plumbline";
/// Its command.
pub const COMMAND: &str = "plumb";
/// The release of Terraform whose formats are written, for programs that check it.
pub const TERRAFORM_VERSION: &str = "1.11.4";

/// A word of a command line, as a shell takes it.
pub fn shell_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@=+,".contains(&byte);
    match !word.is_empty() && word.bytes().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
