//! The steps of a run, in one process on a directory: references in, references out.

use crate::surroundings::{Counter, Nowhere, SetClock};
use async_trait::async_trait;
use bytes::Bytes;
use engine::Deadline;
use engine::clock::Clock;
use engine::identifiers::{Principal, RunId};
use engine::record::key::EstateName;
use engine::verdict::Stage;
use jiff::{SignedDuration, Timestamp};
use providers::SchemaCache;
use providers::https::HttpsClient;
use providers::plugin::watchdog::WatchdogCommand;
use runs::approval::{self, Decision};
use runs::bundle::BundleFiles;
use runs::function_environment::FunctionEnvironment;
use runs::local_deployment::Handover;
use runs::modules::Reach;
use runs::report::{Notifier, NotifyError, Report, comment, status_line};
use runs::run_reference::{
    Answer, EstateReference, Invocation, Mode, Outcome, ReportInvocation, RunReference,
};
use runs::run_state::{Author, Commit, NewRun, RunSource, RunState, RunStates, Status};
use runs::steps::{self, ArchiveError, SourceArchives, StepError};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use test_servers::{Page, Site};
use views::run_report::{ChangeStanding, Progress};

const PLUMB: &str = "[estates.network]\ndirectory = \"network\"\n";
const CONFIGURATION: &str = r#"
variable "secret" {
  default   = "canary-8a1f"
  sensitive = true
}
resource "terraform_data" "a" {
  input = "x"
}
resource "terraform_data" "b" {
  input = var.secret
}
"#;
const DEPLOYMENT: &str = r#"
[repositories."github.com/acme/infra"]
webhook_secret = "plumbline/webhook"

[estates.network]
repository = "github.com/acme/infra"
"#;

/// Gives one archive, in the layout of a repository's host.
struct Archive(BundleFiles);

#[async_trait]
impl SourceArchives for Archive {
    async fn archive(&self, _commit: &Commit, _limit: u64) -> Result<Bytes, ArchiveError> {
        let nested =
            self.0.iter().map(|(path, file)| (format!("infra-1a2b/{path}"), file.content.clone()));
        Ok(nested.collect::<BundleFiles>().to_archive().unwrap())
    }
}

pub(crate) struct Scene {
    folder: tempfile::TempDir,
    pub(crate) environment: FunctionEnvironment,
    answers: Mutex<Vec<String>>,
}

pub(crate) fn scene(deployment: &str) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir_all(root.join("settings")).unwrap();
    let store = root.join("store").display().to_string();
    let environment = FunctionEnvironment {
        variables: [("PLUMB__STORE__DIR__PATH".to_owned(), store)].into_iter().collect(),
        inherited: Vec::new(),
        watchdog: WatchdogCommand { program: PathBuf::from("none"), args: Vec::new() },
        scratch: root.join("scratch"),
        package_room: 1 << 20,
        surroundings: Arc::new(Nowhere),
        clock: Arc::new(SetClock::at(1_000_000)),
        random: Arc::new(Counter::default()),
        schemas: Arc::new(SchemaCache::default()),
        local: None,
        handover: Handover::default(),
    };
    std::fs::write(root.join("deployment"), deployment).unwrap();
    Scene { folder, environment, answers: Mutex::default() }
}

impl Scene {
    async fn settle_in(&self) {
        // As an administrator puts it there.
        let stores = runs::deployment_stores::DeploymentStores {
            project: &self.environment.project().unwrap(),
            root: self.folder.path(),
            surroundings: &Nowhere,
        };
        let settings = stores.settings().await.unwrap();
        let text = std::fs::read(self.folder.path().join("deployment")).unwrap();
        let key = records::Key::new("deployment.toml").unwrap();
        settings.put(&key, text.into(), records::PutMode::Overwrite).await.unwrap();
    }

    pub(crate) async fn begin(&self, run: &str, mode: Mode) -> RunReference {
        self.settle_in().await;
        let commit = Commit {
            repository: "github.com/acme/infra".into(),
            sha: "1a2b".into(),
            branch: "main".into(),
            pull_request: None,
        };
        let new = NewRun {
            run: RunId::from_stored(run),
            estate: EstateReference(EstateName::new("network").unwrap()),
            mode,
            source: RunSource::Commit(commit),
            author: Author::Login("ada".into()),
            authors: BTreeSet::new(),
            bundle: None,
            plan: None,
        };
        let states = self.environment.run_states().await.unwrap();
        states.begin(new).await.unwrap().0.reference()
    }

    fn note(&self, answer: Answer) -> Answer {
        let text = serde_json::to_string(&answer).unwrap();
        self.answers.lock().unwrap().push(text);
        answer
    }

    pub(crate) async fn fetch(&self, run: &RunReference, files: &[(&str, &str)]) -> Answer {
        let fetched = self.try_to_fetch(run, files).await;
        self.note(fetched.unwrap())
    }

    async fn try_to_fetch(
        &self,
        run: &RunReference,
        files: &[(&str, &str)],
    ) -> Result<Answer, StepError> {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        let archive = Archive(files.collect());
        let invocation = Invocation { run: run.clone() };
        let https = Arc::new(HttpsClient::new(Duration::from_secs(5)));
        let mut packages = self.environment.module_packages(https);
        // The servers that tests fetch from are on this machine.
        packages.reach = Reach::Everything;
        steps::fetch(&self.environment, &archive, &packages, invocation).await
    }

    pub(crate) async fn plan(&self, run: &RunReference) -> Answer {
        self.note(steps::plan(&self.environment, Invocation { run: run.clone() }).await.unwrap())
    }

    async fn validate(&self, run: &RunReference) -> Answer {
        let invocation = Invocation { run: run.clone() };
        self.note(steps::validate(&self.environment, invocation).await.unwrap())
    }

    async fn apply(&self, run: &RunReference) -> Answer {
        let end = Timestamp::from_second(1_000_000).unwrap() + SignedDuration::from_mins(10);
        let invocation = Invocation { run: run.clone() };
        let step = steps::apply(&self.environment, invocation, Deadline::at(end));
        self.note(step.await.unwrap())
    }

    pub(crate) async fn report(
        &self,
        run: &RunReference,
        outcome: Outcome,
        code: Option<&str>,
    ) -> Report {
        let told = Arc::new(Mutex::new(Vec::new()));
        let invocation = ReportInvocation {
            run: run.clone(),
            outcome,
            code: code.map(str::to_owned),
            task_token: (outcome == Outcome::Waiting).then(|| "token".to_owned()),
        };
        let notifiers = async |_state: RunState| {
            vec![
                Ok(Box::new(Listener(told.clone())) as Box<dyn Notifier>),
                Err(NotifyError { to: "nobody".into(), problem: "is not there".into() }),
            ]
        };
        let reported = steps::report(&self.environment, invocation, None, notifiers).await.unwrap();
        assert_eq!(reported.failures.len(), 1, "who is not told is no reason to fail");
        self.note(reported.answer);
        told.lock().unwrap().pop().unwrap()
    }

    async fn state(&self, run: &RunReference) -> RunState {
        let states = self.environment.run_states().await.unwrap();
        states.read(&run.estate, &run.run).await.unwrap()
    }

    async fn approve(&self, run: &RunReference) {
        let states = self.environment.run_states().await.unwrap();
        let (state, plan) = (self.state(run).await, run.plan.clone().unwrap());
        let grace = Principal::from_stored("grace");
        approval::record(&states, &state, &plan, Decision::Approved, &grace).await.unwrap();
    }
}

struct Listener(Arc<Mutex<Vec<Report>>>);

#[async_trait]
impl Notifier for Listener {
    async fn notify(&self, report: &Report) -> Result<(), NotifyError> {
        self.0.lock().unwrap().push(report.clone());
        Ok(())
    }
}

pub(crate) fn success(answer: Answer) -> RunReference {
    match answer {
        Answer::Success { run } => run,
        other => panic!("{other:?}"),
    }
}

pub(crate) const FILES: &[(&str, &str)] =
    &[("plumb.toml", PLUMB), ("network/main.tf", CONFIGURATION)];

#[tokio::test]
async fn a_push_is_fetched_planned_approved_validated_applied_and_told() {
    let scene = scene(DEPLOYMENT);
    let run = scene.begin("r1", Mode::Deploy).await;
    let run = success(scene.fetch(&run, FILES).await);
    let run = match scene.plan(&run).await {
        Answer::ApprovalRequired { run } => run,
        other => panic!("{other:?}"),
    };
    let waiting = scene.report(&run, Outcome::Waiting, None).await;
    assert_eq!(waiting.status, Status::WaitingForApproval);
    assert!(waiting.text.contains("terraform_data.a"), "{}", waiting.text);
    assert_eq!(scene.state(&run).await.task_token.as_deref(), Some("token"));
    let details = waiting.details.as_deref().unwrap();
    let plan = details.plan.as_ref().unwrap();
    assert_eq!((plan.counts.create, plan.changes.len()), (2, 2));
    let told = comment(&waiting);
    let approve = format!("-digest={} r1", waiting.plan_digest.as_deref().unwrap());
    assert!(told.contains(&approve) && told.contains("2 to add"), "{told}");
    scene.approve(&run).await;
    let run = success(scene.validate(&run).await);
    let run = success(scene.apply(&run).await);
    let done = scene.report(&run, Outcome::Applied, None).await;
    assert_eq!(done.status, Status::Applied);
    assert!(done.text.contains("2 added"), "{}", done.text);

    // The report shows the run's whole way, each stage, and who approved.
    let details = done.details.as_deref().unwrap();
    assert!(details.path.iter().all(|step| step.progress == Progress::Done), "{details:?}");
    assert!(details.facts.iter().any(|fact| fact.name == "Approved by" && fact.value == "grace"));
    assert!(details.verdicts.iter().any(|verdict| verdict.stage == Stage::Resources));
    assert!(details.applied.as_ref().unwrap().summary.contains("2 added"));
    assert!(!format!("{details:?}").contains("canary"), "{details:?}");

    // The journal says who approved; nothing that left the steps holds the secret or is large.
    let estate = scene.environment.stores(&run.estate.0).await.unwrap();
    let journal = estate.records.get_all("network/j/").await.unwrap();
    let text = String::from_utf8_lossy(&journal[0].1.body).into_owned();
    assert!(text.contains("grace"), "{text}");
    for answer in scene.answers.lock().unwrap().iter() {
        assert!(answer.len() < 8_192, "{answer}");
        assert!(!answer.contains("canary"), "{answer}");
    }
    assert!(!done.text.contains("canary"), "{}", done.text);

    // The same again has nothing to do.
    let run = scene.begin("r2", Mode::Deploy).await;
    let run = success(scene.fetch(&run, FILES).await);
    let Answer::NothingToDo { run } = scene.plan(&run).await else { panic!("something is left") };
    let report = scene.report(&run, Outcome::Planned, None).await;
    assert_eq!(report.status, Status::NothingToDo);
}

#[tokio::test]
async fn modules_from_elsewhere_are_fetched_once_and_kept_in_the_bundle() {
    let server = Site::start_plain();
    let module = [("main.tf", "resource \"terraform_data\" \"c\" {}\n")];
    let module: BundleFiles = module.into_iter().collect();
    server.put("/m.tar.gz", Page::file(module.to_archive().unwrap()));
    let main = format!("module \"m\" {{\n  source = \"{}\"\n}}\n", server.url("/m.tar.gz"));
    let files = [("plumb.toml", PLUMB), ("network/main.tf", main.as_str())];
    let scene = scene(DEPLOYMENT);
    let run = scene.begin("r1", Mode::Deploy).await;
    let run = success(scene.fetch(&run, &files).await);
    assert_eq!(server.take_visits().len(), 1);
    let Answer::ApprovalRequired { run } = scene.plan(&run).await else { panic!("no plan") };
    let waiting = scene.report(&run, Outcome::Waiting, None).await;
    assert!(waiting.text.contains("module.m.terraform_data.c"), "{}", waiting.text);
    scene.approve(&run).await;
    let run = success(scene.validate(&run).await);
    let run = success(scene.apply(&run).await);
    scene.report(&run, Outcome::Applied, None).await;
    assert!(server.take_visits().is_empty(), "nothing is fetched again");
    assert!(!scene.folder.path().join("scratch/installing").exists());

    let run = scene.begin("r2", Mode::Deploy).await;
    let files = [files[0], ("network/main.tf", "module \"m\" {\n  source = \"git::ext::x\"\n}\n")];
    let Answer::Failed { code, run } = scene.fetch(&run, &files).await else { panic!("fetched") };
    assert_eq!(code, "configuration");
    let report = scene.report(&run, Outcome::Failed, Some(&code)).await;
    assert!(report.text.contains("is not asked to fetch"), "{}", report.text);
}

#[tokio::test]
async fn a_host_of_modules_that_does_not_answer_is_asked_again_and_named_where_that_is_in_vain() {
    let server = Site::start_plain();
    server.put("/m.tar.gz", Page::status(503));
    let main = format!("module \"m\" {{\n  source = \"{}\"\n}}\n", server.url("/m.tar.gz"));
    let files = [("plumb.toml", PLUMB), ("network/main.tf", main.as_str())];
    let scene = scene(DEPLOYMENT);
    let run = scene.begin("r1", Mode::Plan).await;
    for _ in 0..2 {
        let error = scene.try_to_fetch(&run, &files).await.unwrap_err();
        assert!(error.may_pass(), "{error}");
    }
    // As the definition ends a run whose step was repeated often enough.
    let report = scene.report(&run, Outcome::Failed, Some("Unavailable")).await;
    assert_eq!(report.code.as_deref(), Some("Unavailable"));
    assert_eq!(report.text.matches("bad response code: 503").count(), 1, "{}", report.text);

    let run = scene.begin("r2", Mode::Plan).await;
    scene.try_to_fetch(&run, &files).await.unwrap_err();
    let module: BundleFiles = [("main.tf", "")].into_iter().collect();
    server.put("/m.tar.gz", Page::file(module.to_archive().unwrap()));
    success(scene.fetch(&run, &files).await);
    let report = scene.report(&run, Outcome::Planned, None).await;
    assert!(!report.text.contains("503"), "what passed is not told: {}", report.text);
}

#[tokio::test]
async fn nothing_is_applied_that_nobody_approved() {
    let scene = scene(DEPLOYMENT);
    let run = scene.begin("r1", Mode::Deploy).await;
    let run = success(scene.fetch(&run, FILES).await);
    let Answer::ApprovalRequired { run } = scene.plan(&run).await else { panic!() };
    let Answer::Failed { code, run } = scene.apply(&run).await else { panic!("it was applied") };
    assert_eq!(code, "approval");
    let report = scene.report(&run, Outcome::Failed, Some(&code)).await;
    assert_eq!(report.status, Status::Failed);
    assert!(report.text.contains("nobody has approved"), "{}", report.text);
    let details = report.details.as_deref().unwrap();
    assert!(details.messages.iter().any(|m| m.error && m.text.contains("nobody has approved")));
    let stopped: Vec<_> = details.path.iter().filter(|s| s.progress == Progress::Stopped).collect();
    assert_eq!(stopped.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(), ["Approved"]);
}

#[tokio::test]
async fn what_a_commit_says_of_approvals_and_stores_is_not_believed() {
    let scene = scene(DEPLOYMENT);
    let run = scene.begin("r1", Mode::Deploy).await;
    let elsewhere = scene.folder.path().join("elsewhere");
    let plumb = format!(
        "[approvals]\nrequired = false\n[store.dir]\npath = {elsewhere:?}\n{PLUMB}approvals = {{ required = false }}\n"
    );
    let files = [("plumb.toml", plumb.as_str()), ("network/main.tf", CONFIGURATION)];
    let run = success(scene.fetch(&run, &files).await);
    assert!(matches!(scene.plan(&run).await, Answer::ApprovalRequired { .. }));
    assert!(!elsewhere.exists());
}

#[tokio::test]
async fn a_pull_request_ends_with_its_plan() {
    let scene = scene(DEPLOYMENT);
    let run = scene.begin("r1", Mode::Plan).await;
    let run = success(scene.fetch(&run, FILES).await);
    let Answer::NothingToDo { run } = scene.plan(&run).await else { panic!("it goes on") };
    assert_eq!(run.plan, None, "there is no plan that could be applied");
    let report = scene.report(&run, Outcome::Planned, None).await;
    assert_eq!(report.status, Status::Told);
    assert_eq!(report.changes.unwrap().add, 2);
}

#[tokio::test]
async fn what_is_imported_is_counted() {
    let main = "import {\n  to = terraform_data.a\n  id = \"x\"\n}\nresource \"terraform_data\" \"a\" {\n}\n";
    let scene = scene(DEPLOYMENT);
    let run = scene.begin("r1", Mode::Deploy).await;
    let files = [("plumb.toml", PLUMB), ("network/main.tf", main)];
    let run = success(scene.fetch(&run, &files).await);
    let Answer::ApprovalRequired { run } = scene.plan(&run).await else { panic!("no plan") };
    let report = scene.report(&run, Outcome::Waiting, None).await;
    assert_eq!(report.changes.unwrap().import, 1);
    assert!(status_line(&report).contains("1 to import"), "{}", status_line(&report));
}

#[tokio::test]
async fn what_is_wrong_with_a_commit_is_told() {
    let scene = scene(DEPLOYMENT);
    let unlocked = r#"terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}
"#;
    let missing = "module \"m\" {\n  source = \"./missing\"\n}\n";
    let beside = "module \"m\" {\n  source = \"./beside\"\n}\n";
    let unnamed = "module \"no name\" {\n  source = \"https://127.0.0.1:1/m.zip\"\n}\n";
    let cases = [
        (vec![("network/main.tf", CONFIGURATION)], "has no estate"),
        (vec![("plumb.toml", PLUMB), ("network/main.tf", "resource {")], "main.tf line 1"),
        (vec![("plumb.toml", PLUMB), ("network/main.tf", unlocked)], "plumb init"),
        (vec![("plumb.toml", PLUMB), ("network/main.tf", missing)], "missing"),
        (
            vec![
                ("plumb.toml", PLUMB),
                ("network/main.tf", beside),
                ("network/beside/main.tf", unnamed),
            ],
            "Invalid module instance name",
        ),
    ];
    for (index, (files, says)) in cases.into_iter().enumerate() {
        let run = scene.begin(&format!("r{index}"), Mode::Plan).await;
        let Answer::Failed { code: found, run } = scene.fetch(&run, &files).await else {
            panic!("case {index} was fetched")
        };
        assert_eq!(found, "configuration");
        let report = scene.report(&run, Outcome::Failed, Some(&found)).await;
        assert!(report.text.contains(says), "case {index}: {}", report.text);
    }
}

#[tokio::test]
async fn a_plan_that_went_stale_while_it_waited_is_rejected() {
    let scene = scene(DEPLOYMENT);
    let first = scene.begin("r1", Mode::Deploy).await;
    let first = success(scene.fetch(&first, FILES).await);
    let Answer::ApprovalRequired { run: first } = scene.plan(&first).await else { panic!() };
    let second = scene.begin("r2", Mode::Deploy).await;
    let second = success(scene.fetch(&second, FILES).await);
    let Answer::ApprovalRequired { run: second } = scene.plan(&second).await else { panic!() };
    scene.approve(&second).await;
    success(scene.apply(&second).await);
    scene.approve(&first).await;
    let Answer::Rejected { code, .. } = scene.validate(&first).await else { panic!() };
    assert_eq!(code, "stale");
    let Answer::Rejected { code, run } = scene.apply(&first).await else { panic!() };
    let report = scene.report(&run, Outcome::Rejected, Some(&code)).await;
    assert_eq!((report.status, report.code.as_deref()), (Status::Rejected, Some("stale")));
}

/// What a request to stop a run writes down.
fn stop(state: &mut RunState) {
    state.cancelled_by = Some(Principal::from_stored("grace"));
}

/// A clock at whose first look somebody stops a run.
struct StopsMeanwhile {
    clock: Arc<dyn Clock>,
    states: RunStates,
    run: RunReference,
    stopped: AtomicBool,
}

impl Clock for StopsMeanwhile {
    fn now(&self) -> Timestamp {
        if !self.stopped.swap(true, Ordering::SeqCst) {
            let (states, run) = (self.states.clone(), self.run.clone());
            let stopping = std::thread::spawn(move || {
                let runtime = tokio::runtime::Runtime::new().unwrap();
                runtime.block_on(states.change(&run.estate, &run.run, stop)).unwrap();
            });
            stopping.join().unwrap();
        }
        self.clock.now()
    }
    fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }
}

#[tokio::test]
async fn a_run_that_is_stopped_while_apply_gets_ready_changes_nothing() {
    let mut scene = scene(DEPLOYMENT);
    let run = scene.begin("r1", Mode::Deploy).await;
    let run = success(scene.fetch(&run, FILES).await);
    let Answer::ApprovalRequired { run } = scene.plan(&run).await else { panic!("no plan") };
    scene.approve(&run).await;
    let run = success(scene.validate(&run).await);
    let states = scene.environment.run_states().await.unwrap();
    let (clock, stopped) = (scene.environment.clock.clone(), AtomicBool::new(false));
    let meanwhile = StopsMeanwhile { clock, states, run: run.clone(), stopped };
    scene.environment.clock = Arc::new(meanwhile);
    let Answer::Failed { code, run } = scene.apply(&run).await else { panic!("it is applied") };
    assert_eq!(code, "cancelled");
    let report = scene.report(&run, Outcome::Failed, Some(&code)).await;
    assert_eq!(report.status, Status::Cancelled);
}

#[tokio::test]
async fn nobody_is_asked_to_approve_a_run_that_was_stopped() {
    let scene = scene(DEPLOYMENT);
    let run = scene.begin("r1", Mode::Deploy).await;
    let run = success(scene.fetch(&run, FILES).await);
    let Answer::ApprovalRequired { run } = scene.plan(&run).await else { panic!("no plan") };
    let states = scene.environment.run_states().await.unwrap();
    states.change(&run.estate, &run.run, stop).await.unwrap();
    let (outcome, task_token) = (Outcome::Waiting, Some("token".to_owned()));
    let invocation = ReportInvocation { run: run.clone(), outcome, code: None, task_token };
    let told = async |_state: RunState| Vec::<Result<Box<dyn Notifier>, NotifyError>>::new();
    let asked = steps::report(&scene.environment, invocation, None, told).await;
    let error = asked.unwrap_err();
    assert!(matches!(error, StepError::Cancelled { .. }), "{error}");
    assert_eq!(scene.state(&run).await.task_token, None);
    let report = scene.report(&run, Outcome::Cancelled, None).await;
    assert_eq!(report.status, Status::Cancelled);
}

#[tokio::test]
async fn an_apply_that_fails_on_its_way_says_how_far_it_came_and_what_to_do() {
    let main = r#"
resource "terraform_data" "a" {
}
resource "terraform_data" "b" {
  depends_on = [terraform_data.a]
  lifecycle {
    postcondition {
      condition     = self.id == "none"
      error_message = "Not as it should be."
    }
  }
}
resource "terraform_data" "c" {
  depends_on = [terraform_data.b]
}
"#;
    let scene = scene(DEPLOYMENT);
    let run = scene.begin("r1", Mode::Deploy).await;
    let files = [("plumb.toml", PLUMB), ("network/main.tf", main)];
    let run = success(scene.fetch(&run, &files).await);
    let Answer::ApprovalRequired { run } = scene.plan(&run).await else { panic!("no plan") };
    scene.approve(&run).await;
    let run = success(scene.validate(&run).await);
    let Answer::Failed { code, run } = scene.apply(&run).await else { panic!("it was applied") };
    let report = scene.report(&run, Outcome::Failed, Some(&code)).await;
    let details = report.details.as_deref().unwrap();
    let stopped = details.path.iter().find(|step| step.progress == Progress::Stopped).unwrap();
    assert_eq!(stopped.name, "Applied", "the stages had passed it");
    let standings = details.standings().into_iter();
    let standings: Vec<_> = standings.map(|at| (at.change.address.as_str(), at.standing)).collect();
    assert_eq!(standings.first(), Some(&("terraform_data.a", ChangeStanding::Recorded)));
    assert_eq!(standings.last(), Some(&("terraform_data.c", ChangeStanding::NotBegun)));
    let (_, command) = &details.next.as_ref().unwrap().commands[0];
    assert!(command.contains("submit"), "{command}");
    let told = comment(&report);
    assert!(told.contains("of 3 changes are made and recorded"), "{told}");
    assert!(told.contains("- `terraform_data.c`: not begun\n"), "{told}");
}

#[tokio::test]
async fn what_a_step_does_not_get_over_is_told_beside_the_plan() {
    let scene = scene(DEPLOYMENT);
    let run = scene.begin("r1", Mode::Deploy).await;
    let run = success(scene.fetch(&run, FILES).await);
    let Answer::ApprovalRequired { run } = scene.plan(&run).await else { panic!("no plan") };
    // As a step leaves it that is repeated in vain.
    let hold_up = |state: &mut RunState| state.held_up = state.notes.first().cloned();
    let states = scene.environment.run_states().await.unwrap();
    states.change(&run.estate, &run.run, hold_up).await.unwrap();
    let report = scene.report(&run, Outcome::Failed, Some("Unavailable")).await;
    let details = report.details.as_deref().unwrap();
    assert!(details.plan.is_some());
    assert!(details.messages.iter().any(|message| message.error), "{:?}", details.messages);
}

#[tokio::test]
async fn a_run_that_was_stopped_begins_nothing_more() {
    let scene = scene(DEPLOYMENT);
    let run = scene.begin("r1", Mode::Deploy).await;
    let run = success(scene.fetch(&run, FILES).await);
    let states = scene.environment.run_states().await.unwrap();
    states.change(&run.estate, &run.run, stop).await.unwrap();
    let Answer::Failed { code, run } = scene.plan(&run).await else { panic!("it goes on") };
    let report = scene.report(&run, Outcome::Failed, Some(&code)).await;
    assert_eq!(report.status, Status::Cancelled);
    // What is over stays so, whatever the definition says afterwards.
    let again = scene.report(&run, Outcome::Applied, None).await;
    assert_eq!(again.status, Status::Cancelled);
}

#[tokio::test]
async fn drift_is_found_and_told() {
    let scene = scene(DEPLOYMENT);
    let run = scene.begin("r1", Mode::Drift).await;
    let run = success(scene.fetch(&run, FILES).await);
    let Answer::NothingToDo { run } = scene.plan(&run).await else { panic!("it goes on") };
    let report = scene.report(&run, Outcome::Planned, None).await;
    assert_eq!(report.status, Status::NothingToDo);
}
