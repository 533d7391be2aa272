//! Runs: those of a deployed bundle, and what the records tell of any.

use super::entry::{Candidates, Command, FlagEntry};
use super::operations::{DOCUMENT, NO_COLOR, NO_INPUT};
use crate::flags::Flag;

/// Of commands that ask a deployed bundle.
const REMOTE: &[FlagEntry] = &[
    FlagEntry::value(
        "remote",
        "URL",
        "The deployment: the output Api of its stack. For submit, approve, reject and cancel the variable PLUMB_REMOTE does as well. Requests are signed with AWS credentials, or carry the token in PLUMB_TOKEN.",
        Candidates::None,
    ),
    DOCUMENT,
    NO_COLOR,
];

/// Of commands that decide about a run.
const DECISION: &[FlagEntry] = &[
    FlagEntry::value(
        "digest",
        "DIGEST",
        "Ask nobody: decide about the plan with this digest, and no other.",
        Candidates::None,
    ),
    NO_INPUT,
];

pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "submit",
        does: "Have a deployed bundle plan a commit",
        usage: "[options] COMMIT",
        about: "Has a deployed bundle plan the estate at a commit that was pushed: its full hash.",
        flags: &[REMOTE, &[FlagEntry::switch("apply", "Go on to an approval, and apply.")]],
        arguments: &[Candidates::None],
    },
    Command {
        name: "approve",
        does: "Agree to the plan of a run that a deployed bundle has made",
        usage: "[options] RUN",
        about: "Shows the plan of a run that waits, asks, and decides about what was shown.",
        flags: &[REMOTE, DECISION],
        arguments: &[Candidates::None],
    },
    Command {
        name: "reject",
        does: "Say no to the plan of a run that a deployed bundle has made",
        usage: "[options] RUN",
        about: "Shows the plan of a run that waits, asks, and decides about what was shown.",
        flags: &[REMOTE, DECISION],
        arguments: &[Candidates::None],
    },
    Command {
        name: "cancel",
        does: "Stop a run of a deployed bundle",
        usage: "[options] RUN",
        about: "Stops a run of a deployed bundle, unless it is changing things already.",
        flags: &[
            REMOTE,
            &[FlagEntry::hidden(Flag::Value("digest")), FlagEntry::hidden(Flag::Switch("input"))],
        ],
        arguments: &[Candidates::None],
    },
    Command {
        name: "runs list",
        does: "List who changed this estate, and when",
        usage: "[options]",
        about: "",
        flags: &[REMOTE],
        arguments: &[],
    },
    Command {
        name: "runs show",
        does: "Show one run: its attempts and what came of each change",
        usage: "[options] RUN",
        about: "Shows a run, or the run of a plan; the beginning of its name will do.",
        flags: &[REMOTE],
        arguments: &[Candidates::None],
    },
];
