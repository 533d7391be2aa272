//! The parts of a plan, in the order in which they are read.

use super::TextOptions;
use super::header::{Cause, comment};
use crate::diff::{Diff, Paths, Style, action_symbol, attribute_name, of_block, of_dynamic};
use crate::layout::{rule, wrap};
use crate::plan_view::{PlanView, is_moved, output_difference};
use crate::product::{COMMAND, NAME};
use engine::changes::{Action, ResourceInstanceChange};
use engine::plan::PlanMode;
use std::io::{self, Write};
use values::address::ResourceMode;
use values::schema::Block;

pub(super) struct Sections<'a, 'b> {
    pub(super) view: &'b PlanView<'a>,
    pub(super) options: TextOptions,
}

/// In the order in which the legend explains them.
const LEGEND: [(Action, &str); 6] = [
    (Action::Create, "  [green]+[reset] create"),
    (Action::Update, "  [yellow]~[reset] update in-place"),
    (Action::Delete, "  [red]-[reset] destroy"),
    (Action::DeleteThenCreate, "[red]-[reset]/[green]+[reset] destroy and then create replacement"),
    (Action::CreateThenDelete, "[green]+[reset]/[red]-[reset] create replacement and then destroy"),
    (Action::Read, " [cyan]<=[reset] read (data resources)"),
];

impl Sections<'_, '_> {
    fn paint(&self, template: &str) -> String {
        self.options.colour.paint(template, &[])
    }
    fn wrap(&self, text: &str) -> String {
        wrap(text, self.options.width)
    }
    fn rule(&self) -> String {
        rule(self.options.colour, self.options.width)
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let interesting = |c: &&ResourceInstanceChange| {
            c.action != Action::NoOp || is_moved(c) || self.view.import(c).is_some()
        };
        let changes: Vec<_> = self.view.changes().into_iter().filter(interesting).collect();
        let outputs = self.outputs();
        let drift = self.write_drift(changes.is_empty() && outputs.is_empty(), out)?;
        if changes.is_empty() && outputs.is_empty() {
            return self.write_no_changes(drift, out);
        }
        if drift {
            writeln!(out, "{}", self.rule())?;
        }
        let count = |action| changes.iter().filter(|c| c.action == action).count();
        let acting = changes.iter().any(|c| c.action != Action::NoOp);
        if acting {
            let text = format!(
                "\n{NAME} used the selected providers to generate the following execution plan. \
                 Resource actions are indicated with the following symbols:"
            );
            writeln!(out, "{}", self.wrap(&text))?;
            for (action, line) in LEGEND {
                if count(action) > 0 {
                    writeln!(out, "{}", self.paint(line))?;
                }
            }
        }
        if !changes.is_empty() {
            match self.view.plan.complete {
                true => writeln!(out, "\n{NAME} will perform the following actions:")?,
                false => writeln!(
                    out,
                    "\n{NAME} planned the following actions, but then encountered a problem:"
                )?,
            }
            for change in &changes {
                writeln!(out)?;
                writeln!(out, "{}", self.change(change))?;
            }
            let imported = changes.iter().filter(|c| self.view.import(c).is_some()).count();
            let replaced = count(Action::DeleteThenCreate) + count(Action::CreateThenDelete);
            let imports = match imported {
                0 => String::new(),
                n => format!("{n} to import, "),
            };
            let summary = format!(
                "{imports}{} to add, {} to change, {} to destroy.",
                count(Action::Create) + replaced,
                count(Action::Update),
                count(Action::Delete) + replaced
            );
            let template = "\n[bold]Plan:[reset] {}\n";
            write!(out, "{}", self.options.colour.paint(template, &[&summary]))?;
        }
        if !outputs.is_empty() {
            writeln!(out, "\nChanges to Outputs:")?;
            writeln!(out, "{outputs}")?;
            if !acting {
                let text = format!(
                    "\nYou can apply this plan to save these new output values to the {NAME} \
                     state, without changing any real infrastructure."
                );
                writeln!(out, "{}", self.wrap(&text))?;
            }
        }
        Ok(())
    }

    fn change(&self, change: &ResourceInstanceChange) -> String {
        let import = self.view.import(change);
        let head = comment(change, import, Cause::Proposed, self.options.colour);
        let mut style = Style::new(self.options.colour);
        style.unchanged = import.is_some();
        let body = self.diff(change, Paths::All);
        self.body(change, head, &body, style)
    }

    fn diff(&self, change: &ResourceInstanceChange, relevant: Paths) -> Diff {
        let difference = self.view.difference(change, relevant);
        match self.view.block(change) {
            Some(block) => of_block(&difference, block),
            None => of_block(&difference, &Block::default()),
        }
    }

    fn body(
        &self,
        change: &ResourceInstanceChange,
        head: String,
        body: &Diff,
        style: Style,
    ) -> String {
        let resource = &change.address.resource;
        let block = if resource.mode == ResourceMode::Managed { "resource" } else { "data" };
        format!(
            "{head}{} {block} \"{}\" \"{}\" {}",
            action_symbol(self.options.colour, change.action),
            resource.ty,
            resource.name,
            body.render(0, style)
        )
    }

    fn outputs(&self) -> String {
        let outputs = &self.view.plan.changes.outputs;
        let width = outputs.keys().map(|k| attribute_name(k).len()).max().unwrap_or_default();
        let lines: Vec<String> = outputs
            .iter()
            .filter(|(_, output)| output.action != Action::NoOp)
            .filter_map(|(name, output)| {
                let diff = of_dynamic(&output_difference(output));
                (diff.action != Action::NoOp).then(|| {
                    format!(
                        "{} {:width$} = {}",
                        action_symbol(self.options.colour, diff.action),
                        attribute_name(name),
                        diff.render(0, Style::new(self.options.colour))
                    )
                })
            })
            .collect();
        lines.join("\n")
    }

    /// Whether anything was written. Drift that leads to nothing is only shown where it is what the
    /// plan is about.
    fn write_drift(&self, nothing_else: bool, out: &mut dyn Write) -> io::Result<bool> {
        let refresh_only = self.view.plan.mode == PlanMode::RefreshOnly;
        if nothing_else && !refresh_only {
            return Ok(false);
        }
        let mut shown = Vec::new();
        for change in self.view.drift() {
            let relevant = self.view.relevant_paths(&change.address);
            if !relevant.leads_here() {
                continue;
            }
            let diff = self.diff(change, relevant);
            if refresh_only || diff.action != Action::NoOp {
                shown.push((change, diff));
            }
        }
        if shown.is_empty() {
            return Ok(false);
        }
        let note = self.options.colour.paint(
            "\n[bold][cyan]Note:[reset][bold] Objects have changed outside of {}\n",
            &[NAME],
        );
        writeln!(out, "{note}")?;
        let text = format!(
            "{NAME} detected the following changes made outside of {NAME} since the last \
             \"{COMMAND} apply\" which may have affected this plan:\n"
        );
        write!(out, "{}", self.wrap(&text))?;
        for (change, diff) in shown {
            if change.action == Action::NoOp && !is_moved(change) {
                continue;
            }
            let head = comment(change, None, Cause::Drift, self.options.colour);
            let body = self.body(change, head, &diff, Style::new(self.options.colour));
            writeln!(out, "\n{body}")?;
        }
        let text = match refresh_only {
            true => format!(
                "\n\nThis is a refresh-only plan, so {NAME} will not take any actions to undo \
                 these. If you were expecting these changes then you can apply this plan to \
                 record the updated values in the {NAME} state without changing any remote \
                 objects."
            ),
            false => "\n\nUnless you have made equivalent changes to your configuration, or \
                      ignored the relevant attributes using ignore_changes, the following plan \
                      may include actions to undo or respond to these changes."
                .to_owned(),
        };
        writeln!(out, "{}", self.wrap(&text))?;
        Ok(true)
    }

    fn write_no_changes(&self, drift: bool, out: &mut dyn Write) -> io::Result<()> {
        let plan = self.view.plan;
        if !plan.complete {
            if drift {
                writeln!(out, "{}", self.rule())?;
            }
            let template = "\n[reset][bold][red]Planning failed.[reset][bold] {} encountered an \
                            error while generating this plan.[reset]\n\n";
            return write!(out, "{}", self.options.colour.paint(template, &[NAME]));
        }
        let (headline, text) = match plan.mode {
            // What applying does was said above.
            PlanMode::RefreshOnly if drift => return Ok(()),
            PlanMode::RefreshOnly => (
                "Your infrastructure still matches the configuration.",
                format!(
                    "{NAME} has checked that the real remote objects still match the result of \
                     your most recent changes, and found no differences."
                ),
            ),
            PlanMode::Destroy => (
                "No objects need to be destroyed.",
                format!(
                    "Either you have not created any objects yet or the existing objects were \
                     already deleted outside of {NAME}."
                ),
            ),
            PlanMode::Normal if self.view.targeted => (
                "Your infrastructure matches the configuration.",
                format!(
                    "Note: You used the -target option, so {NAME} only checked resources matching \
                     those targets and may have skipped others. If you expected changes to \
                     appear, verify that the addresses passed to -target are correct."
                ),
            ),
            PlanMode::Normal => (
                "Your infrastructure matches the configuration.",
                format!(
                    "{NAME} has compared your real infrastructure against your configuration and \
                     found no differences, so no changes are needed."
                ),
            ),
        };
        self.write_nothing(headline, &text, out)
    }

    fn write_nothing(&self, headline: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let template = "\n[reset][bold][green]No changes.[reset][bold] {}[reset]\n\n";
        write!(out, "{}", self.options.colour.paint(template, &[headline]))?;
        writeln!(out, "{}", self.wrap(text))
    }
}
