use super::ModulePath;
use std::fmt;
use std::sync::Arc;

/// A provider: `registry.terraform.io/hashicorp/aws`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderAddress {
    /// Host of its registry.
    pub host: Arc<str>,
    /// Namespace there.
    pub namespace: Arc<str>,
    /// Its type, by default the local name.
    pub ty: Arc<str>,
}

/// One configuration of a provider, in the module that declares it:
/// `provider["registry.terraform.io/hashicorp/aws"].west`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderConfigAddress {
    /// The module that declares it.
    pub module: ModulePath,
    /// The provider.
    pub provider: ProviderAddress,
    /// The alias, where the block has one.
    pub alias: Option<Arc<str>>,
}

impl ProviderAddress {
    /// Host used where a source names none.
    pub const DEFAULT_HOST: &str = "registry.terraform.io";

    /// The provider that ships with Terraform: `terraform.io/builtin/terraform`.
    pub fn builtin() -> ProviderAddress {
        ProviderAddress {
            host: "terraform.io".into(),
            namespace: "builtin".into(),
            ty: "terraform".into(),
        }
    }
    /// What a local name means where no `required_providers` entry says so:
    /// `registry.terraform.io/hashicorp/NAME`, or the builtin one for `terraform`.
    pub fn implied(local_name: &str) -> ProviderAddress {
        if local_name == "terraform" {
            return ProviderAddress::builtin();
        }
        ProviderAddress {
            host: Self::DEFAULT_HOST.into(),
            namespace: "hashicorp".into(),
            ty: local_name.into(),
        }
    }
    /// Whether it is built in and has no binary.
    pub fn is_builtin(&self) -> bool {
        &*self.host == "terraform.io" && &*self.namespace == "builtin"
    }
    /// As Terraform shows it to people: without the default host.
    pub fn for_display(&self) -> String {
        match &*self.host == Self::DEFAULT_HOST {
            true => format!("{}/{}", self.namespace, self.ty),
            false => self.to_string(),
        }
    }
}

impl fmt::Display for ProviderAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.ty)
    }
}
impl fmt::Display for ProviderConfigAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        write!(f, "provider[\"{}\"]", self.provider)?;
        if let Some(alias) = &self.alias {
            write!(f, ".{alias}")?;
        }
        Ok(())
    }
}
impl fmt::Debug for ProviderAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Debug for ProviderConfigAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
