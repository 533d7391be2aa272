//! Flags as Terraform reads them: one dash or two, `-name=value` or `-name value`, switches that take
//! `=true` and `=false`, and arguments after the first word without a dash.

/// A flag of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flag {
    /// On or off.
    Switch(&'static str),
    /// Takes a value; given twice, the last one counts.
    Value(&'static str),
    /// One of Terraform's that does nothing here, taken so that scripts go on working.
    Ignored(&'static str),
    /// The same, with a value.
    IgnoredValue(&'static str),
    /// One of Terraform's that is not supported yet.
    Unsupported(&'static str),
}

impl Flag {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Flag::Switch(n)
            | Flag::Value(n)
            | Flag::Ignored(n)
            | Flag::IgnoredValue(n)
            | Flag::Unsupported(n) => n,
        }
    }
}

/// The command line cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UsageError {
    NotUtf8,
    UnknownGlobal {
        flag: String,
    },
    UnknownCommand {
        name: String,
        /// The word that other commands begin with too, where it does.
        group: Option<String>,
    },
    Undefined {
        flag: String,
    },
    MissingValue {
        flag: String,
    },
    NotABool {
        flag: String,
        value: String,
    },
    Unsupported {
        flag: String,
    },
    /// What is wrong with flags or arguments together: a summary and sentences.
    Other {
        summary: String,
        detail: String,
    },
}

impl UsageError {
    pub(crate) fn other(summary: &str, detail: impl Into<String>) -> UsageError {
        UsageError::Other { summary: summary.into(), detail: detail.into() }
    }

    /// Summary and detail of the diagnostic.
    pub(crate) fn parts(&self) -> (String, String) {
        let flags = |detail: String| ("Failed to parse command-line flags".to_owned(), detail);
        match self {
            UsageError::NotUtf8 => flags("an argument is not UTF-8".into()),
            UsageError::UnknownGlobal { flag } => (
                "Invalid global option".into(),
                format!(
                    "The option {flag:?} is not one that stands before a command. -chdir=DIR, -estate=NAME, -help and -version do."
                ),
            ),
            UsageError::UnknownCommand { name, group } => (
                format!("There is no command {name:?}"),
                match group {
                    Some(group) => format!(
                        "To see the commands that begin with {group:?}, run: plumb {group} -help"
                    ),
                    None => "To see all commands, run: plumb -help".into(),
                },
            ),
            UsageError::Undefined { flag } => {
                flags(format!("flag provided but not defined: -{flag}"))
            }
            UsageError::MissingValue { flag } => flags(format!("flag needs an argument: -{flag}")),
            UsageError::NotABool { flag, value } => {
                flags(format!("invalid boolean value {value:?} for -{flag}: parse error"))
            }
            UsageError::Unsupported { flag } => (
                format!("Not supported yet: -{flag}"),
                format!(
                    "The option -{flag} is one of Terraform's that plumb does not know yet. Nothing was done."
                ),
            ),
            UsageError::Other { summary, detail } => (summary.clone(), detail.clone()),
        }
    }
}

/// What was given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    given: Vec<(&'static str, String)>,
    /// Flags that were given and do nothing.
    pub(crate) ignored: Vec<&'static str>,
    /// Arguments that are no flags.
    pub(crate) positional: Vec<String>,
}

/// Switches that Terraform takes wherever they stand, also behind the arguments.
const ANYWHERE: [&str; 2] = ["no-color", "compact-warnings"];

impl Flags {
    /// # Errors
    /// Where a flag is unknown, not supported, or its value is missing or no bool.
    pub(crate) fn parse(arguments: &[String], known: &[Flag]) -> Result<Flags, UsageError> {
        let mut flags = Flags::default();
        let anywhere = |argument: &str| {
            let name =
                ANYWHERE.into_iter().find(|name| argument.strip_prefix('-') == Some(name))?;
            known.iter().any(|known| known.name() == name).then_some(name)
        };
        flags
            .given
            .extend(arguments.iter().filter_map(|a| Some((anywhere(a)?, "true".to_owned()))));
        let mut arguments = arguments.iter().filter(|argument| anywhere(argument).is_none());
        while let Some(argument) = arguments.next() {
            let stripped = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-'));
            let text = match stripped {
                Some("") if argument == "--" => {
                    flags.positional.extend(arguments.by_ref().cloned());
                    break;
                }
                Some(text) if !text.is_empty() => text,
                _ => {
                    flags.positional.push(argument.clone());
                    flags.positional.extend(arguments.by_ref().cloned());
                    break;
                }
            };
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (text, None),
            };
            let flag = || name.to_owned();
            let Some(found) = known.iter().find(|known| known.name() == name) else {
                return Err(UsageError::Undefined { flag: flag() });
            };
            match *found {
                Flag::Switch(name) | Flag::Ignored(name) => {
                    let value = value.unwrap_or_else(|| "true".to_owned());
                    let on = parse_bool(&value)
                        .ok_or_else(|| UsageError::NotABool { flag: flag(), value })?;
                    match found {
                        Flag::Ignored(_) => flags.ignored.push(name),
                        _ => flags.given.push((name, on.to_string())),
                    }
                }
                Flag::Value(name) | Flag::IgnoredValue(name) => {
                    let value = value.or_else(|| arguments.next().cloned());
                    let value = value.ok_or_else(|| UsageError::MissingValue { flag: flag() })?;
                    match found {
                        Flag::IgnoredValue(_) => flags.ignored.push(name),
                        _ => flags.given.push((name, value)),
                    }
                }
                Flag::Unsupported(_) => return Err(UsageError::Unsupported { flag: flag() }),
            }
        }
        Ok(flags)
    }

    /// Whether a switch is on; `default` where it was not given.
    pub(crate) fn switch(&self, name: &str, default: bool) -> bool {
        self.value(name).map_or(default, |value| value == "true")
    }

    /// The last value of a flag.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.given.iter().rev().find(|(n, _)| *n == name).map(|(_, value)| value.as_str())
    }

    /// Every value of these flags, in the order of the command line.
    pub(crate) fn all<'f>(
        &'f self,
        names: &'f [&str],
    ) -> impl Iterator<Item = (&'static str, &'f str)> {
        let wanted = self.given.iter().filter(|(name, _)| names.contains(name));
        wanted.map(|(name, value)| (*name, value.as_str()))
    }

    /// # Errors
    /// Where there are more than `most` arguments.
    pub(crate) fn at_most(&self, most: usize, detail: &str) -> Result<(), UsageError> {
        match self.positional.len() > most {
            true => Err(UsageError::other("Too many command line arguments", detail)),
            false => Ok(()),
        }
    }
}

fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Flag, Flags};

    #[test]
    fn no_color_stands_anywhere_and_other_flags_before_the_arguments() {
        let known = [Flag::Switch("json"), Flag::Switch("no-color")];
        let parse = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Flags::parse(&words, &known).unwrap()
        };
        let flags = parse(&["-json", "a.tfplan", "-no-color"]);
        assert!(flags.switch("no-color", false) && flags.switch("json", false));
        assert_eq!(flags.positional, ["a.tfplan"]);
        assert_eq!(parse(&["a.tfplan", "-json"]).positional, ["a.tfplan", "-json"]);
    }
}
