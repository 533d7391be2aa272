//! Runs: those of a deployed bundle, and what the records tell of any.

use super::entry::{Candidates, Command, FlagEntry};
use super::operations::{DOCUMENT, NO_COLOR, NO_INPUT};
use crate::flags::Flag;

/// Of commands that ask a deployed bundle.
const REMOTE: &[FlagEntry] = &[
    FlagEntry::value(
        "remote",
        "URL",
        "The deployment: the output Api of its stack, or where plumb serve listens. Except for runs, which else tells of the records, the variable PLUMB_REMOTE does as well. Requests are signed with AWS credentials, or carry the token in PLUMB_TOKEN.",
        Candidates::None,
    ),
    DOCUMENT,
    NO_COLOR,
];

/// Of commands that write a page.
const PAGE: &[FlagEntry] = &[
    FlagEntry::switch(
        "html",
        "Of a deployment: write a page for a browser, one file that loads nothing.",
    ),
    FlagEntry::value("out", "FILE", "Write to this file.", Candidates::Files),
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
        name: "drift",
        does: "Show which estates of a deployed bundle have drifted, and since when",
        usage: "[options]",
        about: "Shows which estates of a deployed bundle differ from their records, since when and how often, and which could not be looked at.",
        flags: &[REMOTE, PAGE],
        arguments: &[],
    },
    Command {
        name: "serve",
        does: "Take pushes and approvals on this machine, and run what a deployed bundle runs",
        usage: "[options]",
        about: "Serves the API of the bundle and works off its runs in this process, with records in the directory that plumb.toml names.\n\nWhat it keeps is in .plumb/serve beside plumb.toml: deployment.toml there says who may do what, secrets/ and tokens/ hold what proves it. Runs go on when it is started again, whatever ended it. -remote=URL and PLUMB_TOKEN make other commands its clients.",
        flags: &[&[
            FlagEntry::switch(
                "allow-plain-http",
                "Listen on an address that other machines reach, without TLS.",
            ),
            FlagEntry::value(
                "listen",
                "ADDRESS:PORT",
                "Listen here (127.0.0.1:7586).",
                Candidates::None,
            ),
            NO_COLOR,
        ]],
        arguments: &[],
    },
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
        flags: &[REMOTE, &[FlagEntry::hidden(Flag::Switch("input"))]],
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
        flags: &[REMOTE, PAGE],
        arguments: &[Candidates::None],
    },
];
