//! Asking a provider what a change comes to: the same question while planning and while applying.

use super::{ignore_changes, proposed_new};
use crate::provider_diagnostics::CallFailure;
use providers::{
    PlanResourceRequest, PlanResourceResponse, Provider, ProviderDiagnostic, TypedSchema,
};
use std::sync::Arc;
use values::{Path, Value};

/// A change of one object, from what there is to what is configured.
pub(crate) struct PlanRequest<'a> {
    pub(crate) provider: &'a dyn Provider,
    pub(crate) schema: &'a TypedSchema,
    /// Resource type.
    pub(crate) ty: &'a Arc<str>,
    /// The object now; null for a create.
    pub(crate) prior: &'a Value,
    pub(crate) config: &'a Value,
    /// Where the configuration gives way to what there is.
    pub(crate) ignored: &'a [Path],
    /// The provider's own bytes about the object.
    pub(crate) private: Arc<[u8]>,
}

/// What a provider answered.
pub(crate) struct PlanAnswer {
    /// The configuration that it was asked for, with marks.
    pub(crate) effective: Value,
    pub(crate) response: PlanResourceResponse,
    pub(crate) warnings: Vec<ProviderDiagnostic>,
}

impl PlanRequest<'_> {
    /// Asks. The answer is not checked, and carries no marks.
    pub(crate) async fn ask(self) -> Result<PlanAnswer, CallFailure> {
        let effective = ignore_changes(self.prior, self.config, self.ignored);
        let (prior, config) = (self.prior.unmark_deep(), effective.unmark_deep());
        let request = PlanResourceRequest {
            ty: self.ty.clone(),
            proposed_new_state: proposed_new(&self.schema.block, &prior, &config),
            prior_state: prior.clone(),
            config,
            prior_private: self.private,
            provider_meta: None,
            prior_identity: None,
            deferral_allowed: false,
        };
        let response = self.provider.plan_resource(request).await.map_err(CallFailure::Call)?;
        let (mut response, warnings) = response.into_result().map_err(CallFailure::Refused)?;
        if response.legacy_type_system {
            // Such providers may bring ignored changes back.
            response.planned_state = ignore_changes(&prior, &response.planned_state, self.ignored);
        }
        Ok(PlanAnswer { effective, response, warnings })
    }
}
