//! Functions over paths, and over the files that come with the configuration.

use super::arguments::{hidden, quoted_unless_marked, text};
use super::call::{CallError, Function, Parameter, ParameterType};
use super::{FunctionContext, glob, hashing};
use crate::files::FileKind;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io;
use std::path::{Component, Path, PathBuf};
use values::quote::quoted;
use values::{Marks, Type, Value};

const PATH: Parameter = Parameter::string("path");

macro_rules! digest {
    ($name:literal, $what:literal, $digest:path) => {
        Function::new(
            $name,
            concat!($what, " of the content of a file."),
            &[PATH],
            ParameterType::String,
            |c, a, _| {
                let path = expand(c, text(a, 0)).map_err(CallError::other)?;
                let content =
                    c.files.read(&path).map_err(|e| CallError::other(failure(&path, &e)))?;
                Ok(Value::string($digest(&content)))
            },
        )
    };
}

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "abspath",
        "A path as an absolute one.",
        &[PATH],
        ParameterType::String,
        |c, a, _| Ok(path_value(&clean(&c.working_directory.join(text(a, 0))))),
    ),
    Function::new(
        "basename",
        "The last part of a path.",
        &[PATH],
        ParameterType::String,
        |_, a, _| Ok(Value::string(base_name(text(a, 0)))),
    ),
    Function::new(
        "dirname",
        "A path without its last part.",
        &[PATH],
        ParameterType::String,
        |_, a, _| {
            let path = text(a, 0);
            let directory = path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or_default();
            Ok(path_value(&clean(Path::new(directory))))
        },
    ),
    Function::new(
        "file",
        "The content of a file, which must be UTF-8.",
        &[PATH.marked_even_unknown()],
        ParameterType::String,
        file,
    ),
    Function::new(
        "filebase64",
        "The content of a file, in Base64.",
        &[PATH.marked_even_unknown()],
        ParameterType::String,
        |c, a, _| {
            let (content, marks) = read(c, a)?;
            Ok(Value::string(STANDARD.encode(content)).with_marks(marks))
        },
    ),
    digest!("filebase64sha256", "The SHA-256 digest in Base64", hashing::base64_sha256),
    digest!("filebase64sha512", "The SHA-512 digest in Base64", hashing::base64_sha512),
    Function::new(
        "fileexists",
        "Whether a file exists at a path.",
        &[PATH.marked_even_unknown()],
        ParameterType::Bool,
        fileexists,
    ),
    digest!("filemd5", "The MD5 digest", hashing::md5),
    Function::new(
        "fileset",
        "The files below a path whose names match a pattern.",
        &[PATH.marked_even_unknown(), Parameter::string("pattern").marked_even_unknown()],
        ParameterType::SetOfString,
        fileset,
    ),
    digest!("filesha1", "The SHA-1 digest", hashing::sha1),
    digest!("filesha256", "The SHA-256 digest", hashing::sha256),
    digest!("filesha512", "The SHA-512 digest", hashing::sha512),
    Function::new(
        "pathexpand",
        "A path with the home directory for a leading `~`.",
        &[PATH],
        ParameterType::String,
        |c, a, _| match expand_home(c, text(a, 0)).map_err(CallError::other)? {
            Some(path) => Ok(path_value(&path)),
            None => Ok(Value::string(text(a, 0))),
        },
    ),
];

fn path_value(path: &Path) -> Value {
    Value::string(path.to_string_lossy())
}

/// The shortest path that means the same by name; `.` where nothing is left.
fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match (component, out.components().next_back()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                out.pop();
            }
            (Component::ParentDir, Some(Component::RootDir)) => {}
            (component, _) => out.push(component),
        }
    }
    if out.as_os_str().is_empty() { PathBuf::from(".") } else { out }
}

fn base_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match (path, trimmed) {
        ("", _) => ".",
        (_, "") => "/",
        (_, trimmed) => trimmed.rsplit('/').next().unwrap_or(trimmed),
    }
}

/// The path behind a leading `~`, if there is one.
fn expand_home(context: &FunctionContext<'_>, path: &str) -> Result<Option<PathBuf>, String> {
    let Some(below) = path.strip_prefix('~') else { return Ok(None) };
    if !below.is_empty() && !below.starts_with(['/', '\\']) {
        return Err("cannot expand user-specific home dir".into());
    }
    match context.home_directory {
        Some(home) => Ok(Some(clean(&home.join(below.trim_start_matches('/'))))),
        None => Err("the home directory is not known".into()),
    }
}

/// Where a path of the configuration leads: relative to its module.
fn expand(context: &FunctionContext<'_>, path: &str) -> Result<PathBuf, String> {
    let expanded = expand_home(context, path).map_err(|e| format!("failed to expand ~: {e}"))?;
    let path = expanded.unwrap_or_else(|| PathBuf::from(path));
    Ok(clean(&context.base_directory.join(path)))
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "is a directory".into(),
        io::ErrorKind::NotADirectory => "not a directory".into(),
        _ => error.to_string(),
    }
}

/// What went wrong with a file. A directory can be opened, and cannot be read.
fn failure(path: &Path, error: &io::Error) -> String {
    let attempt = match error.kind() {
        io::ErrorKind::IsADirectory => "read",
        _ => "open",
    };
    format!("{attempt} {}: {}", path.display(), reason(error))
}

/// The content of the file that the first argument names, and the argument's marks.
fn read(context: &FunctionContext<'_>, a: &[Value]) -> Result<(Vec<u8>, Marks), CallError> {
    let marks = a.first().map(Value::marks).unwrap_or_default();
    let refuse = |message: String| CallError::argument(0, message);
    let path = expand(context, text(a, 0)).map_err(refuse)?;
    let content = context.files.read(&path).map_err(|error| {
        refuse(match (error.kind(), hidden(marks)) {
            (io::ErrorKind::NotFound, _) => format!(
                "no file exists at {}; this function works only with files that are distributed as part of the configuration source code, so if this file will be created by a resource in this configuration you must instead obtain this result from an attribute of that resource",
                quoted_unless_marked(text(a, 0), marks)
            ),
            (_, Some(hidden)) => format!("failed to read file: {hidden}: {}", reason(&error)),
            (io::ErrorKind::IsADirectory, None) => {
                format!("failed to read file: {}", failure(&path, &error))
            }
            (_, None) => failure(&path, &error),
        })
    })?;
    Ok((content, marks))
}

fn file(context: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let (content, marks) = read(context, a)?;
    let content = String::from_utf8(content).map_err(|_| {
        CallError::other(format!(
            "contents of {} are not valid UTF-8; use the filebase64 function to obtain the Base64 encoded contents or the other file functions (e.g. filemd5, filesha256) to obtain file hashing results instead",
            quoted_unless_marked(text(a, 0), marks)
        ))
    })?;
    Ok(Value::string(content).with_marks(marks))
}

fn fileexists(context: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let marks = a.first().map(Value::marks).unwrap_or_default();
    let path = expand(context, text(a, 0)).map_err(CallError::other)?;
    let shown = || quoted_unless_marked(&path.to_string_lossy(), marks);
    let exists = match context.files.kind(&path) {
        Ok(FileKind::File) => true,
        Ok(FileKind::Directory) => {
            return Err(CallError::other(format!("{} is a directory, not a file", shown())));
        }
        Ok(FileKind::Other) => {
            return Err(CallError::other(format!("{} is not a regular file", shown())));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(_) => return Err(CallError::other(format!("failed to stat {}", shown()))),
    };
    Ok(Value::bool(exists).with_marks(marks))
}

fn fileset(context: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let marks = a.iter().fold(Marks::NONE, |m, v| m | v.marks());
    let base = clean(&context.base_directory.join(text(a, 0)));
    let found = glob::files(context.files, &base, text(a, 1)).map_err(|error| {
        let whole = base.join(text(a, 1));
        let shown = hidden(marks).map_or_else(|| quoted(&whole.to_string_lossy()), str::to_owned);
        CallError::other(format!("failed to glob pattern {shown}: {error}"))
    })?;
    let names = found.iter().map(|path| path_value(path)).collect();
    Ok(Value::set(Type::String, names).with_marks(marks))
}
