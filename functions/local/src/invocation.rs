//! The command line up to the command's own flags.

use crate::command_table;
use crate::environment::ProcessEnvironment;
use crate::flags::UsageError;
use std::ffi::OsString;
use std::path::PathBuf;

/// A command with its arguments.
#[derive(Debug, Default)]
pub(crate) struct Invocation {
    /// The command's words; empty where none was given.
    pub(crate) command: Vec<String>,
    /// Its flags and arguments, with those of the environment before those of the command line.
    pub(crate) arguments: Vec<String>,
    /// `-chdir`.
    pub(crate) directory: Option<PathBuf>,
    /// `-estate`.
    pub(crate) estate: Option<String>,
    /// `-version` in place of a command.
    pub(crate) version: bool,
    /// `-help` in place of a command, or with it.
    pub(crate) help: bool,
}

impl Invocation {
    /// # Errors
    /// Where an argument is not UTF-8, or there is an unknown flag before the command.
    pub(crate) fn parse(
        arguments: Vec<OsString>,
        environment: &ProcessEnvironment,
    ) -> Result<Invocation, UsageError> {
        let arguments: Vec<String> = arguments
            .into_iter()
            .map(|argument| argument.into_string().map_err(|_| UsageError::NotUtf8))
            .collect::<Result<_, _>>()?;
        let mut invocation = Invocation::default();
        let mut arguments = arguments.into_iter().peekable();
        while let Some(argument) = arguments.next_if(|argument| argument.starts_with('-')) {
            let flag = argument.trim_start_matches('-');
            match flag {
                "help" | "h" => invocation.help = true,
                "version" | "v" => invocation.version = true,
                "install-autocomplete" | "uninstall-autocomplete" => {
                    invocation.command = vec![flag.to_owned()];
                    return Ok(invocation);
                }
                _ => match flag.split_once('=') {
                    Some(("chdir", directory)) => invocation.directory = Some(directory.into()),
                    Some(("estate", name)) => invocation.estate = Some(name.into()),
                    _ => return Err(UsageError::UnknownGlobal { flag: argument }),
                },
            }
        }
        let Some(command) = arguments.next() else { return Ok(invocation) };
        let is_group = command_table::is_group(&command);
        invocation.command.push(command);
        if is_group {
            invocation.command.extend(arguments.next_if(|argument| !argument.starts_with('-')));
        }
        let specific = format!("TF_CLI_ARGS_{}", invocation.command.join("_"));
        for name in ["TF_CLI_ARGS", specific.as_str()] {
            invocation.arguments.extend(words(environment.get(name).unwrap_or_default()));
        }
        let is_help = |a: &str| matches!(a, "-help" | "--help" | "-h");
        for argument in arguments {
            match is_help(&argument) {
                true => invocation.help = true,
                false => invocation.arguments.push(argument),
            }
        }
        Ok(invocation)
    }

    /// The command as it is written.
    pub(crate) fn name(&self) -> String {
        self.command.join(" ")
    }
}

/// Splits as a shell does: blanks between words, quotes and backslashes around them.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
