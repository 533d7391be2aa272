//! What is to be changed, by module.

use super::html::Html;
use super::rows::write_rows;
use crate::run_report::{ChangeReport, Danger, PlanReport};
use engine::changes::Action;
use std::collections::BTreeMap;

/// Dangerous changes that are named above all others.
const NAMED: usize = 30;

/// How a change is drawn.
pub(super) fn kind_of(change: &ChangeReport) -> &'static str {
    match change.action {
        Action::Create => "create",
        Action::Update => "update",
        Action::DeleteThenCreate | Action::CreateThenDelete => "replace",
        Action::Delete => "destroy",
        Action::Forget => "forget",
        Action::Read => "read",
        Action::NoOp => "other",
    }
}

/// In which order the kinds of changes are offered.
const VERBS: [&str; 8] =
    ["destroy", "replace", "forget", "update", "create", "import", "move", "read"];

pub(super) fn write_dangerous(plan: &PlanReport, html: &mut Html) {
    let dangerous = plan.dangerous();
    if dangerous.is_empty() {
        return;
    }
    html.raw("<section class=\"dangers\" aria-labelledby=\"h-danger\"><h2 id=\"h-danger\">Look at these first</h2><ul>");
    for (position, change) in dangerous.iter().take(NAMED) {
        html.raw("<li class=\"")
            .raw(kind_of(change))
            .raw("\"><span class=\"s\" aria-hidden=\"true\">");
        html.raw(change.symbol())
            .raw("</span><span class=\"v\">")
            .raw(change.verb())
            .raw("</span><span class=\"w\"><a href=\"#c");
        html.show(position).raw("\"><code>").text(&change.name()).raw("</code></a>");
        holds(change, html);
        if let Some(reason) = &change.reason {
            html.raw(" <span class=\"y\">").text(reason).raw("</span>");
        }
        html.raw("</span></li>");
    }
    html.raw("</ul>");
    if dangerous.len() > NAMED {
        html.raw("<p class=\"note\">and ")
            .show(dangerous.len() - NAMED)
            .raw(" more among the changes below</p>");
    }
    html.raw("</section>");
}

fn holds(change: &ChangeReport, html: &mut Html) {
    if let Some(kind) = change.holds.as_deref().filter(|_| change.danger == Danger::LosesData) {
        html.raw(" <span class=\"tag bad\">loses its data: ").text(kind).raw("</span>");
    } else if let Some(kind) = &change.holds {
        html.raw(" <span class=\"tag\">").text(kind).raw("</span>");
    }
}

pub(super) fn write_changes(plan: &PlanReport, room: usize, html: &mut Html) {
    if plan.changes.is_empty() {
        return;
    }
    html.raw(
        "<section id=\"changes\" aria-labelledby=\"h-changes\"><h2 id=\"h-changes\">Changes</h2>",
    );
    write_filters(plan, html);
    let mut modules = BTreeMap::<&str, Vec<(usize, &ChangeReport)>>::new();
    for (i, change) in plan.changes.iter().enumerate() {
        modules.entry(&change.module).or_default().push((i, change));
    }
    for (module, changes) in modules {
        html.raw("<section class=\"m\"><h3>");
        match module.is_empty() {
            true => html.raw("Root module"),
            false => html.raw("<code>").text(module).raw("</code>"),
        };
        html.raw(" <span class=\"n\">").show(changes.len()).raw("</span></h3>");
        for (i, change) in changes {
            write_change(Some(i), change, room, html);
        }
        html.raw("</section>");
    }
    html.raw("<p class=\"none\" hidden>No change fits. <button type=\"button\" id=\"clear\">Show all</button></p></section>");
}

/// A change; the position is that in the plan, where it is one of the plan's own.
pub(super) fn write_change(
    position: Option<usize>,
    change: &ChangeReport,
    room: usize,
    html: &mut Html,
) {
    html.raw("<details class=\"c ").raw(kind_of(change)).raw("\"");
    if let Some(position) = position {
        html.raw(" id=\"c").show(position).raw("\"");
    }
    html.raw(" data-a=\"").raw(change.verb()).raw("\" data-t=\"").text(&change.ty);
    html.raw("\" data-m=\"").text(&change.module).raw("\"");
    if change.danger > Danger::None {
        html.raw(" data-d");
    }
    html.raw("><summary><span class=\"s\" aria-hidden=\"true\">")
        .raw(change.symbol())
        .raw("</span><span class=\"v\">");
    html.raw(change.verb()).raw("</span><span class=\"w\"><code>");
    html.text(change.local_address()).raw("</code>");
    if let Some(key) = &change.deposed {
        html.raw(" <span class=\"tag\">deposed ").text(key).raw("</span>");
    }
    if change.data {
        html.raw(" <span class=\"tag\">data source</span>");
    }
    holds(change, html);
    if let Some(from) = &change.moved_from {
        html.raw(" <span class=\"y\">moved from <code>").text(from).raw("</code></span>");
    }
    if let Some(id) = &change.imported {
        html.raw(" <span class=\"y\">imported");
        if !id.is_empty() {
            html.raw(" from <code>").text(id).raw("</code>");
        }
        html.raw("</span>");
    }
    if let Some(reason) = &change.reason {
        html.raw(" <span class=\"y\">").text(reason).raw("</span>");
    }
    html.raw("</span></summary>");
    match (change.rows.is_empty(), html.len() < room) {
        (true, _) => {
            html.raw("<p class=\"note\">No attribute changes.</p>");
        }
        (false, true) => write_rows(&change.rows, html),
        (false, false) => {
            html.raw("<p class=\"note\">The attributes are left out here, since the page would become too \
                      large: <code>plumb show</code> has them.</p>");
        }
    }
    html.raw("</details>");
}

fn write_filters(plan: &PlanReport, html: &mut Html) {
    let mut verbs = BTreeMap::<&str, (usize, &'static str, &'static str)>::new();
    let (mut modules, mut types) = (BTreeMap::<&str, usize>::new(), BTreeMap::<&str, usize>::new());
    let mut dangerous = 0;
    for change in &plan.changes {
        verbs.entry(change.verb()).or_insert((0, change.symbol(), kind_of(change))).0 += 1;
        *modules.entry(&change.module).or_default() += 1;
        *types.entry(&change.ty).or_default() += 1;
        dangerous += usize::from(change.danger > Danger::None);
    }
    html.raw("<form class=\"filters js-only\" role=\"search\" aria-label=\"Filter the changes\">");
    html.raw("<label class=\"find\"><span class=\"hide\">Search</span><input type=\"search\" id=\"q\" placeholder=\"Search addresses and attributes\" \
              autocomplete=\"off\" spellcheck=\"false\"><kbd aria-hidden=\"true\">/</kbd></label>");
    html.raw("<div class=\"chips\" role=\"group\" aria-label=\"Actions\">");
    for verb in VERBS {
        let Some((count, symbol, kind)) = verbs.get(verb) else { continue };
        html.raw("<button type=\"button\" class=\"chip ").raw(kind).raw("\" data-a=\"").raw(verb);
        html.raw("\" aria-pressed=\"false\"><span class=\"s\" aria-hidden=\"true\">")
            .raw(symbol)
            .raw("</span> ");
        html.raw(verb).raw(" <span class=\"n\">").show(*count).raw("</span></button>");
    }
    if dangerous > 0 {
        html.raw("<button type=\"button\" class=\"chip\" id=\"danger\" aria-pressed=\"false\">dangerous <span class=\"n\">");
        html.show(dangerous).raw("</span></button>");
    }
    html.raw("</div><div class=\"picks\">");
    pick("module", "Module", "All modules", &modules, html);
    pick("type", "Type", "All types", &types, html);
    html.raw("<span class=\"count\" role=\"status\" id=\"count\"></span><button type=\"button\" id=\"all\">Open all</button>\
              <button type=\"button\" id=\"keys\" aria-haspopup=\"dialog\">Keys <kbd aria-hidden=\"true\">?</kbd></button></div></form>");
}

fn pick(
    id: &'static str,
    label: &'static str,
    all: &'static str,
    names: &BTreeMap<&str, usize>,
    html: &mut Html,
) {
    html.raw("<label><span class=\"hide\">")
        .raw(label)
        .raw("</span><select id=\"")
        .raw(id)
        .raw("\"><option value=\"*\">");
    html.raw(all).raw("</option>");
    for (name, count) in names {
        html.raw("<option value=\"").text(name).raw("\">");
        html.text(if name.is_empty() { "root module" } else { name })
            .raw(" (")
            .show(count)
            .raw(")</option>");
    }
    html.raw("</select></label>");
}
