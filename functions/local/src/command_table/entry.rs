//! One command, and one flag of it.

use crate::flags::Flag;

/// A command.
pub(crate) struct Command {
    /// Its words.
    pub(crate) name: &'static str,
    /// What it does, in a line without a full stop.
    pub(crate) does: &'static str,
    /// Its arguments as they are written: `[options] ADDRESS`.
    pub(crate) usage: &'static str,
    /// More than the line says; may be empty. Paragraphs are separated by an empty line.
    pub(crate) about: &'static str,
    /// Its flags, in groups that commands share.
    pub(crate) flags: &'static [&'static [FlagEntry]],
    /// What its arguments are, in order; the last stands for all that follow.
    pub(crate) arguments: &'static [Candidates],
}

impl Command {
    /// Its flags, hidden ones too.
    pub(crate) fn flags(&self) -> impl Iterator<Item = &'static FlagEntry> {
        self.flags.iter().copied().flatten()
    }

    /// The flags that people are told of, in the order of their names.
    pub(crate) fn shown_flags(&self) -> Vec<&'static FlagEntry> {
        let mut shown: Vec<_> = self.flags().filter(|entry| !entry.says.is_empty()).collect();
        shown.sort_by_key(|entry| entry.flag.name());
        shown
    }
}

/// A flag of a command.
pub(crate) struct FlagEntry {
    pub(crate) flag: Flag,
    /// What stands behind it: `=FILE`, `=false`; empty where nothing has to.
    pub(crate) written: &'static str,
    /// What it does, in sentences; empty for one that people need not know of.
    pub(crate) says: &'static str,
    /// What its value may be.
    pub(crate) takes: Candidates,
}

/// What a shell may offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Candidates {
    /// Nothing that could be known.
    #[default]
    None,
    /// Files.
    Files,
    /// Directories.
    Directories,
    /// Addresses of recorded resource instances.
    Addresses,
    /// Names of workspaces.
    Workspaces,
    /// Names of root outputs.
    Outputs,
    /// These words.
    Words(&'static [&'static str]),
}

impl FlagEntry {
    /// On or off, and off where it is not given.
    pub(crate) const fn switch(name: &'static str, says: &'static str) -> FlagEntry {
        FlagEntry { flag: Flag::Switch(name), written: "", says, takes: Candidates::None }
    }

    /// On or off, and on where it is not given.
    pub(crate) const fn turned_off(name: &'static str, says: &'static str) -> FlagEntry {
        FlagEntry { flag: Flag::Switch(name), written: "false", says, takes: Candidates::None }
    }

    /// With a value.
    pub(crate) const fn value(
        name: &'static str,
        written: &'static str,
        says: &'static str,
        takes: Candidates,
    ) -> FlagEntry {
        FlagEntry { flag: Flag::Value(name), written, says, takes }
    }

    /// One that is taken, and that nobody is told of.
    pub(crate) const fn hidden(flag: Flag) -> FlagEntry {
        FlagEntry { flag, written: "", says: "", takes: Candidates::None }
    }

    /// As help writes it: `-out=FILE`.
    pub(crate) fn display(&self) -> String {
        let name = self.flag.name();
        match (self.written, name) {
            ("", _) => format!("-{name}"),
            (written, "var") => format!("-{name} '{written}'"),
            (written, _) => format!("-{name}={written}"),
        }
    }
}
