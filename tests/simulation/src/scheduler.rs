//! The scheduler: every request to the store or a provider, and every sleep, waits for its permission, which it
//! gives to one at a time, as the seed says, when nobody can go on without. Time passes only here.

use crate::dice::Dice;
use crate::faults::Faults;
use crate::process::clocks_stand;
use crate::request::{Kind, OUTSIDE, ProcessId, Request, Stage, Typed};
use crate::trace::Trace;
use crate::world::World;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

/// How a process ended.
#[derive(Debug)]
pub enum Ended<T> {
    /// By itself.
    With(T),
    /// It was killed.
    Killed,
    /// It panicked, which is always a bug.
    Panicked(String),
}

/// What came of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Somebody goes on.
    Taken,
    /// Nothing is asked for, and nobody sleeps.
    NothingToDo,
}

/// Gives permissions.
#[derive(Clone)]
pub struct Scheduler(Arc<Mutex<Inner>>);

/// What the scheduler decides about.
pub struct Inner {
    /// What exists.
    pub world: World,
    /// What happens, and how often.
    pub faults: Faults,
    /// What happened.
    pub trace: Trace,
    dice: Dice,
    requests: Vec<Request>,
    sleepers: Vec<Sleeper>,
    processes: BTreeMap<ProcessId, Process>,
    next: usize,
    told: Vec<(ProcessId, String)>,
}

struct Process {
    name: String,
    running: bool,
    killed: bool,
    may_fail: bool,
    abort: Option<AbortHandle>,
    frozen_until: Duration,
    frozen_for: Duration,
    /// How far its clock is ahead, in milliseconds; half of the skew of two clocks at most.
    ahead: i64,
}

struct Sleeper {
    process: ProcessId,
    until: Duration,
    wake: Option<oneshot::Sender<()>>,
}

/// How far the present may be ahead of a request that was delayed or repeated, when that arrives.
const LONG_DELAY: Duration = Duration::from_secs(150);

impl Scheduler {
    /// A scheduler over a world.
    #[must_use]
    pub fn new(world: World, faults: Faults, dice: Dice, trace: Trace) -> Self {
        let outside = Process {
            name: "outside".to_owned(),
            running: true,
            killed: false,
            may_fail: false,
            abort: None,
            frozen_until: Duration::ZERO,
            frozen_for: Duration::ZERO,
            ahead: 0,
        };
        Self(Arc::new(Mutex::new(Inner {
            world,
            faults,
            trace,
            dice,
            requests: Vec::new(),
            sleepers: Vec::new(),
            processes: [(OUTSIDE, outside)].into(),
            next: 1,
            told: Vec::new(),
        })))
    }

    /// What it decides about, while nobody else does.
    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for something to be done. `perform` does it, when it is its turn, and perhaps twice; `answer` says what to
    /// tell of that once the answer arrives; `lost` is told instead where none does.
    pub async fn ask<E: Send + 'static, T: Send + 'static>(
        &self,
        process: ProcessId,
        kind: Kind,
        what: String,
        perform: impl FnMut(&mut World) -> (E, String) + Send + 'static,
        answer: impl FnOnce(E, &mut World) -> T + Send + 'static,
        lost: T,
    ) -> T {
        let (sender, receiver) = oneshot::channel();
        {
            let mut inner = self.lock();
            let now = inner.world.now;
            let lands_by = now + inner.world.longest_call;
            inner.requests.push(Request {
                process,
                kind,
                what,
                stage: Stage::Sent,
                not_before: now,
                lands_by,
                delayed: false,
                again: false,
                exchange: Box::new(Typed::new(perform, answer, lost, sender)),
            });
        }
        match receiver.await {
            Ok(answer) => answer,
            // Its process is gone.
            Err(_) => std::future::pending().await,
        }
    }

    /// Lets time pass for a process.
    pub async fn sleep(&self, process: ProcessId, time: Duration) {
        let (sender, receiver) = oneshot::channel();
        {
            let mut inner = self.lock();
            let until = inner.world.now + time.max(Duration::from_millis(1));
            inner.sleepers.push(Sleeper { process, until, wake: Some(sender) });
        }
        if receiver.await.is_err() {
            std::future::pending().await
        }
    }

    /// The time now, since the simulation began.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.lock().world.now
    }

    /// What the clock of a process says, in milliseconds since the simulation began.
    #[must_use]
    pub fn wall(&self, process: ProcessId) -> i64 {
        let inner = self.lock();
        let ahead = inner.processes.get(&process).map_or(0, |process| process.ahead);
        let now = inner.world.now.saturating_sub(inner.stood(process));
        i64::try_from(now.as_millis()).unwrap_or(i64::MAX).saturating_add(ahead)
    }

    /// What the clock of a process says that nobody sets.
    #[must_use]
    pub fn elapsed(&self, process: ProcessId) -> Duration {
        let inner = self.lock();
        inner.world.now.saturating_sub(inner.stood(process))
    }

    /// A sequence of its own for a process.
    #[must_use]
    pub fn dice(&self) -> Dice {
        self.lock().dice.fork()
    }

    /// Runs a process to its end.
    pub async fn run<T, F>(
        &self,
        name: String,
        may_fail: bool,
        work: impl FnOnce(ProcessId) -> F,
    ) -> Ended<T>
    where
        T: 'static,
        F: Future<Output = T> + 'static,
    {
        let id = {
            let mut inner = self.lock();
            let id = ProcessId(inner.next);
            inner.next += 1;
            let half = i64::try_from(inner.world.skew.as_millis()).unwrap_or(0) / 2;
            let ahead = match half {
                0 => 0,
                half => {
                    let width = usize::try_from(2 * half + 1).unwrap_or(1);
                    i64::try_from(inner.dice.below(width)).unwrap_or(0) - half
                }
            };
            let now = inner.world.now;
            inner.trace.note(now, format_args!("{name} begins, its clock {ahead} ms ahead"));
            let process = Process {
                name,
                running: true,
                killed: false,
                may_fail,
                abort: None,
                frozen_until: Duration::ZERO,
                frozen_for: Duration::ZERO,
                ahead,
            };
            inner.processes.insert(id, process);
            id
        };
        let running = tokio::task::spawn_local(work(id));
        if let Some(process) = self.lock().processes.get_mut(&id) {
            process.abort = Some(running.abort_handle());
        }
        let ended = match running.await {
            Ok(result) => Ended::With(result),
            Err(error) if error.is_cancelled() => Ended::Killed,
            Err(error) => {
                let panic = error.into_panic();
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                Ended::Panicked(text.unwrap_or_default())
            }
        };
        self.lock().bury(id);
        ended
    }

    /// A provider's process is asked to end its calls early: those that only take time answer soon.
    pub fn hurry(&self, process: ProcessId) {
        let mut inner = self.lock();
        let now = inner.world.now;
        let Inner { requests, dice, .. } = &mut *inner;
        for request in requests.iter_mut() {
            let waits = request.stage == Stage::Answered && request.not_before > now;
            if request.process == process
                && request.kind == Kind::Call
                && waits
                && dice.happens(700)
            {
                request.not_before = now + dice.time(Duration::from_millis(500));
            }
        }
    }

    /// Ends all trouble: nothing fails from now on, and whoever was suspended goes on.
    pub fn heal(&self) {
        let mut inner = self.lock();
        inner.faults = Faults::none(inner.faults.breakage());
        inner.world.heal();
        for process in inner.processes.values_mut() {
            process.frozen_until = Duration::ZERO;
        }
        let now = inner.world.now;
        inner.trace.note(now, format_args!("all trouble ends"));
    }

    /// A process was told by a provider what it has changed.
    pub fn told(&self, process: ProcessId, stamp: String) {
        self.lock().told.push((process, stamp));
    }

    /// What processes were told of changes that were not killed.
    #[must_use]
    pub fn told_to_survivors(&self) -> Vec<String> {
        let inner = self.lock();
        let lived = |id| inner.processes.get(id).is_some_and(|process| !process.killed);
        inner.told.iter().filter(|(id, _)| lived(id)).map(|(_, stamp)| stamp.clone()).collect()
    }

    /// Lets one thing happen.
    pub fn step(&self) -> Step {
        let mut inner = self.lock();
        if inner.trouble() {
            return Step::Taken;
        }
        loop {
            let ready = inner.ready();
            if let Some(&choice) = inner.dice.pick(&ready) {
                match choice {
                    Choice::Request(index) => inner.advance(index),
                    Choice::Sleeper(index) => {
                        let mut sleeper = inner.sleepers.swap_remove(index);
                        if let Some(wake) = sleeper.wake.take() {
                            let _ = wake.send(());
                        }
                    }
                }
                let passes = inner.dice.time(Duration::from_millis(60));
                let until = inner.world.now + passes;
                inner.pass(until);
                return Step::Taken;
            }
            match inner.next_moment() {
                Some(moment) => inner.pass(moment),
                None => return Step::NothingToDo,
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Choice {
    Request(usize),
    Sleeper(usize),
}

impl Inner {
    fn is_frozen(&self, process: ProcessId) -> bool {
        self.processes.get(&process).is_some_and(|p| p.frozen_until > self.world.now)
    }

    /// How long the clock of a process has stood still.
    fn stood(&self, process: ProcessId) -> Duration {
        match clocks_stand(self.faults.breakage()) {
            true => self.processes.get(&process).map_or(Duration::ZERO, |p| p.frozen_for),
            false => Duration::ZERO,
        }
    }

    fn name(&self, process: ProcessId) -> String {
        self.processes.get(&process).map_or_else(String::new, |process| process.name.clone())
    }

    /// What may happen now.
    fn ready(&self) -> Vec<Choice> {
        let now = self.world.now;
        let requests = self.requests.iter().enumerate().filter(|(_, request)| {
            let answers = request.stage == Stage::Answered;
            request.not_before <= now && !(answers && self.is_frozen(request.process))
        });
        let sleepers = self.sleepers.iter().enumerate();
        let sleepers = sleepers
            .filter(|(_, sleeper)| sleeper.until <= now && !self.is_frozen(sleeper.process));
        // In an order of what is asked for: which of two tasks of a process has asked first, its maps decide.
        let mut requests: Vec<(usize, &Request)> = requests.collect();
        requests.sort_by(|(_, one), (_, other)| {
            (one.process, &one.what, one.not_before).cmp(&(
                other.process,
                &other.what,
                other.not_before,
            ))
        });
        let requests = requests.into_iter().map(|(index, _)| Choice::Request(index));
        requests.chain(sleepers.map(|(index, _)| Choice::Sleeper(index))).collect()
    }

    /// When something may happen, where nothing may now.
    fn next_moment(&self) -> Option<Duration> {
        let now = self.world.now;
        let after_thaw = |process: ProcessId, moment: Duration| {
            self.processes.get(&process).map_or(moment, |p| moment.max(p.frozen_until))
        };
        let requests = self.requests.iter().map(|request| match request.stage {
            Stage::Answered => after_thaw(request.process, request.not_before),
            Stage::Sent | Stage::Forgotten => request.not_before,
        });
        let sleepers = self.sleepers.iter().map(|s| after_thaw(s.process, s.until));
        requests.chain(sleepers).min().map(|moment| moment.max(now + Duration::from_millis(1)))
    }

    /// Time goes by: a call that has not taken effect by the end of its time does so now, or never.
    fn pass(&mut self, until: Duration) {
        while let Some(index) = self.requests.iter().position(|request| {
            let on_its_way = matches!(request.stage, Stage::Sent | Stage::Forgotten);
            request.kind == Kind::Call && on_its_way && request.lands_by < until
        }) {
            let lands_by = self.requests[index].lands_by;
            self.world.now = self.world.now.max(lands_by);
            match self.dice.happens(500) {
                true => self.perform(index),
                false => {
                    self.tell(index, "never arrives");
                    self.requests[index].exchange.lose();
                    self.requests.swap_remove(index);
                }
            }
        }
        self.world.now = self.world.now.max(until);
    }

    fn tell(&mut self, index: usize, words: &str) {
        let request = &self.requests[index];
        let name = self.processes.get(&request.process).map_or("", |process| &process.name);
        self.trace.note(self.world.now, format_args!("{name}: {}: {words}", request.what));
    }

    /// Does what a request asks for. Whoever does not wait for it is not answered.
    fn perform(&mut self, index: usize) {
        let Self { requests, world, .. } = self;
        let words = requests[index].exchange.perform(world);
        let slow = world.slow_until.take();
        self.tell(index, &words);
        let request = &mut self.requests[index];
        match request.stage {
            Stage::Forgotten => {
                self.requests.swap_remove(index);
            }
            Stage::Sent | Stage::Answered => {
                request.stage = Stage::Answered;
                request.not_before = slow.unwrap_or(self.world.now);
                let (process, kind) = (request.process, request.kind);
                let announced = std::mem::take(&mut self.world.storage.announced);
                let at_call = kind == Kind::Call || (kind == Kind::Write && announced);
                let may_fail = self.processes.get(&process).is_some_and(|p| p.may_fail);
                if at_call && may_fail && self.dice.happens(self.faults.suspended_at_call) {
                    self.suspend(process);
                }
            }
        }
    }

    fn advance(&mut self, index: usize) {
        let now = self.world.now;
        let request = &mut self.requests[index];
        match request.stage {
            Stage::Forgotten => return self.perform(index),
            Stage::Answered => {
                request.exchange.answer(&mut self.world);
                if request.again {
                    request.stage = Stage::Forgotten;
                    request.again = false;
                    request.not_before = now + self.dice.time(LONG_DELAY);
                } else {
                    self.requests.swap_remove(index);
                }
                return;
            }
            Stage::Sent => {}
        }
        let faults = &self.faults;
        let dice = &mut self.dice;
        match request.kind {
            Kind::Read if dice.happens(faults.read_fails) => {
                request.exchange.lose();
                self.tell(index, "fails");
                self.requests.swap_remove(index);
            }
            Kind::Read => self.perform(index),
            Kind::Write if dice.happens(faults.request_lost) => {
                request.exchange.lose();
                self.tell(index, "is lost on the way");
                self.requests.swap_remove(index);
            }
            Kind::Write if dice.happens(faults.answer_lost) => {
                request.exchange.lose();
                request.stage = Stage::Forgotten;
                self.tell(index, "its answer will be lost");
                self.perform(index);
            }
            Kind::Write if dice.happens(faults.write_delayed) => {
                request.exchange.lose();
                request.stage = Stage::Forgotten;
                request.not_before = now + dice.time(LONG_DELAY);
                self.tell(index, "is delayed, and given up");
            }
            Kind::Write if dice.happens(faults.write_repeated) => {
                let at_once = dice.happens(500);
                self.tell(index, "is sent twice");
                self.perform(index);
                match at_once {
                    // The second answer is what its sender sees.
                    true => self.perform(index),
                    false => self.requests[index].again = true,
                }
            }
            Kind::Write => self.perform(index),
            Kind::Call if dice.happens(faults.call_dies) => {
                request.exchange.lose();
                request.stage = Stage::Forgotten;
                let left = request.lands_by.saturating_sub(now);
                request.not_before = now + dice.time(left);
                let arrives = dice.happens(600);
                self.tell(index, "the provider dies");
                if !arrives {
                    self.requests.swap_remove(index);
                }
            }
            Kind::Call if !request.delayed && dice.happens(faults.call_delayed) => {
                request.delayed = true;
                let left = request.lands_by.saturating_sub(now);
                request.not_before = now + dice.time(left);
            }
            Kind::Call => self.perform(index),
        }
    }

    /// What befalls processes and the world; whether somebody was killed.
    fn trouble(&mut self) -> bool {
        let Faults { killed, suspended, by_hand, .. } = self.faults;
        if self.dice.happens(killed)
            && let Some(victim) = self.victim()
        {
            let now = self.world.now;
            let name = self.name(victim);
            self.trace.note(now, format_args!("{name} is killed"));
            if let Some(process) = self.processes.get_mut(&victim) {
                process.killed = true;
                if let Some(abort) = process.abort.take() {
                    abort.abort();
                }
            }
            self.bury(victim);
            return true;
        }
        if self.dice.happens(suspended)
            && let Some(victim) = self.victim()
        {
            self.suspend(victim);
        }
        if self.dice.happens(by_hand)
            && let Some(words) = self.world.change_by_hand()
        {
            self.trace.note(self.world.now, format_args!("by hand: {words}"));
        }
        false
    }

    fn suspend(&mut self, victim: ProcessId) {
        let time = self.dice.time(self.world.longest_suspension);
        let now = self.world.now;
        let until = now + time;
        let (name, seconds) = (self.name(victim), time.as_secs());
        self.trace.note(now, format_args!("{name} is suspended for {seconds} s"));
        if let Some(process) = self.processes.get_mut(&victim) {
            process.frozen_for += until.saturating_sub(process.frozen_until.max(now));
            process.frozen_until = until.max(process.frozen_until);
        }
    }

    fn victim(&mut self) -> Option<ProcessId> {
        let all = self.processes.iter();
        let running = all.filter(|(_, process)| process.running && process.may_fail);
        let running: Vec<ProcessId> = running.map(|(id, _)| *id).collect();
        self.dice.pick(&running).copied()
    }

    /// A process is gone: what it has sent may arrive all the same.
    fn bury(&mut self, process: ProcessId) {
        let Some(entry) = self.processes.get_mut(&process) else { return };
        if !entry.running {
            return;
        }
        entry.running = false;
        self.sleepers.retain(|sleeper| sleeper.process != process);
        let now = self.world.now;
        let dice = &mut self.dice;
        self.requests.retain_mut(|request| {
            if request.process != process || request.stage == Stage::Forgotten {
                return true;
            }
            let repeated = std::mem::take(&mut request.again);
            let sent = request.stage == Stage::Sent;
            let arrives = match request.kind {
                Kind::Read => false,
                Kind::Write => (sent && dice.happens(500)) || repeated,
                Kind::Call => sent && dice.happens(600),
            };
            let latest = match request.kind {
                Kind::Call => request.lands_by.saturating_sub(now),
                Kind::Read | Kind::Write => LONG_DELAY,
            };
            request.stage = Stage::Forgotten;
            request.not_before = now + dice.time(latest);
            arrives
        });
    }
}
