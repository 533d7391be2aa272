//! Directed graphs of work: what must be done before what.

mod walk;

pub(crate) use walk::{Walked, walk};

use crate::hashing::HashMap;
use std::collections::BTreeSet;
use std::hash::Hash;

/// Index of a vertex in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct VertexId(u32);

impl VertexId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A graph whose edges lead from a vertex to what it depends on.
#[derive(Debug)]
pub(crate) struct Graph<V> {
    vertices: Vec<V>,
    ids: HashMap<V, VertexId>,
    dependencies: Vec<BTreeSet<VertexId>>,
}

impl<V: Clone + Eq + Hash> Graph<V> {
    pub(crate) fn new() -> Graph<V> {
        Graph { vertices: Vec::new(), ids: HashMap::default(), dependencies: Vec::new() }
    }

    /// Adds a vertex; the same vertex again gives the same id.
    pub(crate) fn add(&mut self, vertex: V) -> VertexId {
        if let Some(id) = self.ids.get(&vertex) {
            return *id;
        }
        let id = VertexId(self.vertices.len() as u32);
        self.ids.insert(vertex.clone(), id);
        self.vertices.push(vertex);
        self.dependencies.push(BTreeSet::new());
        id
    }

    pub(crate) fn id(&self, vertex: &V) -> Option<VertexId> {
        self.ids.get(vertex).copied()
    }

    pub(crate) fn vertex(&self, id: VertexId) -> &V {
        &self.vertices[id.index()]
    }

    pub(crate) fn len(&self) -> usize {
        self.vertices.len()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = VertexId> + use<V> {
        (0..self.vertices.len() as u32).map(VertexId)
    }

    /// Makes `from` wait for `on`.
    pub(crate) fn connect(&mut self, from: VertexId, on: VertexId) {
        self.dependencies[from.index()].insert(on);
    }

    pub(crate) fn dependencies(&self, id: VertexId) -> impl Iterator<Item = VertexId> + '_ {
        self.dependencies[id.index()].iter().copied()
    }

    /// For each vertex, those that depend on it.
    pub(crate) fn dependents(&self) -> Vec<Vec<VertexId>> {
        let mut dependents = vec![Vec::new(); self.vertices.len()];
        for (from, on) in self.dependencies.iter().enumerate() {
            for dependency in on {
                dependents[dependency.index()].push(VertexId(from as u32));
            }
        }
        dependents
    }

    /// All that the given vertices depend on, directly or not, themselves included.
    pub(crate) fn reachable(&self, from: impl IntoIterator<Item = VertexId>) -> Vec<bool> {
        let mut seen = vec![false; self.vertices.len()];
        let mut pending: Vec<VertexId> = from.into_iter().collect();
        while let Some(id) = pending.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            pending.extend(self.dependencies(id).filter(|d| !seen[d.index()]));
        }
        seen
    }

    /// The graph of the vertices for which `keep` is true.
    pub(crate) fn retain(self, keep: &[bool]) -> Graph<V> {
        let mut kept = Graph::new();
        let new_ids: Vec<Option<VertexId>> = self
            .vertices
            .into_iter()
            .zip(keep)
            .map(|(vertex, keep)| keep.then(|| kept.add(vertex)))
            .collect();
        for (from, on) in self.dependencies.iter().enumerate() {
            let Some(from) = new_ids[from] else { continue };
            for dependency in on {
                if let Some(on) = new_ids[dependency.index()] {
                    kept.connect(from, on);
                }
            }
        }
        kept
    }

    /// Vertices that wait for each other: each group of more than one, and each vertex that waits
    /// for itself. Iterative, so that long chains do not exhaust the stack.
    pub(crate) fn cycles(&self) -> Vec<Vec<VertexId>> {
        let n = self.vertices.len();
        let mut index = vec![u32::MAX; n];
        let mut low = vec![0u32; n];
        let mut on_stack = vec![false; n];
        let mut stack = Vec::new();
        let mut next = 0u32;
        let mut cycles = Vec::new();
        for root in 0..n {
            if index[root] != u32::MAX {
                continue;
            }
            let mut frames = vec![(root, self.dependencies[root].iter())];
            index[root] = next;
            low[root] = next;
            next += 1;
            stack.push(root);
            on_stack[root] = true;
            while let Some((v, edges)) = frames.last_mut() {
                let v = *v;
                match edges.next() {
                    Some(w) => {
                        let w = w.index();
                        if index[w] == u32::MAX {
                            index[w] = next;
                            low[w] = next;
                            next += 1;
                            stack.push(w);
                            on_stack[w] = true;
                            frames.push((w, self.dependencies[w].iter()));
                        } else if on_stack[w] {
                            low[v] = low[v].min(index[w]);
                        }
                    }
                    None => {
                        frames.pop();
                        if let Some((parent, _)) = frames.last() {
                            low[*parent] = low[*parent].min(low[v]);
                        }
                        if low[v] == index[v] {
                            let mut group = Vec::new();
                            while let Some(w) = stack.pop() {
                                on_stack[w] = false;
                                group.push(VertexId(w as u32));
                                if w == v {
                                    break;
                                }
                            }
                            let to_itself = self.dependencies[v].contains(&VertexId(v as u32));
                            if group.len() > 1 || to_itself {
                                cycles.push(group);
                            }
                        }
                    }
                }
            }
        }
        cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_found_and_chains_are_not() {
        let mut g = Graph::new();
        let ids: Vec<_> = (0..100_000).map(|i| g.add(i)).collect();
        for pair in ids.windows(2) {
            g.connect(pair[1], pair[0]);
        }
        assert!(g.cycles().is_empty());
        g.connect(ids[0], ids[2]);
        assert_eq!(g.cycles().len(), 1);
        assert_eq!(g.cycles()[0].len(), 3);
        g.connect(ids[50], ids[50]);
        assert_eq!(g.cycles().len(), 2);
    }

    #[test]
    fn reachable_and_retained() {
        let mut g = Graph::new();
        let (a, b, c) = (g.add("a"), g.add("b"), g.add("c"));
        g.connect(a, b);
        let keep = g.reachable([a]);
        assert_eq!(keep, [true, true, false]);
        assert_eq!(g.id(&"c"), Some(c));
        let g = g.retain(&keep);
        assert_eq!(g.len(), 2);
        assert_eq!(g.id(&"c"), None);
        let (a, b) = (g.id(&"a").unwrap(), g.id(&"b").unwrap());
        assert_eq!(g.dependencies(a).collect::<Vec<_>>(), [b]);
    }
}
