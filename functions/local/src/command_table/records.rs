//! Records, workspaces, and states that Terraform keeps.

use super::entry::{Candidates, Command, FlagEntry};
use super::operations::{DOCUMENT, LOCKS, NO_COLOR, NO_INPUT, QUIET, STATE_FILE, VARIABLES};
use crate::flags::Flag;

/// Of commands that edit records.
const EDITS: &[FlagEntry] = &[
    FlagEntry::value(
        "backup",
        "FILE",
        "Keep the records as a state file of Terraform first.",
        Candidates::Files,
    ),
    NO_COLOR,
    FlagEntry::hidden(Flag::Ignored("ignore-remote-version")),
    STATE_FILE,
    FlagEntry::hidden(Flag::Unsupported("state-out")),
    FlagEntry::hidden(Flag::Unsupported("backup-out")),
];

const ALLOW_MISSING: &[FlagEntry] =
    &[FlagEntry::switch("allow-missing", "Succeed where there is no such instance.")];

const PLAIN: &[FlagEntry] = &[NO_COLOR];

pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "adopt",
        does: "Record a result or an object that the records leave open",
        usage: "[options] ADDRESS [ID]",
        about: "Records what the records leave open about a resource instance: a result that was kept beside its record, or the object with this ID where a create is in doubt.",
        flags: &[
            VARIABLES,
            &[
                FlagEntry::value(
                    "from",
                    "FILE",
                    "Record the result in this file, which a run left when the store could not be written.",
                    Candidates::Files,
                ),
                NO_INPUT,
                NO_COLOR,
                FlagEntry::value(
                    "run",
                    "RUN",
                    "Which run's result, where several are kept.",
                    Candidates::None,
                ),
            ],
        ],
        arguments: &[Candidates::Addresses, Candidates::None],
    },
    Command {
        name: "dismiss",
        does: "Drop a result or a doubt that the records leave open",
        usage: "[options] ADDRESS",
        about: "Drops what the records leave open about a resource instance: the doubt about a create, and results that were kept beside its record. Objects that exist are left to themselves. Refused while the create may still make its object.",
        flags: &[&[
            NO_COLOR,
            FlagEntry::value("run", "RUN", "Drop only the result of this run.", Candidates::None),
        ]],
        arguments: &[Candidates::Addresses],
    },
    Command {
        name: "contract check",
        does: "Check what the store of records has to guarantee",
        usage: "[options]",
        about: "Looks at every setting of the store that plumb.toml names, and says what each protects and how to mend what is missing. Exits with 0 where everything passes, and else with 1, whatever allow_insecure names.",
        flags: &[&[DOCUMENT, NO_COLOR]],
        arguments: &[],
    },
    Command {
        name: "force-release",
        does: "End a run that has died before its lease is over",
        usage: "[options] PLAN",
        about: "Ends a run of which you know that it has died, before its lease is over: what it has claimed is free at once. PLAN is its plan or its run, as messages name them; the beginning will do. Should it live all the same, it begins nothing more, and what it has done is kept beside the records.",
        flags: &[&[FlagEntry::switch("force", "Ask nobody for confirmation."), NO_COLOR]],
        arguments: &[Candidates::None],
    },
    Command {
        name: "import",
        does: "Record an object that exists",
        usage: "[options] ADDRESS ID",
        about: "Has a provider find an object that exists, and records it as this resource instance, which the configuration has to have.",
        flags: &[
            EDITS,
            LOCKS,
            VARIABLES,
            &[
                NO_INPUT,
                FlagEntry::hidden(Flag::Value("parallelism")),
                FlagEntry::hidden(Flag::Unsupported("config")),
            ],
        ],
        arguments: &[Candidates::None],
    },
    Command {
        name: "migrate",
        does: "Take over the state that Terraform keeps",
        usage: "[options]",
        about: "Records the state that Terraform keeps where the configuration says (a file, or the backends s3 and http), for the workspace that is selected, and verifies it. It is only read. May be run again after any interruption. \"plumb state pull\" is the way back.",
        flags: &[&[
            NO_COLOR,
            FlagEntry::value(
                "state",
                "FILE",
                "A state file, in place of what the configuration names.",
                Candidates::Files,
            ),
        ]],
        arguments: &[],
    },
    Command {
        name: "migrate-store",
        does: "Copy an estate's records to the store that plumb.toml names",
        usage: "-from=PLACE [options]",
        about: "Copies an estate's records to the store that plumb.toml names, verifies them, and seals the old place. May be run again after any interruption.",
        flags: &[&[
            FlagEntry::switch(
                "abandon",
                "Give up a copy that was never finished, and open the old place again.",
            ),
            FlagEntry::value(
                "from",
                "PLACE",
                "A store's directory (.plumb), or the plumb.toml that named the store (OLD.toml).",
                Candidates::Files,
            ),
            FlagEntry::value(
                "from-estate",
                "NAME",
                "Its name there, if it is another one.",
                Candidates::None,
            ),
            NO_COLOR,
        ]],
        arguments: &[],
    },
    Command {
        name: "state list",
        does: "List the recorded resource instances",
        usage: "[options] [ADDRESS]...",
        about: "Lists the recorded resource instances, or those of modules and resources.",
        flags: &[&[
            FlagEntry::value(
                "id",
                "ID",
                "Only those whose object has this identifier.",
                Candidates::None,
            ),
            QUIET,
            STATE_FILE,
        ]],
        arguments: &[Candidates::Addresses],
    },
    Command {
        name: "state mv",
        does: "Move records to other addresses",
        usage: "[options] SOURCE DESTINATION",
        about: "Records an instance, a resource with all its instances, or a module with all that is in it at another address.",
        flags: &[
            EDITS,
            LOCKS,
            &[FlagEntry::switch("dry-run", "Say what would be moved, and change nothing.")],
        ],
        arguments: &[Candidates::Addresses],
    },
    Command {
        name: "state pull",
        does: "Print the records as a state file of Terraform",
        usage: "",
        about: "",
        flags: &[&[QUIET]],
        arguments: &[],
    },
    Command {
        name: "state push",
        does: "Put a state file of Terraform in place of the records",
        usage: "[options] FILE",
        about: "Makes the records say what a state file of Terraform says, and nothing else; - stands for standard input. Refused where the file has another lineage, or is older than the records. May be run again after any interruption.",
        flags: &[
            LOCKS,
            &[
                FlagEntry::switch("force", "Whatever lineage and serial say."),
                NO_COLOR,
                FlagEntry::hidden(Flag::Ignored("ignore-remote-version")),
            ],
        ],
        arguments: &[Candidates::Files],
    },
    Command {
        name: "state replace-provider",
        does: "Record objects as another provider's",
        usage: "[options] FROM TO",
        about: "Records all objects of the provider with the source FROM as those of the provider with the source TO.",
        flags: &[EDITS, LOCKS, &[FlagEntry::switch("auto-approve", "Ask nobody for approval.")]],
        arguments: &[Candidates::None],
    },
    Command {
        name: "state rm",
        does: "Drop records, and leave their objects alone",
        usage: "[options] ADDRESS...",
        about: "Drops the records of instances, resources or modules. Their objects are left to themselves.",
        flags: &[
            EDITS,
            LOCKS,
            &[FlagEntry::switch("dry-run", "Say what would be dropped, and change nothing.")],
        ],
        arguments: &[Candidates::Addresses],
    },
    Command {
        name: "state show",
        does: "Show one recorded resource instance",
        usage: "[options] ADDRESS",
        about: "",
        flags: &[&[NO_COLOR, STATE_FILE]],
        arguments: &[Candidates::Addresses],
    },
    Command {
        name: "taint",
        does: "Mark a resource instance as one to be replaced",
        usage: "[options] ADDRESS",
        about: "Marks a resource instance as one that the next apply replaces.",
        flags: &[EDITS, LOCKS, ALLOW_MISSING],
        arguments: &[Candidates::Addresses],
    },
    Command {
        name: "untaint",
        does: "Take that mark back",
        usage: "[options] ADDRESS",
        about: "Takes back that a resource instance is to be replaced.",
        flags: &[EDITS, LOCKS, ALLOW_MISSING],
        arguments: &[Candidates::Addresses],
    },
    Command {
        name: "workspace delete",
        does: "Delete a workspace",
        usage: "[options] NAME",
        about: "Deletes a workspace with its records.",
        flags: &[
            PLAIN,
            LOCKS,
            &[FlagEntry::switch(
                "force",
                "Also where it manages resources, which are left to themselves then.",
            )],
        ],
        arguments: &[Candidates::Workspaces],
    },
    Command {
        name: "workspace list",
        does: "List workspaces",
        usage: "",
        about: "",
        flags: &[PLAIN, LOCKS],
        arguments: &[],
    },
    Command {
        name: "workspace new",
        does: "Create a workspace and switch to it",
        usage: "[options] NAME",
        about: "Creates a workspace, an estate of its own for the same configuration, and switches to it.",
        flags: &[
            PLAIN,
            LOCKS,
            &[FlagEntry::value(
                "state",
                "FILE",
                "Record what this state file of Terraform says.",
                Candidates::Files,
            )],
        ],
        arguments: &[Candidates::None],
    },
    Command {
        name: "workspace select",
        does: "Switch to another workspace",
        usage: "[options] NAME",
        about: "",
        flags: &[PLAIN, LOCKS, &[FlagEntry::switch("or-create", "Create it where there is none.")]],
        arguments: &[Candidates::Workspaces],
    },
    Command {
        name: "workspace show",
        does: "Show the name of the workspace",
        usage: "",
        about: "",
        flags: &[PLAIN, LOCKS],
        arguments: &[],
    },
];
