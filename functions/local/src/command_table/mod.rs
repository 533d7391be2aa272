//! Every command with its flags and arguments. What is parsed, what help and manual pages say, and what shells
//! complete is all made from this.

mod deployed;
mod entry;
mod operations;
mod preparing;
mod records;
mod shells;

pub(crate) use entry::{Candidates, Command, FlagEntry};

use crate::flags::Flag;

/// All commands, in the order in which they are listed.
pub(crate) fn commands() -> impl Iterator<Item = &'static Command> {
    let groups = [
        operations::COMMANDS,
        preparing::COMMANDS,
        records::COMMANDS,
        deployed::COMMANDS,
        shells::COMMANDS,
    ];
    groups.into_iter().flatten()
}

/// The command of these words.
pub(crate) fn command(words: &[impl AsRef<str>]) -> Option<&'static Command> {
    let words = || words.iter().map(AsRef::as_ref);
    commands().find(|command| command.name.split(' ').eq(words()))
}

/// Whether a word stands before other words that make commands with it.
pub(crate) fn is_group(word: &str) -> bool {
    commands().any(|command| command.name.split_once(' ').is_some_and(|(group, _)| group == word))
}

/// The flags of a command, as they are parsed.
pub(crate) fn known_flags(words: &[impl AsRef<str>]) -> Vec<Flag> {
    command(words)
        .map(|command| command.flags().map(|entry| entry.flag).collect())
        .unwrap_or_default()
}

/// Flags that stand before the command.
pub(crate) const GLOBAL: &[FlagEntry] = &[
    FlagEntry::value("chdir", "DIR", "Work in another directory.", Candidates::Directories),
    FlagEntry::value(
        "estate",
        "NAME",
        "Work on this estate, where several share a directory.",
        Candidates::None,
    ),
    FlagEntry::switch("help", "Show this help, or that of a command."),
    FlagEntry::switch("version", "Show the version."),
];

#[cfg(test)]
mod tests {
    use super::commands;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_but_help_takes_no_color_as_the_environment_may_say_it_to_all() {
        for command in commands().filter(|command| command.name != "help") {
            let takes = command.flags().any(|entry| entry.flag.name() == "no-color");
            assert!(takes, "{}", command.name);
        }
    }

    #[test]
    fn names_of_commands_and_of_their_flags_are_unique() {
        let mut names = BTreeSet::new();
        for command in commands() {
            assert!(names.insert(command.name), "{}", command.name);
            let mut flags = BTreeSet::new();
            for entry in command.flags() {
                assert!(flags.insert(entry.flag.name()), "{} -{}", command.name, entry.flag.name());
            }
        }
    }
}
