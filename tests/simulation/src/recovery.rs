//! The end of a simulation: a process without trouble brings the estate in order, as far as somebody can.

use crate::configuration::Configuration;
use crate::dice::Dice;
use crate::process::workplace;
use crate::request::OUTSIDE;
use crate::scenario::{Scene, seconds, summary};
use crate::scheduler::Ended;
use engine::estate::EstateReading;
use engine::transaction::{Fate, Others};
use language::files::Memory;

/// How often it is tried.
const ROUNDS: usize = 12;

impl Scene {
    /// Waits until whoever died counts as dead, decides what is open, plans and applies, until nothing is left.
    pub(crate) async fn recover(&self, configuration: &Configuration, dice: &mut Dice) {
        let terms = &self.habits.terms;
        let all = terms.lease + terms.margin + 4 * terms.skew + 60;
        self.scheduler.sleep(OUTSIDE, seconds(all.unsigned_abs())).await;
        let mut told = String::new();
        for round in 1..=ROUNDS {
            self.decide(configuration, &format!("recovery {round} decides"), false).await;
            let Some(made) = self.plan(configuration, false).await else { continue };
            let clean = made.saved.plan.changes.is_empty();
            told = summary(&made.saved);
            let name = format!("recovery {round} applies");
            self.apply(&made, &name, false, dice).await;
            if clean && !self.anything_open().await && !self.go_on(round, dice).await {
                return;
            }
            self.scheduler.sleep(OUTSIDE, seconds(30)).await;
        }
        self.violated(format!("ClaimedForever: the estate does not come in order: {told}"));
    }

    /// Applies again what was left half way and nobody else has come upon; whether anything moved, or is claimed still.
    async fn go_on(&self, round: usize, dice: &mut Dice) -> bool {
        let under_way = |reading: EstateReading| {
            reading.header.map(|header| header.under_way).unwrap_or_default()
        };
        let Some((reading, _)) = self.look().await else { return true };
        let before = under_way(reading);
        for made in self.plans().iter().filter(|made| before.contains(&made.saved.id)) {
            let name = format!("recovery {round} goes on with {}", made.number);
            self.apply(made, &name, false, dice).await;
        }
        // What is put off is on the list until its plan has expired, and claims nothing.
        match self.look().await {
            None => true,
            Some((reading, claimed)) => claimed || under_way(reading) != before,
        }
    }

    async fn anything_open(&self) -> bool {
        self.reading().await.is_none_or(|reading| {
            !reading.strays.is_empty() || reading.records.values().any(|f| f.doubt.is_some())
        })
    }

    /// What the records say in the end.
    pub(crate) async fn reading(&self) -> Option<EstateReading> {
        self.look().await.map(|(reading, _)| reading)
    }

    /// What the records say, and whether any of them has a claim that has not ended.
    async fn look(&self) -> Option<(EstateReading, bool)> {
        let scene = self.clone();
        let work = move |process| async move {
            let workplace =
                workplace(&scene.scheduler, process, None, &scene.habits, Memory::default());
            let workplace = workplace.ok()?;
            let reading = workplace.estate.read().await.ok()?;
            let others = Others::of(&workplace.estate, &reading, &workplace.terms).await.ok()?;
            let claims = reading.records.values().filter_map(|facts| facts.claim.as_ref());
            let claimed = claims.into_iter().any(|claim| others.fate_of(claim) != Fate::Ended);
            Some((reading, claimed))
        };
        match self.scheduler.run("a look".to_owned(), false, work).await {
            Ended::With(looked) => looked,
            Ended::Killed | Ended::Panicked(_) => None,
        }
    }
}
