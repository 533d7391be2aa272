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

/// Prints what there is to know about a command, or about all.
pub(super) fn run(command: &[&str]) -> u8 {
    let text = match command {
        [] | ["help"] => overview(),
        ["plan"] => format!(
            "\
Usage: plumb [-chdir=DIR] plan [options]

Options:

{OPERATION}  -detailed-exitcode     Exit with 0 where nothing changes, 2 where something does, 1 after errors.
  -generate-config-out=FILE
                         Write configuration for imported objects that have none into a new .tf file.
  -out=FILE              Save the plan.
"
        ),
        ["apply"] => format!(
            "\
Usage: plumb [-chdir=DIR] apply [options] [PLAN]

Options:

{OPERATION}  -auto-approve          Ask nobody for approval.
  -deadline=DURATION     Answer within this time (90s, 14m). Exits with 8 where a PLAN is unfinished: run the
                         same command again.
{VERDICTS}"
        ),
        ["destroy"] => format!(
            "\
Usage: plumb [-chdir=DIR] destroy [options]

Options:

{OPERATION}  -auto-approve          Ask nobody for approval.
"
        ),
        ["console"] => "\
Usage: plumb [-chdir=DIR] console [options]

Says what expressions come to: line by line at a terminal; from a pipe, all lines are evaluated and the last is
answered. Changes nothing.

Options:

  -plan                  Plan first, and show resources as they would be.
  -var 'NAME=VALUE'      Set a root variable. May be given often.
  -var-file=FILE         Set root variables from a file. May be given often.
".to_owned(),
        ["graph"] => "\
Usage: plumb [-chdir=DIR] graph

Writes the resources of the configuration and what they depend on in the DOT language.
".to_owned(),
        ["fmt"] => "\
Usage: plumb [-chdir=DIR] fmt [options] [FILE | DIRECTORY | -]...

Lays out configuration (.tf, .tfvars, .tftest.hcl, .tfmock.hcl) in the canonical style: the files of the working
directory, those that are named, or with - standard input. JSON is left as it is.

Options:

  -check                 Change nothing. Exits with 0 where all is laid out already, and with 3 where not.
  -diff                  Show what changes.
  -list=false            Do not list the files that change.
  -no-color              Write no colours.
  -recursive             Also lay out what is in directories below.
  -write=false           Change no file.
".to_owned(),
        ["validate"] => format!(
            "\
Usage: plumb [-chdir=DIR] validate [-json] [-plan=FILE]

Checks the configuration. With -plan, runs every stage of a saved plan against the records and the
world, and changes nothing.

Options with -plan:

{VERDICTS}"
        ),
        ["show"] => "\
Usage: plumb [-chdir=DIR] show [-json] [-reads] [FILE]

Shows a saved plan, or the records.

Options:

  -reads                 Show what a saved plan changes and what it looked at, by path.
                         With -json, under the key \"plumbline_sets\" of the plan.
".to_owned(),
        ["output"] => "Usage: plumb [-chdir=DIR] output [-json | -raw] [NAME]\n".to_owned(),
        ["contract", "check"] => "\
Usage: plumb [-chdir=DIR] contract check [-json]

Looks at every setting of the store that plumb.toml names, and says what each protects and how to mend what is
missing. Exits with 0 where everything passes, and else with 1, whatever allow_insecure names.
".to_owned(),
        ["migrate"] => "\
Usage: plumb [global options] migrate [-state=FILE]

Records the state that Terraform keeps where the configuration says (a file, or the backends s3 and http), for the
workspace that is selected, and verifies it. It is only read. May be run again after any interruption. \"plumb state pull\"
is the way back.

Options:

  -state=FILE            A state file, in place of what the configuration names.
".to_owned(),
        ["migrate-store"] => "\
Usage: plumb [global options] migrate-store -from=PLACE [options]

Copies an estate's records to the store that plumb.toml names, verifies them, and seals the old place. May be run
again after any interruption.

Options:

  -from=PLACE            A store's directory (.plumb), or the plumb.toml that named the store (OLD.toml).
  -from-estate=NAME      Its name there, if it is another one.
  -abandon               Give up a copy that was never finished, and open the old place again.
".to_owned(),
        ["state", "mv"] => format!("\
Usage: plumb [global options] state mv [options] SOURCE DESTINATION

Records an instance, a resource with all its instances, or a module with all that is in it at another address.

Options:

  -dry-run               Say what would be moved, and change nothing.
{EDITS}"),
        ["state", "rm"] => format!("\
Usage: plumb [global options] state rm [options] ADDRESS...

Drops the records of instances, resources or modules. Their objects are left to themselves.

Options:

  -dry-run               Say what would be dropped, and change nothing.
{EDITS}"),
        ["state", "replace-provider"] => format!("\
Usage: plumb [global options] state replace-provider [options] FROM TO

Records all objects of the provider with the source FROM as those of the provider with the source TO.

Options:

  -auto-approve          Ask nobody for approval.
{EDITS}"),
        ["state", "push"] => "\
Usage: plumb [global options] state push [-force] FILE

Makes the records say what a state file of Terraform says, and nothing else; - stands for standard input. Refused where the
file has another lineage, or is older than the records. May be run again after any interruption.

Options:

  -force                 Whatever lineage and serial say.
".to_owned(),
        ["state", "list"] => "\
Usage: plumb [global options] state list [-id=ID] [ADDRESS...]

Lists the recorded resource instances, or those of modules and resources.

Options:

  -id=ID                 Only those whose object has this identifier.
".to_owned(),
        ["taint"] => format!("\
Usage: plumb [global options] taint [options] ADDRESS

Marks a resource instance as one that the next apply replaces.

Options:

  -allow-missing         Succeed where there is no such instance.
{EDITS}"),
        ["untaint"] => format!("\
Usage: plumb [global options] untaint [options] ADDRESS

Takes back that a resource instance is to be replaced.

Options:

  -allow-missing         Succeed where there is no such instance.
{EDITS}"),
        ["import"] => format!("\
Usage: plumb [global options] import [options] ADDRESS ID

Has a provider find an object that exists, and records it as this resource instance, which the configuration has to have.

Options:

  -input=false           Ask nobody for values.
  -var 'NAME=VALUE'      Set a root variable. May be given often.
  -var-file=FILE         Set root variables from a file. May be given often.
{EDITS}"),
        ["refresh"] => "\
Usage: plumb [global options] refresh [options]

Brings the records up to the world, as \"plumb apply -refresh-only -auto-approve\" does, and shows the outputs.

Options:

  -compact-warnings      Show warnings as a short list.
  -input=false           Ask nobody for values.
  -json                  Write one JSON message a line.
  -no-color              Write no colours.
  -parallelism=n         Work on so many instances at once (10).
  -target=ADDRESS        Refresh this alone, with what it depends on. May be given often.
  -var 'NAME=VALUE'      Set a root variable. May be given often.
  -var-file=FILE         Set root variables from a file. May be given often.
".to_owned(),
        ["force-release"] => "\
Usage: plumb [global options] force-release [-force] PLAN

Ends a run of which you know that it has died, before its lease is over: what it has claimed is free at once. PLAN is its plan
or its run, as messages name them; the beginning will do. Should it live all the same, it begins nothing more, and what it
has done is kept beside the records.

Options:

  -force                 Ask nobody for confirmation.
".to_owned(),
        ["workspace", "new"] => "\
Usage: plumb [global options] workspace new [-state=FILE] NAME

Creates a workspace, an estate of its own for the same configuration, and switches to it.

Options:

  -state=FILE            Record what this state file of Terraform says.
".to_owned(),
        ["workspace", "select"] => "\
Usage: plumb [global options] workspace select [-or-create] NAME

Switches to another workspace.

Options:

  -or-create             Create it where there is none.
".to_owned(),
        ["workspace", "delete"] => "\
Usage: plumb [global options] workspace delete [-force] NAME

Deletes a workspace with its records.

Options:

  -force                 Also where it manages resources, which are left to themselves then.
".to_owned(),
        ["adopt"] => "\
Usage: plumb [global options] adopt [options] ADDRESS [ID]

Records what the records leave open about a resource instance: a result that was kept beside its record, or the object
with this ID where a create is in doubt.

Options:

  -from=FILE             Record the result in this file, which a run left when the store could not be written.
  -run=RUN               Which run's result, where several are kept.
  -input=false           Ask nobody for values.
  -var 'NAME=VALUE'      Set a root variable. May be given often.
  -var-file=FILE         Set root variables from a file. May be given often.
".to_owned(),
        ["dismiss"] => "\
Usage: plumb [global options] dismiss [-run=RUN] ADDRESS

Drops what the records leave open about a resource instance: the doubt about a create, and results that were kept
beside its record. Objects that exist are left to themselves. Refused while the create may still make its object.

Options:

  -run=RUN               Drop only the result of this run.
".to_owned(),
        ["runs", "list"] => format!("\
Usage: plumb [global options] runs list [-json] [-remote=URL]

Options:

{REMOTE}"),
        ["runs", "show"] => format!(
            "\
Usage: plumb [global options] runs show [-json] [-remote=URL] RUN

Shows a run, or the run of a plan; the beginning of its name will do.

Options:

{REMOTE}"
        ),
        ["submit"] => format!(
            "\
Usage: plumb [global options] submit [options] COMMIT

Has a deployed bundle plan the estate at a commit that was pushed: its full hash.

Options:

  -apply                 Go on to an approval, and apply.
{REMOTE}"
        ),
        [decision @ ("approve" | "reject")] => format!(
            "\
Usage: plumb [global options] {decision} [options] RUN

Shows the plan of a run that waits, asks, and decides about what was shown.

Options:

  -digest=DIGEST         Ask nobody: decide about the plan with this digest, and no other.
{REMOTE}"
        ),
        ["cancel"] => format!(
            "\
Usage: plumb [global options] cancel [options] RUN

Stops a run of a deployed bundle, unless it is changing things already.

Options:

{REMOTE}"
        ),
        ["init"] => "\
Usage: plumb [-chdir=DIR] init [options]

Installs the required modules and providers, and locks the providers' versions and checksums in .terraform.lock.hcl.

Options:

  -json                  Write one JSON message a line.
  -input=false           Ask nobody for values.
  -lockfile=readonly     Fail where the lock file would have to name other providers, and never write it.
  -new-estate            Nothing exists yet, whatever state there may be elsewhere.
  -no-color              Write no colours.
  -plugin-dir=DIR        Install providers from this directory alone. May be given often.
  -upgrade               Choose the newest versions that the constraints allow, whatever is locked.
".to_owned(),
        ["providers", "lock"] => "\
Usage: plumb [-chdir=DIR] providers lock [options] [PROVIDER]...

Records the checksums of required providers in .terraform.lock.hcl, as their origin registries have signed them, whatever
the CLI configuration says of installing. Nothing is installed.

Options:

  -enable-plugin-cache   Use packages of the plugin cache.
  -fs-mirror=DIR         Ask this directory instead of the registries.
  -net-mirror=URL        Ask this network mirror instead of the registries.
  -platform=OS_ARCH      For this platform. May be given often; else for the one that this program runs on.
".to_owned(),
        ["providers", "mirror"] => "\
Usage: plumb [-chdir=DIR] providers mirror [options] DIRECTORY

Copies the packages of required providers from their origin registries into a directory, which can then be used as a
filesystem mirror or, published by a web server, as a network mirror.

Options:

  -lock-file=false       Choose versions by the constraints alone.
  -platform=OS_ARCH      For this platform. May be given often; else for the one that this program runs on.
".to_owned(),
        ["providers", "schema"] => "Usage: plumb [-chdir=DIR] providers schema -json\n".to_owned(),
        words => {
            let name = words.join(" ");
            match COMMANDS.iter().find(|(command, _)| *command == name) {
                Some((_, does)) => format!("\
Usage: plumb [-chdir=DIR] {name}

{does}.
"),
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
    let mut text = "\
Usage: plumb [global options] <command> [args]

Commands:
"
    .to_owned();
    for (name, does) in COMMANDS {
        text.push_str(&format!("  {name:<20}{does}\n"));
    }
    text.push_str(
        "\nGlobal options (before the command):
  -chdir=DIR          Work in another directory
  -estate=NAME        Work on this estate, where several share a directory
  -help               Show this help, or that of a command
  -version            Show the version
",
    );
    text
}
