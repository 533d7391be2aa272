use super::hash::PackageHash;
use super::settings::{InvalidSettings, Settings};
use super::version::{Version, VersionConstraints};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use values::address::ProviderAddress;

/// The dependency lock file, `.terraform.lock.hcl`: which version of each provider was selected,
/// and which packages of it are the ones that were seen then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locks(pub BTreeMap<ProviderAddress, ProviderLock>);

/// What is locked of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderLock {
    /// The selected version.
    pub version: Version,
    /// The constraints that it was selected for.
    pub constraints: VersionConstraints,
    /// Its packages' checksums, for any number of platforms.
    pub hashes: BTreeSet<PackageHash>,
}

impl Locks {
    /// Name of the file, beside the configuration.
    pub const FILE: &str = ".terraform.lock.hcl";

    /// Reads a lock file.
    ///
    /// # Errors
    /// Where it is not one, with the line.
    pub fn parse(name: &str, text: &[u8]) -> Result<Locks, InvalidSettings> {
        let file = Settings::parse(name, text)?;
        if let Some(attribute) = file.body.attributes.first() {
            return Err(file.error(
                attribute.span,
                format!("{} is unexpected in a dependency lock file", attribute.name),
            ));
        }
        let mut locks = BTreeMap::new();
        for block in &file.body.blocks {
            match &*block.type_name {
                "provider" => {}
                // Reserved by Terraform for later.
                "module" => continue,
                other => {
                    return Err(file.error(
                        block.type_span,
                        format!("{other} blocks are unexpected in a dependency lock file"),
                    ));
                }
            }
            let label = file.label(block)?;
            let address: ProviderAddress =
                label.parse().map_err(|e| file.error(block.header_span(), format!("{e}")))?;
            if address.to_string() != **label {
                return Err(file.error(
                    block.header_span(),
                    format!("the provider must be written in full: {address}"),
                ));
            }
            let mut version = None;
            let mut constraints = VersionConstraints::default();
            let mut hashes = BTreeSet::new();
            for attribute in &block.body.attributes {
                let wrong = |e: &dyn fmt::Display| file.error(attribute.span, e.to_string());
                match &*attribute.name {
                    "version" => {
                        version = Some(file.string(attribute)?.parse().map_err(|e| wrong(&e))?);
                    }
                    "constraints" => {
                        constraints = file.string(attribute)?.parse().map_err(|e| wrong(&e))?;
                    }
                    "hashes" => {
                        for hash in file.strings(attribute)? {
                            hashes.insert(hash.parse().map_err(|e| wrong(&e))?);
                        }
                    }
                    other => return Err(wrong(&format_args!("{other} is unexpected here"))),
                }
            }
            let version =
                version.ok_or_else(|| file.error(block.header_span(), "the version is missing"))?;
            let lock = ProviderLock { version, constraints, hashes };
            if locks.insert(address, lock).is_some() {
                return Err(file.error(block.header_span(), "a provider is locked twice"));
            }
        }
        Ok(Locks(locks))
    }
}

/// The file's text, byte for byte as Terraform writes it.
impl fmt::Display for Locks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("# This file is maintained automatically by \"terraform init\".\n")?;
        f.write_str("# Manual edits may be lost in future updates.\n")?;
        for (address, lock) in &self.0 {
            write!(f, "\nprovider \"{address}\" {{\n")?;
            let constraints = lock.constraints.to_string();
            match constraints.is_empty() {
                true => writeln!(f, "  version = \"{}\"", lock.version)?,
                false => {
                    writeln!(f, "  version     = \"{}\"", lock.version)?;
                    writeln!(f, "  constraints = \"{constraints}\"")?;
                }
            }
            if !lock.hashes.is_empty() {
                f.write_str("  hashes = [\n")?;
                for hash in &lock.hashes {
                    writeln!(f, "    \"{hash}\",")?;
                }
                f.write_str("  ]\n")?;
            }
            f.write_str("}\n")?;
        }
        Ok(())
    }
}
