//! What must not be told. Views mask sensitive values where they stand; a provider may repeat one in its own words, and those are
//! searched here.

use engine::Variables;
use engine::changes::ResourceInstanceChange;
use engine::plan::Plan;
use language::diagnostics::Diagnostics;
use language::module::Module;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use values::Value;
use views::run_report::StepReport;

/// What stands in its place.
const HIDDEN: &str = "(sensitive value)";
/// What is shorter is no secret to speak of, and would be found within other words.
const SHORTEST: usize = 6;

/// The secrets that a step has come to know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Discretion {
    words: BTreeSet<String>,
}

impl Discretion {
    /// Learns the values of variables that are sensitive or ephemeral, their defaults included.
    pub(crate) fn of_variables(&mut self, module: &Module, given: &Variables) {
        for variable in module.variables.values() {
            if variable.sensitive || variable.ephemeral {
                let given = given.get(&variable.name).map(|given| &given.value);
                for value in variable.default.iter().chain(given) {
                    self.learn(value.clone(), true);
                }
            }
        }
    }

    /// Learns what is sensitive in a plan, by its origin or by a schema.
    pub(crate) fn of_plan(&mut self, plan: &Plan) {
        for value in plan.variables.values() {
            self.learn(value.clone(), false);
        }
        for change in plan.changes.resources.iter().chain(&plan.drift) {
            self.of_change(plan, change);
        }
        for output in plan.changes.outputs.values() {
            for value in [&output.before, &output.after] {
                self.learn(value.clone(), output.sensitive);
            }
        }
    }

    fn of_change(&mut self, plan: &Plan, change: &ResourceInstanceChange) {
        let (resource, provider) = (&change.address.resource, &change.provider.provider);
        let schema = plan.schemas.get(provider, resource.mode, &resource.ty);
        for value in [&change.before, &change.after] {
            let marked = schema.map(|schema| schema.block.mark_sensitive(value));
            self.learn(marked.unwrap_or_else(|| value.clone()), false);
        }
    }

    /// Learns the texts of a value that are sensitive; all of them where the whole is.
    fn learn(&mut self, value: Value, sensitive: bool) {
        if !sensitive && !value.deep_marks().is_sensitive() {
            return;
        }
        let mut open = vec![(value, sensitive)];
        while let Some((value, above)) = open.pop() {
            let sensitive = above || value.marks().is_sensitive();
            if let Some(text) = value.as_str().filter(|_| sensitive) {
                // Diagnostics are broken into lines, and so are keys and certificates.
                let lines = text.lines().map(str::trim).chain([text]);
                let words = lines.filter(|word| word.chars().count() >= SHORTEST);
                self.words.extend(words.map(str::to_owned));
            }
            value.for_each_child(|_, child| open.push((child.clone(), sensitive)));
        }
    }

    /// A text without what is secret.
    pub(crate) fn conceal(&self, text: &str) -> String {
        let mut found: Vec<&String> =
            self.words.iter().filter(|word| text.contains(word.as_str())).collect();
        // One that holds another goes first.
        found.sort_by_key(|word| std::cmp::Reverse(word.len()));
        found.iter().fold(text.to_owned(), |text, word| text.replace(word.as_str(), HIDDEN))
    }

    /// A part of a report without it, as JSON.
    pub(super) fn conceal_report(&self, part: &StepReport) -> Vec<u8> {
        // Plain data always has a JSON form.
        let mut json = serde_json::to_value(part).unwrap_or_default();
        let mut open = vec![&mut json];
        while let Some(value) = open.pop() {
            match value {
                Json::String(text) => {
                    if self.words.iter().any(|word| text.contains(word.as_str())) {
                        *text = self.conceal(text);
                    }
                }
                Json::Array(items) => open.extend(items),
                Json::Object(fields) => open.extend(fields.values_mut()),
                Json::Null | Json::Bool(_) | Json::Number(_) => {}
            }
        }
        json.to_string().into_bytes()
    }

    /// Diagnostics without it, before they are broken into lines.
    pub(crate) fn conceal_diagnostics(&self, diagnostics: &Diagnostics) -> Diagnostics {
        let mut concealed = diagnostics.clone();
        for diagnostic in concealed.iter_mut() {
            diagnostic.summary = self.conceal(&diagnostic.summary);
            diagnostic.detail = self.conceal(&diagnostic.detail);
        }
        concealed
    }
}

#[cfg(test)]
mod tests {
    use super::Discretion;
    use values::Value;

    fn knowing(value: Value) -> Discretion {
        let mut discretion = Discretion::default();
        discretion.learn(value, false);
        discretion
    }

    #[test]
    fn what_is_sensitive_is_hidden_wherever_it_is_repeated() {
        let secret = Value::string("hunter2-hunter2").sensitive();
        let object = Value::object([("open", Value::string("visible")), ("password", secret)]);
        let told = knowing(object).conceal("visible: no user hunter2-hunter2 (hunter2-hunter2)");
        assert_eq!(told, "visible: no user (sensitive value) ((sensitive value))");
    }

    #[test]
    fn all_of_a_sensitive_whole_is() {
        let whole = Value::object([("inner", Value::string("abcdefgh"))]).sensitive();
        assert_eq!(knowing(whole).conceal("abcdefgh"), "(sensitive value)");
    }

    #[test]
    fn lines_of_a_key_are_hidden_one_by_one_and_short_words_are_not() {
        let key = Value::string("-----BEGIN-----\nMIIEpAIBAAKC\n").sensitive();
        let told = knowing(key).conceal("│ MIIEpAIBAAKC\n│ end");
        assert_eq!(told, "│ (sensitive value)\n│ end");
        assert_eq!(knowing(Value::string("a").sensitive()).conceal("a plan"), "a plan");
    }

    #[test]
    fn the_longer_of_two_goes_first() {
        let both = ["secret", "secret-and-more"].map(|text| Value::string(text).sensitive());
        let told = knowing(Value::tuple(both.to_vec())).conceal("secret-and-more, secret");
        assert_eq!(told, "(sensitive value), (sensitive value)");
    }
}
