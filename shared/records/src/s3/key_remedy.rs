//! How a key that cannot be used is mended. Never by a policy: nobody was denied anything.

use super::commands::{Commands, quote};
use super::denied_remedy::key_of_bucket;
use crate::contract::Remedy;
use crate::service_refusal::KeyProblem;

/// What to do about a key that cannot be used, with the commands. Without a key, it is the one that the bucket
/// names.
pub(super) fn remedy(key: Option<&str>, problem: &KeyProblem, commands: &Commands) -> Remedy {
    let key = &key.map_or_else(|| key_of_bucket(commands), quote);
    let kms = |operation: &str, arguments: &str| commands.kms_quoted(operation, key, arguments);
    match problem {
        KeyProblem::Disabled => Remedy::command(
            "Enable the key; what is encrypted with it is readable again at once.",
            kms("enable-key", ""),
        ),
        KeyProblem::PendingDeletion { date } => {
            let until = match date {
                Some(date) => format!(" before {date}"),
                None => String::new(),
            };
            Remedy::command(
                format!(
                    "Cancel the deletion{until}, or everything encrypted with the key is lost for good, and \
                     enable the key, which a cancelled deletion leaves disabled."
                ),
                kms("cancel-key-deletion", ""),
            )
            .and(kms("enable-key", ""))
        }
        KeyProblem::InvalidState { state } => match state.as_deref() {
            Some("PendingImport") => Remedy::command(
                "Import the key's material again: the same, or what was encrypted with it stays unreadable.",
                kms("describe-key", "--query KeyMetadata"),
            ),
            Some("Unavailable") => Remedy::command(
                "Connect the custom key store that holds the key.",
                "aws kms describe-custom-key-stores",
            ),
            Some("Creating") => Remedy::command(
                "Wait until the key is made, and run again.",
                kms("describe-key", "--query KeyMetadata.KeyState"),
            ),
            _ => Remedy::command(
                "See the key's state and lead it back to Enabled: a disabled key is enabled, a deletion \
                 cancelled, missing key material imported, a custom key store connected.",
                kms("describe-key", "--query KeyMetadata"),
            ),
        },
        KeyProblem::NotFound => {
            // The key's ARN is put in by the shell, so the JSON stands in double quotes.
            let encryption = serde_json::json!({
                "Rules": [{
                    "ApplyServerSideEncryptionByDefault":
                        { "SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "$KEY" },
                    "BucketKeyEnabled": true,
                }],
            });
            let encryption = encryption.to_string().replace('"', "\\\"");
            Remedy::command(
                "See which key the bucket names: its ARN may name another account or region. What was encrypted \
                 with a key that is deleted is lost. For new objects, name a key that exists, such as a new one.",
                commands.s3api("get-bucket-encryption", ""),
            )
            .and(format!(
                "KEY=\"$({})\" && {}",
                commands.create_key(),
                commands.s3api(
                    "put-bucket-encryption",
                    &format!("--server-side-encryption-configuration \"{encryption}\"")
                )
            ))
        }
    }
}
