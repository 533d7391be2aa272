//! Planning and applying.

use super::entry::{Candidates, Command, FlagEntry};
use crate::flags::Flag;

pub(super) const NO_COLOR: FlagEntry = FlagEntry::switch("no-color", "Write no colours.");
/// The same for commands that write nothing in colour, since it may stand in `TF_CLI_ARGS` for all.
pub(super) const QUIET: FlagEntry = FlagEntry::hidden(Flag::Switch("no-color"));
const COMPACT: FlagEntry = FlagEntry::switch("compact-warnings", "Show warnings as a short list.");
/// The same for commands that seldom warn.
const COMPACT_TOO: FlagEntry = FlagEntry::hidden(Flag::Switch("compact-warnings"));
pub(super) const NO_INPUT: FlagEntry = FlagEntry::turned_off("input", "Ask nobody for values.");
const NEW_ESTATE: FlagEntry =
    FlagEntry::switch("new-estate", "Nothing exists yet, whatever state there may be elsewhere.");
const PARALLELISM: FlagEntry = FlagEntry::value(
    "parallelism",
    "n",
    "Work on so many instances at once (10).",
    Candidates::None,
);
const TARGET: FlagEntry = FlagEntry::value(
    "target",
    "ADDRESS",
    "Plan this alone, with what it depends on. May be given often.",
    Candidates::Addresses,
);
pub(super) const STREAM: FlagEntry = FlagEntry::switch("json", "Write one JSON message a line.");
pub(super) const DOCUMENT: FlagEntry = FlagEntry::switch("json", "Write JSON.");

/// Root variables.
pub(super) const VARIABLES: &[FlagEntry] = &[
    FlagEntry::value(
        "var",
        "NAME=VALUE",
        "Set a root variable. May be given often.",
        Candidates::None,
    ),
    FlagEntry::value(
        "var-file",
        "FILE",
        "Set root variables from a file. May be given often.",
        Candidates::Files,
    ),
];

/// Of Terraform, and of no use where nothing is locked.
pub(super) const LOCKS: &[FlagEntry] = &[
    FlagEntry::hidden(Flag::Ignored("lock")),
    FlagEntry::hidden(Flag::IgnoredValue("lock-timeout")),
];

/// The state file of commands that read one in Terraform: refused.
pub(super) const STATE_FILE: FlagEntry = FlagEntry::hidden(Flag::Unsupported("state"));

/// What every operation has; the last are Terraform's, and refused.
const WORK: &[FlagEntry] = &[
    COMPACT,
    NO_INPUT,
    NEW_ESTATE,
    NO_COLOR,
    PARALLELISM,
    TARGET,
    FlagEntry::hidden(Flag::Unsupported("allow-deferral")),
    STATE_FILE,
    FlagEntry::hidden(Flag::Unsupported("state-out")),
    FlagEntry::hidden(Flag::Unsupported("backup")),
];

const REFRESH: FlagEntry =
    FlagEntry::turned_off("refresh", "Believe the records, and do not read the world first.");

/// What is planned, and how.
const MODES: &[FlagEntry] = &[
    FlagEntry::switch("destroy", "Plan to destroy everything."),
    FlagEntry::value(
        "replace",
        "ADDRESS",
        "Replace this instance. May be given often.",
        Candidates::Addresses,
    ),
    REFRESH,
    FlagEntry::switch("refresh-only", "Only bring the records up to the world."),
];

/// What does not fit where everything is destroyed, and is refused with a reason.
const OTHER_MODES: &[FlagEntry] = &[
    FlagEntry::hidden(Flag::Switch("destroy")),
    FlagEntry::hidden(Flag::Value("replace")),
    FlagEntry::hidden(Flag::Switch("refresh-only")),
    FlagEntry::hidden(Flag::Value("accept-drift")),
    FlagEntry::hidden(Flag::Value("deadline")),
];

const JSON_STREAM: &[FlagEntry] = &[STREAM];
const JSON_DOCUMENT: &[FlagEntry] = &[DOCUMENT];

const AUTO_APPROVE: &[FlagEntry] = &[FlagEntry::switch("auto-approve", "Ask nobody for approval.")];

const VERDICT_EXIT_CODE: FlagEntry = FlagEntry::switch(
    "verdict-exitcode",
    "Where a plan is refused, exit with 3: it is stale, 4: the world drifted, 5: it is not authentic, expired or used, 6: another run is busy, 7: an object is in doubt, 9: a policy objects; with 1 after any other error.",
);

/// Of commands that run the stages of a saved plan.
const VERDICTS: &[FlagEntry] = &[
    FlagEntry::value(
        "accept-drift",
        "ADDRESS[.attribute]",
        "Accept what the stages find to have changed there. Recorded with your name. May be given often.",
        Candidates::Addresses,
    ),
    VERDICT_EXIT_CODE,
];

const DEADLINE: &[FlagEntry] = &[FlagEntry::value(
    "deadline",
    "DURATION",
    "Answer within this time (90s, 14m). Exits with 8 where a PLAN is unfinished: run the same command again.",
    Candidates::None,
)];

const TESTS: FlagEntry = FlagEntry::value(
    "test-directory",
    "DIR",
    "Where test files are, beside those in the directory itself (tests).",
    Candidates::Directories,
);

pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "init",
        does: "Prepare the working directory for other commands",
        usage: "[options]",
        about: "Installs the required modules and providers, and locks the providers' versions and checksums in .terraform.lock.hcl.",
        flags: &[
            LOCKS,
            &[
                STREAM,
                NO_INPUT,
                NEW_ESTATE,
                NO_COLOR,
                FlagEntry::value(
                    "lockfile",
                    "readonly",
                    "Fail where the lock file would have to name other providers, and never write it.",
                    Candidates::Words(&["readonly"]),
                ),
                FlagEntry::value(
                    "plugin-dir",
                    "DIR",
                    "Install providers from this directory alone. May be given often.",
                    Candidates::Directories,
                ),
                FlagEntry::switch(
                    "upgrade",
                    "Choose the newest versions that the constraints allow, whatever is locked.",
                ),
                FlagEntry::turned_off(
                    "backend",
                    "Open no store of records: for validate, where there is no way to it.",
                ),
                FlagEntry::hidden(Flag::Switch("get")),
                FlagEntry::hidden(Flag::Ignored("reconfigure")),
                FlagEntry::hidden(Flag::Ignored("force-copy")),
                FlagEntry::hidden(Flag::Ignored("ignore-remote-version")),
                COMPACT_TOO,
                FlagEntry::hidden(Flag::IgnoredValue("backend-config")),
                FlagEntry::hidden(Flag::Unsupported("from-module")),
                FlagEntry::hidden(Flag::Unsupported("migrate-state")),
                TESTS,
                FlagEntry::hidden(Flag::Unsupported("cloud")),
            ],
        ],
        arguments: &[],
    },
    Command {
        name: "validate",
        does: "Check whether the configuration is valid, or a saved plan still holds",
        usage: "[options]",
        about: "Checks the configuration and its test files. With -plan, runs every stage of a saved plan against the records and the world, and changes nothing.",
        flags: &[
            VERDICTS,
            &[
                DOCUMENT,
                NO_COLOR,
                FlagEntry::value("plan", "FILE", "Check this saved plan.", Candidates::Files),
                TESTS,
                FlagEntry::switch("no-tests", "Leave test files out."),
                COMPACT_TOO,
                FlagEntry::hidden(Flag::Unsupported("query")),
            ],
        ],
        arguments: &[],
    },
    Command {
        name: "test",
        does: "Run the tests of a module",
        usage: "[options]",
        about: "Runs the tests of the module: the run blocks of all files *.tftest.hcl and *.tftest.json here and in tests/, in their order. What they make is real unless it is mocked, is recorded in memory alone, and is deleted at the end of each file.",
        flags: &[
            VARIABLES,
            &[
                STREAM,
                NO_COLOR,
                TESTS,
                FlagEntry::value(
                    "filter",
                    "FILE",
                    "Run this test file alone. May be given often.",
                    Candidates::Files,
                ),
                FlagEntry::value(
                    "junit-xml",
                    "FILE",
                    "Write the outcome in JUnit's XML too.",
                    Candidates::Files,
                ),
                FlagEntry::switch("verbose", "Show what each run planned or made."),
                COMPACT_TOO,
                FlagEntry::hidden(Flag::Unsupported("cloud-run")),
            ],
        ],
        arguments: &[],
    },
    Command {
        name: "plan",
        does: "Show changes required by the current configuration",
        usage: "[options]",
        about: "",
        flags: &[
            WORK,
            MODES,
            VARIABLES,
            JSON_STREAM,
            LOCKS,
            &[
                FlagEntry::switch(
                    "detailed-exitcode",
                    "Exit with 0 where nothing changes, 2 where something does, 1 after errors.",
                ),
                FlagEntry::value(
                    "generate-config-out",
                    "FILE",
                    "Write configuration for imported objects that have none into a new .tf file.",
                    Candidates::Files,
                ),
                FlagEntry::value("out", "FILE", "Save the plan.", Candidates::Files),
                FlagEntry::switch(
                    "verdict-exitcode",
                    "Where the estate's policy objects, exit with 9.",
                ),
            ],
        ],
        arguments: &[],
    },
    Command {
        name: "apply",
        does: "Create or update infrastructure",
        usage: "[options] [PLAN]",
        about: "Plans, asks, and changes; or changes what a saved plan says, and nothing else.",
        flags: &[WORK, MODES, VARIABLES, JSON_STREAM, LOCKS, AUTO_APPROVE, DEADLINE, VERDICTS],
        arguments: &[Candidates::Files],
    },
    Command {
        name: "destroy",
        does: "Destroy previously-created infrastructure",
        usage: "[options]",
        about: "",
        flags: &[
            WORK,
            &[REFRESH, VERDICT_EXIT_CODE],
            OTHER_MODES,
            VARIABLES,
            JSON_STREAM,
            LOCKS,
            AUTO_APPROVE,
        ],
        arguments: &[],
    },
    Command {
        name: "explain",
        does: "Say why a resource instance is changed, replaced or read",
        usage: "[options] ADDRESS [PLAN]",
        about: "Says why a plan does what it does with a resource instance, or why it does nothing: which attributes differ, what their values come from and where that is written, what changes with it, and what is checked before it is applied. Explains a saved plan, or one that is made for it and not kept. Changes nothing.",
        flags: &[WORK, MODES, VARIABLES, JSON_DOCUMENT, LOCKS],
        arguments: &[Candidates::Addresses, Candidates::Files],
    },
    Command {
        name: "refresh",
        does: "Bring the records up to the world",
        usage: "[options]",
        about: "Brings the records up to the world, as \"plumb apply -refresh-only -auto-approve\" does, and shows the outputs.",
        flags: &[WORK, VARIABLES, JSON_STREAM, LOCKS],
        arguments: &[],
    },
    Command {
        name: "show",
        does: "Show the records or a saved plan",
        usage: "[options] [FILE]",
        about: "Shows a saved plan, or the records. At a terminal, what is longer than the screen goes through a pager: the program in the variable PAGER, or less.",
        flags: &[&[
            DOCUMENT,
            NO_COLOR,
            COMPACT_TOO,
            FlagEntry::switch(
                "html",
                "Write a saved plan as a page for a browser: one file that loads nothing.",
            ),
            FlagEntry::switch("no-pager", "Write straight to the terminal."),
            FlagEntry::value(
                "out",
                "FILE",
                "With -html or -summary: write to this file.",
                Candidates::Files,
            ),
            FlagEntry::switch(
                "summary",
                "Show what a saved plan does in a few lines, and what may be lost.",
            ),
            FlagEntry::switch(
                "reads",
                "Show what a saved plan changes and what it looked at, by path. With -json, under the key \"plumbline_sets\" of the plan.",
            ),
        ]],
        arguments: &[Candidates::Files],
    },
    Command {
        name: "output",
        does: "Show output values from the records",
        usage: "[options] [NAME]",
        about: "",
        flags: &[&[
            DOCUMENT,
            NO_COLOR,
            FlagEntry::switch("raw", "Write the value of a string, number or bool as it is."),
            COMPACT_TOO,
            STATE_FILE,
        ]],
        arguments: &[Candidates::Outputs],
    },
    Command {
        name: "console",
        does: "Say what expressions come to",
        usage: "[options]",
        about: "Says what expressions come to: line by line at a terminal; from a pipe, all lines are evaluated and the last is answered. Changes nothing.",
        flags: &[
            VARIABLES,
            &[
                NO_COLOR,
                COMPACT,
                FlagEntry::switch("plan", "Plan first, and show resources as they would be."),
                // It asks nobody as it is.
                FlagEntry::hidden(Flag::Switch("input")),
                STATE_FILE,
            ],
        ],
        arguments: &[],
    },
];
