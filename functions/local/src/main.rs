//! `plumb`: plan, validate and apply in one process, with Terraform's command line.

mod cli_config;
mod command_table;
mod commands;
mod environment;
mod failure;
mod fault_injection;
mod flags;
mod former_store;
mod invocation;
mod logging;
mod pager;
mod plan_file;
mod project;
mod prompt;
mod provider_installation;
mod reporter;
mod required_providers;
mod serve;
mod session;
mod signals;
mod spill;
mod stored_token;
mod stores;
mod terminal;
mod tested_modules;
mod variables;
mod whole_file;
mod working_directory;

use environment::ProcessEnvironment;
use invocation::Invocation;
use std::ffi::OsString;
use std::process::ExitCode;

/// The hidden argument with which this program watches over plugins.
const WATCHDOG: &str = "__watchdog";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let program = arguments.next().unwrap_or_default();
    let arguments: Vec<OsString> = arguments.collect();
    if let Some((first, rest)) = arguments.split_first()
        && first == WATCHDOG
    {
        return watch(rest.to_vec());
    }
    let environment = ProcessEnvironment::read(program);
    logging::start(&environment);
    match Invocation::parse(arguments, &environment) {
        Ok(invocation) => {
            let code = commands::run(&invocation, environment);
            terminal::finish();
            ExitCode::from(code)
        }
        Err(error) => {
            reporter::usage_error(&error, None);
            ExitCode::FAILURE
        }
    }
}

fn watch(arguments: Vec<OsString>) -> ExitCode {
    match providers::plugin::watchdog::run(arguments, std::io::stdin().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            reporter::to_stderr(&format!("{error}\n"));
            ExitCode::FAILURE
        }
    }
}
