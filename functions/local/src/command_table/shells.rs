//! The program itself: version, help, completions and manual pages.

use super::entry::{Candidates, Command};
use super::operations::{DOCUMENT, QUIET};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "completions",
        does: "Print what makes a shell complete commands of plumb",
        usage: "bash | zsh | fish",
        about: "Prints a script for a shell, which makes it complete commands, flags, files, names of workspaces and addresses of recorded instances:\n\n    bash: source <(plumb completions bash)\n    zsh:  source <(plumb completions zsh)\n    fish: plumb completions fish | source",
        flags: &[&[QUIET]],
        arguments: &[Candidates::Words(&["bash", "zsh", "fish"]), Candidates::None],
    },
    Command {
        name: "man",
        does: "Write manual pages",
        usage: "[DIRECTORY]",
        about: "Writes a manual page for plumb and one for each command into a directory, or prints that for plumb. To see it: plumb man | man -l -",
        flags: &[&[QUIET]],
        arguments: &[Candidates::Directories, Candidates::None],
    },
    Command {
        name: "version",
        does: "Show the version",
        usage: "[options]",
        about: "",
        flags: &[&[DOCUMENT, QUIET]],
        arguments: &[],
    },
    Command {
        name: "help",
        does: "Show all commands, or what there is to know of one",
        usage: "[COMMAND]",
        about: "",
        flags: &[],
        arguments: &[],
    },
];
