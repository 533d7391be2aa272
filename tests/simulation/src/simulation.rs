//! One simulation from its seed to its verdict.

use crate::breakage::Breakage;
use crate::dice::Dice;
use crate::faults::Faults;
use crate::focus::Focus;
use crate::idle::Idle;
use crate::invariants::broken;
use crate::process::Habits;
use crate::scenario::Scene;
use crate::scheduler::{Scheduler, Step};
use crate::trace::Trace;
use crate::world::{Times, World};
use engine::transaction::Terms;
use records::BulkRead;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::task::LocalSet;

/// More steps than any simulation needs.
const MOST_STEPS: u64 = 200_000;

/// What to simulate.
#[derive(Clone, Copy, Debug)]
pub struct Simulation {
    /// What decides everything.
    pub seed: u64,
    /// A rule that is taken away.
    pub breakage: Option<Breakage>,
    /// Whether the trace keeps its lines.
    pub traced: bool,
}

/// What came of a simulation.
#[derive(Debug)]
pub struct Report {
    /// What was broken; nothing, where all is well.
    pub violations: Vec<String>,
    /// How many things happened.
    pub steps: u64,
    /// What happened.
    pub trace: Trace,
    /// How long it took, in simulated time.
    pub lasted: Duration,
}

impl Simulation {
    /// The simulation of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, breakage: None, traced: false }
    }

    /// Runs it. The same simulation always takes the same course.
    ///
    /// # Errors
    /// Where no runtime can be made.
    pub fn run(self) -> std::io::Result<Report> {
        let mut dice = Dice::new(self.seed);
        let focus = Focus::rolled(&mut dice, self.breakage);
        let faults = Faults::rolled(&mut dice, focus, self.breakage);
        let terms = Terms {
            plan_expiry: if dice.happens(300) { 400 } else { 24 * 60 * 60 },
            lease: 20,
            margin: 10,
            skew: 2,
            wait_for_busy: 10,
            attempts_without_progress: 3,
            parallelism: 1 + dice.below(4),
        };
        let time = |seconds: i64| Duration::from_secs(seconds.unsigned_abs());
        let (lease, margin, skew) = (time(terms.lease), time(terms.margin), time(terms.skew));
        let world = World::new(&mut dice, &faults, &Times { lease, margin, skew });
        let bulk_read = match dice.happens(500) {
            true => BulkRead::WithList,
            false => BulkRead::OneByOne,
        };
        let habits = Habits { terms, bulk_read, parallelism: 1 + dice.below(4) };
        let trace = Trace::new(self.traced);
        let scheduler = Scheduler::new(world, faults, dice.fork(), trace);
        let scene = Scene::new(scheduler.clone(), habits, focus, terms.plan_expiry);
        let idle = Idle::default();
        let parks = idle.clone();
        let runtime =
            Builder::new_current_thread().on_thread_park(move || parks.parks()).build()?;
        let processes = LocalSet::new();
        let driven = processes.run_until(drive(&scheduler, &scene, &idle, dice));
        let (mut violations, steps) = runtime.block_on(driven);
        drop(processes);
        drop(runtime);
        let mut inner = scheduler.lock();
        violations.sort();
        violations.dedup();
        let lasted = inner.world.now;
        Ok(Report { violations, steps, trace: std::mem::take(&mut inner.trace), lasted })
    }
}

async fn drive(
    scheduler: &Scheduler,
    scene: &Scene,
    idle: &Idle,
    dice: Dice,
) -> (Vec<String>, u64) {
    let mut steps = 0;
    let played = tokio::task::spawn_local(scene.clone().play(dice));
    let mut stuck = steps_until(scheduler, idle, &mut steps, || played.is_finished()).await;
    let reading = match stuck {
        Some(_) => None,
        None => {
            let scene = scene.clone();
            let looked = tokio::task::spawn_local(async move { scene.reading().await });
            stuck = steps_until(scheduler, idle, &mut steps, || looked.is_finished()).await;
            match stuck {
                Some(_) => None,
                None => looked.await.ok().flatten(),
            }
        }
    };
    let mut violations = match stuck {
        Some(_) => scene.violations(),
        None => broken(scene, reading.as_ref()),
    };
    violations.extend(stuck);
    (violations, steps)
}

/// Lets things happen until something is over; says why that does not come to be.
async fn steps_until(
    scheduler: &Scheduler,
    idle: &Idle,
    steps: &mut u64,
    over: impl Fn() -> bool,
) -> Option<String> {
    loop {
        idle.reached().await;
        if over() {
            return None;
        }
        if scheduler.step() == Step::NothingToDo {
            return Some("Ends: nobody can go on".to_owned());
        }
        *steps += 1;
        if *steps > MOST_STEPS {
            return Some(format!("Ends: not after {MOST_STEPS} steps"));
        }
    }
}
