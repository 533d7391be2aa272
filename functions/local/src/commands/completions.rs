//! `plumb completions`: scripts for shells, and the hidden command that they ask.

use super::Session;
use crate::command_table::{self, Candidates, Command, FlagEntry, GLOBAL};
use crate::environment::ProcessEnvironment;
use crate::flags::Flag;
use crate::invocation::{Invocation, words};
use crate::reporter::{Speech, to_stderr};
use records::Opening;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The hidden command that shells ask: its one argument is the line up to the cursor.
pub(crate) const COMPLETE: &str = "__complete";

/// Nobody waits longer for what could be offered.
const PATIENCE: Duration = Duration::from_secs(2);

const BASH: &str = r#"# bash completion for plumb
_plumb() {
    local line word kept IFS=$'\n'
    line=${COMP_LINE:0:COMP_POINT}
    word=${line##*[[:space:]]}
    # What stands before these characters, bash keeps.
    kept=${word%"${word##*[=:]}"}
    COMPREPLY=()
    while IFS= read -r word; do
        case $word in
        :files) COMPREPLY+=($(compgen -f -- "${line##*[[:space:]=]}")); compopt -o filenames ;;
        :directories) COMPREPLY+=($(compgen -d -- "${line##*[[:space:]=]}")); compopt -o filenames ;;
        *)
            word=${word%%$'\t'*}
            word=${word#"$kept"}
            case $word in *[\"\[\ \&\$]*) word=$(printf %q "$word") ;; *=) compopt -o nospace ;; esac
            COMPREPLY+=("$word")
            ;;
        esac
    done < <(plumb __complete "$line" 2>/dev/null)
}
complete -F _plumb plumb
"#;

const ZSH: &str = r#"#compdef plumb
_plumb() {
    local line
    local -a candidates
    for line in "${(@f)$(plumb __complete "$LBUFFER" 2>/dev/null)}"; do
        case $line in
        :files) [[ $PREFIX == -*=* ]] && compset -P '*='; _files ;;
        :directories) [[ $PREFIX == -*=* ]] && compset -P '*='; _files -/ ;;
        '') ;;
        *=) compadd -S '' -- "$line" ;;
        *) candidates+=("${line%%$'\t'*}") ;;
        esac
    done
    (( $#candidates )) && compadd -- "${candidates[@]}"
}
if [ "$funcstack[1]" = _plumb ]; then
    _plumb "$@"
else
    compdef _plumb plumb
fi
"#;

const FISH: &str = r#"# fish completion for plumb
function __plumb_complete
    for line in (plumb __complete (commandline -cp) 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct | string replace -r '^-[^=]*=' '')
            case ':directories'
                __fish_complete_directories (commandline -ct | string replace -r '^-[^=]*=' '')
            case '*'
                echo $line
        end
    end
end
complete -c plumb -f -a '(__plumb_complete)'
"#;

/// Prints the script for a shell.
pub(super) fn run(invocation: &Invocation) -> u8 {
    let flags = match super::parsed(invocation) {
        Ok(flags) => flags,
        Err(code) => return code,
    };
    let script = match flags.positional.as_slice() {
        [shell] => match shell.as_str() {
            "bash" => BASH,
            "zsh" => ZSH,
            "fish" => FISH,
            other => {
                to_stderr(&format!(
                    "There are no completions for {other}: name bash, zsh or fish.\n"
                ));
                return 1;
            }
        },
        _ => {
            to_stderr("Name a shell: plumb completions bash, zsh or fish.\n");
            return 1;
        }
    };
    let _ = io::stdout().write_all(script.as_bytes());
    0
}

/// The line that makes a shell load completions as it starts.
fn startup_line(shell: &str) -> String {
    format!("source <(plumb completions {shell})")
}

/// Files that shells read as they start, of those that there are.
fn startup_files(environment: &ProcessEnvironment) -> Vec<(PathBuf, &'static str)> {
    let Some(home) = environment.home() else { return Vec::new() };
    let files = [(".bashrc", "bash"), (".zshrc", "zsh")];
    let files = files.into_iter().map(|(name, shell)| (home.join(name), shell));
    files.filter(|(path, _)| path.is_file()).collect()
}

/// Where fish looks for completions, if it is used.
fn fish_file(environment: &ProcessEnvironment) -> Option<PathBuf> {
    let folder = environment.home()?.join(".config/fish");
    folder.is_dir().then(|| folder.join("completions/plumb.fish"))
}

/// `-install-autocomplete`: has the shells that are in use load completions.
pub(super) fn install(environment: &ProcessEnvironment) -> u8 {
    let mut done = Vec::new();
    for (path, shell) in startup_files(environment) {
        let line = startup_line(shell);
        done.push(change(&path, |text| match text.lines().any(|present| present == line) {
            true => None,
            false if text.is_empty() || text.ends_with('\n') => Some(format!("{text}{line}\n")),
            false => Some(format!("{text}\n{line}\n")),
        }));
    }
    if let Some(path) = fish_file(environment) {
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        done.push(written.and_then(|()| std::fs::write(&path, FISH)).map(|()| path));
    }
    told(done, "completes commands of plumb in new shells")
}

/// `-uninstall-autocomplete`: takes that back.
pub(super) fn uninstall(environment: &ProcessEnvironment) -> u8 {
    let mut done = Vec::new();
    for (path, shell) in startup_files(environment) {
        let line = startup_line(shell);
        done.push(change(&path, |text| {
            let kept: String =
                text.split_inclusive('\n').filter(|l| l.trim_end() != line).collect();
            (kept != text).then_some(kept)
        }));
    }
    if let Some(path) = fish_file(environment).filter(|path| path.is_file()) {
        done.push(std::fs::remove_file(&path).map(|()| path));
    }
    told(done, "no longer completes commands of plumb")
}

/// Writes a file anew where there is something to change.
fn change(path: &Path, edit: impl FnOnce(&str) -> Option<String>) -> io::Result<PathBuf> {
    if let Some(text) = edit(&std::fs::read_to_string(path)?) {
        std::fs::write(path, text)?;
    }
    Ok(path.to_owned())
}

fn told(done: Vec<io::Result<PathBuf>>, what: &str) -> u8 {
    if done.is_empty() {
        to_stderr(
            "There is no .bashrc, .zshrc or .config/fish in the home directory. See: plumb completions -help\n",
        );
        return 1;
    }
    let mut code = 0;
    for result in done {
        match result {
            Ok(path) => {
                let _ = writeln!(io::stdout(), "{} {what}.", path.display());
            }
            Err(error) => {
                to_stderr(&format!("A startup file of a shell could not be changed: {error}.\n"));
                code = 1;
            }
        }
    }
    code
}

/// Prints what may stand at the end of a line, one candidate a line, with a word about it behind a tab. A
/// line with a colon in front says what else the shell may offer.
pub(super) async fn complete(line: &str, environment: ProcessEnvironment) -> u8 {
    let mut before = words(line);
    // Behind a blank, a new word begins.
    let current = match line.ends_with(char::is_whitespace) && !line.ends_with("\\ ") {
        true => String::new(),
        false => before.pop().unwrap_or_default(),
    };
    let answer = Place::of(before.get(1..).unwrap_or_default(), &current);
    let mut out = String::new();
    for (candidate, about) in &answer.offered {
        match about.is_empty() {
            true => out.push_str(&format!("{candidate}\n")),
            false => out.push_str(&format!("{candidate}\t{about}\n")),
        }
    }
    let (front, typed) = answer.typed;
    let more = match answer.kind {
        Candidates::None => Vec::new(),
        Candidates::Files => vec![":files".to_owned()],
        Candidates::Directories => vec![":directories".to_owned()],
        Candidates::Words(words) => words.iter().map(|word| format!("{front}{word}")).collect(),
        kind => {
            let found =
                tokio::time::timeout(PATIENCE, recorded(kind, answer.invocation, environment));
            let found = found.await.ok().flatten().unwrap_or_default();
            found.into_iter().map(|name| format!("{front}{name}")).collect()
        }
    };
    let wanted = format!("{front}{typed}");
    for candidate in more.iter().filter(|c| c.starts_with(':') || c.starts_with(&wanted)) {
        out.push_str(candidate);
        out.push('\n');
    }
    let _ = io::stdout().write_all(out.as_bytes());
    0
}

/// What stands where the cursor is.
#[derive(Default)]
struct Place {
    /// Words with something about each.
    offered: Vec<(String, &'static str)>,
    kind: Candidates,
    /// Of the current word, what a candidate keeps in front, and what was typed of it.
    typed: (String, String),
    invocation: Invocation,
}

impl Place {
    fn of(before: &[String], current: &str) -> Place {
        let mut place = Place { typed: (String::new(), current.to_owned()), ..Place::default() };
        let mut before = before.iter().map(String::as_str).peekable();
        while let Some(flag) = before.next_if(|word| word.starts_with('-')) {
            match flag.trim_start_matches('-').split_once('=') {
                Some(("chdir", directory)) => place.invocation.directory = Some(directory.into()),
                Some(("estate", name)) => place.invocation.estate = Some(name.to_owned()),
                _ => {}
            }
        }
        let Some(first) = before.next() else {
            match current.starts_with('-') {
                true => place.flags(GLOBAL.iter()),
                false => place.commands(""),
            }
            return place;
        };
        let mut name = vec![first.to_owned()];
        if command_table::is_group(first) {
            match before.next_if(|word| !word.starts_with('-')) {
                Some(second) => name.push(second.to_owned()),
                None => place.commands(&format!("{first} ")),
            }
        }
        if let Some(command) = command_table::command(&name) {
            place.arguments(command, &before.collect::<Vec<_>>());
        }
        place
    }

    /// The next words of commands that begin with these.
    fn commands(&mut self, words: &str) {
        let mut seen = BTreeSet::new();
        for command in command_table::commands() {
            let Some(rest) = command.name.strip_prefix(words) else { continue };
            let (word, about) = match rest.split_once(' ') {
                Some((group, _)) => (group, ""),
                None => (rest, command.does),
            };
            if word.starts_with(&self.typed.1) && seen.insert(word) {
                self.offered.push((word.to_owned(), about));
            }
        }
    }

    fn arguments(&mut self, command: &'static Command, before: &[&str]) {
        let takes_value = |word: &str| {
            let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
            command.flags().find(|entry| {
                entry.flag.name() == name
                    && matches!(entry.flag, Flag::Value(_) | Flag::IgnoredValue(_))
            })
        };
        if let Some(entry) = before.last().and_then(|word| takes_value(word)) {
            self.kind = entry.takes;
            return;
        }
        if self.typed.1.starts_with('-') {
            return self.flags(command.flags());
        }
        let mut count = 0;
        let mut words = before.iter();
        while let Some(word) = words.next() {
            match word.starts_with('-') && *word != "-" {
                true if takes_value(word).is_some() => {
                    words.next();
                }
                true => {}
                false => count += 1,
            }
        }
        let kinds = command.arguments;
        self.kind = kinds.get(count).or(kinds.last()).copied().unwrap_or_default();
    }

    fn flags(&mut self, mut flags: impl Iterator<Item = &'static FlagEntry>) {
        let typed = self.typed.1.clone();
        if let Some((name, value)) = typed.split_once('=') {
            let found = flags.find(|entry| name.trim_start_matches('-') == entry.flag.name());
            self.typed = (format!("{name}="), value.to_owned());
            self.kind = found
                .map(|entry| match entry.flag {
                    Flag::Switch(_) => Candidates::Words(&["true", "false"]),
                    _ => entry.takes,
                })
                .unwrap_or_default();
            return;
        }
        for entry in flags.filter(|entry| !entry.says.is_empty()) {
            let name = match (entry.flag, entry.written) {
                (Flag::Value(name), _) => format!("-{name}="),
                (flag, "") => format!("-{}", flag.name()),
                (flag, written) => format!("-{}={written}", flag.name()),
            };
            if name.starts_with(&typed) {
                self.offered.push((name, entry.says));
            }
        }
    }
}

/// Names in the records. Where they cannot be read, nothing is offered, and nothing said.
async fn recorded(
    kind: Candidates,
    invocation: Invocation,
    environment: ProcessEnvironment,
) -> Option<Vec<String>> {
    let session = Session::begin(&invocation, environment, Speech::default()).ok()?;
    if kind == Candidates::Workspaces {
        let names = super::workspace::existing(&session).await.ok()?;
        return Some(names.into_iter().collect());
    }
    let (estate, _) = session.estate(Opening::Existing).await.ok()??;
    let state = estate.read().await.ok()?.state;
    Some(match kind {
        Candidates::Outputs => state.outputs.keys().map(ToString::to_string).collect(),
        _ => state.instances.keys().map(ToString::to_string).collect(),
    })
}
