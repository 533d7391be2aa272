//! Finding and reading test files, and the files of mock data that they name.

use std::path::Path;
use std::sync::Arc;

use super::super::decoder::Decoder;
use super::super::manifest::join;
use super::TestFile;
use super::decode::{Decoded, MockSource};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::files::{FileKind, FileSystem};
use crate::source::{FileId, Sources};
use crate::syntax::ast::Body;
use crate::syntax::{parse_body, parse_json_body};

/// Where test files are, beside those in the root module's directory.
pub const DEFAULT_DIRECTORY: &str = "tests";

/// Reads the test files in the root module's directory and in `directory`, a path relative to it, in the order of their
/// names. Warns where there is no such directory, unless it is the one that nobody has to name.
pub fn load(
    files: &dyn FileSystem,
    directory: &str,
    sources: &Sources,
) -> (Vec<TestFile>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut names = names(files, Path::new("."));
    let inner = join(Path::new(""), directory);
    let directory_exists = matches!(files.kind(&shown(&inner)), Ok(FileKind::Directory));
    if directory_exists && !inner.as_os_str().is_empty() {
        let within = self::names(files, &inner);
        let prefix = inner.to_string_lossy().replace('\\', "/");
        names.extend(within.into_iter().map(|name| format!("{prefix}/{name}")));
    }
    if !directory_exists && directory != DEFAULT_DIRECTORY {
        diagnostics.push(Diagnostic::warning(
            "Test directory does not exist",
            format!("Requested test directory {directory} does not exist."),
        ));
    }
    names.sort();
    let mut found = Vec::new();
    for name in names {
        found.extend(read(files, &name, sources, &mut diagnostics));
    }
    (found, diagnostics)
}

fn shown(directory: &Path) -> std::path::PathBuf {
    match directory.as_os_str().is_empty() {
        true => ".".into(),
        false => directory.into(),
    }
}

fn names(files: &dyn FileSystem, directory: &Path) -> Vec<String> {
    let entries = files.read_directory(directory).unwrap_or_default();
    entries
        .into_iter()
        .filter(|entry| entry.kind != FileKind::Directory)
        .filter_map(|entry| entry.name.into_string().ok())
        .filter(|name| is_test(name))
        .collect()
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}

fn is_test(name: &str) -> bool {
    !is_hidden(name) && (name.ends_with(".tftest.hcl") || name.ends_with(".tftest.json"))
}

fn is_mock(name: &str) -> bool {
    !is_hidden(name) && (name.ends_with(".tfmock.hcl") || name.ends_with(".tfmock.json"))
}

fn read(
    files: &dyn FileSystem,
    name: &str,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) -> Option<TestFile> {
    let (_, body) = parse(files, name, sources, diagnostics)?;
    let mut decoder = Decoder::new(sources, false);
    let Decoded { mut file, sources: mocks } = decoder.test_file(body);
    file.name = name.into();
    for mock in mocks {
        add_mock_data(files, &mut decoder, &mut file, &mock);
    }
    diagnostics.extend(decoder.diagnostics);
    Some(file)
}

fn parse(
    files: &dyn FileSystem,
    name: &str,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) -> Option<(FileId, Body)> {
    let Ok(text) = files.read(Path::new(name)) else {
        diagnostics.push(Diagnostic::error(
            "Failed to read file",
            format!("The file \"{name}\" could not be read."),
        ));
        return None;
    };
    let file = sources.add(Arc::<str>::from(name), text);
    let (body, more) = match name.ends_with(".json") {
        true => parse_json_body(sources, file),
        false => parse_body(sources, file),
    };
    diagnostics.extend(more);
    Some((file, body))
}

/// Adds what the files in a directory mock; what the block itself says counts.
fn add_mock_data(
    files: &dyn FileSystem,
    decoder: &mut Decoder<'_>,
    file: &mut TestFile,
    source: &MockSource,
) {
    let directory = join(Path::new(""), &source.directory);
    let Some(provider) = file.providers.get_mut(&source.provider) else { return };
    let Ok(entries) = files.read_directory(&shown(&directory)) else {
        decoder.error(
            "Failed to read mock data directory",
            format!("Mock data directory {} does not exist or cannot be read.", source.directory),
            provider.config.span,
        );
        return;
    };
    let Some(mock) = &mut provider.mock else { return };
    let mut names: Vec<String> = entries
        .into_iter()
        .filter(|entry| entry.kind != FileKind::Directory)
        .filter_map(|entry| entry.name.into_string().ok())
        .filter(|name| is_mock(name))
        .collect();
    names.sort();
    for name in names {
        let path = directory.join(name).to_string_lossy().replace('\\', "/");
        let mut problems = Diagnostics::new();
        let parsed = parse(files, &path, decoder.sources, &mut problems);
        decoder.diagnostics.extend(problems);
        let Some((_, body)) = parsed else { continue };
        let data = decoder.mock_file(body, source.known_in_plan).mock;
        for (ty, values) in data.resources {
            mock.resources.entry(ty).or_insert(values);
        }
        for (ty, values) in data.data {
            mock.data.entry(ty).or_insert(values);
        }
        for found in data.overrides {
            if !mock.overrides.iter().any(|known| known.target == found.target) {
                mock.overrides.push(found);
            }
        }
    }
}
