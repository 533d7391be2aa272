use super::settings::{InvalidSettings, Settings};
use crate::plugin::RunningPlugin;
use crate::services::{Credentials, HostName, Token};
use language::syntax::ast::{Attribute, Block, ExpressionKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use values::address::ProviderAddress;

/// The part of the CLI configuration (`~/.terraformrc`, `~/.terraform.d/*.tfrc` and `*.tfrc.json`) that concerns providers, and
/// hosts that offer them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CliConfig {
    /// Where to install providers from, in order; `None` without a `provider_installation` block.
    pub installation: Option<Vec<InstallationMethod>>,
    /// Providers under development: the directory of each one's program.
    pub dev_overrides: BTreeMap<ProviderAddress, PathBuf>,
    /// Providers that somebody else has started, as the environment says.
    pub running: BTreeMap<ProviderAddress, RunningPlugin>,
    /// Where packages are kept to be shared between working directories.
    pub plugin_cache_dir: Option<PathBuf>,
    /// Whether a package in the cache will do that no lock file knows, though what is locked then holds for this platform alone.
    pub plugin_cache_may_break_dependency_lock_file: bool,
    /// What proves to hosts who asks.
    pub credentials: Credentials,
    /// Services of hosts that are not asked for them.
    pub hosts: BTreeMap<HostName, BTreeMap<String, String>>,
    /// Whether to ask nobody about new versions of the program itself.
    pub disable_checkpoint: bool,
}

/// What a CLI configuration is read with.
#[derive(Clone, Copy)]
pub struct CliConfigSurroundings<'a> {
    /// What relative paths are relative to.
    pub working_directory: &'a Path,
    /// The environment's variables: a plugin cache's path may name them.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// One way to install providers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallationMethod {
    /// Which way.
    pub kind: InstallationKind,
    /// Which providers, where not all.
    pub include: Vec<ProviderPattern>,
    /// Which providers not.
    pub exclude: Vec<ProviderPattern>,
}

/// The ways to install providers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallationKind {
    /// From a directory.
    FilesystemMirror(PathBuf),
    /// From a mirror on the network.
    NetworkMirror(Arc<str>),
    /// From each provider's own registry.
    Direct,
}

/// Names providers, with `*` for any host, namespace or type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderPattern {
    host: Arc<str>,
    namespace: Arc<str>,
    ty: Arc<str>,
}

impl ProviderPattern {
    /// Reads `HOST/NAMESPACE/TYPE` or, for the default host, `NAMESPACE/TYPE`.
    pub fn parse(text: &str) -> Option<ProviderPattern> {
        let parts: Vec<&str> = text.split('/').collect();
        let (host, namespace, ty) = match *parts {
            [namespace, ty] => (ProviderAddress::DEFAULT_HOST, namespace, ty),
            [host, namespace, ty] => (host, namespace, ty),
            _ => return None,
        };
        let any_but_not_all = (host == "*" && namespace != "*") || (namespace == "*" && ty != "*");
        if any_but_not_all || [host, namespace, ty].contains(&"") {
            return None;
        }
        Some(ProviderPattern { host: host.into(), namespace: namespace.into(), ty: ty.into() })
    }
    /// Whether it names this provider.
    pub fn matches(&self, address: &ProviderAddress) -> bool {
        let matches = |pattern: &str, text: &str| pattern == "*" || pattern == text;
        matches(&self.host, &address.host)
            && matches(&self.namespace, &address.namespace)
            && matches(&self.ty, &address.ty)
    }
}

impl InstallationMethod {
    /// Whether this way is meant for a provider.
    pub fn handles(&self, address: &ProviderAddress) -> bool {
        !self.exclude.iter().any(|p| p.matches(address))
            && (self.include.is_empty() || self.include.iter().any(|p| p.matches(address)))
    }
}

impl CliConfig {
    /// Reads a CLI configuration; a file whose name ends with `.json` in JSON. Settings that concern neither providers nor hosts
    /// are skipped.
    ///
    /// # Errors
    /// Where it cannot be used, with the line.
    pub fn parse(
        name: &str,
        text: &[u8],
        surroundings: CliConfigSurroundings<'_>,
    ) -> Result<CliConfig, InvalidSettings> {
        if name.ends_with(".json") {
            return super::cli_config_json::parse(name, text, surroundings);
        }
        let file = Settings::parse(name, &as_second_version(text))?;
        let mut config = CliConfig::default();
        for attribute in &file.body.attributes {
            match &*attribute.name {
                "plugin_cache_dir" => {
                    config.plugin_cache_dir = surroundings.cache(&file.string(attribute)?);
                }
                "plugin_cache_may_break_dependency_lock_file" => {
                    config.plugin_cache_may_break_dependency_lock_file = file.bool(attribute)?;
                }
                "disable_checkpoint" => config.disable_checkpoint = file.bool(attribute)?,
                _ => {}
            }
        }
        for block in &file.body.blocks {
            match &*block.type_name {
                "provider_installation" => {
                    config.read_installation(&file, block, surroundings.working_directory)?;
                }
                "credentials" => {
                    let host = host(&file, block)?;
                    if let Some(token) = block.body.attribute("token") {
                        config.credentials.insert(host, Token::new(file.string(token)?));
                    }
                }
                "credentials_helper" => config.credentials.note_helper(file.label(block)?.clone()),
                "host" => {
                    let services = block.body.attribute("services");
                    let services = services.map(|s| texts_by_name(&file, s)).transpose()?;
                    config.hosts.insert(host(&file, block)?, services.unwrap_or_default());
                }
                _ => {}
            }
        }
        Ok(config)
    }

    /// Takes over what another file says; where both say something, the other counts.
    ///
    /// # Errors
    /// Where both say how providers are installed.
    pub fn merge(&mut self, other: CliConfig) -> Result<(), TwoInstallations> {
        if other.installation.is_some() {
            if self.installation.is_some() {
                return Err(TwoInstallations);
            }
            self.installation = other.installation;
        }
        self.dev_overrides.extend(other.dev_overrides);
        self.running.extend(other.running);
        self.plugin_cache_dir = other.plugin_cache_dir.or_else(|| self.plugin_cache_dir.take());
        self.plugin_cache_may_break_dependency_lock_file |=
            other.plugin_cache_may_break_dependency_lock_file;
        self.disable_checkpoint |= other.disable_checkpoint;
        self.credentials.extend(other.credentials);
        self.hosts.extend(other.hosts);
        Ok(())
    }

    fn read_installation(
        &mut self,
        file: &Settings,
        block: &Block,
        working_directory: &Path,
    ) -> Result<(), InvalidSettings> {
        if self.installation.is_some() {
            return Err(file.error(block.type_span, TwoInstallations.to_string()));
        }
        if let Some(overrides) = block.body.attribute("dev_overrides") {
            self.dev_overrides = dev_overrides(file, overrides, working_directory)?;
        }
        let methods = block.body.blocks.iter();
        let methods = methods.map(|m| installation_method(file, m, working_directory));
        self.installation = Some(methods.collect::<Result<_, _>>()?);
        Ok(())
    }
}

/// Two files of a CLI configuration, or two places in one, say how providers are installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there must be no more than one provider_installation block")]
pub struct TwoInstallations;

impl CliConfigSurroundings<'_> {
    /// The directory of a plugin cache: variables in it count, and an empty path is none.
    pub(super) fn cache(&self, path: &str) -> Option<PathBuf> {
        let path = self.expand(path);
        (!path.is_empty()).then(|| self.working_directory.join(path))
    }

    /// `$NAME` and `${NAME}` replaced; what is not set is empty.
    fn expand(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let (name, tail) = match braced {
                Some(split) => split,
                None => {
                    let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                    after.split_at(end.unwrap_or(after.len()))
                }
            };
            match name.is_empty() {
                true => out.push('$'),
                false => out.push_str(&(self.variable)(name).unwrap_or_default()),
            }
            rest = tail;
        }
        out.push_str(rest);
        out
    }
}

fn host(file: &Settings, block: &Block) -> Result<HostName, InvalidSettings> {
    file.label(block)?.parse().map_err(|error| file.error(block.header_span(), format!("{error}")))
}

fn texts_by_name(
    file: &Settings,
    attribute: &Attribute,
) -> Result<BTreeMap<String, String>, InvalidSettings> {
    let wrong = || {
        let detail = format!("{} must map names to addresses", attribute.name);
        file.error(attribute.span, detail)
    };
    let ExpressionKind::Object(items) = &attribute.expression.kind else { return Err(wrong()) };
    let text = |item: &language::syntax::ast::Expression| {
        item.as_string_literal().map(|text| text.to_string()).ok_or_else(wrong)
    };
    items.iter().map(|item| Ok((text(&item.key.expression)?, text(&item.value)?))).collect()
}

fn installation_method(
    file: &Settings,
    block: &Block,
    working_directory: &Path,
) -> Result<InstallationMethod, InvalidSettings> {
    let body = &block.body;
    let text = |name: &str| match body.attribute(name) {
        Some(attribute) => file.string(attribute),
        None => Err(file.error(block.type_span, format!("{name} is missing"))),
    };
    let kind = match &*block.type_name {
        "filesystem_mirror" => {
            InstallationKind::FilesystemMirror(working_directory.join(&*text("path")?))
        }
        "network_mirror" => InstallationKind::NetworkMirror(text("url")?),
        "direct" => InstallationKind::Direct,
        other => {
            return Err(
                file.error(block.type_span, format!("{other} is no way to install providers"))
            );
        }
    };
    let patterns = |name: &str| {
        let Some(attribute) = body.attribute(name) else { return Ok(Vec::new()) };
        let texts = file.strings(attribute)?;
        let parse = |text: &Arc<str>| {
            ProviderPattern::parse(text).ok_or_else(|| {
                file.error(attribute.span, format!("{text:?} does not name providers"))
            })
        };
        texts.iter().map(parse).collect::<Result<Vec<_>, _>>()
    };
    Ok(InstallationMethod { kind, include: patterns("include")?, exclude: patterns("exclude")? })
}

fn dev_overrides(
    file: &Settings,
    attribute: &Attribute,
    working_directory: &Path,
) -> Result<BTreeMap<ProviderAddress, PathBuf>, InvalidSettings> {
    let wrong = |detail: &str| file.error(attribute.span, detail);
    let ExpressionKind::Object(items) = &attribute.expression.kind else {
        return Err(wrong("dev_overrides must map providers to directories"));
    };
    let mut overrides = BTreeMap::new();
    for item in items.iter() {
        let (Some(address), Some(directory)) =
            (item.key.expression.as_string_literal(), item.value.as_string_literal())
        else {
            return Err(wrong("dev_overrides must map providers to directories"));
        };
        let address = address.parse::<ProviderAddress>().map_err(|e| wrong(&e.to_string()))?;
        overrides.insert(address, working_directory.join(&**directory));
    }
    Ok(overrides)
}

/// The CLI configuration is in the first version of HCL, where a block may have quoted names, as in
/// `dev_overrides { "a/b" = "dir" }`, and where `${` in a string is nothing special. With an equals sign and an escape it is the
/// second version's too, and lines stay.
fn as_second_version(text: &[u8]) -> Vec<u8> {
    const NAME: &[u8] = b"dev_overrides";
    let mut out = Vec::with_capacity(text.len() + 2);
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        if let Some(tail) = rest.strip_prefix(NAME) {
            out.extend_from_slice(NAME);
            if tail.trim_ascii_start().starts_with(b"{") {
                out.extend_from_slice(b" =");
            }
            rest = tail;
            continue;
        }
        out.push(*first);
        if matches!(first, b'$' | b'%') && tail.starts_with(b"{") {
            out.push(*first);
        }
        rest = tail;
    }
    out
}
