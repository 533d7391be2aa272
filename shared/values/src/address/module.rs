use std::fmt;
use std::sync::Arc;

/// Key of one instance under `count` or `for_each`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum InstanceKey {
    /// Neither `count` nor `for_each`.
    #[default]
    None,
    /// Index under `count`.
    Int(u64),
    /// Key under `for_each`.
    String(Arc<str>),
}

/// A module as the configuration names it, without instance keys; the root is empty.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ModulePath(pub Arc<[Arc<str>]>);

/// One module call and the key of its instance.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ModuleStep {
    /// Name of the call.
    pub name: Arc<str>,
    /// Key of the instance.
    pub key: InstanceKey,
}

/// One instance of a module; the root is empty.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ModuleInstance(pub Arc<[ModuleStep]>);

impl ModulePath {
    /// The root module.
    pub fn root() -> ModulePath {
        ModulePath::default()
    }
    /// Whether this is the root module.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
    /// The module called `name` in this one.
    #[must_use]
    pub fn child(&self, name: impl Into<Arc<str>>) -> ModulePath {
        ModulePath(self.0.iter().cloned().chain([name.into()]).collect())
    }
    /// The module that calls this one.
    pub fn parent(&self) -> Option<ModulePath> {
        let (_, rest) = self.0.split_last()?;
        Some(ModulePath(rest.into()))
    }
    /// The last call's name.
    pub fn name(&self) -> Option<&Arc<str>> {
        self.0.last()
    }
}

impl ModuleInstance {
    /// The root module.
    pub fn root() -> ModuleInstance {
        ModuleInstance::default()
    }
    /// Whether this is the root module.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
    /// The instance of the module called `name` in this one.
    #[must_use]
    pub fn child(&self, name: impl Into<Arc<str>>, key: InstanceKey) -> ModuleInstance {
        let step = ModuleStep { name: name.into(), key };
        ModuleInstance(self.0.iter().cloned().chain([step]).collect())
    }
    /// The module instance that calls this one.
    pub fn parent(&self) -> Option<ModuleInstance> {
        let (_, rest) = self.0.split_last()?;
        Some(ModuleInstance(rest.into()))
    }
    /// The same without instance keys.
    pub fn path(&self) -> ModulePath {
        ModulePath(self.0.iter().map(|s| s.name.clone()).collect())
    }
}

impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstanceKey::None => Ok(()),
            InstanceKey::Int(i) => write!(f, "[{i}]"),
            InstanceKey::String(s) => {
                f.write_str("[")?;
                super::parse::write_quoted(f, s)?;
                f.write_str("]")
            }
        }
    }
}

/// `module.a.module.b`; empty for the root.
impl fmt::Display for ModulePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "module.{name}")?;
        }
        Ok(())
    }
}

/// `module.a["k"].module.b[0]`; empty for the root.
impl fmt::Display for ModuleInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "module.{}{}", step.name, step.key)?;
        }
        Ok(())
    }
}

impl fmt::Debug for ModulePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Debug for ModuleInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
