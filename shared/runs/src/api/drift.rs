//! The drift of all estates.

use super::triggers::named;
use super::{Api, ApiError, ApiRequest, ApiResponse, PAGE_ROOM};
use crate::deployment::Action;
use crate::report::link;
use crate::run_reference::{EstateReference, Mode};
use crate::run_state::RunState;
use crate::steps::parts;
use futures::stream::{StreamExt, TryStreamExt, iter};
use views::drift_report::{DriftLook, DriftOutcome, DriftReport, EstateDrift};
use views::page::{PageOptions, Sends, write_drift_page};
use views::run_report::ChangeReport;

/// Runs of an estate among which looks for drift are searched.
const SEARCHED: usize = 60;
/// Looks of an estate that are reported.
const LOOKS: usize = 14;
/// Estates that are read at once.
const AT_ONCE: usize = 8;

impl Api<'_> {
    pub(super) async fn report_drift(&self, request: &ApiRequest) -> Result<ApiResponse, ApiError> {
        let principal = request.principal.as_ref().ok_or(ApiError::Nobody)?;
        let mut seen = Vec::new();
        for name in self.deployment.estates.keys() {
            let estate = named(name)?;
            if self.deployment.permits(principal, Action::Read, &estate.0) {
                seen.push(estate);
            }
        }
        let api = request.address();
        let estates = iter(seen).map(|estate| self.drift_of(estate, api.as_deref()));
        let estates: Vec<EstateDrift> = estates.buffer_unordered(AT_ONCE).try_collect().await?;
        let report = DriftReport::new(estates);
        let mut body = Vec::new();
        // Writing to memory does not fail.
        if request.wants_page() {
            let _ = write_drift_page(&report, PageOptions { room: PAGE_ROOM }, &mut body);
            return Ok(ApiResponse::page(200, body, Sends::Nothing));
        }
        let json = serde_json::to_value(&report).unwrap_or_default();
        Ok(ApiResponse::json(200, &json))
    }

    async fn drift_of(
        &self,
        estate: EstateReference,
        api: Option<&str>,
    ) -> Result<EstateDrift, ApiError> {
        let stores = self.environment.stores(&estate.0).await?;
        let states = self.states.newest(&estate, SEARCHED).await?;
        let looked = |state: &&RunState| state.mode == Mode::Drift && state.status.is_final();
        let mut looks = Vec::new();
        for state in states.iter().filter(looked).take(LOOKS) {
            let parts = parts(state, &stores).await;
            let plan = parts.into_iter().filter_map(|part| part.plan).next_back();
            looks.push(look(state, plan.map(|plan| plan.drift).unwrap_or_default(), api));
        }
        Ok(EstateDrift::new(estate.0.as_str(), looks))
    }
}

fn look(
    state: &RunState,
    drifted: Vec<ChangeReport>,
    api: Option<&str>,
) -> (DriftLook, Vec<ChangeReport>) {
    let (outcome, objects) = match (state.status.is_success(), state.has_changes) {
        (true, false) => (DriftOutcome::Clean, 0),
        // What it was may be kept no more.
        (true, true) => (DriftOutcome::Drifted, drifted.len().max(1)),
        (false, _) => (DriftOutcome::NotChecked, 0),
    };
    let failed = outcome == DriftOutcome::NotChecked;
    let code = failed.then(|| state.code.clone().unwrap_or_else(|| state.status.to_string()));
    let run = state.run.to_string();
    let link = api.map(|api| link(api, state.estate.0.as_str(), &run));
    (DriftLook { run, at: state.requested, outcome, objects, code, link }, drifted)
}
