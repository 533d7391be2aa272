//! What is seen at once: what it is about, how far it is, what to do.

use super::decision::{Decision, write_form};
use super::html::Html;
use crate::run_report::{
    Message, NextStep, PathStep, PlanReport, Progress, RunReport, Tone, summary_line,
};
use engine::verdict::{Outcome, Stage, Verdict};

pub(super) fn write_header(report: &RunReport, html: &mut Html) {
    html.raw("<header><p class=\"brand\">Plumbline</p><div class=\"title\"><h1>")
        .text(&report.estate)
        .raw("</h1>");
    if !report.status.is_empty() {
        html.raw("<span class=\"pill ")
            .raw(tone(report.tone))
            .raw("\">")
            .text(&report.status)
            .raw("</span>");
    }
    html.raw("</div>");
    if let Some(plan) = &report.plan {
        write_counts(plan, html);
    }
    write_path(&report.path, html);
    html.raw("</header>");
}

pub(super) fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Neutral => "neutral",
        Tone::Waiting => "waiting",
        Tone::Good => "good",
        Tone::Bad => "bad",
    }
}

fn write_counts(plan: &PlanReport, html: &mut Html) {
    html.raw("<p class=\"sum\">").text(&summary_line(plan));
    for limit in plan.limits() {
        html.raw(" <span class=\"tag bad\">").text(limit).raw("</span>");
    }
    html.raw("</p>");
}

fn write_path(path: &[PathStep], html: &mut Html) {
    if path.is_empty() {
        return;
    }
    html.raw("<ol class=\"path\" aria-label=\"The run's way through the workflow\">");
    for step in path {
        let (class, sign, says) = match step.progress {
            Progress::Done => ("done", "✓", "done"),
            Progress::Now => ("now", "●", "now"),
            Progress::Stopped => ("stopped", "✕", "stopped here"),
            Progress::Skipped => ("skipped", "–", "not needed"),
            Progress::Ahead => ("ahead", "○", "still to come"),
        };
        html.raw("<li class=\"").raw(class).raw("\"");
        if step.progress == Progress::Now {
            html.raw(" aria-current=\"step\"");
        }
        html.raw("><span class=\"dot\" aria-hidden=\"true\">")
            .raw(sign)
            .raw("</span><span class=\"t\">")
            .text(&step.name);
        html.raw("<span class=\"hide\"> (").raw(says).raw(")</span></span>");
        if !step.note.is_empty() {
            html.raw("<span class=\"y\">").text(&step.note).raw("</span>");
        }
        html.raw("</li>");
    }
    html.raw("</ol>");
}

pub(super) fn write_next(
    next: Option<&NextStep>,
    decision: Option<&Decision<'_>>,
    html: &mut Html,
) {
    if next.is_none() && decision.is_none() {
        return;
    }
    html.raw(
        "<section class=\"next\" aria-labelledby=\"h-next\"><h2 id=\"h-next\">What to do</h2>",
    );
    if let Some(next) = next {
        html.raw("<p>").text(&next.sentence).raw("</p>");
    }
    let commands = next.map(|next| next.commands.as_slice()).unwrap_or_default();
    match decision {
        None => write_commands(commands, html),
        Some(decision) => {
            write_form(decision, html);
            html.raw("<details class=\"more\"><summary>By a command instead</summary>");
            write_commands(commands, html);
            html.raw("</details>");
        }
    }
    html.raw("</section>");
}

fn write_commands(commands: &[(String, String)], html: &mut Html) {
    for (what, command) in commands {
        html.raw("<div class=\"cmd\"><span>")
            .text(what)
            .raw("</span><code>")
            .text(command)
            .raw("</code>");
        html.raw("<button type=\"button\" class=\"copy js-only\">Copy<span class=\"hide\"> the command</span></button></div>");
    }
}

pub(super) fn write_facts(report: &RunReport, html: &mut Html) {
    let plan = report.plan.as_ref();
    if report.facts.is_empty() && plan.is_none() {
        return;
    }
    html.raw("<section aria-labelledby=\"h-facts\"><h2 id=\"h-facts\">About this run</h2><dl class=\"facts\">");
    for fact in &report.facts {
        html.raw("<div><dt>").text(&fact.name).raw("</dt><dd>");
        match fact.code {
            true => html.raw("<code>").text(&fact.value).raw("</code>"),
            false => html.link(Some(&fact.value), &fact.value),
        };
        html.raw("</dd></div>");
    }
    if let Some(plan) = plan {
        if let Some(id) = &plan.id {
            html.raw("<div><dt>Plan</dt><dd><code>").text(id).raw("</code></dd></div>");
        }
        html.raw("<div><dt>Planned</dt><dd>").time(plan.made).raw("</dd></div>");
        if let Some(expires) = plan.expires {
            html.raw("<div><dt>May be applied until</dt><dd>").time(expires).raw("</dd></div>");
        }
    }
    html.raw("</dl></section>");
}

/// What each stage is about.
fn question(stage: Stage) -> &'static str {
    match stage {
        Stage::Snapshot => "Did the records hold still while planning?",
        Stage::Authenticity => "Is the plan ours, whole, unexpired and unused?",
        Stage::Lineage => "Is it for this estate?",
        Stage::Serial => "Did other runs write meanwhile?",
        Stage::Records => "Did the records that it rests on move?",
        Stage::Resources => "Did the world move under it?",
        Stage::Upstream => "Did the outputs of other estates move?",
        Stage::Policy => "Does the team's own policy agree to it?",
    }
}

pub(super) fn write_verdicts(verdicts: &[Verdict], html: &mut Html) {
    if verdicts.is_empty() {
        return;
    }
    html.raw("<section aria-labelledby=\"h-stages\"><h2 id=\"h-stages\">Stages</h2><ul class=\"stages\">");
    let mut stages: Vec<Stage> = verdicts.iter().map(|verdict| verdict.stage).collect();
    stages.sort_unstable();
    stages.dedup();
    for stage in stages {
        let of_stage: Vec<&Verdict> = verdicts.iter().filter(|v| v.stage == stage).collect();
        let gravest = of_stage.iter().map(|v| v.outcome).max().unwrap_or(Outcome::NotChecked);
        let (class, sign) = match gravest {
            Outcome::Pass => ("good", "✓"),
            Outcome::NotChecked => ("neutral", "–"),
            Outcome::Warn => ("waiting", "!"),
            Outcome::Reject => ("bad", "✕"),
        };
        html.raw("<li><div class=\"stage\"><span class=\"pill ")
            .raw(class)
            .raw("\"><span aria-hidden=\"true\">")
            .raw(sign);
        html.raw("</span> ")
            .show(gravest)
            .raw("</span><strong>")
            .show(stage)
            .raw("</strong><span class=\"y\">");
        html.raw(question(stage)).raw("</span></div>");
        for verdict in of_stage {
            write_verdict(verdict, html);
        }
        html.raw("</li>");
    }
    html.raw("</ul></section>");
}

fn write_verdict(verdict: &Verdict, html: &mut Html) {
    html.raw("<div class=\"finding\">");
    if let Some(address) = &verdict.address {
        html.raw("<code>")
            .text(address)
            .text(verdict.path.as_deref().unwrap_or_default())
            .raw("</code> ");
    }
    html.text(&verdict.message);
    if let (Some(planned), Some(actual)) = (&verdict.planned, &verdict.actual) {
        html.raw("<div class=\"rows\"><div class=\"r d\"><b>planned</b> ").text(planned);
        html.raw("</div><div class=\"r a\"><b>found</b> ").text(actual).raw("</div></div>");
    }
    if let Some(by) = &verdict.waived_by {
        html.raw(" <span class=\"tag\">accepted by ").text(by.as_str()).raw("</span>");
    }
    if let Some(remedy) = &verdict.remedy {
        html.raw("<p class=\"y\">To mend it: ").text(remedy).raw("</p>");
    }
    html.raw("</div>");
}

pub(super) fn write_messages(messages: &[Message], html: &mut Html) {
    if messages.is_empty() {
        return;
    }
    html.raw(
        "<section aria-labelledby=\"h-messages\"><h2 id=\"h-messages\">Errors and warnings</h2>",
    );
    for message in messages {
        let class = if message.error { "message bad" } else { "message waiting" };
        html.raw("<div class=\"").raw(class).raw("\">").text(message.text.trim()).raw("</div>");
    }
    html.raw("</section>");
}
