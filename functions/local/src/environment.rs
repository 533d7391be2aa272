//! The process's environment, read once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

/// All that commands take from the environment.
pub(crate) struct ProcessEnvironment {
    /// This program, to be started again as a watchdog.
    pub(crate) program: PathBuf,
    variables: BTreeMap<String, String>,
    /// What plugins inherit.
    pub(crate) inherited: Vec<(OsString, OsString)>,
}

impl ProcessEnvironment {
    pub(crate) fn read(program: OsString) -> ProcessEnvironment {
        let inherited: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let text = inherited.iter().filter_map(|(k, v)| Some((k.to_str()?, v.to_str()?)));
        let variables = text.map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let program = std::env::current_exe().unwrap_or_else(|_| program.into());
        ProcessEnvironment { program, variables, inherited }
    }

    /// A variable that is set to something.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Every variable that is text.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// `TF_VAR_*`.
    pub(crate) fn input_variables(&self) -> BTreeMap<String, String> {
        let given = self.variables.iter().filter(|(name, _)| name.starts_with("TF_VAR_"));
        given.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.get("HOME").map(PathBuf::from)
    }

    /// Whether a program reads along, so that nobody is told which command to run next.
    pub(crate) fn in_automation(&self) -> bool {
        self.get("TF_IN_AUTOMATION").is_some()
    }

    /// What `PAGER` says, also where it says nothing.
    pub(crate) fn pager(&self) -> Option<&str> {
        self.variables.get("PAGER").map(String::as_str)
    }

    /// Whether questions may be asked, where no flag says so.
    pub(crate) fn input(&self) -> bool {
        !matches!(self.get("TF_INPUT"), Some("0" | "f" | "F" | "false" | "FALSE" | "False"))
    }

    /// Whether standard output may carry colours.
    pub(crate) fn colours(&self) -> bool {
        let capable = self.get("TERM") != Some("dumb");
        capable && self.get("NO_COLOR").is_none() && std::io::stdout().is_terminal()
    }

    /// Who runs this.
    pub(crate) fn user(&self) -> String {
        let name = self.get("USER").or_else(|| self.get("LOGNAME")).map(str::to_owned);
        name.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()))
    }
}
