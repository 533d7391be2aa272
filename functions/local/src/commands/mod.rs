//! One room for each command.

mod adopt;
mod apply;
mod completions;
mod console;
mod contract;
mod deadline;
mod dismiss;
mod explain;
mod fmt;
mod force_release;
mod generated_configuration;
mod get;
mod graph;
mod help;
mod import;
mod init;
mod login;
mod man;
mod metadata;
mod migrate;
mod migrate_store;
mod modules;
mod operation;
mod output;
mod plan;
mod policy;
mod providers;
mod record_edit;
mod refresh;
mod remote;
mod runs;
mod serve;
mod show;
mod state;
mod state_move;
mod state_push;
mod state_remove;
mod state_replace_provider;
mod taint;
mod test;
mod validate;
mod verdict_exit_code;
mod version;
mod waivers;
mod workspace;

use crate::command_table;
use crate::environment::ProcessEnvironment;
use crate::failure::Failure;
use crate::flags::{Flags, UsageError};
use crate::invocation::Invocation;
use crate::reporter::{self, Speech};
use crate::session::Session;
use language::diagnostics::Diagnostic;

/// Threads for work that blocks.
const BLOCKING_THREADS: usize = 16;

/// Runs a command; its exit code.
pub(crate) fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    let words: Vec<&str> = invocation.command.iter().map(String::as_str).collect();
    if invocation.help {
        return help::run(&words);
    }
    if invocation.version {
        return version::run(invocation, environment);
    }
    // Writes of files, mostly; more threads than this would only be started and wait.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(engine::worker_threads())
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            reporter::to_stderr(&format!("plumb cannot start threads: {error}\n"));
            return 1;
        }
    };
    let code = runtime.block_on(async {
        match words.as_slice() {
            [] => help::without_command(),
            ["init"] => init::run(invocation, environment).await,
            ["login"] => login::log_in(invocation, environment).await,
            ["logout"] => login::log_out(invocation, environment).await,
            ["fmt"] => fmt::run(invocation, environment),
            ["console"] => console::run(invocation, environment).await,
            ["graph"] => graph::run(invocation, environment),
            ["metadata", "functions"] => metadata::functions(invocation, environment),
            ["get"] => get::run(invocation, environment).await,
            ["validate"] => validate::run(invocation, environment).await,
            ["explain"] => explain::run(invocation, environment).await,
            ["test"] => test::run(invocation, environment).await,
            ["plan"] => plan::run(invocation, environment).await,
            ["apply"] => apply::run(invocation, environment, apply::Kind::Apply).await,
            ["destroy"] => apply::run(invocation, environment, apply::Kind::Destroy).await,
            ["providers"] => providers::tree(invocation, environment).await,
            ["providers", "lock"] => providers::lock(invocation, environment).await,
            ["providers", "mirror"] => providers::mirror(invocation, environment).await,
            ["providers", "schema"] => providers::schema(invocation, environment).await,
            ["show"] => show::run(invocation, environment).await,
            ["output"] => output::run(invocation, environment).await,
            ["state", "list"] => state::list(invocation, environment).await,
            ["state", "show"] => state::show(invocation, environment).await,
            ["adopt"] => adopt::run(invocation, environment).await,
            ["dismiss"] => dismiss::run(invocation, environment).await,
            ["serve"] => serve::run(invocation, environment).await,
            ["submit"] => remote::submit(invocation, environment).await,
            ["approve"] => remote::decide(invocation, environment, remote::Deed::Approve).await,
            ["reject"] => remote::decide(invocation, environment, remote::Deed::Reject).await,
            ["drift"] => remote::drift(invocation, environment).await,
            ["cancel"] => remote::decide(invocation, environment, remote::Deed::Cancel).await,
            ["runs", "list"] => runs::list(invocation, environment).await,
            ["runs", "show"] => runs::show(invocation, environment).await,
            ["contract", "check"] => contract::check(invocation, environment).await,
            ["state", "mv"] => state_move::run(invocation, environment).await,
            ["state", "rm"] => state_remove::run(invocation, environment).await,
            ["state", "replace-provider"] => {
                state_replace_provider::run(invocation, environment).await
            }
            ["state", "push"] => state_push::run(invocation, environment).await,
            ["taint"] => taint::run(invocation, environment, taint::Kind::Taint).await,
            ["untaint"] => taint::run(invocation, environment, taint::Kind::Untaint).await,
            ["import"] => import::run(invocation, environment).await,
            ["refresh"] => refresh::run(invocation, environment).await,
            ["force-release"] => force_release::run(invocation, environment).await,
            ["state", "pull"] => state::pull(invocation, environment).await,
            ["migrate"] => migrate::run(invocation, environment).await,
            ["migrate-store"] => migrate_store::run(invocation, environment).await,
            ["workspace", "list" | "show" | "new" | "select" | "delete"] => {
                workspace::run(invocation, environment).await
            }
            ["version"] => version::run(invocation, environment),
            ["help"] => {
                let words = invocation.arguments.iter().map(String::as_str);
                help::run(&words.filter(|word| !word.starts_with('-')).collect::<Vec<_>>())
            }
            ["completions"] => completions::run(invocation),
            ["install-autocomplete"] => completions::install(&environment),
            ["uninstall-autocomplete"] => completions::uninstall(&environment),
            ["man"] => man::run(invocation),
            [completions::COMPLETE] => match invocation.arguments.as_slice() {
                [.., line] => completions::complete(line, environment).await,
                _ => 1,
            },
            _ => {
                let name = invocation.name();
                let first = invocation.command.first();
                let group = first.filter(|word| command_table::is_group(word)).cloned();
                reporter::usage_error(&UsageError::UnknownCommand { name, group }, None);
                1
            }
        }
    });
    // A provider that does not answer must not hold up the end.
    runtime.shutdown_background();
    code
}

/// A command's flags, as the table of commands has them.
fn parsed(invocation: &Invocation) -> Result<Flags, u8> {
    let known = command_table::known_flags(&invocation.command);
    Flags::parse(&invocation.arguments, &known).map_err(|error| {
        reporter::usage_error(&error, Some(&invocation.name()));
        1
    })
}

/// A command's flags and its session. Answers the exit code where there is nothing to be done.
fn begin(invocation: &Invocation, environment: ProcessEnvironment) -> Result<(Session, Flags), u8> {
    let name = invocation.name();
    let flags = parsed(invocation)?;
    for ignored in &flags.ignored {
        let why = match *ignored {
            "lock" | "lock-timeout" => {
                "plumb locks no state, since records are written by compare-and-swap"
            }
            "backend-config" | "reconfigure" | "force-copy" => {
                "backends are read, not used, since plumb keeps records in a store of its own"
            }
            _ => "no server is asked for its version",
        };
        reporter::to_stderr(&format!("Note: -{ignored} does nothing: {why}.\n"));
    }
    let speech = Speech {
        json: flags.switch("json", false) && has_stream(&name),
        no_colour: flags.switch("no-color", false) || flags.switch("json", false),
        compact_warnings: flags.switch("compact-warnings", false),
        answers_only: name == "explain",
        works: matches!(&*name, "plan" | "apply" | "destroy" | "refresh"),
    };
    match Session::begin(invocation, environment, speech) {
        Ok(session) => Ok((session, flags)),
        Err(_) => Err(1),
    }
}

/// Does what a command does with its session and its flags, and says what it came to: its exit code.
async fn carry_out(
    invocation: &Invocation,
    environment: ProcessEnvironment,
    work: impl AsyncFnOnce(&Session, &Flags) -> Result<u8, Failure>,
) -> u8 {
    match begin(invocation, environment) {
        Ok((session, flags)) => {
            let result = work(&session, &flags).await;
            session.conclude(result, &invocation.name())
        }
        Err(code) => code,
    }
}

/// Whether `-json` makes a command write a stream of messages, and not one document.
fn has_stream(name: &str) -> bool {
    matches!(name, "init" | "plan" | "apply" | "destroy" | "test")
}

/// There is no configuration to work on.
fn no_configuration(detail: &str) -> Failure {
    Diagnostic::error("No configuration files", detail).into()
}
