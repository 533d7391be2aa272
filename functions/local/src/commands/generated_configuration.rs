//! `-generate-config-out`: configuration for imported objects, in a file of the root module.

use crate::failure::Failure;
use crate::whole_file::{self, Readers};
use engine::GeneratedResource;
use engine::plan::PlanMode;
use language::diagnostics::Diagnostic;
use std::path::Path;

/// Refuses what nothing can be generated for, before anything is read.
///
/// # Errors
/// Where the file exists, would not be read as configuration, or no such plan imports anything.
pub(super) fn check(path: &str, mode: PlanMode) -> Result<(), Failure> {
    if mode != PlanMode::Normal {
        return Err(Failure::error(
            "Invalid generate-config-out flag",
            "Config can only be generated during a normal plan operation, and not during a refresh-only or destroy plan.",
        ));
    }
    let file = Path::new(path);
    if file.exists() {
        return Err(Failure::error(
            "Target generated file already exists",
            "Terraform can only write generated config into a new file. Either choose a different target location or move all existing configuration out of the target file, delete it and try again.",
        ));
    }
    let is_beside = file.parent().is_none_or(|folder| folder.as_os_str().is_empty());
    match is_beside && file.extension().is_some_and(|extension| extension == "tf") {
        true => Ok(()),
        false => Err(Failure::error(
            "Invalid generate-config-out flag",
            format!(
                "The plan is made from what is generated, so that it has to be a part of the configuration: name a file in the root module's directory that ends in \".tf\", instead of {path:?}."
            ),
        )),
    }
}

/// Writes the file.
///
/// # Errors
/// Where it cannot be written.
pub(super) fn write(path: &str, generated: &[GeneratedResource]) -> Result<(), Failure> {
    let mut text = String::from(
        "# __generated__ by Plumbline\n# Please review these resources and move them into your main configuration files.\n",
    );
    for GeneratedResource { id, text: block, .. } in generated {
        // An identifier may be of several lines, and a comment is not.
        let id = values::quote::quoted(id);
        text.push_str(&format!("\n# __generated__ by Plumbline from {id}\n{block}\n"));
    }
    whole_file::write(Path::new(path), text.as_bytes(), Readers::Everybody).map_err(|error| {
        Failure::error(
            "Failed to save generated config",
            format!("The generated configuration could not be written to {path}: {error}."),
        )
    })
}

/// That what was generated is a beginning.
pub(super) fn warning() -> Diagnostic {
    Diagnostic::warning(
        "Config generation is experimental",
        "Generating configuration during import is currently experimental, and the generated configuration format may change in future versions.",
    )
}
