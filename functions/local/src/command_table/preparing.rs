//! Configuration, modules and providers.

use super::entry::{Candidates, Command, FlagEntry};
use super::operations::{DOCUMENT, NO_COLOR, QUIET};
use crate::flags::Flag;

const PLATFORM: FlagEntry = FlagEntry::value(
    "platform",
    "OS_ARCH",
    "For this platform. May be given often; else for the one that this program runs on.",
    Candidates::Words(&[
        "darwin_amd64",
        "darwin_arm64",
        "linux_amd64",
        "linux_arm64",
        "windows_amd64",
        "windows_arm64",
    ]),
);

pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "login",
        does: "Keep an API token for a host",
        usage: "[HOST]",
        about: "Asks for an API token for a host (app.terraform.io), and keeps it in ~/.terraform.d/credentials.tfrc.json, or has the credentials helper of the CLI configuration keep it.",
        flags: &[&[NO_COLOR]],
        arguments: &[Candidates::None],
    },
    Command {
        name: "logout",
        does: "Forget the API token for a host",
        usage: "[HOST]",
        about: "Forgets the API token for a host (app.terraform.io) that \"plumb login\" or \"terraform login\" has kept. The host accepts it until it is revoked there.",
        flags: &[&[NO_COLOR]],
        arguments: &[Candidates::None],
    },
    Command {
        name: "fmt",
        does: "Lay out configuration files in the canonical style",
        usage: "[options] [FILE | DIRECTORY | -]...",
        about: "Lays out configuration (.tf, .tfvars, .tftest.hcl, .tfmock.hcl) in the canonical style: the files of the working directory, those that are named, or with - standard input. JSON is left as it is.",
        flags: &[&[
            FlagEntry::switch(
                "check",
                "Change nothing. Exits with 0 where all is laid out already, and with 3 where not.",
            ),
            FlagEntry::switch("diff", "Show what changes."),
            FlagEntry::turned_off("list", "Do not list the files that change."),
            NO_COLOR,
            FlagEntry::switch("recursive", "Also lay out what is in directories below."),
            FlagEntry::turned_off("write", "Change no file."),
        ]],
        arguments: &[Candidates::Files],
    },
    Command {
        name: "get",
        does: "Install the modules that the configuration calls",
        usage: "[options]",
        about: "",
        flags: &[&[
            NO_COLOR,
            FlagEntry::switch("update", "Look for newer versions than those that are installed."),
            FlagEntry::hidden(Flag::Unsupported("test-directory")),
        ]],
        arguments: &[],
    },
    Command {
        name: "graph",
        does: "Show what depends on what, in the DOT language",
        usage: "",
        about: "Writes the resources of the configuration and what they depend on in the DOT language.",
        flags: &[&[
            QUIET,
            FlagEntry::hidden(Flag::Unsupported("plan")),
            FlagEntry::hidden(Flag::Unsupported("type")),
            FlagEntry::hidden(Flag::Unsupported("draw-cycles")),
            FlagEntry::hidden(Flag::Unsupported("module-depth")),
        ]],
        arguments: &[],
    },
    Command {
        name: "metadata functions",
        does: "Show the signatures of all functions, with -json",
        usage: "-json",
        about: "",
        flags: &[&[DOCUMENT, QUIET]],
        arguments: &[],
    },
    Command {
        name: "providers",
        does: "Show which modules require which providers",
        usage: "[options]",
        about: "",
        flags: &[&[NO_COLOR, FlagEntry::hidden(Flag::Unsupported("test-directory"))]],
        arguments: &[],
    },
    Command {
        name: "providers lock",
        does: "Record checksums of providers, for other platforms too",
        usage: "[options] [PROVIDER]...",
        about: "Records the checksums of required providers in .terraform.lock.hcl, as their origin registries have signed them, whatever the CLI configuration says of installing. Nothing is installed.",
        flags: &[&[
            FlagEntry::switch("enable-plugin-cache", "Use packages of the plugin cache."),
            FlagEntry::value(
                "fs-mirror",
                "DIR",
                "Ask this directory instead of the registries.",
                Candidates::Directories,
            ),
            FlagEntry::value(
                "net-mirror",
                "URL",
                "Ask this network mirror instead of the registries.",
                Candidates::None,
            ),
            NO_COLOR,
            PLATFORM,
            FlagEntry::hidden(Flag::Unsupported("test-directory")),
        ]],
        arguments: &[Candidates::None],
    },
    Command {
        name: "providers mirror",
        does: "Copy the required providers into a directory",
        usage: "[options] DIRECTORY",
        about: "Copies the packages of required providers from their origin registries into a directory, which can then be used as a filesystem mirror or, published by a web server, as a network mirror.",
        flags: &[&[
            FlagEntry::turned_off("lock-file", "Choose versions by the constraints alone."),
            NO_COLOR,
            PLATFORM,
        ]],
        arguments: &[Candidates::Directories],
    },
    Command {
        name: "providers schema",
        does: "Show the schemas of the required providers, with -json",
        usage: "-json",
        about: "",
        flags: &[&[DOCUMENT, QUIET]],
        arguments: &[],
    },
];
