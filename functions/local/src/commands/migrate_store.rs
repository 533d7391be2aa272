//! `plumb migrate-store`

use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::project::LocatedProject;
use crate::session::Session;
use engine::estate::Estate;
use records::Opening;
use runs::migrate_store::StoreMigration;
use std::path::Path;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    super::carry_out(invocation, environment, migrate).await
}

async fn migrate(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "The store to copy from is named with -from.")?;
    let Some(from) = flags.value("from") else {
        let detail = "Say where the records are now: the directory of a store (-from=.plumb), or the plumb.toml that named it (-from=OLD.toml). They go to where the present plumb.toml says.";
        return Err(UsageError::other("No store to copy from", detail).into());
    };
    let target = session.project()?;
    let source = source(session, &target, from, flags.value("from-estate"))?;
    if is_same_place(session, &source, &target) {
        let detail = "The records are where plumb.toml says already: name the new store there, and the old one with -from.";
        return Err(Failure::error("Nothing to migrate", detail));
    }
    let missing = || Failure::error("No store to copy from", format!("There is none at {from}."));
    let (from, _) = session.estate_of(&source, Opening::Existing).await?.ok_or_else(missing)?;
    let opened = session.estate_of(&target, Opening::Create).await?;
    let (to, terms) =
        opened.ok_or_else(|| Failure::error("No store to copy to", "It was removed meanwhile."))?;
    let migration = StoreMigration { from: &from, to: &to, terms: terms.as_ref() };
    if flags.switch("abandon", false) {
        migration.abandon().await?;
        session.reporter.say(&format!("The records stay in {}.\n", place(&from)));
        return Ok(0);
    }
    let migrated = migration.run().await?;
    session.reporter.report(migrated.warnings);
    session.reporter.say(&match migrated.records {
        None => format!("The records are in {} already.\n", place(&to)),
        Some(count) => format!(
            "Copied and verified {count} records. They are in {} from now on; {} is sealed, and can be removed once \
             nobody needs it.\n",
            place(&to),
            place(&from)
        ),
    });
    Ok(0)
}

fn place(estate: &Estate) -> String {
    format!("{} (estate {})", estate.location(), estate.name())
}

/// The project that the records are in now.
fn source(
    session: &Session,
    target: &LocatedProject,
    from: &str,
    name: Option<&str>,
) -> Result<LocatedProject, Failure> {
    let path = session.directory.path.join(from);
    let is_file = Path::new(from).extension().is_some_and(|extension| extension == "toml");
    match (is_file, name) {
        (true, _) => LocatedProject::of_file(&path, target, name),
        (false, Some(_)) => LocatedProject::of_directory(path, name),
        // As the target: that of the workspace.
        (false, None) => LocatedProject::of_directory(path, None)?.in_workspace(&session.workspace),
    }
}

/// Whether two projects keep one estate in one store, however that is written.
fn is_same_place(session: &Session, one: &LocatedProject, other: &LocatedProject) -> bool {
    // A directory that is not there holds nothing.
    let directory = |project: &LocatedProject| {
        project.store_directory(session.directory.store())?.canonicalize().ok()
    };
    let same_directory = || directory(one).is_some_and(|path| Some(path) == directory(other));
    one.estate.name == other.estate.name
        && (one.project.store == other.project.store || same_directory())
}
