//! Writes differences of blocks.

use super::render::{Style, attribute_name, quoted, spaces};
use super::render_collection::{push_attributes, push_entry, push_hidden};
use super::tree::{BlockItems, Blocks, Diff, DiffKind};
use engine::changes::Action;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Diff {
    pub(super) fn render_block(
        &self,
        attributes: &BTreeMap<Arc<str>, Diff>,
        blocks: &BTreeMap<Arc<str>, Blocks>,
        indent: usize,
        style: Style,
    ) -> String {
        if attributes.is_empty() && blocks.is_empty() {
            return format!("{{}}{}", style.replacement(self.replace));
        }
        let inner = style.inner();
        let mut out = format!("{{{}\n", style.replacement(self.replace));
        push_attributes(&mut out, attributes, indent, [style, inner, inner]);

        let mut hidden = 0;
        for (name, group) in blocks {
            let mut begun = attributes.is_empty();
            let set_style = Style { forces_replacement: self.replace, ..style.inner() };
            for (label, diff, style) in group.labelled(inner, set_style) {
                let covered = group.covered(diff);
                let (action, sensitive) = match &covered {
                    Some(action) => (*action, true),
                    None => (diff.action, false),
                };
                if action == Action::NoOp && !style.unchanged {
                    hidden += 1;
                    continue;
                }
                if !std::mem::replace(&mut begun, true) {
                    out.push('\n');
                }
                let style = Style { forces_replacement: group.replace, ..style };
                let name = format!("{}{label} ", attribute_name(name));
                match sensitive {
                    false => push_entry(&mut out, diff, indent + 1, (style, style), &name, ""),
                    true => {
                        let kind = DiffKind::SensitiveBlock {
                            inner: diff.action,
                            before: group.before_sensitive,
                            after: group.after_sensitive,
                        };
                        let cover = Diff::new(kind, action, diff.replace);
                        push_entry(&mut out, &cover, indent + 1, (style, style), &name, "");
                    }
                }
            }
        }
        if hidden > 0 {
            out.push('\n');
            push_hidden(&mut out, "block", hidden, indent + 1, style);
        }
        let symbol = style.symbol(Action::NoOp);
        out.extend([spaces(indent).as_str(), &symbol, "}"]);
        out
    }
}

impl Blocks {
    /// The blocks with the label that follows their name.
    fn labelled(&self, style: Style, set_style: Style) -> Vec<(String, &Diff, Style)> {
        let unknown = self.unknown.iter().map(|diff| (String::new(), &**diff, style));
        let known = match &self.items {
            BlockItems::Single(diff) => vec![(String::new(), &**diff, style)],
            BlockItems::List(diffs) => diffs.iter().map(|d| (String::new(), d, style)).collect(),
            BlockItems::Set(diffs) => diffs.iter().map(|d| (String::new(), d, set_style)).collect(),
            BlockItems::Map(diffs) => {
                diffs.iter().map(|(k, d)| (format!(" {}", quoted(k)), d, style)).collect()
            }
        };
        unknown.chain(known).collect()
    }

    /// Where all blocks of the name are sensitive together, the action that a block is shown with
    /// instead of its contents.
    pub(super) fn covered(&self, diff: &Diff) -> Option<Action> {
        let (before, after) = (self.before_sensitive, self.after_sensitive);
        match diff.action {
            Action::Create => after.then_some(Action::Create),
            Action::Delete => before.then_some(Action::Delete),
            Action::NoOp if before != after => Some(Action::Update),
            action => (before || after).then_some(action),
        }
    }
}
