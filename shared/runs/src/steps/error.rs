use super::CANCELLED;
use crate::approval::ApprovalError;
use crate::artifact::ArtifactError;
use crate::bundle::BundleError;
use crate::error::RunError;
use crate::function_environment::FunctionEnvironmentError;
use crate::run_state::RunStateError;
use crate::steps::ArchiveError;
use crate::stores::StoresError;
use engine::estate::EstateError;
use engine::identifiers::Principal;
use engine::transaction::TransactionError;
use records::StoreError;

/// A step did not come to an end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The function cannot begin.
    #[error(transparent)]
    Environment(Box<FunctionEnvironmentError>),
    /// The run's state cannot be read or changed.
    #[error(transparent)]
    State(#[from] RunStateError),
    /// A handler failed.
    #[error(transparent)]
    Run(Box<RunError>),
    /// An approval is missing.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    /// An artifact cannot be stored or read.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The archive is refused.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Modules cannot be installed, and may be in a moment.
    #[error("{0}")]
    Modules(String),
    /// The source cannot be had.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Somebody stopped the run.
    #[error("the run was stopped by {by}; nothing more is begun")]
    Cancelled {
        /// Who.
        by: Principal,
    },
    /// A state was left out.
    #[error(
        "the step was called without a {what}, which an earlier one hands on; it is the state machine that calls it"
    )]
    MissingReference {
        /// What is missing.
        what: &'static str,
    },
    /// Something on this machine cannot be written or read.
    #[error("{what} could not be written or read: {source}")]
    Machine {
        /// What.
        what: &'static str,
        /// Why.
        source: std::io::Error,
    },
}

impl From<RunError> for StepError {
    fn from(error: RunError) -> StepError {
        StepError::Run(Box::new(error))
    }
}

impl StepError {
    /// Whether the same step may succeed in a moment: a service did not answer, or others wrote at the same time.
    pub fn may_pass(&self) -> bool {
        match self {
            StepError::Environment(error) => match &**error {
                FunctionEnvironmentError::Stores(StoresError::Store(error)) => passes(error),
                FunctionEnvironmentError::Artifact(ArtifactError::Store(error)) => passes(error),
                FunctionEnvironmentError::Estate(EstateError::Store(error)) => passes(error),
                _ => false,
            },
            StepError::State(RunStateError::Store(error)) => passes(error),
            StepError::State(RunStateError::Contended { .. }) => true,
            StepError::Approval(ApprovalError::Store(error)) => passes(error),
            StepError::Artifact(ArtifactError::Store(error)) => passes(error),
            StepError::Run(error) => match &**error {
                RunError::Estate(error) => of_estate(error),
                RunError::Transaction(TransactionError::Estate(error)) => of_estate(error),
                _ => false,
            },
            StepError::Archive(error) => error.may_pass,
            StepError::Modules(_) => true,
            _ => false,
        }
    }

    /// What programs know it by. It says nothing of what the run is about.
    pub fn code(&self) -> String {
        let code = match self {
            StepError::Environment(error) => match &**error {
                FunctionEnvironmentError::Environment(_)
                | FunctionEnvironmentError::NoKey
                | FunctionEnvironmentError::KeyFile(_)
                | FunctionEnvironmentError::Deployment(_)
                | FunctionEnvironmentError::NoDeployment { .. } => "deployment",
                FunctionEnvironmentError::Project(_)
                | FunctionEnvironmentError::NoEstate { .. }
                | FunctionEnvironmentError::Locks(_) => "configuration",
                FunctionEnvironmentError::Mirror(_) => "providers",
                FunctionEnvironmentError::Bundle(_) => "bundle",
                FunctionEnvironmentError::Artifact(_) => "artifact",
                FunctionEnvironmentError::Stores(_) | FunctionEnvironmentError::Estate(_) => {
                    "store"
                }
            },
            StepError::State(RunStateError::Ended { .. }) => "ended",
            StepError::State(_) => "run_state",
            StepError::Run(error) => match (&**error, error.code()) {
                (_, Some(code)) => return code.as_str().to_owned(),
                (RunError::ExistingState(_), None) => "existing_state",
                (RunError::Contract(_), None) => "contract",
                (RunError::Signing(_), None) => "signing",
                (RunError::Estate(_), None) => "store",
                _ => "run",
            },
            StepError::Approval(_) => "approval",
            StepError::Artifact(_) => "artifact",
            StepError::Bundle(_) => "bundle",
            StepError::Modules(_) => "modules",
            StepError::Archive(_) => "source",
            StepError::Cancelled { .. } => CANCELLED,
            StepError::MissingReference { .. } => "invocation",
            StepError::Machine { .. } => "machine",
        };
        code.to_owned()
    }
}

fn of_estate(error: &EstateError) -> bool {
    match error {
        EstateError::Store(error) => passes(error),
        EstateError::Contended { .. } => true,
        _ => false,
    }
}

fn passes(error: &StoreError) -> bool {
    error.leaves_doubt() || error.is_conflict()
}
