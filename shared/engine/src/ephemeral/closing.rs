//! Closing: after the last vertex that uses an ephemeral resource, whatever became of it.

use crate::environment::Environment;
use crate::evaluation::EvalContext;
use crate::graph::{Graph, VertexId, Walked};
use crate::hooks::EphemeralStep;
use crate::open_ephemerals::{Closing, OpenEphemerals};
use crate::provider_diagnostics::{CallFailure, in_body};
use crate::vertex::Vertex;
use providers::ProviderDiagnostic;
use values::address::{ConfigResource, ResourceMode};

/// Adds the vertices that close what the graph opens. An ephemeral resource is used by what refers to it, through values
/// and the configurations of providers too: by all that these providers do. It is not used by what depends on its users,
/// but for those that are ephemeral themselves: they are closed first.
pub(crate) fn close_after_use(graph: &mut Graph<Vertex>) {
    let opened: Vec<(VertexId, ConfigResource)> = graph
        .ids()
        .filter_map(|id| match graph.vertex(id) {
            Vertex::Resource(r) if is_ephemeral(r) => Some((id, r.clone())),
            _ => None,
        })
        .collect();
    if opened.is_empty() {
        return;
    }
    let dependents = graph.dependents();
    for (open, resource) in opened {
        let close = graph.add(Vertex::Close(resource));
        graph.connect(close, open);
        let mut seen = vec![false; dependents.len()];
        let mut pending: Vec<VertexId> = dependents[open.index()].clone();
        while let Some(user) = pending.pop() {
            if std::mem::replace(&mut seen[user.index()], true) {
                continue;
            }
            graph.connect(close, user);
            match graph.vertex(user) {
                Vertex::Resource(r) if is_ephemeral(r) => {
                    let other = graph.add(Vertex::Close(r.clone()));
                    graph.connect(close, other);
                }
                Vertex::Resource(_)
                | Vertex::Change(_)
                | Vertex::Destroy(..)
                | Vertex::Changed(_)
                | Vertex::Destroyed(..)
                | Vertex::Settled => {}
                _ => pending.extend(&dependents[user.index()]),
            }
        }
    }
}

fn is_ephemeral(resource: &ConfigResource) -> bool {
    resource.resource.mode == ResourceMode::Ephemeral
}

/// Closes all instances of a resource that are open.
pub(crate) async fn close(context: &EvalContext, resource: &ConfigResource) -> Walked {
    for closing in context.pool.ephemerals.take(resource).await {
        close_one(context, closing).await;
    }
    Walked::Done
}

/// Closes all that is open.
pub(crate) async fn close_all(context: &EvalContext) {
    for closing in context.pool.ephemerals.take_all().await {
        close_one(context, closing).await;
    }
}

/// Closes what an operation that was given up has left open; nobody is there to be told what goes wrong.
pub(crate) async fn close_left(ephemerals: &OpenEphemerals, environment: &Environment) {
    for closing in ephemerals.take_all().await {
        let _ = call(&closing, environment).await;
    }
}

async fn close_one(context: &EvalContext, mut closing: Closing) {
    let block = context.configuration.resource(&closing.address.config());
    let (body, place) = (block.map(|b| &*b.config), block.map(|b| b.span));
    let shown = closing.address.to_string();
    let warnings = std::mem::take(&mut closing.warnings);
    context.report(in_body(warnings, body, place, &shown));
    if let Some(failure) = closing.failure.take() {
        context.report(failure.into_diagnostics(body, place, &shown));
    }
    match call(&closing, &context.environment).await {
        Ok(warnings) => context.report(in_body(warnings, body, place, &shown)),
        Err(failure) => context.report(failure.into_diagnostics(body, place, &shown)),
    };
}

async fn call(
    closing: &Closing,
    environment: &Environment,
) -> Result<Vec<ProviderDiagnostic>, CallFailure> {
    let (address, step) = (&closing.address, EphemeralStep::Close);
    environment.hook(|h| h.pre_ephemeral(address, step));
    let closed = closing.close().await;
    let said = closed.as_ref().err().map(CallFailure::summary);
    environment.hook(|h| h.post_ephemeral(address, step, said.as_deref()));
    closed
}
