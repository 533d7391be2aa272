//! A policy as `plumb.toml` and `deployment.toml` have it.

use super::Seconds;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a policy may take where nothing else is said.
const TIME: i64 = 60;
/// The longest, so that the function that plans answers in its own time.
const LONGEST: i64 = 300;
const QUERY: &str = "data.plumbline.deny";

/// A policy: exactly one of a command and an OPA bundle.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyTable {
    /// A program with its arguments. It agrees by ending with 0, and else objects, a line of its output each.
    #[serde(default)]
    pub command: Vec<String>,
    /// A bundle of Open Policy Agent.
    pub opa: Option<OpaTable>,
    /// What an objection does.
    #[serde(default)]
    pub enforcement: Enforcement,
    /// How long it may take.
    #[serde(default = "time")]
    pub time_out: Seconds,
}

/// A bundle of Open Policy Agent, evaluated by its program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpaTable {
    /// The program.
    pub program: String,
    /// The bundle: a folder, or a file as `opa build` makes it.
    pub bundle: PathBuf,
    /// What is asked: a set or list of objections, or whether anything is objected to.
    #[serde(default = "query")]
    pub query: String,
}

/// What an objection does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Enforcement {
    /// It ends the run before anybody is asked.
    #[default]
    Mandatory,
    /// It is told.
    Advisory,
}

fn time() -> Seconds {
    Seconds(TIME)
}

fn query() -> String {
    QUERY.to_owned()
}

impl PolicyTable {
    /// What is wrong with it, and what mends it.
    pub(crate) fn check(&self) -> Result<(), String> {
        match (self.command.first().is_some_and(|program| !program.is_empty()), &self.opa) {
            (true, None) => {}
            (false, Some(opa)) if !opa.program.is_empty() => {}
            _ => {
                return Err("a policy has either command = [\"PROGRAM\", …] or a table opa with program and bundle".to_owned());
            }
        }
        match self.time_out.0 <= LONGEST {
            true => Ok(()),
            false => {
                Err(format!("a policy may take {LONGEST}s at most; make its time_out shorter"))
            }
        }
    }

    /// The same where no folder is the policy's own: what a commit brings along must not stand in for it.
    pub(crate) fn check_absolute(&self) -> Result<(), String> {
        self.check()?;
        let paths = self.program().map(Path::new).into_iter();
        let mut paths = paths.chain(self.opa.as_ref().map(|opa| opa.bundle.as_path()));
        match paths.find(|path| !path.is_absolute()) {
            None => Ok(()),
            Some(path) => Err(format!(
                "{} is no absolute path; name the program and the bundle of a policy as they are where it runs, such as \
                 /opt/bin/opa of a layer",
                path.display()
            )),
        }
    }

    fn program(&self) -> Option<&str> {
        match &self.opa {
            Some(opa) => Some(&opa.program),
            None => self.command.first().map(String::as_str),
        }
    }

    /// With paths that are relative to a folder. A program without a slash is looked for where programs are.
    #[must_use]
    pub fn relative_to(&self, folder: &Path) -> PolicyTable {
        let at = |program: &str| match program.contains('/') {
            true => folder.join(program).to_string_lossy().into_owned(),
            false => program.to_owned(),
        };
        let mut table = self.clone();
        if let Some(first) = table.command.first_mut() {
            *first = at(first);
        }
        if let Some(opa) = &mut table.opa {
            (opa.program, opa.bundle) = (at(&opa.program), folder.join(&opa.bundle));
        }
        table
    }

    /// What it is called.
    pub(crate) fn name(&self) -> String {
        match &self.opa {
            Some(opa) => format!("{} of {}", opa.query, opa.bundle.display()),
            None => self.program().unwrap_or_default().to_owned(),
        }
    }

    pub(crate) fn time(&self) -> Duration {
        Duration::from_secs(self.time_out.0.unsigned_abs())
    }

    /// The program and its arguments.
    pub(crate) fn words(&self) -> Vec<String> {
        let Some(opa) = &self.opa else { return self.command.clone() };
        let bundle = opa.bundle.to_string_lossy();
        let words = [
            opa.program.as_str(),
            "eval",
            "--format=json",
            "--stdin-input",
            "--bundle",
            bundle.as_ref(),
            opa.query.as_str(),
        ];
        Vec::from(words.map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::PolicyTable;
    use std::path::Path;

    fn table(text: &str) -> PolicyTable {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_policy_is_a_command_or_a_bundle() {
        let both = "command = [\"a\"]\nopa = { program = \"opa\", bundle = \"b\" }\n";
        for (text, says) in [
            ("", "either command"),
            ("command = []", "either command"),
            (both, "either command"),
            ("command = [\"a\"]\ntime_out = \"10m\"", "300s at most"),
        ] {
            let wrong = table(text).check().unwrap_err();
            assert!(wrong.contains(says), "{text}: {wrong}");
        }
        assert!(table("command = [\"a\"]").check().is_ok());
        assert!(toml::from_str::<PolicyTable>("command = [\"a\"]\nmandatory = true").is_err());
    }

    #[test]
    fn paths_are_relative_to_plumb_toml_and_absolute_in_functions() {
        let opa = table("opa = { program = \"opa\", bundle = \"policies\" }");
        assert!(opa.check_absolute().unwrap_err().contains("no absolute path"));
        let words = opa.relative_to(Path::new("/repo")).words();
        let expected = [
            "opa",
            "eval",
            "--format=json",
            "--stdin-input",
            "--bundle",
            "/repo/policies",
            "data.plumbline.deny",
        ];
        assert_eq!(words, expected);
        let command = table("command = [\"./check\", \"-strict\"]").relative_to(Path::new("/repo"));
        assert_eq!(command.words(), ["/repo/./check", "-strict"]);
        assert!(command.check_absolute().is_ok());
    }
}
