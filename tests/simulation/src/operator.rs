//! Somebody who looks at what the records leave open, and knows the world.

use crate::configuration::Configuration;
use crate::dice::Dice;
use crate::process::workplace;
use crate::request::ProcessId;
use crate::scenario::{Scene, read_source, seconds};
use crate::scheduler::Ended;
use engine::Variables;
use engine::estate::{AdoptionError, EstateReading};
use engine::identifiers::{PlanId, Principal};
use language::files::Memory;
use runs::RunError;
use runs::adopt::ObjectRequest;
use std::collections::BTreeSet;
use values::address::ResourceInstance;

impl Scene {
    /// Somebody who decides what the records leave open, and knows the world.
    pub(crate) async fn decide(
        &self,
        configuration: &Configuration,
        name: &str,
        may_fail: bool,
    ) -> bool {
        let scene = self.clone();
        let text = configuration.text();
        let work = move |process| async move { scene.decide_in(process, text).await };
        match self.scheduler.run(name.to_owned(), may_fail, work).await {
            Ended::With(Ok(words)) => {
                if !words.is_empty() {
                    self.note(format_args!("{name}: {}", words.join("; ")));
                }
                true
            }
            Ended::With(Err(why)) => {
                self.note(format_args!("{name} fails: {why}"));
                false
            }
            Ended::Killed => false,
            Ended::Panicked(why) => {
                self.violated(format!("Panicked: {name}: {why}"));
                false
            }
        }
    }

    async fn decide_in(self, process: ProcessId, text: String) -> Result<Vec<String>, String> {
        let files: Memory = [("main.tf", text)].into_iter().collect();
        let workplace = workplace(&self.scheduler, process, None, &self.habits, files)
            .map_err(|e| e.to_string())?;
        let estate = &workplace.estate;
        let principal = Principal::from_stored("operator");
        let reading = estate.read().await.map_err(|e| e.to_string())?;
        let terms = &self.habits.terms;
        let mut words = Vec::new();
        for stray in &reading.strays {
            let ids = self.stray_ids(&stray.key);
            let recorded = recorded_ids(&reading);
            let here = reading.state.instances.get(&stray.address);
            let occupied = here.is_some_and(|state| state.current.is_some());
            let open: Vec<String> = {
                let inner = self.scheduler.lock();
                let exists = |id: &String| inner.world.things.all.contains_key(id);
                ids.into_iter().filter(|id| exists(id) && !recorded.contains(id)).collect()
            };
            let run = Some(&stray.written_by.run);
            let adopts = !open.is_empty() && !occupied;
            let decided = match adopts {
                true => runs::adopt::adopt_stray(estate, &stray.address, run, &principal)
                    .await
                    .map(|_| ()),
                false => {
                    self.delete_by_hand(&open);
                    runs::dismiss::dismiss(estate, &stray.address, run, &principal, terms)
                        .await
                        .map(|_| ())
                }
            };
            let verb = if adopts { "adopts" } else { "dismisses" };
            decided.map_err(|e| e.to_string())?;
            words.push(format!("{verb} the stray of {}", stray.address));
        }
        // What was adopted is recorded since.
        let reading = estate.read().await.map_err(|e| e.to_string())?;
        for (address, facts) in &reading.records {
            let Some(doubt) = &facts.doubt else { continue };
            let open = self.unrecorded(&reading, &doubt.transaction, address);
            let here = reading.state.instances.get(address);
            let occupied = here.is_some_and(|state| state.current.is_some());
            match (open.first(), occupied) {
                (Some(id), false) => {
                    let source = read_source(&workplace)?;
                    let request = ObjectRequest {
                        source,
                        variables: Variables::new(),
                        address: address.clone(),
                        id: id.clone(),
                    };
                    let adopted = runs::adopt::adopt_object(&workplace, request, &principal).await;
                    let (adopted, _) = adopted.map_err(|e| e.to_string())?;
                    match adopted {
                        Some(_) => words.push(format!("adopts {id} as {address}")),
                        None => {
                            // Its type is in no configuration any more.
                            self.delete_by_hand(&open);
                            words.push(format!("cannot adopt {id} as {address}, and deletes it"));
                        }
                    }
                }
                _ => {
                    self.delete_by_hand(&open);
                    match runs::dismiss::dismiss(estate, address, None, &principal, terms).await {
                        Ok(_) => words.push(format!("dismisses the doubt about {address}")),
                        // Looked at again later.
                        Err(RunError::Adoption(AdoptionError::TooEarly { .. })) => {
                            words.push(format!("comes too early to dismiss {address}"));
                        }
                        Err(error) => return Err(error.to_string()),
                    }
                }
            }
        }
        Ok(words)
    }

    fn delete_by_hand(&self, ids: &[String]) {
        let mut inner = self.scheduler.lock();
        for id in ids {
            inner.world.things.delete_by_hand(id);
        }
    }

    fn stray_ids(&self, key: &records::Key) -> Vec<String> {
        let inner = self.scheduler.lock();
        let record = inner.world.storage.records.get(key);
        record.map(|record| ids_in(&record.body)).unwrap_or_default()
    }

    /// Things that no record has and that a plan has made for an instance.
    fn unrecorded(
        &self,
        reading: &EstateReading,
        plan: &PlanId,
        address: &ResourceInstance,
    ) -> Vec<String> {
        let recorded = recorded_ids(reading);
        let plans = self.plans();
        let Some(made) = plans.iter().find(|made| made.saved.id == *plan) else {
            return Vec::new();
        };
        let label = made.labels.get(address);
        let inner = self.scheduler.lock();
        let things = inner.world.things.all.values();
        let theirs = things.filter(|thing| {
            thing.made_by == Some(made.number) && Some(&thing.facts.label) == label
        });
        let ids = theirs.map(|thing| thing.facts.id.clone());
        ids.filter(|id| !recorded.contains(id)).collect()
    }

    /// Somebody who looks from time to time at what is open.
    pub(crate) async fn operator(self, configuration: Configuration, mut dice: Dice) {
        for round in 1..=3 {
            self.pause(&mut dice, seconds(120)).await;
            self.decide(&configuration, &format!("operator {round}"), true).await;
        }
    }
}

/// The ids of all objects in a record's body.
fn ids_in(body: &[u8]) -> Vec<String> {
    let Ok(json) = serde_json::from_slice::<serde_json::Value>(body) else { return Vec::new() };
    let id = |object: &serde_json::Value| object["values"]["id"].as_str().map(str::to_owned);
    let deposed = json["deposed"].as_object().into_iter().flat_map(|deposed| deposed.values());
    std::iter::once(&json["object"]).chain(deposed).filter_map(id).collect()
}

fn recorded_ids(reading: &EstateReading) -> BTreeSet<String> {
    recorded(reading).into_iter().map(|(id, _)| id).collect()
}

/// Every object that the records have, with its instance.
pub(crate) fn recorded(reading: &EstateReading) -> Vec<(String, ResourceInstance)> {
    let objects = reading.state.instances.iter().flat_map(|(address, state)| {
        let all = state.current.iter().chain(state.deposed.values());
        all.map(move |object| (object, address.clone()))
    });
    objects
        .filter_map(|(object, address)| {
            let json: serde_json::Value = serde_json::from_str(&object.attributes).ok()?;
            Some((json["id"].as_str()?.to_owned(), address))
        })
        .collect()
}
