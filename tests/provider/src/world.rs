use rustix::fs::fsync;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use values::{Type, Value};

/// Name of the log of calls in the folder.
pub const CALLS: &str = "calls.log";

/// The folder that stands for the real world.
#[derive(Clone, Debug)]
pub struct World {
    folder: PathBuf,
}

/// One line of the log of calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedCall {
    /// `plan`, `create`, `update`, `delete`, `read`, `configure`, ...
    pub call: String,
    /// Resource type or data source.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
    /// The object's name, or else its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// `started`, `finished` or `failed`.
    pub phase: String,
    /// What a write-only attribute says, at the end of the change that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// What the module that uses the provider calls itself, at the end of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Process that served it.
    pub pid: u32,
}

impl World {
    /// The world in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn open(folder: impl Into<PathBuf>) -> io::Result<World> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder)?;
        Ok(World { folder })
    }

    /// The file of an object.
    pub fn file(&self, ty: &str, id: &str) -> PathBuf {
        self.folder.join(ty).join(format!("{id}.json"))
    }

    /// Writes an object: all of it or nothing.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write(&self, ty: &str, id: &str, object: &Value, object_type: &Type) -> io::Result<()> {
        let json = values::json::to_json(object, object_type).map_err(io::Error::other)?;
        let file = self.file(ty, id);
        std::fs::create_dir_all(file.parent().unwrap_or(&self.folder))?;
        let temporary = file.with_extension(format!("tmp{}", std::process::id()));
        let mut out = File::create(&temporary)?;
        out.write_all(json.as_bytes())?;
        fsync(&out)?;
        std::fs::rename(temporary, file)
    }

    /// Reads an object; `None` where there is none.
    ///
    /// # Errors
    /// Where it cannot be read as one of the type.
    pub fn read(&self, ty: &str, id: &str, object_type: &Type) -> io::Result<Option<Value>> {
        match std::fs::read(self.file(ty, id)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
            Ok(json) => {
                values::json::from_json(&json, object_type).map(Some).map_err(io::Error::other)
            }
        }
    }

    /// The id that belongs to a request token: the one that was given first.
    ///
    /// # Errors
    /// Where the token cannot be kept.
    pub fn id_of_token(&self, token: &str, new: &str) -> io::Result<String> {
        let file = self.folder.join("tokens").join(token);
        std::fs::create_dir_all(file.parent().unwrap_or(&self.folder))?;
        match OpenOptions::new().write(true).create_new(true).open(&file) {
            Ok(mut out) => {
                out.write_all(new.as_bytes())?;
                fsync(&out)?;
                Ok(new.to_owned())
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => std::fs::read_to_string(file),
            Err(e) => Err(e),
        }
    }

    /// The id that belongs to a request token; `None` where nobody has used it.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn id_with_token(&self, token: &str) -> io::Result<Option<String>> {
        match std::fs::read_to_string(self.folder.join("tokens").join(token)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            id => id.map(Some),
        }
    }

    /// Notes that an object is whole from now plus this on.
    ///
    /// # Errors
    /// Where that cannot be noted.
    pub fn ripen(&self, id: &str, after: Duration) -> io::Result<()> {
        let file = self.folder.join("ripe").join(id);
        std::fs::create_dir_all(file.parent().unwrap_or(&self.folder))?;
        std::fs::write(file, (since_the_epoch() + after).as_millis().to_string())
    }

    /// How long it takes until an object is whole.
    ///
    /// # Errors
    /// Where that cannot be read.
    pub fn until_ripe(&self, id: &str) -> io::Result<Duration> {
        match std::fs::read_to_string(self.folder.join("ripe").join(id)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Duration::ZERO),
            ripe => {
                let ripe = ripe?.parse().map(Duration::from_millis).map_err(io::Error::other)?;
                Ok(ripe.saturating_sub(since_the_epoch()))
            }
        }
    }

    /// Removes an object, if it is there.
    ///
    /// # Errors
    /// Where it cannot be removed.
    pub fn remove(&self, ty: &str, id: &str) -> io::Result<()> {
        match std::fs::remove_file(self.file(ty, id)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    /// Ids of all objects of a type, in order.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn ids(&self, ty: &str) -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(self.folder.join(ty)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut ids = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "json") {
                ids.extend(path.file_stem().map(|s| s.to_string_lossy().into_owned()));
            }
        }
        ids.sort();
        Ok(ids)
    }

    /// Appends to the log of calls.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn log(&self, call: &LoggedCall) -> io::Result<()> {
        let mut line = serde_json::to_vec(call)?;
        line.push(b'\n');
        let path = self.folder.join(CALLS);
        let mut log = OpenOptions::new().append(true).create(true).open(path)?;
        // One write, so that lines of several processes do not mix.
        log.write_all(&line)?;
        fsync(&log)?;
        Ok(())
    }

    /// The log of calls so far.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn calls(&self) -> io::Result<Vec<LoggedCall>> {
        let text = match std::fs::read_to_string(self.folder.join(CALLS)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            text => text?,
        };
        text.lines().map(|l| serde_json::from_str(l).map_err(io::Error::other)).collect()
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

fn since_the_epoch() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
