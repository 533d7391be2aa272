//! Finding and reading one object that exists, to record it.

use super::{Context, Variables};
use crate::evaluation::Operation;
use crate::object::StoredObject;
use crate::object_codec::{encode, resource_schema};
use crate::plan::{Plan, PlanMode};
use crate::planning::{self, PlanOptions, Rehearsed, Target};
use crate::state::State;
use language::diagnostics::{Diagnostic, Diagnostics};
use language::module::Configuration;
use std::sync::Arc;
use values::address::ResourceInstance;

impl Context {
    /// Has the provider of an instance find an object by its identifier, and reads it. Nothing is written. `None`
    /// after an error.
    pub async fn import(
        &self,
        configuration: &Arc<Configuration>,
        variables: Variables,
        previous: Arc<State>,
        address: &ResourceInstance,
        id: &str,
    ) -> (Option<StoredObject>, Diagnostics) {
        let options = PlanOptions {
            imports: [(address.clone(), Arc::from(id))].into(),
            targets: vec![Target::Instance(address.clone())],
            ..PlanOptions::default()
        };
        let (plan, diagnostics) = self.plan(configuration, variables, previous, options).await;
        self.found(&plan, address, diagnostics).await
    }

    /// The same, whatever the configuration says that the object should be: it need not be complete, and is not checked beyond
    /// what reaching the provider needs. What else is recorded is believed, and not read.
    pub async fn find(
        &self,
        configuration: &Arc<Configuration>,
        variables: Variables,
        previous: Arc<State>,
        address: &ResourceInstance,
        id: &str,
    ) -> (Option<StoredObject>, Diagnostics) {
        let options = PlanOptions {
            mode: PlanMode::RefreshOnly,
            refresh: false,
            imports: [(address.clone(), Arc::from(id))].into(),
            targets: vec![Target::Instance(address.clone())],
            ..PlanOptions::default()
        };
        let found = {
            let _busy = self.busy.lock().await;
            let pool = self.pool();
            let now = Some(self.environment.clock.now());
            let context = self.evaluation(configuration, Operation::Plan, variables, now, &pool);
            let work = planning::plan(context, options, previous, Rehearsed::default());
            self.supervise(&pool, work).await
        };
        let Some((plan, found)) = found else { return (None, super::interrupted()) };
        // That not all of it was planned is what was asked for.
        let told = found.into_iter().filter(Diagnostic::is_error);
        let diagnostics = super::without_repetitions(told.collect());
        self.found(&plan, address, diagnostics).await
    }

    /// The object that a plan found, unless there were errors.
    async fn found(
        &self,
        plan: &Plan,
        address: &ResourceInstance,
        mut diagnostics: Diagnostics,
    ) -> (Option<StoredObject>, Diagnostics) {
        if diagnostics.has_errors() {
            return (None, diagnostics);
        }
        match self.stored(plan, address).await {
            Ok(object) => (Some(object), diagnostics),
            Err(error) => {
                diagnostics.push(error.for_address(address.to_string()));
                (None, diagnostics)
            }
        }
    }

    async fn stored(
        &self,
        plan: &Plan,
        address: &ResourceInstance,
    ) -> Result<StoredObject, Diagnostic> {
        let failed = |why: String| Diagnostic::error("The object cannot be recorded", why);
        let read = plan.refreshed.get(address).filter(|_| plan.imports.contains_key(address));
        let Some((read, current)) = read.and_then(|read| Some((read, read.current.as_ref()?)))
        else {
            return Err(Diagnostic::error(
                "Configuration for import target does not exist",
                format!(
                    "The configuration declares no {address}. Write it, then adopt the object."
                ),
            ));
        };
        let provider = self.environment.providers.start(&read.provider.provider).await;
        let provider = provider.map_err(|error| failed(format!("{error}.")))?;
        let answer = provider.schema().await;
        provider.close().await;
        let answer = answer.map_err(|error| failed(format!("{error}.")))?.into_result();
        let (schemas, _) = answer.map_err(|found| {
            failed(found.first().map(|d| d.summary.clone()).unwrap_or_default())
        })?;
        let schema = resource_schema(&schemas, address.resource.mode, &address.resource.ty)
            .ok_or_else(|| failed("Its provider has no such resource type.".into()))?;
        let mut object =
            encode(&read.provider, schema, current).map_err(|error| failed(format!("{error}.")))?;
        let change = plan.changes.resources.iter().find(|change| change.address == *address);
        if let Some(change) = change {
            object.dependencies = change.dependencies.clone();
            object.create_before_destroy = change.create_before_destroy;
        }
        Ok(object)
    }
}
