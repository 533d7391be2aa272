//! What people and schedules do in one simulation: plans of one estate are made and applied, more than one at a time,
//! again where an invocation died, or by others; and what is left open is decided.

use crate::configuration::Configuration;
use crate::dice::Dice;
use crate::focus::Focus;
use crate::process::{Habits, workplace};
use crate::request::{OUTSIDE, ProcessId};
use crate::scheduler::{Ended, Scheduler};
use crate::things::PlanNumber;
use engine::existing_state::NewEstate;
use engine::identifiers::{Principal, RunId};
use engine::saved_plan::{HmacKey, SavedPlan};
use engine::transaction::{TransactionError, is_only_busy};
use engine::{Deadline, Ending, PlanOptions, Stop, Variables};
use jiff::SignedDuration;
use language::files::Memory;
use runs::RunError;
use runs::apply::{ApplyRequest, PlanToApply};
use runs::plan::PlanRequest;
use runs::source::{self, Modules, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use values::Value;
use values::address::ResourceInstance;

/// A plan that was made.
#[derive(Clone)]
pub(crate) struct MadePlan {
    pub(crate) number: PlanNumber,
    pub(crate) saved: Arc<SavedPlan>,
    pub(crate) bytes: Arc<[u8]>,
    /// How many changes there were of the records when it had been made.
    pub(crate) made_at: usize,
    /// What its instances are called in the world.
    pub(crate) labels: BTreeMap<ResourceInstance, String>,
    /// What they were called before, too.
    pub(crate) changes: BTreeSet<String>,
}

/// What everybody shares.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) scheduler: Scheduler,
    pub(crate) habits: Habits,
    focus: Focus,
    /// Whether what a provider answers to who lives on must be in a record: the stores lose nothing, and nobody stops.
    pub(crate) answers_are_recorded: bool,
    plans: Arc<Mutex<Vec<MadePlan>>>,
    violations: Arc<Mutex<Vec<String>>>,
    expiry: i64,
}

fn key() -> HmacKey {
    HmacKey::new([7; 32])
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// How an invocation of an apply ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Invoked {
    /// The plan is used up.
    Over,
    /// The same plan may be applied again.
    Again,
    Killed,
}

impl Scene {
    pub(crate) fn new(scheduler: Scheduler, habits: Habits, focus: Focus, expiry: i64) -> Self {
        Self {
            scheduler,
            habits,
            focus,
            answers_are_recorded: focus != Focus::Everything,
            plans: Arc::default(),
            violations: Arc::default(),
            expiry,
        }
    }

    pub(crate) fn plans(&self) -> Vec<MadePlan> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn violations(&self) -> Vec<String> {
        self.violations.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn violated(&self, what: String) {
        self.note(format_args!("VIOLATION {what}"));
        self.violations.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    pub(crate) fn note(&self, what: std::fmt::Arguments<'_>) {
        let mut inner = self.scheduler.lock();
        let now = inner.world.now;
        inner.trace.note(now, what);
    }

    pub(crate) async fn pause(&self, dice: &mut Dice, most: Duration) {
        let time = dice.time(most);
        self.scheduler.sleep(OUTSIDE, time).await;
    }

    fn next_number(&self) -> PlanNumber {
        self.scheduler.lock().world.things.next_plan()
    }

    /// Makes a plan; `None` where that failed or its process was killed.
    pub(crate) async fn plan(
        &self,
        configuration: &Configuration,
        may_fail: bool,
    ) -> Option<MadePlan> {
        let number = self.next_number();
        let scene = self.clone();
        let files: Memory = [("main.tf", configuration.text())].into_iter().collect();
        let name = format!("plan {number}");
        if self.scheduler.lock().trace.is_kept() {
            self.note(format_args!("{name} is of\n{}", configuration.text()));
        }
        let work = move |process| async move { scene.make_plan(process, number, files).await };
        match self.scheduler.run(name.clone(), may_fail, work).await {
            Ended::With(Ok(made)) => {
                self.note(format_args!("{name} is {}: {}", made.saved.id, summary(&made.saved)));
                let changes = made.changes.clone();
                self.scheduler.lock().world.things.changed_by.insert(number, changes);
                self.plans.lock().unwrap_or_else(PoisonError::into_inner).push(made.clone());
                Some(made)
            }
            Ended::With(Err(why)) => {
                self.note(format_args!("{name} fails: {why}"));
                None
            }
            Ended::Killed => None,
            Ended::Panicked(why) => {
                self.violated(format!("Panicked: {name}: {why}"));
                None
            }
        }
    }

    async fn make_plan(
        self,
        process: ProcessId,
        number: PlanNumber,
        files: Memory,
    ) -> Result<MadePlan, String> {
        let workplace = workplace(&self.scheduler, process, None, &self.habits, files)
            .map_err(|e| e.to_string())?;
        let source = read_source(&workplace)?;
        let request = PlanRequest {
            source,
            variables: Variables::new(),
            options: PlanOptions::default(),
            new_estate: NewEstate::NotDeclared,
            expiry: self.expiry,
        };
        let outcome = runs::plan::plan(&workplace, request).await.map_err(|e| e.to_string())?;
        if outcome.diagnostics.has_errors() || !outcome.saved.plan.complete {
            let errors = outcome.diagnostics.iter().filter(|d| d.is_error());
            let errors: Vec<String> =
                errors.map(|e| format!("{}: {}", e.summary, e.detail)).collect();
            return Err(errors.join("; "));
        }
        let encoded = outcome.saved.encode(&key()).await.map_err(|e| e.to_string())?;
        let bytes = encoded.bytes.to_vec().into();
        let label = |value: &Value| {
            value.attribute("label").and_then(|label| label.as_str().map(str::to_owned))
        };
        let (mut labels, mut changes) = (BTreeMap::new(), BTreeSet::new());
        for change in &outcome.saved.plan.changes.resources {
            let is_member = outcome.saved.write_set.contains_key(&change.address);
            for value in [&change.before, &change.after] {
                if let Some(label) = label(value).filter(|_| is_member) {
                    changes.insert(label.clone());
                    labels.insert(change.address.clone(), label);
                }
            }
        }
        let made_at = self.scheduler.lock().world.storage.history.len();
        let saved = Arc::new(outcome.saved);
        Ok(MadePlan { number, saved, bytes, made_at, labels, changes })
    }

    /// Applies a plan in one invocation.
    pub(crate) async fn apply(
        &self,
        made: &MadePlan,
        name: &str,
        may_fail: bool,
        dice: &mut Dice,
    ) -> Invoked {
        let slice = dice.happens(400).then(|| seconds(8) + dice.time(seconds(40)));
        let interrupted = (may_fail && self.focus == Focus::Everything && dice.happens(60))
            .then(|| (dice.time(seconds(20)), dice.happens(300), dice.time(seconds(10))));
        let slice = slice.filter(|_| may_fail);
        let run = RunId::from_stored(format!("run-{}-{:04x}", made.number, dice.below(65536)));
        let (scene, plan) = (self.clone(), made.clone());
        let work = move |process| async move {
            scene.apply_in(process, plan, run, slice, interrupted).await
        };
        match self.scheduler.run(name.to_owned(), may_fail, work).await {
            Ended::With((invoked, words)) => {
                self.note(format_args!("{name} ends: {words}"));
                invoked
            }
            Ended::Killed => Invoked::Killed,
            Ended::Panicked(why) => {
                self.violated(format!("Panicked: {name}: {why}"));
                Invoked::Over
            }
        }
    }

    async fn apply_in(
        self,
        process: ProcessId,
        made: MadePlan,
        run: RunId,
        slice: Option<Duration>,
        interrupted: Option<(Duration, bool, Duration)>,
    ) -> (Invoked, String) {
        let number = Some(made.number);
        let workplace =
            match workplace(&self.scheduler, process, number, &self.habits, Memory::default()) {
                Ok(workplace) => workplace,
                Err(e) => return (Invoked::Over, e.to_string()),
            };
        let deadline = slice.and_then(|slice| {
            let slice = SignedDuration::try_from(slice).ok()?;
            let end = workplace.environment.clock.now().checked_add(slice).ok()?;
            Some(Deadline { end, threshold: seconds(6) })
        });
        let key = key();
        let request = ApplyRequest {
            plan: PlanToApply::Saved { bytes: &made.bytes, verifier: &key },
            run,
            principal: Principal::from_stored(format!("p{}", made.number)),
            approved_by: None,
            deadline,
            ephemeral: Variables::new(),
            waivers: &[],
            spill: None,
        };
        let stop = workplace.stop.clone();
        let person = self.interrupt(process, stop, interrupted);
        let outcome = tokio::select! {
            biased;
            outcome = runs::apply::apply(&workplace, request) => outcome,
            () = person => return (Invoked::Over, String::new()),
        };
        match outcome {
            Ok(outcome) => match &outcome.applied {
                Some(applied) => {
                    let errors = outcome.diagnostics.iter().filter(|d| d.is_error());
                    let errors: Vec<&str> = errors.map(|e| &*e.summary).collect();
                    let again = match applied.ending {
                        Ending::Continue => Invoked::Again,
                        Ending::Done | Ending::Interrupted => Invoked::Over,
                    };
                    (again, format!("{:?} {:?} {errors:?}", applied.ending, applied.summary))
                }
                None => {
                    let rejects = outcome.verdicts.iter().filter(|v| v.is_reject());
                    let rejects: Vec<&str> = rejects.map(|v| &*v.message).collect();
                    let again = match is_only_busy(&outcome.verdicts) {
                        true => Invoked::Again,
                        false => Invoked::Over,
                    };
                    (again, format!("rejected {rejects:?}"))
                }
            },
            Err(error) => {
                let again = match &error {
                    RunError::Transaction(TransactionError::Used { .. }) => Invoked::Over,
                    _ => Invoked::Again,
                };
                (again, error.to_string())
            }
        }
    }

    /// A person who asks to stop, once or twice.
    async fn interrupt(
        &self,
        process: ProcessId,
        stop: Stop,
        interrupted: Option<(Duration, bool, Duration)>,
    ) {
        if let Some((after, twice, pause)) = interrupted {
            self.scheduler.sleep(process, after).await;
            stop.request();
            if twice {
                self.scheduler.sleep(process, pause).await;
                stop.request();
            }
        }
        std::future::pending().await
    }

    /// A team: makes a plan, waits for approval, and applies it in as many invocations as it takes; and then perhaps
    /// changes something more.
    async fn team(self, mut configuration: Configuration, mut dice: Dice) {
        for _ in 0..self.focus.rounds() {
            self.pause(&mut dice, self.focus.pause(seconds(40))).await;
            self.work(&configuration, &mut dice).await;
            configuration = configuration.changed(&mut dice);
        }
    }

    async fn work(&self, configuration: &Configuration, dice: &mut Dice) {
        let mut made = None;
        for _ in 0..3 {
            made = self.plan(configuration, true).await;
            if made.is_some() {
                break;
            }
        }
        let Some(made) = made else { return };
        self.pause(dice, self.focus.pause(seconds(60))).await;
        for attempt in 1..=6 {
            let name = format!("apply {}.{attempt}", made.number);
            let invoked = match dice.happens(150) {
                true => {
                    let (mut left, mut right) = (dice.fork(), dice.fork());
                    let (one, other) = (format!("{name}a"), format!("{name}b"));
                    let twin = async {
                        let after = right.time(seconds(10));
                        self.scheduler.sleep(OUTSIDE, after).await;
                        self.apply(&made, &other, true, &mut right).await
                    };
                    let (one, other) = tokio::join!(self.apply(&made, &one, true, &mut left), twin);
                    match one == Invoked::Over || other == Invoked::Over {
                        true => Invoked::Over,
                        false => one,
                    }
                }
                false => self.apply(&made, &name, true, dice).await,
            };
            match invoked {
                Invoked::Over => return,
                Invoked::Killed if dice.happens(300) => return,
                Invoked::Killed => self.pause(dice, seconds(90)).await,
                Invoked::Again => self.pause(dice, seconds(25)).await,
            }
        }
    }

    /// Everything that happens.
    pub(crate) async fn play(self, mut dice: Dice) {
        let base = Configuration::rolled(&mut dice, self.focus);
        let faults = {
            let mut inner = self.scheduler.lock();
            let none = crate::faults::Faults::none(inner.faults.breakage());
            match dice.happens(800) {
                true => Some(std::mem::replace(&mut inner.faults, none)),
                false => None,
            }
        };
        if let Some(faults) = faults {
            if let Some(made) = self.plan(&base, false).await {
                self.apply(&made, "first apply", false, &mut dice).await;
            }
            self.scheduler.lock().faults = faults;
        }
        let mut teams = Vec::new();
        let mut last = base.clone();
        for _ in 0..2 + dice.below(3) {
            let from = if dice.happens(700) { &base } else { &last };
            last = from.changed(&mut dice);
            teams.push(tokio::task::spawn_local(self.clone().team(last.clone(), dice.fork())));
        }
        if dice.happens(300) {
            teams.push(tokio::task::spawn_local(self.clone().operator(base.clone(), dice.fork())));
        }
        for team in teams {
            if let Err(error) = team.await {
                self.violated(format!("Panicked: a team: {error}"));
            }
        }
        self.scheduler.heal();
        self.recover(&last, &mut dice).await;
    }
}

pub(crate) fn read_source(workplace: &runs::Workplace) -> Result<Source, String> {
    let (source, diagnostics) = source::from_directory(&*workplace.environment.files, Modules::All);
    match diagnostics.has_errors() {
        true => {
            let errors: Vec<String> = diagnostics.iter().map(|d| d.summary.clone()).collect();
            Err(errors.join("; "))
        }
        false => Ok(source),
    }
}

pub(crate) fn summary(saved: &SavedPlan) -> String {
    let changes = saved.plan.changes.resources.iter();
    let changes = changes.filter(|change| change.action != engine::changes::Action::NoOp);
    let mut words: Vec<String> = changes
        .map(|change| match &change.deposed {
            Some(key) => format!("{:?} {} deposed {key}", change.action, change.address),
            None => format!("{:?} {}", change.action, change.address),
        })
        .collect();
    words.extend(saved.plan.moves.iter().map(|(now, was)| format!("move {was} to {now}")));
    let reads: Vec<String> = saved.read_set.keys().map(ToString::to_string).collect();
    if !reads.is_empty() {
        words.push(format!("reading {}", reads.join(", ")));
    }
    match words.is_empty() {
        true => "no changes".to_owned(),
        false => words.join(", "),
    }
}
