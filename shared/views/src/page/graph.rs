//! The resources that change, and what depends on what among them, as a drawing.

use super::changes::kind_of;
use super::html::Html;
use super::layers::{Graph, HEIGHT, MOST, lay_out};
use crate::run_report::{ChangeReport, PlanReport};
use std::collections::{BTreeMap, BTreeSet};

/// Arrows that can still be told apart.
const MOST_ARROWS: usize = 400;
/// Letters of a name that are shown in a box.
const LETTERS: usize = 34;
/// The width of a letter, in tenths.
const LETTER: u32 = 72;
const PADDING: u32 = 24;

/// A box: a resource, or a module with all that changes in it.
struct Node<'a> {
    module: &'a str,
    name: String,
    /// The change that it leads to.
    first: usize,
    changes: Vec<&'a ChangeReport>,
    depends_on: BTreeSet<usize>,
}

pub(super) fn write_graph(plan: &PlanReport, html: &mut Html) {
    if plan.resources.len() < 2 {
        return;
    }
    html.raw("<section aria-labelledby=\"h-graph\"><h2 id=\"h-graph\">What depends on what</h2>");
    let all = resources(plan);
    let nodes = match fits(&all) {
        true => all,
        false => {
            let modules = modules(&all);
            html.raw("<p class=\"note\">").show(all.len());
            match fits(&modules) && modules.len() > 1 {
                true => {
                    html.raw(
                        " resources change, too many to draw one by one. Each box is a module.</p>",
                    );
                    modules
                }
                false => {
                    html.raw(" resources change, too many to draw. The list of changes has them all.</p></section>");
                    return;
                }
            }
        }
    };
    html.raw("<p class=\"note\">From left to right: what is on the left is there before what needs it. What \
              does not change is left out.</p>");
    draw(&nodes, html);
    write_list(&nodes, html);
    html.raw("</section>");
}

fn fits(nodes: &[Node<'_>]) -> bool {
    nodes.len() <= MOST
        && nodes.iter().map(|node| node.depends_on.len()).sum::<usize>() <= MOST_ARROWS
}

fn resources(plan: &PlanReport) -> Vec<Node<'_>> {
    let mut nodes: Vec<Node<'_>> = plan
        .resources
        .iter()
        .map(|resource| Node {
            module: &resource.module,
            name: resource.local_address().to_owned(),
            first: 0,
            changes: Vec::new(),
            depends_on: resource.depends_on.iter().copied().collect(),
        })
        .collect();
    for (i, change) in plan.changes.iter().enumerate() {
        let Some(node) = change.resource.and_then(|at| nodes.get_mut(at)) else { continue };
        if node.changes.is_empty() {
            node.first = i;
        }
        node.changes.push(change);
    }
    nodes
}

fn modules<'a>(all: &[Node<'a>]) -> Vec<Node<'a>> {
    let names: BTreeSet<&str> = all.iter().map(|node| node.module).collect();
    let positions: BTreeMap<&str, usize> =
        names.iter().enumerate().map(|(i, name)| (*name, i)).collect();
    let empty = |name: &&'a str| Node {
        module: "",
        name: if name.is_empty() { "root module".to_owned() } else { (*name).to_owned() },
        first: usize::MAX,
        changes: Vec::new(),
        depends_on: BTreeSet::new(),
    };
    let mut modules: Vec<Node<'a>> = names.iter().map(empty).collect();
    for node in all {
        let Some(at) = positions.get(node.module) else { continue };
        let on = node.depends_on.iter().filter_map(|on| positions.get(all.get(*on)?.module));
        let on: Vec<usize> = on.filter(|on| *on != at).copied().collect();
        let module = &mut modules[*at];
        module.first = module.first.min(node.first);
        module.changes.extend(node.changes.iter().copied());
        module.depends_on.extend(on);
    }
    modules
}

/// The gravest of what happens to the changes in a box, by how it is drawn.
fn kind(node: &Node<'_>) -> &'static str {
    let grave = |change: &&&ChangeReport| (change.danger, change.verb() != "update");
    let gravest = node.changes.iter().max_by_key(grave);
    gravest.map_or("other", |change| kind_of(change))
}

fn shown(text: &str) -> String {
    match text.chars().count() > LETTERS {
        // The end tells more than the beginning.
        true => {
            let rest = text.chars().count() - LETTERS + 1;
            ['…'].into_iter().chain(text.chars().skip(rest)).collect()
        }
        false => text.to_owned(),
    }
}

fn caption(node: &Node<'_>) -> String {
    let verbs: BTreeSet<&str> = node.changes.iter().map(|change| change.verb()).collect();
    let verbs = verbs.into_iter().collect::<Vec<_>>().join(", ");
    let count = match node.changes.len() {
        1 => String::new(),
        n => format!(" ×{n}"),
    };
    match node.module.is_empty() {
        true => format!("{verbs}{count}"),
        false => format!("{verbs}{count} · {}", node.module),
    }
}

fn draw(nodes: &[Node<'_>], html: &mut Html) {
    let texts: Vec<(String, String)> =
        nodes.iter().map(|node| (shown(&node.name), shown(&caption(node)))).collect();
    let letters = |(name, caption): &(String, String)| {
        // Captions are smaller.
        let caption = caption.chars().count() * 6 / 7;
        u32::try_from(name.chars().count().max(caption)).unwrap_or_default()
    };
    let graph = Graph {
        widths: texts.iter().map(|texts| letters(texts) * LETTER / 10 + PADDING).collect(),
        depends_on: nodes.iter().map(|node| node.depends_on.iter().copied().collect()).collect(),
    };
    let drawing = lay_out(&graph);
    html.raw(
        "<div class=\"graph\" role=\"region\" aria-label=\"Dependencies, drawn\" tabindex=\"0\">",
    );
    html.raw(
        "<svg role=\"group\" aria-label=\"Resources that change, and their dependencies\" width=\"",
    );
    html.show(drawing.width).raw("\" height=\"").show(drawing.height).raw("\" viewBox=\"0 0 ");
    html.show(drawing.width).raw(" ").show(drawing.height).raw("\">");
    for line in &drawing.lines {
        html.raw("<path d=\"").text(&path(line)).raw("\"/>");
        if let Some((x, y)) = line.last() {
            let (left, top, bottom) = (x.saturating_sub(7), y.saturating_sub(4), y + 4);
            html.raw("<path class=\"tip\" d=\"")
                .text(&format!("M{left},{top}L{x},{y}L{left},{bottom}Z"));
            html.raw("\"/>");
        }
    }
    for ((node, (name, caption)), ((x, y), width)) in
        nodes.iter().zip(&texts).zip(drawing.boxes.iter().zip(&graph.widths))
    {
        html.raw("<a href=\"#c").show(node.first).raw("\"><g class=\"").raw(kind(node));
        html.raw("\"><title>")
            .text(&node.name)
            .raw(": ")
            .text(&self::caption(node))
            .raw("</title>");
        html.raw("<rect x=\"").show(x).raw("\" y=\"").show(y).raw("\" width=\"").show(width);
        html.raw("\" height=\"").show(HEIGHT).raw("\" rx=\"6\"/>");
        html.raw("<rect class=\"edge\" x=\"")
            .show(x)
            .raw("\" y=\"")
            .show(y)
            .raw("\" width=\"4\" height=\"");
        html.show(HEIGHT).raw("\" rx=\"2\"/>");
        html.raw("<text x=\"").show(x + 13).raw("\" y=\"").show(y + 17).raw("\">").text(name);
        html.raw("</text><text class=\"small\" x=\"")
            .show(x + 13)
            .raw("\" y=\"")
            .show(y + 32)
            .raw("\">");
        html.text(caption).raw("</text></g></a>");
    }
    html.raw("</svg></div>");
}

/// A line that leaves and arrives level.
fn path(points: &[(u32, u32)]) -> String {
    let mut path = String::new();
    let mut last = None;
    for (x, y) in points {
        match last {
            None => path.push_str(&format!("M{x},{y}")),
            Some((_, from_y)) if from_y == *y => path.push_str(&format!("L{x},{y}")),
            Some((from_x, from_y)) => {
                let middle = (from_x + x) / 2;
                path.push_str(&format!("C{middle},{from_y} {middle},{y} {x},{y}"));
            }
        }
        last = Some((*x, *y));
    }
    path
}

/// The same in words, for those who do not see it.
fn write_list(nodes: &[Node<'_>], html: &mut Html) {
    html.raw("<details class=\"more\"><summary>The same as a list</summary><ul>");
    for node in nodes {
        html.raw("<li><code>").text(&full(node)).raw("</code>");
        for (i, on) in node.depends_on.iter().filter_map(|on| nodes.get(*on)).enumerate() {
            html.raw(if i == 0 { " needs <code>" } else { ", <code>" })
                .text(&full(on))
                .raw("</code>");
        }
        html.raw("</li>");
    }
    html.raw("</ul></details>");
}

fn full(node: &Node<'_>) -> String {
    match node.module.is_empty() {
        true => node.name.clone(),
        false => format!("{}.{}", node.module, node.name),
    }
}
