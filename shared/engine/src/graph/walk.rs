//! The concurrent walk: every vertex after all that it depends on.

use super::{Graph, VertexId};
use std::collections::VecDeque;
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;
use tokio::task::JoinSet;

/// How the visit of one vertex ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walked {
    /// Go on with what depends on it.
    Done,
    /// It failed, or something that it depends on did: nothing that depends on it is visited.
    Failed,
}

/// Visits that need no permit, or wait for one: enough to keep those busy that have one. Each costs memory, and more would
/// only wait.
const WAITING: usize = 64;

/// Visits all vertices, each after what it depends on; `shared` is what all visits have. What bounds the work in flight
/// to `parallelism` is inside `visit`. Dependents of a failed vertex are not visited, but for those that `always` are,
/// whatever became of what they wait for.
///
/// The graph must have no cycles. Returns when nothing is left to visit or in flight.
pub(crate) async fn walk<V, S, F>(
    graph: &Graph<V>,
    shared: &Arc<S>,
    parallelism: usize,
    visit: impl Fn(Arc<S>, V) -> F,
    always: impl Fn(&V) -> bool,
) where
    V: Clone + Eq + Hash,
    F: Future<Output = Walked> + Send + 'static,
{
    let dependents = graph.dependents();
    let mut waiting: Vec<usize> = graph.ids().map(|id| graph.dependencies(id).count()).collect();
    let mut failed = vec![false; graph.len()];
    let mut ready: VecDeque<VertexId> = graph.ids().filter(|id| waiting[id.index()] == 0).collect();
    let mut running: JoinSet<(VertexId, Walked)> = JoinSet::new();
    let at_once = parallelism.saturating_add(WAITING);
    loop {
        while running.len() < at_once
            && let Some(id) = ready.pop_front()
        {
            if failed[id.index()] && !always(graph.vertex(id)) {
                release(id, Walked::Failed, &dependents, &mut waiting, &mut failed, &mut ready);
                continue;
            }
            let visited = visit(shared.clone(), graph.vertex(id).clone());
            running.spawn(async move { (id, visited.await) });
        }
        match running.join_next().await {
            None => return,
            Some(Ok((id, outcome))) => {
                release(id, outcome, &dependents, &mut waiting, &mut failed, &mut ready);
            }
            // A panic in a vertex is a bug of ours: it must not pass for a finished walk.
            Some(Err(e)) => match e.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => return,
            },
        }
    }
}

fn release(
    id: VertexId,
    outcome: Walked,
    dependents: &[Vec<VertexId>],
    waiting: &mut [usize],
    failed: &mut [bool],
    ready: &mut VecDeque<VertexId>,
) {
    for dependent in &dependents[id.index()] {
        let d = dependent.index();
        failed[d] |= outcome == Walked::Failed;
        waiting[d] -= 1;
        if waiting[d] == 0 {
            ready.push_back(*dependent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[tokio::test]
    async fn order_is_kept_and_dependents_of_failures_are_skipped() {
        let mut g = Graph::new();
        let (a, b, c, d) = (g.add("a"), g.add("b"), g.add("c"), g.add("d"));
        g.connect(b, a);
        g.connect(c, b);
        g.connect(d, a);
        let close = g.add("close");
        g.connect(close, c);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let visit = |seen: Arc<Mutex<Vec<&'static str>>>, v| async move {
            seen.lock().unwrap().push(v);
            if v == "b" { Walked::Failed } else { Walked::Done }
        };
        walk(&g, &seen, 10, visit, |v| *v == "close").await;
        let mut seen = seen.lock().unwrap().clone();
        assert_eq!(seen[0], "a");
        seen.sort();
        assert_eq!(seen, ["a", "b", "close", "d"]);
    }
}
