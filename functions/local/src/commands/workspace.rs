//! `plumb workspace list`, `show`, `new`, `select` and `delete`

use super::record_edit;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::session::{Session, invalid_workspace};
use engine::estate::{Estate, EstateError, PushRules};
use engine::existing_state::{DEFAULT_WORKSPACE, WORKSPACES_BESIDE};
use engine::state::State;
use records::Opening;
use runs::contract::ContractTerms;
use runs::edit::Editor;
use runs::workspace::WorkspaceName;
use runs::{RunError, push};
use std::collections::BTreeSet;
use std::path::Path;
use values::address::ResourceMode;

pub(super) async fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    let command = invocation.command.last().map(String::as_str).unwrap_or_default();
    let work = async |session: &Session, flags: &Flags| match command {
        "list" => list(session, flags).await,
        "new" => new(session, flags).await,
        "select" => select(session, flags).await,
        "delete" => delete(session, flags).await,
        _ => show(session, flags),
    };
    super::carry_out(invocation, environment, work).await
}

fn show(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "The name of the current workspace is printed.")?;
    session.reporter.print(&format!("{}\n", session.workspace));
    Ok(0)
}

async fn list(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    flags.at_most(0, "All workspaces are listed.")?;
    let mut text = String::new();
    for name in existing(session).await? {
        let mark = if name == session.workspace.as_str() { '*' } else { ' ' };
        text.push_str(&format!("{mark} {name}\n"));
    }
    text.push('\n');
    if session.workspace_is_overridden {
        text.push_str(
            "\n\nThe active workspace is being overridden using the TF_WORKSPACE environment\nvariable.\n\n",
        );
    }
    session.reporter.print(&text);
    Ok(0)
}

async fn new(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let workspace = named(flags)?;
    if session.workspace_is_overridden && workspace != session.workspace {
        return Err(Failure::error(
            "The workspace is overridden",
            "The workspace is currently overridden using the TF_WORKSPACE environment variable. You cannot create a new workspace when using this setting. To create a new workspace, either unset this environment variable or update it to match the workspace name you are trying to create, and then run this command again.",
        ));
    }
    if existing(session).await?.contains(workspace.as_str()) {
        let detail = format!(
            "Select it with \"plumb workspace select {workspace}\". Where Terraform has a state of it, \"plumb migrate\" takes that over then."
        );
        return Err(Failure::error(format!("Workspace {workspace:?} already exists"), detail));
    }
    create(session, &workspace).await?;
    if let Some(name) = flags.value("state") {
        let file = std::fs::read(session.directory.path.join(name)).map_err(|error| {
            Failure::error("Failed to open the given state file", format!("{name}: {error}."))
        })?;
        let (estate, contract) = estate_of(session, &workspace, Opening::Create).await?;
        let editor = Editor {
            estate: &estate,
            contract: contract.as_ref(),
            terms: session.project()?.project.terms(),
            principal: session.principal(),
        };
        let pushed = push::push(&editor, name, &file, PushRules::Checked).await?;
        session.reporter.report(pushed.warnings);
    }
    Ok(0)
}

/// Lists a workspace and switches to it.
async fn create(session: &Session, workspace: &WorkspaceName) -> Result<(), Failure> {
    // Whether it can be an estate is found out before it is listed.
    let default = session.default_project()?;
    session.default_project()?.in_workspace(workspace)?;
    let opened = session.estate_of(&default, Opening::Create).await?;
    let (estate, _) = opened.ok_or_else(record_edit::no_records)?;
    estate.note_workspace(workspace.as_str()).await.map_err(RunError::from)?;
    session.directory.select_workspace(workspace.as_str())?;
    session.reporter.print(&format!(
        "Created and switched to workspace {workspace:?}!\n\nYou're now on a new, empty workspace. Workspaces isolate their state,\nso if you run \"plumb plan\" Plumbline will not see any existing state\nfor this configuration.\n"
    ));
    Ok(())
}

async fn select(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let workspace = named(flags)?;
    if session.workspace_is_overridden {
        return Err(Failure::error(
            "The workspace is overridden",
            "The selected workspace is currently overridden using the TF_WORKSPACE environment variable. To select a new workspace, either update this environment variable or unset it and then run this command again.",
        ));
    }
    if workspace == session.workspace {
        return Ok(0);
    }
    if !existing(session).await?.contains(workspace.as_str()) {
        if flags.switch("or-create", false) {
            create(session, &workspace).await?;
            return Ok(0);
        }
        return Err(unknown(&workspace));
    }
    session.directory.select_workspace(workspace.as_str())?;
    session.reporter.print(&format!("Switched to workspace {workspace:?}.\n"));
    Ok(0)
}

async fn delete(session: &Session, flags: &Flags) -> Result<u8, Failure> {
    let workspace = named(flags)?;
    if workspace.is_default() {
        let detail =
            "Every configuration has it. To delete what it manages, run \"plumb destroy\".";
        return Err(Failure::error("The default workspace cannot be deleted", detail));
    }
    if !existing(session).await?.contains(workspace.as_str()) {
        return Err(unknown(&workspace));
    }
    if workspace == session.workspace {
        return Err(Failure::error(
            format!("Workspace {workspace:?} is your active workspace."),
            "You cannot delete the currently active workspace. Please switch to another workspace and try again.",
        ));
    }
    let beside = Path::new(WORKSPACES_BESIDE).join(workspace.as_str());
    if session.directory.path.join(&beside).exists() {
        let detail = format!(
            "Terraform keeps a state of it in {}, which is left alone: remove that first, if what it describes is not needed any more.",
            beside.display()
        );
        return Err(Failure::error(format!("Workspace {workspace:?} has a state file"), detail));
    }
    let force = flags.switch("force", false);
    let (estate, _) = estate_of(session, &workspace, Opening::Existing).await?;
    let managed = match estate.read().await {
        Ok(reading) => {
            let managed = objects(&reading.state, true).next().is_some();
            if managed && !force {
                return Err(not_empty(&workspace, &reading.state));
            }
            managed
        }
        // One whose removal was begun is gone on with, and one that cannot be read is removed on demand.
        Err(EstateError::Sealed { .. }) => false,
        Err(_) if force => true,
        Err(error) => return Err(RunError::from(error).into()),
    };
    estate.remove().await.map_err(|error| Failure::of("The workspace was not deleted", &error))?;
    let default = session.estate_of(&session.default_project()?, Opening::Existing).await?;
    if let Some((estate, _)) = default {
        estate.forget_workspace(workspace.as_str()).await.map_err(RunError::from)?;
    }
    session.reporter.print(&format!("Deleted workspace {workspace:?}!\n"));
    if managed {
        session.reporter.print(&format!(
            "WARNING: {workspace:?} was non-empty.\nThe resources managed by the deleted workspace may still exist,\nbut are no longer manageable by Plumbline since the state has\nbeen deleted.\n"
        ));
    }
    Ok(0)
}

fn not_empty(workspace: &WorkspaceName, state: &State) -> Failure {
    let listed: String = objects(state, false).map(|object| format!("\n  - {object}")).collect();
    Failure::error(
        "Workspace is not empty",
        format!(
            "Workspace {workspace:?} is currently tracking the following resource instances:{listed}\n\nDeleting this workspace would cause Plumbline to lose track of any associated remote objects, which would then require you to delete them manually outside of Plumbline. You should destroy these objects with Plumbline before deleting the workspace.\n\nIf you want to delete this workspace anyway, and have Plumbline forget about these managed objects, use the -force option to disable this safety check."
        ),
    )
}

/// The objects of a state, as they are named; all, or those that are managed.
fn objects(state: &State, managed: bool) -> impl Iterator<Item = String> {
    let instances = state.instances.iter();
    let wanted = instances
        .filter(move |(address, _)| !managed || address.resource.mode == ResourceMode::Managed);
    wanted.flat_map(|(address, instance)| {
        let current = instance.current.iter().map(|_| address.to_string());
        let deposed = instance.deposed.keys();
        let deposed = deposed.map(|key| format!("{address} (deposed object {key})"));
        current.chain(deposed).collect::<Vec<_>>()
    })
}

fn named(flags: &Flags) -> Result<WorkspaceName, Failure> {
    let [name] = flags.positional.as_slice() else {
        let detail = "It is the name of a workspace.";
        return Err(UsageError::other("Expected a single argument: NAME.", detail).into());
    };
    WorkspaceName::new(name).map_err(invalid_workspace)
}

fn unknown(workspace: &WorkspaceName) -> Failure {
    Failure::error(
        format!("Workspace {workspace:?} doesn't exist."),
        "You can create this workspace with the \"new\" subcommand or include the \"-or-create\" flag with the \"select\" subcommand.",
    )
}

async fn estate_of(
    session: &Session,
    workspace: &WorkspaceName,
    opening: Opening,
) -> Result<(Estate, Option<ContractTerms>), Failure> {
    let project = session.default_project()?.in_workspace(workspace)?;
    session.estate_of(&project, opening).await?.ok_or_else(record_edit::no_records)
}

/// The default workspace, those that are listed, and those of which Terraform has a state beside the configuration. In order.
pub(super) async fn existing(session: &Session) -> Result<BTreeSet<String>, Failure> {
    let mut names = BTreeSet::from([DEFAULT_WORKSPACE.to_owned()]);
    if let Some((estate, _)) =
        session.estate_of(&session.default_project()?, Opening::Existing).await?
    {
        names.extend(estate.workspaces().await.map_err(RunError::from)?);
    }
    let beside = std::fs::read_dir(session.directory.path.join(WORKSPACES_BESIDE));
    let beside = beside.into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
    names.extend(beside.filter_map(|entry| entry.file_name().into_string().ok()));
    Ok(names)
}
