//! Configurations, made by chance and changed by chance.

use crate::dice::Dice;
use crate::focus::Focus;
use crate::provider::{NAMED, THING};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a configuration says of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    named: bool,
    label: String,
    value: Expression,
    place: usize,
    link: Option<String>,
    create_before_destroy: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Expression {
    Literal(usize),
    /// An attribute of another resource, which is made or changed first.
    Of(String, &'static str),
}

/// A root module.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Configuration {
    focus: Focus,
    blocks: BTreeMap<String, Block>,
    /// Names of resources that had another one, by that.
    moved: BTreeMap<String, String>,
    outputs: BTreeMap<String, String>,
    labels: usize,
    /// Whether there are things with names of their own. These cannot be there twice, so nothing is created before what
    /// it replaces is destroyed.
    names: bool,
    /// Whether everything is created before what it replaces is destroyed. Where only some are, destroying one and
    /// replacing what it refers to is a cycle, in Terraform too.
    create_first: bool,
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "f", "g"];

impl Configuration {
    /// A configuration of a few resources.
    #[must_use]
    pub fn rolled(dice: &mut Dice, focus: Focus) -> Self {
        let names = dice.happens(500);
        let create_first = !names && dice.happens(500);
        let mut made = Self { focus, names, create_first, ..Self::default() };
        let size = match focus {
            Focus::Contention => 1,
            Focus::Everything | Focus::Creates | Focus::Links => 2 + dice.below(3),
        };
        for _ in 0..size {
            made.add(dice);
        }
        made
    }

    /// The same with a few changes.
    #[must_use]
    pub fn changed(&self, dice: &mut Dice) -> Self {
        let mut changed = self.clone();
        changed.moved.clear();
        for _ in 0..1 + dice.below(3) {
            changed.change(dice);
        }
        changed
    }

    fn any(&self, dice: &mut Dice) -> Option<String> {
        let names: Vec<&String> = self.blocks.keys().collect();
        dice.pick(&names).map(ToString::to_string)
    }

    fn change(&mut self, dice: &mut Dice) {
        let choice = match self.focus {
            Focus::Everything => dice.below(12),
            Focus::Contention => 3 + 2 * dice.below(2),
            Focus::Creates => 8,
            Focus::Links => 7 + dice.below(3),
        };
        let Some(name) = self.any(dice) else { return self.add(dice) };
        let literal = Expression::Literal(dice.below(1000));
        let expression = self.expression(dice, &name);
        let link = self.earlier(dice, &name);
        let Some(block) = self.blocks.get_mut(&name) else { return };
        match choice {
            0..=3 => block.value = literal,
            4 => block.value = expression,
            5 | 6 => block.place += 1,
            7 => block.link = link,
            8 => self.add(dice),
            9 | 10 => self.remove(&name),
            // What has another name is another thing.
            _ if block.named => block.value = literal,
            _ => self.rename(dice, &name),
        }
    }

    /// One that comes before another, so that no cycle comes to be.
    fn earlier(&self, dice: &mut Dice, name: &str) -> Option<String> {
        let earlier: Vec<&String> = self.blocks.keys().filter(|n| n.as_str() < name).collect();
        dice.pick(&earlier).map(ToString::to_string)
    }

    fn expression(&self, dice: &mut Dice, name: &str) -> Expression {
        match self.earlier(dice, name) {
            Some(other) => {
                let attributes = ["value", "stamp", "id", "hits"];
                let attribute = attributes.get(dice.below(attributes.len())).copied();
                Expression::Of(other, attribute.unwrap_or("value"))
            }
            None => Expression::Literal(dice.below(1000)),
        }
    }

    fn add(&mut self, dice: &mut Dice) {
        let free: Vec<&str> =
            NAMES.into_iter().filter(|name| !self.blocks.contains_key(*name)).collect();
        let Some(name) = dice.pick(&free).map(ToString::to_string) else { return };
        self.moved.remove(&name);
        let named = self.names && dice.happens(500);
        self.labels += 1;
        // Other configurations that grow from the same one may mean the same thing by it.
        let label = format!("{name}{}", self.labels);
        let value = match dice.happens(500) {
            true => self.expression(dice, &name),
            false => Expression::Literal(dice.below(1000)),
        };
        let linked = if self.focus == Focus::Links { 900 } else { 400 };
        let link = if dice.happens(linked) { self.earlier(dice, &name) } else { None };
        let create_before_destroy = self.create_first;
        let block = Block { named, label, value, place: 0, link, create_before_destroy };
        if dice.happens(500) {
            let attributes = ["value", "stamp"];
            let attribute = dice.pick(&attributes).copied().unwrap_or("value");
            self.outputs.insert(name.clone(), attribute.to_owned());
        }
        self.blocks.insert(name, block);
    }

    fn remove(&mut self, name: &str) {
        if self.blocks.len() < 2 {
            return;
        }
        self.blocks.remove(name);
        self.outputs.remove(name);
        self.moved.retain(|_, now| now != name);
        self.redirect(name, None);
    }

    fn rename(&mut self, dice: &mut Dice, name: &str) {
        let free = |other: &&str| **other > *name && !self.blocks.contains_key(*other);
        let free: Vec<&str> = NAMES.into_iter().filter(free).collect();
        let Some(now) = dice.pick(&free).map(ToString::to_string) else { return };
        if self.moved.values().any(|to| to == name) || self.moved.contains_key(&now) {
            return;
        }
        let later = self.blocks.range(name.to_owned()..now.clone()).skip(1);
        // Whoever comes before its new name and refers to it would have to come after it.
        let refers = later.into_iter().any(|(_, block)| block.refers_to(name));
        let Some(block) = self.blocks.remove(name) else { return };
        self.blocks.insert(now.clone(), block);
        if let Some(attribute) = self.outputs.remove(name) {
            self.outputs.insert(now.clone(), attribute);
        }
        self.redirect(name, (!refers).then_some(&now));
        self.moved.insert(name.to_owned(), now);
    }

    /// What refers to one refers to another, or to none.
    fn redirect(&mut self, from: &str, to: Option<&String>) {
        for block in self.blocks.values_mut() {
            if block.link.as_deref() == Some(from) {
                block.link = to.cloned();
            }
            if let Expression::Of(other, attribute) = &block.value
                && other == from
            {
                block.value = match to {
                    Some(to) => Expression::Of(to.clone(), attribute),
                    None => Expression::Literal(7),
                };
            }
        }
    }

    fn reference(&self, name: &str) -> String {
        let named = self.blocks.get(name).is_some_and(|block| block.named);
        format!("{}.{name}", if named { NAMED } else { THING })
    }

    /// As a file of the language.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, block) in &self.blocks {
            let ty = if block.named { NAMED } else { THING };
            let value = match &block.value {
                Expression::Literal(number) => format!("\"{number}\""),
                Expression::Of(other, attribute) => {
                    format!("{}.{attribute}", self.reference(other))
                }
            };
            // Writing to a text does not fail.
            let _ = write!(
                text,
                "resource \"{ty}\" \"{name}\" {{\n  label = \"{}\"\n  value = {value}\n  place = \"{}\"\n",
                block.label, block.place
            );
            if let Some(link) = &block.link {
                let _ = writeln!(text, "  link  = {}.id", self.reference(link));
            }
            if block.create_before_destroy {
                text.push_str("  lifecycle {\n    create_before_destroy = true\n  }\n");
            }
            text.push_str("}\n");
        }
        for (was, now) in &self.moved {
            let now = self.reference(now);
            let ty = now.split('.').next().unwrap_or(THING);
            let _ = writeln!(text, "moved {{\n  from = {ty}.{was}\n  to   = {now}\n}}");
        }
        for (name, attribute) in &self.outputs {
            let of = self.reference(name);
            let _ = writeln!(text, "output \"{name}\" {{\n  value = {of}.{attribute}\n}}");
        }
        text
    }
}

impl Block {
    fn refers_to(&self, name: &str) -> bool {
        let by_value = matches!(&self.value, Expression::Of(other, _) if other == name);
        by_value || self.link.as_deref() == Some(name)
    }
}
