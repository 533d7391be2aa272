//! An explanation as people and as programs read it.

use super::neighbours::{Link, Neighbour};
use super::origins::{Fate, Origin};
use super::scene::Place;
use super::{ExplainedAttribute, Explanation, FORMAT_VERSION};
use crate::colour::Colour;
use crate::json::Json;
use engine::changes::Action;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Most instances that one reference is shown to lead to.
const SHOWN: usize = 5;

impl Explanation {
    /// Writes it for people.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_text(&self, colour: Colour, out: &mut dyn Write) -> io::Result<()> {
        let mut text = String::new();
        self.headline(colour, &mut text);
        for sentence in &self.because {
            let _ = writeln!(text, "  because {sentence}.");
        }
        self.attributes(colour, &mut text);
        neighbours(colour, "What it depends on changes as well:", &self.depends_on, &mut text);
        neighbours(colour, "What depends on it changes as well:", &self.dependents, &mut text);
        if !self.outputs.is_empty() {
            heading(colour, "Outputs that refer to it change:", &mut text);
            for name in &self.outputs {
                let _ = writeln!(text, "  output.{name}");
            }
        }
        if !self.checks.is_empty() {
            heading(colour, "Before the plan is applied, these stages check:", &mut text);
            for (stage, what) in &self.checks {
                let _ = writeln!(text, "  {:<11}{what}", stage.to_string());
            }
        }
        out.write_all(text.as_bytes())
    }

    fn headline(&self, colour: Colour, text: &mut String) {
        let address = self.address.to_string();
        let fate = match (self.refresh_only, self.action) {
            (true, Action::NoOp) => "stays recorded as it is",
            (true, Action::Delete) => "will be recorded as deleted",
            (true, _) => "will be recorded as it is in the world",
            (false, Action::NoOp) => {
                let line = match &self.moved_from {
                    Some(from) => {
                        let template = "[bold]{} has moved to {}[reset]";
                        colour.paint(template, &[&from.to_string(), &address])
                    }
                    None => colour.paint("[bold]No change is planned for {}[reset]", &[&address]),
                };
                return self.declared_at(line, text);
            }
            (false, Action::Create) => "will be created",
            (false, Action::Read) => "will be read during apply",
            (false, Action::Update) => "will be updated in-place",
            (false, Action::DeleteThenCreate | Action::CreateThenDelete) => "must be replaced",
            (false, Action::Delete) => "will be destroyed",
            (false, Action::Forget) => "will no longer be managed, and not be destroyed",
        };
        self.declared_at(colour.paint("[bold]{} {}[reset]", &[&address, fate]), text);
    }

    fn declared_at(&self, line: String, text: &mut String) {
        text.push_str(&line);
        if let Some(place) = &self.declared {
            let _ = write!(text, " ({place})");
        }
        text.push('\n');
    }

    fn attributes(&self, colour: Colour, text: &mut String) {
        let (decided, told): (Vec<_>, Vec<_>) = self.attributes.iter().partition(|attribute| {
            let difference = &attribute.difference;
            attribute.decided.is_some()
                && attribute.outside.is_none()
                && difference.is_unknown
                && !difference.forces_replacement
        });
        if !told.is_empty() {
            heading(colour, "What differs:", text);
        }
        for attribute in told {
            attribute_line(colour, attribute, text);
            origins(&attribute.from, text);
        }
        if !decided.is_empty() {
            let names: Vec<String> = decided.into_iter().map(name).collect();
            let _ = writeln!(
                text,
                "\nKnown after apply, decided by the provider: {}",
                names.join(", ")
            );
        }
    }
}

fn heading(colour: Colour, title: &str, text: &mut String) {
    text.push('\n');
    text.push_str(&colour.paint("[bold]{}[reset]", &[title]));
    text.push('\n');
}

fn name(attribute: &ExplainedAttribute) -> String {
    attribute.difference.path.to_string().trim_start_matches('.').to_owned()
}

fn attribute_line(colour: Colour, attribute: &ExplainedAttribute, text: &mut String) {
    let difference = &attribute.difference;
    let template = "  [bold]{}[reset]: {} -> {}";
    text.push_str(
        &colour.paint(template, &[&name(attribute), &difference.before, &difference.after]),
    );
    if let Some(place) = &attribute.place {
        let _ = write!(text, " ({place})");
    }
    if let Some(decided) = attribute.decided {
        let _ = write!(text, ", {decided}");
    }
    if difference.forces_replacement {
        text.push_str(&colour.paint("[red], forces replacement[reset]", &[]));
    }
    text.push('\n');
    if let Some((was, is)) = &attribute.outside {
        let _ = writeln!(text, "    changed outside of this configuration: {was} -> {is}");
    }
}

/// Origins below each other, the direct ones first.
fn origins(origins: &[Origin], text: &mut String) {
    let mut waiting: Vec<(usize, &Origin)> = origins.iter().rev().map(|o| (4, o)).collect();
    while let Some((indent, origin)) = waiting.pop() {
        let _ = write!(text, "{:indent$}from {}", "", origin.reference);
        if let Some((value, from)) = &origin.given {
            let _ = write!(text, " = {value}");
            if !from.is_empty() {
                let _ = write!(text, ", {from}");
            }
        }
        if let Some(place) = &origin.place {
            let _ = write!(text, " ({place})");
        }
        if origin.ignored {
            text.push_str(": not looked at");
        } else if let [fate] = origin.fates.as_slice() {
            let _ = write!(text, ": {}", told(fate));
        }
        text.push('\n');
        if origin.fates.len() > 1 {
            for fate in origin.fates.iter().take(SHOWN) {
                let _ = writeln!(text, "{:indent$}  {}: {}", "", fate.address, told(fate));
            }
            if origin.fates.len() > SHOWN {
                let _ = writeln!(text, "{:indent$}  and {} more", "", origin.fates.len() - SHOWN);
            }
        }
        waiting.extend(origin.from.iter().rev().map(|origin| (indent + 2, origin)));
    }
}

/// What becomes of what is referred to.
fn told(fate: &Fate) -> String {
    let verb = verb(fate.action);
    match (&fate.difference, fate.outside) {
        (Some((before, after)), true) => {
            format!("changed outside of this configuration: {before} -> {after}")
        }
        (None, true) => "changed outside of this configuration".to_owned(),
        (Some((before, after)), false) => format!("{before} -> {after}, {verb}"),
        (None, false) if fate.whole => verb.to_owned(),
        (None, false) => format!("stays as it is, while the object is {verb}"),
    }
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::NoOp => "unchanged",
        Action::Create => "created",
        Action::Read => "read during apply",
        Action::Update => "updated in-place",
        Action::DeleteThenCreate | Action::CreateThenDelete => "replaced",
        Action::Delete => "destroyed",
        Action::Forget => "forgotten",
    }
}

fn neighbours(colour: Colour, title: &str, neighbours: &[Neighbour], text: &mut String) {
    if neighbours.is_empty() {
        return;
    }
    heading(colour, title, text);
    for neighbour in neighbours {
        let state = match neighbour.outside {
            true => "changed outside of this configuration",
            false => verb(neighbour.action),
        };
        let _ = writeln!(text, "  {} ({state})", neighbour.address);
        for link in &neighbour.links {
            let Link { argument, reference, .. } = link;
            let _ = write!(text, "    {argument}, from {reference}");
            let _ = match &link.difference {
                Some((before, after)) => writeln!(text, ": {before} -> {after}"),
                None if link.whole => writeln!(text),
                None => writeln!(text, ", which stays as it is"),
            };
        }
    }
}

pub(super) fn json(explanation: &Explanation) -> Json {
    let Explanation { address, declared, action, reason, because, attributes, .. } = explanation;
    let strings = |items: &[String]| Json::array(items.iter().map(Json::string).collect());
    let checks = explanation.checks.iter().map(|(stage, what)| {
        Json::object([("stage", Json::string(stage.to_string())), ("compares", Json::string(what))])
    });
    let neighbours = |found: &[Neighbour]| Json::array(found.iter().map(neighbour_json).collect());
    let mut members = vec![
        ("format_version", Json::string(FORMAT_VERSION)),
        ("address", Json::string(address.to_string())),
        ("refresh_only", Json::Bool(explanation.refresh_only)),
        ("actions", Json::array(action.as_json().iter().map(Json::string).collect())),
        ("because", strings(because)),
        ("attributes", Json::array(attributes.iter().map(attribute_json).collect())),
        ("depends_on", neighbours(&explanation.depends_on)),
        ("dependents", neighbours(&explanation.dependents)),
        ("outputs", strings(&explanation.outputs)),
        ("checks", Json::array(checks.collect())),
    ];
    let moved_from = explanation.moved_from.as_ref();
    members.extend(moved_from.map(|from| ("previous_address", Json::string(from.to_string()))));
    members.extend(declared.as_ref().map(|place| ("declared", place_json(place))));
    members.extend(reason.map(|reason| ("action_reason", Json::string(reason))));
    Json::object(members)
}

fn place_json(place: &Place) -> Json {
    Json::object([("file", Json::string(&place.file)), ("line", Json::number(place.line))])
}

fn pair_json((before, after): &(String, String)) -> Json {
    Json::object([("before", Json::string(before)), ("after", Json::string(after))])
}

/// Values are written as text: they are shortened, and what is sensitive is left out.
fn attribute_json(attribute: &ExplainedAttribute) -> Json {
    let difference = &attribute.difference;
    let mut members = vec![
        ("path", Json::string(name(attribute))),
        ("before", Json::string(&difference.before)),
        ("after", Json::string(&difference.after)),
        ("forces_replacement", Json::Bool(difference.forces_replacement)),
        ("configured", Json::Bool(attribute.decided.is_none() && attribute.place.is_some())),
        ("from", Json::array(attribute.from.iter().map(origin_json).collect())),
    ];
    members.extend(attribute.place.as_ref().map(|place| ("set_at", place_json(place))));
    members.extend(attribute.outside.as_ref().map(|pair| ("changed_outside", pair_json(pair))));
    Json::object(members)
}

/// As deep as origins are shown, and no deeper.
fn origin_json(origin: &Origin) -> Json {
    let mut members = vec![
        ("reference", Json::string(&origin.reference)),
        ("instances", Json::array(origin.fates.iter().map(fate_json).collect())),
        ("from", Json::array(origin.from.iter().map(origin_json).collect())),
    ];
    members.extend(origin.place.as_ref().map(|place| ("declared", place_json(place))));
    if let Some((value, from)) = &origin.given {
        members.push(("value", Json::string(value)));
        let from = if from.is_empty() { "file" } else { from };
        members.push(("given_by", Json::string(from)));
    }
    if origin.ignored {
        members.push(("looked_at", Json::Bool(false)));
    }
    Json::object(members)
}

fn fate_json(fate: &Fate) -> Json {
    let mut members = vec![
        ("address", Json::string(fate.address.to_string())),
        ("actions", Json::array(fate.action.as_json().iter().map(Json::string).collect())),
        ("changed_outside", Json::Bool(fate.outside)),
    ];
    members.extend(fate.difference.as_ref().map(|pair| ("change", pair_json(pair))));
    Json::object(members)
}

fn neighbour_json(neighbour: &Neighbour) -> Json {
    let link = |link: &Link| {
        let mut members = vec![
            ("argument", Json::string(&link.argument)),
            ("reference", Json::string(&link.reference)),
        ];
        members.extend(link.difference.as_ref().map(|pair| ("change", pair_json(pair))));
        Json::object(members)
    };
    Json::object([
        ("address", Json::string(neighbour.address.to_string())),
        ("actions", Json::array(neighbour.action.as_json().iter().map(Json::string).collect())),
        ("changed_outside", Json::Bool(neighbour.outside)),
        ("references", Json::array(neighbour.links.iter().map(link).collect())),
    ])
}
