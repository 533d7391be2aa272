//! Records that are beside a configuration although `plumb.toml` has come to name another store.

use crate::project::LocatedProject;
use crate::session::Session;
use language::diagnostics::Diagnostic;
use std::path::Path;

/// Why an estate without records in its store is not planned: it has some where they were kept before, and a plan that
/// did not see them could build everything twice.
pub(crate) fn objection(session: &Session, project: &LocatedProject) -> Option<Diagnostic> {
    let beside = session.directory.store();
    let is_the_store = project.store_directory(beside.clone()).is_some_and(|it| it == beside);
    if is_the_store || !holds_an_estate(&beside.join("records")) {
        return None;
    }
    Some(Diagnostic::error(
        "State may exist elsewhere",
        format!(
            "This estate has no records where plumb.toml keeps them, but there are records in {}, beside the \
             configuration. Planning as if nothing existed could build everything twice. Copy them with `plumb \
             migrate-store -from={}`, or, if truly nothing exists, say so with `-new-estate`.",
            beside.display(),
            crate::working_directory::STORE,
        ),
    ))
}

/// Whether an estate was ever in a directory's store. A folder that cannot be read holds none that could be copied.
fn holds_an_estate(records: &Path) -> bool {
    let estates = std::fs::read_dir(records).into_iter().flatten().flatten();
    estates.into_iter().any(|estate| estate.path().join("estate").is_file())
}
