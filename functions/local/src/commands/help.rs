//! `plumb -help`

use crate::reporter::to_stderr;
use std::io::Write;

const COMMANDS: &[(&str, &str)] = &[
    ("init", "Prepare the working directory for other commands"),
    ("validate", "Check whether the configuration is valid, or a saved plan still holds"),
    ("plan", "Show changes required by the current configuration"),
    ("apply", "Create or update infrastructure"),
    ("destroy", "Destroy previously-created infrastructure"),
    ("adopt", "Record a result or an object that the records leave open"),
    ("dismiss", "Drop a result or a doubt that the records leave open"),
    ("console", "Say what expressions come to"),
    ("approve", "Agree to the plan of a run that a deployed bundle has made"),
    ("cancel", "Stop a run of a deployed bundle"),
    ("contract check", "Check what the store of records has to guarantee"),
    ("force-release", "End a run that has died before its lease is over"),
    ("fmt", "Lay out configuration files in the canonical style"),
    ("get", "Note which modules are installed"),
    ("graph", "Show what depends on what, in the DOT language"),
    ("import", "Record an object that exists"),
    ("metadata functions", "Show the signatures of all functions, with -json"),
    ("migrate", "Take over the state that Terraform keeps"),
    ("migrate-store", "Copy an estate's records to the store that plumb.toml names"),
    ("output", "Show output values from the records"),
    ("providers", "Show which modules require which providers"),
    ("providers lock", "Record checksums of providers, for other platforms too"),
    ("providers mirror", "Copy the required providers into a directory"),
    ("providers schema", "Show the schemas of the required providers, with -json"),
    ("refresh", "Bring the records up to the world"),
    ("reject", "Say no to the plan of a run that a deployed bundle has made"),
    ("runs list", "List who changed this estate, and when"),
    ("runs show", "Show one run: its attempts and what came of each change"),
    ("show", "Show the records or a saved plan"),
    ("state list", "List the recorded resource instances"),
    ("state mv", "Move records to other addresses"),
    ("state pull", "Print the records as a state file of Terraform"),
    ("state push", "Put a state file of Terraform in place of the records"),
    ("state replace-provider", "Record objects as another provider's"),
    ("state rm", "Drop records, and leave their objects alone"),
    ("state show", "Show one recorded resource instance"),
    ("submit", "Have a deployed bundle plan a commit"),
    ("taint", "Mark a resource instance as one to be replaced"),
    ("test", "Run the tests of the module"),
    ("untaint", "Take that mark back"),
    ("version", "Show the version"),
    ("workspace delete", "Delete a workspace"),
    ("workspace list", "List workspaces"),
    ("workspace new", "Create a workspace and switch to it"),
    ("workspace select", "Switch to another workspace"),
    ("workspace show", "Show the name of the workspace"),
];

const OPERATION: &str = "\
  -compact-warnings      Show warnings as a short list.
  -destroy               Plan to destroy everything.
  -input=false           Ask nobody for values.
  -json                  Write one JSON message a line.
  -new-estate            Nothing exists yet, whatever state there may be elsewhere.
  -no-color              Write no colours.
  -parallelism=n         Work on so many instances at once (10).
  -replace=ADDRESS       Replace this instance. May be given often.
  -refresh=false         Believe the records, and do not read the world first.
  -refresh-only          Only bring the records up to the world.
  -target=ADDRESS        Plan this alone, with what it depends on. May be given often.
  -var 'NAME=VALUE'      Set a root variable. May be given often.
  -var-file=FILE         Set root variables from a file. May be given often.
";

/// Of commands that run the stages of a saved plan.
const VERDICTS: &str = "\
  -accept-drift=ADDRESS[.attribute]
                         Accept what the stages find to have changed there. Recorded with your name.
                         May be given often.
  -verdict-exitcode      Where a saved plan is refused, exit with 3: it is stale, 4: the world drifted,
                         5: it is not authentic, expired or used, 6: another run is busy, 7: an object is
                         in doubt; with 1 after any other error.
";

/// Of commands that edit records.
const EDITS: &str = "\
  -backup=FILE           Keep the records as a state file of Terraform first.
  -no-color              Write no colours.
";

/// Of commands that ask a deployed bundle.
const REMOTE: &str = "\
  -remote=URL            The deployment: the output Api of its stack. For submit, approve, reject and cancel the
                         variable PLUMB_REMOTE does as well. Requests are signed with AWS credentials, or carry
                         the token in PLUMB_TOKEN.
";

const TEST: &str = "\
Usage: plumb [-chdir=DIR] test [options]

Runs the tests of the module: the run blocks of all files *.tftest.hcl and *.tftest.json here and in tests/, in their
order. What they make is real unless it is mocked, is recorded in memory alone, and is deleted at the end of each file.

Options:

  -filter=FILE           Run this file alone, named as in the output. May be given often.
  -json                  Write one JSON message a line.
  -junit-xml=FILE        Write a report for programs that show and count tests, too.
  -no-color              Write no colours.
  -test-directory=DIR    Where test files are, beside those here (tests).
  -var 'NAME=VALUE'      Set a variable of the module. May be given often.
  -var-file=FILE         Set variables from a file. May be given often.
  -verbose               Show what each run planned, or what there is since.
";

/// Prints what there is to know about a command, or about all.
pub(super) fn run(command: &[&str]) -> u8 {
    let text = match command {
        [] | ["help"] => overview(),
        ["plan"] => format!(
            "Usage: plumb [-chdir=DIR] plan [options]\n\nOptions:\n\n{OPERATION}  -detailed-exitcode     Exit with 0 where nothing changes, 2 where something does, 1 after errors.\n  -generate-config-out=FILE\n                         Write configuration for imported objects that have none into a new .tf file.\n  -out=FILE              Save the plan.\n"
        ),
        ["apply"] => format!(
            "Usage: plumb [-chdir=DIR] apply [options] [PLAN]\n\nOptions:\n\n{OPERATION}  -auto-approve          Ask nobody for approval.\n  -deadline=DURATION     Answer within this time (90s, 14m). Exits with 8 where a PLAN is unfinished: run the\n                         same command again.\n{VERDICTS}"
        ),
        ["destroy"] => format!(
            "Usage: plumb [-chdir=DIR] destroy [options]\n\nOptions:\n\n{OPERATION}  -auto-approve          Ask nobody for approval.\n"
        ),
        ["test"] => TEST.to_owned(),
        ["console"] => "Usage: plumb [-chdir=DIR] console [options]\n\nSays what expressions come to: line by line at a terminal; from a pipe, all lines are evaluated and the last is\nanswered. Changes nothing.\n\nOptions:\n\n  -plan                  Plan first, and show resources as they would be.\n  -var 'NAME=VALUE'      Set a root variable. May be given often.\n  -var-file=FILE         Set root variables from a file. May be given often.\n".to_owned(),
        ["graph"] => "Usage: plumb [-chdir=DIR] graph\n\nWrites the resources of the configuration and what they depend on in the DOT language.\n".to_owned(),
        ["fmt"] => "Usage: plumb [-chdir=DIR] fmt [options] [FILE | DIRECTORY | -]...\n\nLays out configuration (.tf, .tfvars, .tftest.hcl, .tfmock.hcl) in the canonical style: the files of the working\ndirectory, those that are named, or with - standard input. JSON is left as it is.\n\nOptions:\n\n  -check                 Change nothing. Exits with 0 where all is laid out already, and with 3 where not.\n  -diff                  Show what changes.\n  -list=false            Do not list the files that change.\n  -no-color              Write no colours.\n  -recursive             Also lay out what is in directories below.\n  -write=false           Change no file.\n".to_owned(),
        ["validate"] => format!(
            "Usage: plumb [-chdir=DIR] validate [-json] [-no-tests] [-test-directory=DIR] [-plan=FILE]\n\nChecks the configuration, and its test files unless -no-tests is given. With -plan, runs every stage of a saved plan against the records and the\nworld, and changes nothing.\n\nOptions with -plan:\n\n{VERDICTS}"
        ),
        ["show"] => "Usage: plumb [-chdir=DIR] show [-json] [-reads] [FILE]\n\nShows a saved plan, or the records.\n\nOptions:\n\n  -reads                 Show what a saved plan changes and what it looked at, by path.\n                         With -json, under the key \"plumbline_sets\" of the plan.\n".to_owned(),
        ["output"] => "Usage: plumb [-chdir=DIR] output [-json | -raw] [NAME]\n".to_owned(),
        ["contract", "check"] => "Usage: plumb [-chdir=DIR] contract check [-json]\n\nLooks at every setting of the store that plumb.toml names, and says what each protects and how to mend what is\nmissing. Exits with 0 where everything passes, and else with 1, whatever allow_insecure names.\n".to_owned(),
        ["migrate"] => "Usage: plumb [global options] migrate [-state=FILE]\n\nRecords the state that Terraform keeps where the configuration says (a file, or the backends s3 and http), for the\nworkspace that is selected, and verifies it. It is only read. May be run again after any interruption. \"plumb state pull\"\nis the way back.\n\nOptions:\n\n  -state=FILE            A state file, in place of what the configuration names.\n".to_owned(),
        ["migrate-store"] => "Usage: plumb [global options] migrate-store -from=PLACE [options]\n\nCopies an estate's records to the store that plumb.toml names, verifies them, and seals the old place. May be run\nagain after any interruption.\n\nOptions:\n\n  -from=PLACE            A store's directory (.plumb), or the plumb.toml that named the store (OLD.toml).\n  -from-estate=NAME      Its name there, if it is another one.\n  -abandon               Give up a copy that was never finished, and open the old place again.\n".to_owned(),
        ["state", "mv"] => format!("Usage: plumb [global options] state mv [options] SOURCE DESTINATION\n\nRecords an instance, a resource with all its instances, or a module with all that is in it at another address.\n\nOptions:\n\n  -dry-run               Say what would be moved, and change nothing.\n{EDITS}"),
        ["state", "rm"] => format!("Usage: plumb [global options] state rm [options] ADDRESS...\n\nDrops the records of instances, resources or modules. Their objects are left to themselves.\n\nOptions:\n\n  -dry-run               Say what would be dropped, and change nothing.\n{EDITS}"),
        ["state", "replace-provider"] => format!("Usage: plumb [global options] state replace-provider [options] FROM TO\n\nRecords all objects of the provider with the source FROM as those of the provider with the source TO.\n\nOptions:\n\n  -auto-approve          Ask nobody for approval.\n{EDITS}"),
        ["state", "push"] => "Usage: plumb [global options] state push [-force] FILE\n\nMakes the records say what a state file of Terraform says, and nothing else; - stands for standard input. Refused where the\nfile has another lineage, or is older than the records. May be run again after any interruption.\n\nOptions:\n\n  -force                 Whatever lineage and serial say.\n".to_owned(),
        ["state", "list"] => "Usage: plumb [global options] state list [-id=ID] [ADDRESS...]\n\nLists the recorded resource instances, or those of modules and resources.\n\nOptions:\n\n  -id=ID                 Only those whose object has this identifier.\n".to_owned(),
        ["taint"] => format!("Usage: plumb [global options] taint [options] ADDRESS\n\nMarks a resource instance as one that the next apply replaces.\n\nOptions:\n\n  -allow-missing         Succeed where there is no such instance.\n{EDITS}"),
        ["untaint"] => format!("Usage: plumb [global options] untaint [options] ADDRESS\n\nTakes back that a resource instance is to be replaced.\n\nOptions:\n\n  -allow-missing         Succeed where there is no such instance.\n{EDITS}"),
        ["import"] => format!("Usage: plumb [global options] import [options] ADDRESS ID\n\nHas a provider find an object that exists, and records it as this resource instance, which the configuration has to have.\n\nOptions:\n\n  -input=false           Ask nobody for values.\n  -var 'NAME=VALUE'      Set a root variable. May be given often.\n  -var-file=FILE         Set root variables from a file. May be given often.\n{EDITS}"),
        ["refresh"] => "Usage: plumb [global options] refresh [options]\n\nBrings the records up to the world, as \"plumb apply -refresh-only -auto-approve\" does, and shows the outputs.\n\nOptions:\n\n  -compact-warnings      Show warnings as a short list.\n  -input=false           Ask nobody for values.\n  -json                  Write one JSON message a line.\n  -no-color              Write no colours.\n  -parallelism=n         Work on so many instances at once (10).\n  -target=ADDRESS        Refresh this alone, with what it depends on. May be given often.\n  -var 'NAME=VALUE'      Set a root variable. May be given often.\n  -var-file=FILE         Set root variables from a file. May be given often.\n".to_owned(),
        ["force-release"] => "Usage: plumb [global options] force-release [-force] PLAN\n\nEnds a run of which you know that it has died, before its lease is over: what it has claimed is free at once. PLAN is its plan\nor its run, as messages name them; the beginning will do. Should it live all the same, it begins nothing more, and what it\nhas done is kept beside the records.\n\nOptions:\n\n  -force                 Ask nobody for confirmation.\n".to_owned(),
        ["workspace", "new"] => "Usage: plumb [global options] workspace new [-state=FILE] NAME\n\nCreates a workspace, an estate of its own for the same configuration, and switches to it.\n\nOptions:\n\n  -state=FILE            Record what this state file of Terraform says.\n".to_owned(),
        ["workspace", "select"] => "Usage: plumb [global options] workspace select [-or-create] NAME\n\nSwitches to another workspace.\n\nOptions:\n\n  -or-create             Create it where there is none.\n".to_owned(),
        ["workspace", "delete"] => "Usage: plumb [global options] workspace delete [-force] NAME\n\nDeletes a workspace with its records.\n\nOptions:\n\n  -force                 Also where it manages resources, which are left to themselves then.\n".to_owned(),
        ["adopt"] => "Usage: plumb [global options] adopt [options] ADDRESS [ID]\n\nRecords what the records leave open about a resource instance: a result that was kept beside its record, or the object\nwith this ID where a create is in doubt.\n\nOptions:\n\n  -from=FILE             Record the result in this file, which a run left when the store could not be written.\n  -run=RUN               Which run's result, where several are kept.\n  -input=false           Ask nobody for values.\n  -var 'NAME=VALUE'      Set a root variable. May be given often.\n  -var-file=FILE         Set root variables from a file. May be given often.\n".to_owned(),
        ["dismiss"] => "Usage: plumb [global options] dismiss [-run=RUN] ADDRESS\n\nDrops what the records leave open about a resource instance: the doubt about a create, and results that were kept\nbeside its record. Objects that exist are left to themselves.\n\nOptions:\n\n  -run=RUN               Drop only the result of this run.\n".to_owned(),
        ["runs", "list"] => format!("Usage: plumb [global options] runs list [-json] [-remote=URL]\n\nOptions:\n\n{REMOTE}"),
        ["runs", "show"] => format!(
            "Usage: plumb [global options] runs show [-json] [-remote=URL] RUN\n\nShows a run, or the run of a plan; the beginning of its name will do.\n\nOptions:\n\n{REMOTE}"
        ),
        ["submit"] => format!(
            "Usage: plumb [global options] submit [options] COMMIT\n\nHas a deployed bundle plan the estate at a commit that was pushed: its full hash.\n\nOptions:\n\n  -apply                 Go on to an approval, and apply.\n{REMOTE}"
        ),
        [decision @ ("approve" | "reject")] => format!(
            "Usage: plumb [global options] {decision} [options] RUN\n\nShows the plan of a run that waits, asks, and decides about what was shown.\n\nOptions:\n\n  -digest=DIGEST         Ask nobody: decide about the plan with this digest, and no other.\n{REMOTE}"
        ),
        ["cancel"] => format!(
            "Usage: plumb [global options] cancel [options] RUN\n\nStops a run of a deployed bundle, unless it is changing things already.\n\nOptions:\n\n{REMOTE}"
        ),
        ["init"] => "Usage: plumb [-chdir=DIR] init [options]\n\nInstalls the required modules and providers, and locks the providers' versions and checksums in .terraform.lock.hcl.\n\nOptions:\n\n  -json                  Write one JSON message a line.\n  -input=false           Ask nobody for values.\n  -lockfile=readonly     Fail where the lock file would have to name other providers, and never write it.\n  -new-estate            Nothing exists yet, whatever state there may be elsewhere.\n  -no-color              Write no colours.\n  -plugin-dir=DIR        Install providers from this directory alone. May be given often.\n  -test-directory=DIR    Where test files are, beside those here (tests).\n  -upgrade               Choose the newest versions that the constraints allow, whatever is locked.\n".to_owned(),
        ["providers", "lock"] => "Usage: plumb [-chdir=DIR] providers lock [options] [PROVIDER]...\n\nRecords the checksums of required providers in .terraform.lock.hcl, as their origin registries have signed them, whatever\nthe CLI configuration says of installing. Nothing is installed.\n\nOptions:\n\n  -enable-plugin-cache   Use packages of the plugin cache.\n  -fs-mirror=DIR         Ask this directory instead of the registries.\n  -net-mirror=URL        Ask this network mirror instead of the registries.\n  -platform=OS_ARCH      For this platform. May be given often; else for the one that this program runs on.\n".to_owned(),
        ["providers", "mirror"] => "Usage: plumb [-chdir=DIR] providers mirror [options] DIRECTORY\n\nCopies the packages of required providers from their origin registries into a directory, which can then be used as a\nfilesystem mirror or, published by a web server, as a network mirror.\n\nOptions:\n\n  -lock-file=false       Choose versions by the constraints alone.\n  -platform=OS_ARCH      For this platform. May be given often; else for the one that this program runs on.\n".to_owned(),
        ["providers", "schema"] => "Usage: plumb [-chdir=DIR] providers schema -json\n".to_owned(),
        words => {
            let name = words.join(" ");
            match COMMANDS.iter().find(|(command, _)| *command == name) {
                Some((_, does)) => format!("Usage: plumb [-chdir=DIR] {name}\n\n{does}.\n"),
                None => overview(),
            }
        }
    };
    // Where nobody reads, nothing is lost.
    let _ = std::io::stdout().write_all(text.as_bytes());
    0
}

/// No command was given: as Terraform, help and a failure.
pub(super) fn without_command() -> u8 {
    to_stderr(&overview());
    127
}

fn overview() -> String {
    let mut text = "Usage: plumb [global options] <command> [args]\n\nCommands:\n".to_owned();
    for (name, does) in COMMANDS {
        text.push_str(&format!("  {name:<20}{does}\n"));
    }
    text.push_str(
        "\nGlobal options (before the command):\n  -chdir=DIR          Work in another directory\n  -estate=NAME        Work on this estate, where several share a directory\n  -help               Show this help, or that of a command\n  -version            Show the version\n",
    );
    text
}
