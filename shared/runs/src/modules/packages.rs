//! Packages fetched, each in its own way.

use super::address::{PackageAddress, PackageUrl, Way, masked, problem_of};
use super::checksum::Checksum;
use super::error::PackageError;
use super::folder::{self, LeftOut};
use super::git::GitProgram;
use super::http;
use super::objects::{ModuleObjects, ObjectLocation};
use crate::bundle::{ArchiveLayout, Bounds, BundleFiles};
use bytes::Bytes;
use language::module::RemoteModule;
use providers::https::{Https, HttpsError};
use providers::services::Services;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of an archive as it comes, which are held in memory.
const LARGEST_ARCHIVE: u64 = 128 << 20;
/// How often one server may name the next.
const REDIRECTIONS: usize = 10;

/// What modules may be fetched from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Networks, and this machine's own files: the configuration is this machine's user's.
    Everything,
    /// Networks alone, since whoever may push chooses the addresses.
    Networks,
}

/// Clients of networks, asked for when the first package needs them: a configuration that calls local paths alone needs none.
pub trait PackageClients: Send + Sync {
    /// The services of hosts, of which registries are one.
    ///
    /// # Errors
    /// Where they cannot be used.
    fn services(&self) -> Result<Arc<Services>, PackageError>;
    /// The client for archives.
    ///
    /// # Errors
    /// Where there is none.
    fn https(&self) -> Result<Arc<dyn Https>, PackageError>;
}

/// Clients that are at hand.
pub struct ReadyClients {
    /// The services of hosts.
    pub services: Arc<Services>,
    /// The client for archives.
    pub https: Arc<dyn Https>,
}

impl PackageClients for ReadyClients {
    fn services(&self) -> Result<Arc<Services>, PackageError> {
        Ok(self.services.clone())
    }
    fn https(&self) -> Result<Arc<dyn Https>, PackageError> {
        Ok(self.https.clone())
    }
}

/// Where packages come from.
pub struct PackageSources<'a> {
    /// Clients of networks.
    pub clients: Box<dyn PackageClients + 'a>,
    /// Packages in S3.
    pub objects: Arc<dyn ModuleObjects>,
    /// The git program, where there is one.
    pub git: Option<GitProgram>,
    /// What addresses may lead to.
    pub reach: Reach,
    /// What a package may hold.
    pub bounds: Bounds,
}

/// What unpacks an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArchiveFormat {
    TarGz,
    Zip,
}

/// The formats that Terraform knows, by the ends of names; longer ones come first.
const FORMATS: [(&str, Result<ArchiveFormat, Unusable>); 11] = [
    ("tar.tbz2", Err(Unusable::Format("tar.bz2"))),
    ("tar.bz2", Err(Unusable::Format("tar.bz2"))),
    ("tar.gz", Ok(ArchiveFormat::TarGz)),
    ("tar.xz", Err(Unusable::Format("tar.xz"))),
    ("tgz", Ok(ArchiveFormat::TarGz)),
    ("txz", Err(Unusable::Format("tar.xz"))),
    ("tbz2", Err(Unusable::Format("tar.bz2"))),
    ("zip", Ok(ArchiveFormat::Zip)),
    ("bz2", Err(Unusable::SingleFile("bzip2"))),
    ("gz", Err(Unusable::SingleFile("gzip"))),
    ("xz", Err(Unusable::SingleFile("xz"))),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unusable {
    Format(&'static str),
    SingleFile(&'static str),
}

/// What the address says of an archive; it is then no longer part of the URL.
///
/// # Errors
/// Where nothing unpacks it.
fn archive_format(url: &mut PackageUrl) -> Result<Option<ArchiveFormat>, PackageError> {
    let named = url.take("archive").filter(|value| !value.is_empty());
    let path = url.path.clone();
    let format = match &named {
        Some(value) => FORMATS.iter().find(|(name, _)| name == value),
        None => FORMATS
            .iter()
            .find(|(name, _)| path.strip_suffix(name).is_some_and(|before| before.ends_with('.'))),
    };
    match format {
        None => Ok(None),
        Some((_, Ok(format))) => Ok(Some(*format)),
        Some((_, Err(Unusable::Format(format)))) => Err(PackageError::ArchiveFormat { format }),
        Some((_, Err(Unusable::SingleFile(format)))) => Err(PackageError::SingleFile { format }),
    }
}

/// What was at an address.
enum Fetched {
    /// A package, with the links that were left out of it.
    Package(LeftOut),
    /// The address of another one.
    Named(String),
}

impl PackageSources<'_> {
    /// Fetches a package into a folder that does not exist, named by an absolute path.
    ///
    /// # Errors
    /// Where it cannot be had, or is refused.
    pub(super) async fn fetch(&self, package: &str, to: &Path) -> Result<LeftOut, PackageError> {
        let address = PackageAddress::parse(package)?;
        let mut url = address.url.clone();
        let is_archive = address.way != Way::Git && archive_format(&mut url)?.is_some();
        let fetched = self.follow(package, to).await;
        fetched.map_err(|source| match is_archive {
            true => source,
            false => PackageError::Folder { url: url.to_string(), source: source.into() },
        })
    }

    async fn follow(&self, package: &str, to: &Path) -> Result<LeftOut, PackageError> {
        let mut package = package.to_owned();
        // Paths that servers named inside the packages of the servers that they named.
        let mut inside: Vec<String> = Vec::new();
        let mut reach = self.reach;
        for _ in 0..=REDIRECTIONS {
            let address = PackageAddress::parse(&package)?;
            self.check_reach(&address, reach)?;
            let named = match self.fetch_one(address, to).await? {
                Fetched::Named(named) => named,
                Fetched::Package(mut left_out) => {
                    left_out.extend(self.narrow(to, &inside)?);
                    return Ok(left_out);
                }
            };
            let module = RemoteModule::parse(&named).map_err(|error| {
                PackageError::InvalidSource { address: masked(&named), problem: problem_of(&error) }
            })?;
            if !module.subdirectory.is_empty() {
                inside.push(module.subdirectory.to_string());
            }
            package = module.package.to_string();
            // A server's word is no user's of this machine.
            reach = Reach::Networks;
        }
        Err(PackageError::TooManyRedirects { count: REDIRECTIONS + 1 })
    }

    /// Whether an address leads where it may.
    ///
    /// # Errors
    /// Where it does not.
    pub(super) fn check_remote(&self, package: &str) -> Result<(), PackageError> {
        self.check_reach(&PackageAddress::parse(package)?, Reach::Networks)
    }

    fn check_reach(&self, address: &PackageAddress, reach: Reach) -> Result<(), PackageError> {
        let is_file = address.way == Way::File || address.url.scheme == "file";
        // What a server on this machine names may well be on this machine: tests and mirrors are.
        let is_loopback = self.reach == Reach::Networks && address.url.is_loopback();
        if reach == Reach::Networks && (is_file || is_loopback) {
            return Err(PackageError::ThisMachine { address: address.url.to_string() });
        }
        // The clients of the other ways refuse that themselves.
        let is_clear = address.way == Way::S3 && address.url.scheme != "https";
        match self.reach == Reach::Networks && is_clear {
            true => Err(HttpsError::Insecure(address.url.host.clone()).into()),
            false => Ok(()),
        }
    }

    /// Fetches what is at one address.
    async fn fetch_one(&self, address: PackageAddress, to: &Path) -> Result<Fetched, PackageError> {
        let PackageAddress { way, mut url } = address;
        let checksum = url.take("checksum").filter(|text| !text.is_empty());
        let checksum = checksum.map(|text| Checksum::parse(&text)).transpose()?;
        let format = match way {
            Way::Git => {
                url.take("archive");
                None
            }
            _ => archive_format(&mut url)?,
        };
        if let Some(format) = format {
            let archive = self.archive(way, &url).await?;
            if let Some(checksum) = checksum {
                checksum.verify(&archive, &url.to_string())?;
            }
            let files = unpack(format, &archive, self.bounds)?;
            files.write_to(to)?;
            return Ok(Fetched::Package(files.left_out().to_vec()));
        }
        if checksum.is_some() {
            return Err(PackageError::InvalidChecksum {
                problem: "checksum cannot be specified for directory download".to_owned(),
            });
        }
        let left_out = match way {
            Way::Http => {
                let named = http::named_address(&*self.clients.https()?, &url).await?;
                return Ok(Fetched::Named(named));
            }
            Way::Git => {
                let git = self.git.as_ref().ok_or(PackageError::NoGit)?;
                git.clone(&url, to, self.reach).await?;
                LeftOut::new()
            }
            Way::S3 => {
                self.objects_under(&url).await?.write_to(to)?;
                LeftOut::new()
            }
            Way::File => {
                let from = PathBuf::from(url.unescaped_path());
                match fs::metadata(&from) {
                    Ok(metadata) if metadata.is_dir() => {}
                    Ok(_) => {
                        return Err(PackageError::SourcePath("it must be a directory".to_owned()));
                    }
                    Err(error) => {
                        let problem = format!("{}: {error}", from.display());
                        return Err(PackageError::SourcePath(problem));
                    }
                }
                folder::copy(&from, to, self.bounds)?
            }
        };
        Ok(Fetched::Package(left_out))
    }

    async fn archive(&self, way: Way, url: &PackageUrl) -> Result<Bytes, PackageError> {
        match way {
            Way::S3 => self.objects.get(&ObjectLocation::of(url)?, LARGEST_ARCHIVE).await,
            Way::File => {
                let path = url.unescaped_path();
                let length = fs::metadata(&path).map(|metadata| metadata.len());
                let content = length.and_then(|length| match length > LARGEST_ARCHIVE {
                    true => Err(std::io::ErrorKind::FileTooLarge.into()),
                    false => fs::read(&path),
                });
                let content =
                    content.map_err(|e| PackageError::SourcePath(format!("{path}: {e}")))?;
                Ok(content.into())
            }
            Way::Http | Way::Git => http::get(&*self.clients.https()?, url, LARGEST_ARCHIVE).await,
        }
    }

    /// All objects under a prefix, as a folder's files.
    async fn objects_under(&self, url: &PackageUrl) -> Result<BundleFiles, PackageError> {
        let location = ObjectLocation::of(url)?;
        let limit = usize::try_from(self.bounds.entries).unwrap_or(usize::MAX);
        let keys = self.objects.list(&location, limit).await?;
        let mut files = Vec::new();
        let mut left = self.bounds.bytes;
        let prefix = match location.key.ends_with('/') {
            true => location.key.clone(),
            false => format!("{}/", location.key),
        };
        for key in keys {
            // Keys that end so stand for folders.
            let Some(path) = key.strip_prefix(&prefix).filter(|path| !path.ends_with('/')) else {
                continue;
            };
            if path.is_empty() {
                continue;
            }
            let content = self.objects.get(&location.with_key(&key), left).await?;
            left = left.saturating_sub(content.len() as u64);
            files.push((path.to_owned(), content));
        }
        if files.is_empty() {
            return Err(PackageError::Objects(format!(
                "there is no object under {:?} in the bucket {:?}",
                location.key, location.bucket
            )));
        }
        Ok(BundleFiles::from_entries(files, self.bounds)?)
    }

    /// Makes the path inside a package that a server named the package.
    fn narrow(&self, to: &Path, inside: &[String]) -> Result<LeftOut, PackageError> {
        let mut left_out = LeftOut::new();
        for path in inside.iter().rev() {
            let found = folder::subdirectory(to, path)?;
            let failed = |source| PackageError::Files { path: to.display().to_string(), source };
            let mut aside = to.as_os_str().to_owned();
            aside.push(".inside");
            let aside = PathBuf::from(aside);
            folder::remove(&aside).map_err(failed)?;
            fs::rename(to, &aside).map_err(failed)?;
            left_out.extend(folder::copy(&aside.join(found), to, self.bounds)?);
            folder::remove(&aside).map_err(failed)?;
        }
        left_out.extend(folder::remove_links_out(to, self.bounds)?);
        Ok(left_out)
    }
}

fn unpack(
    format: ArchiveFormat,
    archive: &[u8],
    bounds: Bounds,
) -> Result<BundleFiles, PackageError> {
    Ok(match format {
        ArchiveFormat::TarGz => BundleFiles::from_archive(archive, ArchiveLayout::Plain, bounds)?,
        ArchiveFormat::Zip => BundleFiles::from_zip(archive, bounds)?,
    })
}
