//! The account of a store's calls, and its log.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;

use crate::Method;

/// One call of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What was asked.
    pub method: Method,
    /// The key, or the prefix where many were asked for.
    pub target: Arc<str>,
    /// The part of the program that asked; empty where it was not named.
    pub accessor: Arc<str>,
    /// Where in the source that part got its store, as `file:line`; empty where it was not named.
    pub site: Arc<str>,
}

/// The calls of a store, in the order of their beginning.
///
/// As text it is a log: one line per call, with method, target, accessor and site behind tabs. In them `%`, tabs
/// and line ends are written as `%hh`. The text can be parsed again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The calls.
    pub calls: Vec<Call>,
}

/// A text is no log of an account.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line} of the log is no call of a store")]
pub struct AccountError {
    /// The line, from 1.
    pub line: usize,
}

impl Account {
    /// How often the same was asked: what was asked more than once, by method and target.
    #[must_use]
    pub fn repeats(&self) -> BTreeMap<(Method, Arc<str>), u64> {
        let mut times = self.tally(|call| (call.method, Arc::clone(&call.target)));
        times.retain(|_, times| *times > 1);
        times
    }

    /// How often each part of the program asked.
    #[must_use]
    pub fn by_accessor(&self) -> BTreeMap<(Arc<str>, Method), u64> {
        self.tally(|call| (Arc::clone(&call.accessor), call.method))
    }

    /// How often was asked from each place in the source.
    #[must_use]
    pub fn by_site(&self) -> BTreeMap<(Arc<str>, Method), u64> {
        self.tally(|call| (Arc::clone(&call.site), call.method))
    }

    fn tally<K: Ord>(&self, of: impl Fn(&Call) -> K) -> BTreeMap<K, u64> {
        let mut tally = BTreeMap::new();
        for call in &self.calls {
            *tally.entry(of(call)).or_default() += 1;
        }
        tally
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Call { method, target, accessor, site } in &self.calls {
            let [target, accessor, site] = [target, accessor, site].map(|text| escaped(text));
            writeln!(f, "{method}\t{target}\t{accessor}\t{site}")?;
        }
        Ok(())
    }
}

impl FromStr for Account {
    type Err = AccountError;

    fn from_str(log: &str) -> Result<Self, AccountError> {
        let calls = log.split_terminator('\n').enumerate();
        let calls = calls.map(|(index, line)| call(line).ok_or(AccountError { line: index + 1 }));
        Ok(Self { calls: calls.collect::<Result<_, _>>()? })
    }
}

fn call(line: &str) -> Option<Call> {
    let mut parts = line.split('\t');
    let name = parts.next()?;
    let method = Method::ALL.into_iter().find(|method| method.as_str() == name)?;
    let mut text = || unescaped(parts.next()?);
    let call = Call { method, target: text()?, accessor: text()?, site: text()? };
    parts.next().is_none().then_some(call)
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => escaped.push_str("%25"),
            '\t' => escaped.push_str("%09"),
            '\n' => escaped.push_str("%0a"),
            '\r' => escaped.push_str("%0d"),
            other => escaped.push(other),
        }
    }
    escaped
}

fn unescaped(text: &str) -> Option<Arc<str>> {
    let mut parts = text.split('%');
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        plain.push(match code {
            "25" => '%',
            "09" => '\t',
            "0a" => '\n',
            "0d" => '\r',
            _ => return None,
        });
        plain.push_str(rest);
    }
    Some(plain.into())
}
