//! What a policy's program has said.

use super::program::{Ended, Ran};
use serde_json::Value;

/// Characters of one objection.
const LONGEST: usize = 1_000;

/// What a policy objects to; nothing where it agrees.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PolicyAnswer {
    pub(super) objections: Vec<Objection>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Objection {
    pub(super) message: String,
    pub(super) address: Option<String>,
}

impl PolicyAnswer {
    /// Of a command: it agrees by ending with 0, and else each line of its output is an objection.
    pub(super) fn of_command(ran: &Ran) -> Result<PolicyAnswer, String> {
        match ran.ended {
            Ended::Code(0) => Ok(PolicyAnswer { objections: Vec::new() }),
            Ended::Code(code) => {
                let mut objections = lines(&ran.output);
                if objections.is_empty() {
                    objections = lines(&ran.complaint);
                }
                if objections.is_empty() {
                    objections
                        .push(objection(&format!("it ended with {code}, and says nothing"), None));
                }
                Ok(PolicyAnswer { objections })
            }
            Ended::Signal => Err("a signal ended it".to_owned()),
        }
    }

    /// Of `opa eval --format=json`: what the query came to.
    pub(super) fn of_opa(ran: &Ran) -> Result<PolicyAnswer, String> {
        if ran.ended != Ended::Code(0) {
            let said = [&ran.complaint, &ran.output].into_iter().flat_map(|text| lines(text));
            let said: Vec<String> = said.map(|said| said.message).take(5).collect();
            return Err(format!("opa failed: {}", said.join(" ")));
        }
        let answer: Value =
            serde_json::from_slice(&ran.output).map_err(|error| error.to_string())?;
        let results = answer["result"].as_array().map(Vec::as_slice).unwrap_or_default();
        let expressions = results.iter().filter_map(|result| result["expressions"].as_array());
        let expressions: Vec<&Value> = expressions.flatten().collect();
        if expressions.is_empty() {
            // A policy that is not there must not look like one that agrees.
            return Err(
                "the query is undefined; it has to come to a set, even to an empty one".to_owned()
            );
        }
        let mut objections = Vec::new();
        for expression in expressions {
            objections.extend(of_value(&expression["value"])?);
        }
        Ok(PolicyAnswer { objections })
    }
}

/// A query's value: sets and lists hold objections, and of a truth value `true` is one.
fn of_value(value: &Value) -> Result<Vec<Objection>, String> {
    match value {
        Value::Bool(false) => Ok(Vec::new()),
        Value::Bool(true) => Ok(vec![objection("it objects, and does not say to what", None)]),
        Value::Array(items) => items.iter().map(of_item).collect(),
        other => Err(format!("the query came to {}, and not to a set", kind(other))),
    }
}

fn of_item(item: &Value) -> Result<Objection, String> {
    match item {
        Value::String(text) => Ok(objection(text, None)),
        Value::Object(fields) => {
            let text = ["msg", "message"].into_iter().find_map(|name| fields.get(name)?.as_str());
            let address = fields.get("address").and_then(Value::as_str).map(str::to_owned);
            let text = text.ok_or("an objection has no text \"msg\"")?;
            Ok(objection(text, address))
        }
        other => Err(format!("an objection is {}, and no text", kind(other))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A text as one line, without what would move a terminal's cursor.
fn objection(text: &str, address: Option<String>) -> Objection {
    let clean = |text: &str| -> String {
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        text.trim().chars().take(LONGEST).collect()
    };
    Objection { message: clean(text), address: address.as_deref().map(clean) }
}

fn lines(output: &[u8]) -> Vec<Objection> {
    let text = String::from_utf8_lossy(output);
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| objection(line, None)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Ended, PolicyAnswer, Ran};

    fn opa(text: &str) -> Result<Vec<(String, Option<String>)>, String> {
        let ran = Ran { ended: Ended::Code(0), output: text.into(), complaint: Vec::new() };
        let answer = PolicyAnswer::of_opa(&ran)?;
        Ok(answer.objections.into_iter().map(|o| (o.message, o.address)).collect())
    }

    fn value(value: &str) -> String {
        format!(
            r#"{{"result": [{{"expressions": [{{"value": {value}, "text": "data.p.deny"}}]}}]}}"#
        )
    }

    #[test]
    fn objections_of_opa_are_texts_or_objects_with_one() {
        assert_eq!(opa(&value("[]")), Ok(vec![]));
        assert_eq!(opa(&value("false")), Ok(vec![]));
        assert_eq!(opa(&value("[\"no\\u001b[1m tags\"]")), Ok(vec![("no [1m tags".into(), None)]));
        let object = value(r#"[{"msg": "too large", "address": "aws_instance.a"}]"#);
        assert_eq!(opa(&object), Ok(vec![("too large".into(), Some("aws_instance.a".into()))]));
        assert_eq!(opa(&value("true")).map(|found| found.len()), Ok(1));
    }

    #[test]
    fn what_is_no_answer_does_not_look_like_agreement() {
        for text in ["{}", "", "agreed", &value("\"no\""), &value("{}"), &value("[1]")] {
            assert!(opa(text).is_err(), "{text}");
        }
        let failed = Ran {
            ended: Ended::Code(2),
            output: value("[]").into(),
            complaint: "no bundle".into(),
        };
        assert!(PolicyAnswer::of_opa(&failed).unwrap_err().contains("no bundle"));
    }

    #[test]
    fn a_command_agrees_by_its_exit_code_alone() {
        let ran = |code, output: &str, complaint: &str| {
            let ended = Ended::Code(code);
            let ran = Ran { ended, output: output.into(), complaint: complaint.into() };
            let answer = PolicyAnswer::of_command(&ran).unwrap();
            answer.objections.into_iter().map(|o| o.message).collect::<Vec<_>>()
        };
        assert!(ran(0, "all fine\n", "").is_empty());
        assert_eq!(ran(1, "a\n\nb\n", "noise"), ["a", "b"]);
        assert_eq!(ran(1, "", "broken"), ["broken"]);
        assert_eq!(ran(3, "", ""), ["it ended with 3, and says nothing"]);
    }
}
