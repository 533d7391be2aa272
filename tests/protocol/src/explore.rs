//! Explores every state of a model, depth first.
//!
//! A checker of our own, in one page, because it has to answer "does every interleaving end": depth first, a step back to a
//! state on the path is an interleaving that does not end, and the path is the counterexample. stateright finds states too,
//! but its check of what is eventually true misses paths that join states seen before, it keeps whole states in memory
//! where a fingerprint of 64 bits does, and it brings some thirty packages with a web server among them.

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

use crate::event::Event;
use crate::model::Model;
use crate::rules::Invariant;
use crate::state::State;

/// What an exploration came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Different states.
    pub states: u64,
    /// Steps between them.
    pub steps: u64,
    /// The longest way without a repetition.
    pub depth: usize,
    /// States in which nothing moves any more.
    pub finals: u64,
    /// The sets of transactions that had changed something once all had begun and ended, each as a bit mask.
    pub winners: BTreeSet<u8>,
    /// Ends of all transactions with a create in doubt.
    pub doubts: u64,
    /// The first violation, with the steps that lead to it.
    pub violation: Option<Violation>,
}

/// A violated invariant, and how to get there.
#[derive(Clone, Debug)]
pub struct Violation {
    /// What does not hold.
    pub invariant: Invariant,
    /// Each step, in words.
    pub trace: Vec<String>,
}

/// Mixes by folded multiplication; fingerprints are well distributed and cost a few cycles per field.
#[derive(Default)]
struct Fingerprint(u64);

impl Fingerprint {
    fn mix(&mut self, word: u64) {
        let product =
            u128::from(self.0 ^ word ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93_u128;
        self.0 = (product as u64 ^ (product >> 64) as u64).rotate_left(23);
    }
}

impl Hasher for Fingerprint {
    fn finish(&self) -> u64 {
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }
    fn write_u8(&mut self, byte: u8) {
        self.mix(u64::from(byte));
    }
    fn write_isize(&mut self, word: isize) {
        self.mix(word as u64);
    }
    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }
}

/// A fingerprint needs no hashing again.
#[derive(Default)]
struct Unchanged(u64);

impl Hasher for Unchanged {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {}
    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}

type Fingerprints = HashSet<u64, BuildHasherDefault<Unchanged>>;

fn fingerprint(state: &State) -> u64 {
    let mut hasher = Fingerprint::default();
    state.hash(&mut hasher);
    hasher.finish()
}

struct Frame {
    state: State,
    fingerprint: u64,
    steps: Vec<(Event, Result<State, Invariant>)>,
    /// The step that is being followed.
    taken: Option<Event>,
}

impl Model {
    /// Explores every interleaving, up to the first violation.
    pub fn explore(&self) -> Outcome {
        self.explore_up_to(u64::MAX)
    }

    /// As `explore`, at most `limit` states.
    pub fn explore_up_to(&self, limit: u64) -> Outcome {
        let mut outcome = Outcome::default();
        let mut seen = Fingerprints::default();
        let mut on_path = Fingerprints::default();
        let mut path: Vec<Frame> = Vec::new();
        let initial = self.case.initial();
        let first = fingerprint(&initial);
        seen.insert(first);
        self.enter(initial, first, &mut path, &mut on_path, &mut outcome);
        while outcome.violation.is_none() {
            let Some(frame) = path.last_mut() else { break };
            let Some((event, next)) = frame.steps.pop() else {
                on_path.remove(&frame.fingerprint);
                path.pop();
                continue;
            };
            outcome.steps += 1;
            frame.taken = Some(event);
            match next {
                Err(invariant) => outcome.violation = Some(self.violation(invariant, &path)),
                Ok(state) => {
                    let mark = fingerprint(&state);
                    if on_path.contains(&mark) {
                        outcome.violation = Some(self.violation(Invariant::Ends, &path));
                    } else if outcome.states < limit && seen.insert(mark) {
                        self.enter(state, mark, &mut path, &mut on_path, &mut outcome);
                    }
                }
            }
        }
        outcome
    }

    fn enter(
        &self,
        state: State,
        fingerprint: u64,
        path: &mut Vec<Frame>,
        on_path: &mut Fingerprints,
        outcome: &mut Outcome,
    ) {
        let steps = self.steps(&state);
        outcome.states += 1;
        let resting = state.invocations.iter().all(|invocation| invocation.in_flight.is_none());
        let quiet = !state.running() && resting;
        let stuck = steps.is_empty() && !quiet;
        let verdict = if stuck {
            Err(Invariant::Ends)
        } else if quiet {
            outcome.finals += 1;
            if steps.is_empty() {
                outcome.doubts += u64::from(state.records.iter().any(|record| record.doubt));
                outcome.winners.insert(state.changed.iter().enumerate().fold(
                    0,
                    |mask, (plan, changed)| {
                        mask | u8::from(changed.iter().any(|&change| change != 0)) << plan
                    },
                ));
            }
            self.judge_end(&state)
        } else {
            Ok(())
        };
        path.push(Frame { state, fingerprint, steps, taken: None });
        outcome.depth = outcome.depth.max(path.len());
        on_path.insert(fingerprint);
        if let Err(invariant) = verdict {
            outcome.violation = Some(self.violation(invariant, path));
        }
    }

    fn violation(&self, invariant: Invariant, path: &[Frame]) -> Violation {
        let mut trace: Vec<String> = path
            .iter()
            .filter_map(|frame| frame.taken.map(|event| self.describe(&frame.state, event)))
            .collect();
        if let Some(last) = path.last() {
            trace.push(format!("then: {:?}", last.state.records));
            trace.push(format!("      {:?}", last.state.transactions));
        }
        Violation { invariant, trace }
    }
}
