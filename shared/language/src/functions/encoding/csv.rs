use super::super::call::CallError;
use std::collections::BTreeSet;
use values::quote::quoted;
use values::{Type, Value};

/// The type of a row: an object of strings, named by the first line.
pub(super) fn row_type(text: &str) -> Result<Type, CallError> {
    let mut reader = Reader { rest: text, line: 0 };
    Ok(Type::object(header(&mut reader)?.into_iter().map(|name| (name, Type::String))))
}

/// The rows of a table.
pub(super) fn rows(text: &str) -> Result<Value, CallError> {
    let mut reader = Reader { rest: text, line: 0 };
    let names = header(&mut reader)?;
    let ty = Type::object(names.iter().map(|name| (name.as_str(), Type::String)));
    let mut rows = Vec::new();
    while let Some((line, fields)) = reader.record()? {
        if fields.len() != names.len() {
            return Err(failure(line, "wrong number of fields"));
        }
        let fields = fields.iter().map(Value::string);
        rows.push(Value::object(names.iter().map(String::as_str).zip(fields)));
    }
    Ok(Value::list(ty, rows))
}

fn header(reader: &mut Reader<'_>) -> Result<Vec<String>, CallError> {
    let Some((_, names)) = reader.record()? else {
        return Err(CallError::other("missing header line"));
    };
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(*name)) {
        Some(name) => Err(CallError::other(format!("duplicate column name {}", quoted(name)))),
        None => Ok(names),
    }
}

fn failure(line: usize, reason: &str) -> CallError {
    CallError::other(format!("CSV parse error on line {line}: {reason}"))
}

struct Reader<'t> {
    rest: &'t str,
    line: usize,
}

impl<'t> Reader<'t> {
    /// The next line and its end, which is `\n` for any line break and empty at the end of the text.
    fn line(&mut self) -> Option<(&'t str, &'static str)> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let (line, rest) = match self.rest.split_once('\n') {
            Some((line, rest)) => (line, Some(rest)),
            None => (self.rest, None),
        };
        self.rest = rest.unwrap_or_default();
        Some((line.strip_suffix('\r').unwrap_or(line), rest.map_or("", |_| "\n")))
    }

    /// The next record and the line that it starts on; empty lines are skipped.
    fn record(&mut self) -> Result<Option<(usize, Vec<String>)>, CallError> {
        const QUOTE: &str = "extraneous or missing \" in quoted-field";
        let (mut line, mut end) = loop {
            match self.line() {
                None => return Ok(None),
                Some(("", _)) => {}
                Some(line) => break line,
            }
        };
        let start = self.line;
        let mut fields = Vec::new();
        loop {
            let Some(quoted) = line.strip_prefix('"') else {
                let (field, rest) = match line.split_once(',') {
                    Some((field, rest)) => (field, Some(rest)),
                    None => (line, None),
                };
                if field.contains('"') {
                    return Err(failure(self.line, "bare \" in non-quoted-field"));
                }
                fields.push(field.to_owned());
                match rest {
                    Some(rest) => line = rest,
                    None => return Ok(Some((start, fields))),
                }
                continue;
            };
            line = quoted;
            let mut field = String::new();
            loop {
                let Some((before, after)) = line.split_once('"') else {
                    field.push_str(line);
                    field.push_str(end);
                    match self.line() {
                        Some(next) => (line, end) = next,
                        None => return Err(failure(self.line, QUOTE)),
                    }
                    continue;
                };
                field.push_str(before);
                line = after;
                match line.chars().next() {
                    Some('"') => {
                        field.push('"');
                        line = line.get(1..).unwrap_or_default();
                    }
                    Some(',') => {
                        line = line.get(1..).unwrap_or_default();
                        fields.push(field);
                        break;
                    }
                    None => {
                        fields.push(field);
                        return Ok(Some((start, fields)));
                    }
                    Some(_) => return Err(failure(self.line, QUOTE)),
                }
            }
        }
    }
}
