//! Fetching: a commit in, a bundle out.

use super::tell::Told;
use super::{Step, StepError, modules, step};
use crate::artifact;
use crate::bundle::{ArchiveLayout, Bounds, BundleFiles};
use crate::function_environment::{FunctionEnvironment, OpenBundle};
use crate::modules::PackageSources;
use crate::run_reference::{Answer, Invocation};
use crate::run_state::{Commit, RunSource, Status};
use crate::source;
use async_trait::async_trait;
use bytes::Bytes;
use engine::Variables;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::Configuration;

/// Gives the archives of commits.
#[async_trait]
pub trait SourceArchives: Send + Sync {
    /// The `.tar.gz` of a commit, with one folder around everything.
    ///
    /// # Errors
    /// Where the host has none, does not let us read it, or gives more than `limit` bytes.
    async fn archive(&self, commit: &Commit, limit: u64) -> Result<Bytes, ArchiveError>;
}

/// The archive of a commit cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("the archive of {commit} in {repository}: {problem}")]
pub struct ArchiveError {
    /// The repository.
    pub repository: String,
    /// The commit.
    pub commit: String,
    /// What is wrong, and what mends it.
    pub problem: String,
    /// Whether the same request may succeed in a moment.
    pub may_pass: bool,
}

/// Bytes of an archive as it comes, which are held in memory.
const LARGEST_ARCHIVE: u64 = 128 << 20;

/// Fetches the configuration of a run with the modules that it calls from elsewhere, checks that it is complete, and stores it
/// by digest.
///
/// # Errors
/// Where it may succeed in a moment. Everything else is an answer.
pub async fn fetch(
    environment: &FunctionEnvironment,
    archives: &dyn SourceArchives,
    packages: &PackageSources<'_>,
    invocation: Invocation,
) -> Result<Answer, StepError> {
    step(environment, invocation, |step| work(step, archives, packages)).await
}

async fn work(
    mut step: Step<'_>,
    archives: &dyn SourceArchives,
    packages: &PackageSources<'_>,
) -> Result<Answer, StepError> {
    let (archive, layout) = match &step.state.source {
        RunSource::Commit(commit) => {
            (archives.archive(commit, LARGEST_ARCHIVE).await?, ArchiveLayout::OneFolder)
        }
        RunSource::Bundle(reference) => {
            (artifact::get(&*step.stores.artifacts, reference).await?, ArchiveLayout::Plain)
        }
    };
    let mut files = BundleFiles::from_archive(&*archive, layout, Bounds::default())?;
    let estate = step.run.estate.0.clone();
    let said = modules::install(step.environment, packages, &estate, &mut files).await?;
    let mut told =
        Told::default().diagnostics(&said.diagnostics, &said.sources, &step.discretion)?;
    if said.diagnostics.has_errors() {
        return step.failed("configuration", told).await;
    }
    let stored = files.to_archive()?;
    let artifacts = &*step.stores.artifacts;
    let reference = artifact::put_by_digest(artifacts, "bundles", stored).await?;
    step.run.bundle = Some(reference.clone());
    let bundle = step.bundle().await?;
    let (source, mut diagnostics) = source::from_fetched(&*bundle.files());
    diagnostics.extend(unlocked(&source.configuration, &bundle));
    step.discretion.of_variables(&source.configuration.root.module, &Variables::new());
    let sources = source.configuration.sources.clone();
    told = told.diagnostics(&diagnostics, &sources, &step.discretion)?;
    for link in files.left_out() {
        told =
            told.line(&format!("The link {link} leads to no file of the commit, and is left out."));
    }
    if diagnostics.has_errors() {
        return step.failed("configuration", told).await;
    }
    step.note(told, |state| {
        state.bundle = Some(reference.clone());
        state.status = Status::Fetched;
    })
    .await?;
    Ok(Answer::Success { run: step.run })
}

/// What is required and not locked: a function chooses no versions, so that what was looked at is what runs.
fn unlocked(configuration: &Configuration, bundle: &OpenBundle) -> Diagnostics {
    let required = configuration.provider_requirements();
    let missing = required
        .keys()
        .filter(|provider| !provider.is_builtin() && !bundle.locks.0.contains_key(provider));
    let diagnostics = missing.map(|provider| {
        Diagnostic::error(
            "Provider without a lock",
            format!(
                "The configuration requires {provider}, and {} beside it locks no version of it. Run `plumb init` there, and commit that file.",
                source::LOCK_FILE
            ),
        )
    });
    diagnostics.collect()
}
