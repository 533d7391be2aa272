//! `kill -9` at the points of an apply: after a write to the store, and after a provider call before its answer
//! arrives.

use crate::estate::Estate;
use crate::soak;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Runs at the same time; most of a run is waiting for processes.
const THREADS: usize = 4;

/// Where `plumb` dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    /// After so many writes to the store.
    Write(usize),
    /// After so many provider calls, before the last is answered.
    Call(usize),
}

/// Dies at points from the first to one that is never reached, and checks each: every one in a soak, and else every
/// third. Returns the last that was reached. `settled` has a plan in `plan.bin`.
pub(crate) fn die_everywhere(
    settled: &Estate,
    parallelism: usize,
    environment: &[(&str, &str)],
    point: fn(usize) -> Death,
    check: impl Fn(Death, &Estate) + Sync,
) -> usize {
    let before = settled.calls().iter().filter(|call| call.phase != "started").count();
    let parallelism = format!("-parallelism={parallelism}");
    let (next, over) = (AtomicUsize::new(1), AtomicBool::new(false));
    let last = AtomicUsize::new(0);
    let work = || {
        while !over.load(Ordering::SeqCst) {
            let number = next.fetch_add(soak::or(1, 3), Ordering::SeqCst);
            let death = point(number);
            let estate = settled.copy();
            let (variable, number) = match death {
                Death::Write(number) => ("PLUMB_TEST_KILL_AFTER_WRITE", number),
                Death::Call(number) => ("TEST_PROVIDER_KILL_PARENT_AFTER", before + number),
            };
            let text = number.to_string();
            let environment = [environment, &[(variable, text.as_str())]].concat();
            let ran = estate.run_with(&["apply", &parallelism, "plan.bin"], &environment);
            if ran.was_killed() {
                estate.assert_no_process_is_left();
                check(death, &estate);
                last.fetch_max(number, Ordering::SeqCst);
            } else {
                assert_eq!(ran.status.code(), Some(0), "{death:?} {}", ran.said());
                over.store(true, Ordering::SeqCst);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(work);
        }
    });
    last.into_inner()
}
