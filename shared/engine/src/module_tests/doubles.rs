//! What a file and a run have in place of providers and resources.

use super::SuiteFile;
use crate::doubles::{DoubleValues, Doubles, MockedProvider};
use crate::environment::Environment;
use language::diagnostics::Diagnostic;
use language::module::Configuration;
use language::module::test_file::{
    Mock, Override, OverrideTarget, Run, TestFile, UnderTest, Values,
};
use language::source::Sources;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::address::{
    InstanceKey, ModulePath, ProviderConfigAddress, ResourceInstance, ResourceMode,
};

/// The overrides that count for a run: its own before those of the file.
pub(super) fn overrides<'a>(
    file: &'a TestFile,
    run: &'a Run,
) -> impl Iterator<Item = &'a Override> {
    let of_file = file.overrides.iter();
    let hidden = |found: &&Override| !run.overrides.iter().any(|own| own.target == found.target);
    run.overrides.iter().chain(of_file.filter(hidden))
}

/// The doubles of a run.
pub(super) fn doubles(
    environment: &Environment,
    under_test: &UnderTest<'_>,
    configuration: &Configuration,
    file: &TestFile,
    run: &Run,
) -> Doubles {
    let sources = &configuration.sources;
    let mut doubles = Doubles::new(&*environment.random);
    let module = &configuration.root.module;
    for (local, provider) in under_test.providers() {
        let Some(mock) = &provider.mock else { continue };
        let address = ProviderConfigAddress {
            module: ModulePath::root(),
            provider: module.provider_for_local_name(&local.local_name),
            alias: local.alias.clone(),
        };
        doubles.providers.insert(address, Arc::new(mocked(mock, sources)));
    }
    doubles.instances = instances(overrides(file, run), sources);
    doubles
}

fn mocked(mock: &Mock, sources: &Sources) -> MockedProvider {
    let managed = mock.resources.iter().map(|(ty, v)| ((ResourceMode::Managed, ty.clone()), v));
    let data = mock.data.iter().map(|(ty, v)| ((ResourceMode::Data, ty.clone()), v));
    let types = managed.chain(data).map(|(key, values)| (key, double(values, sources)));
    MockedProvider { types: types.collect(), instances: instances(mock.overrides.iter(), sources) }
}

fn instances<'a>(
    overrides: impl Iterator<Item = &'a Override>,
    sources: &Sources,
) -> BTreeMap<ResourceInstance, DoubleValues> {
    let of_resources = overrides.filter_map(|found| match &found.target {
        OverrideTarget::Resource(address) => {
            Some((address.clone(), double(&found.values, sources)))
        }
        OverrideTarget::Module(_) => None,
    });
    of_resources.collect()
}

fn double(values: &Values, sources: &Sources) -> DoubleValues {
    DoubleValues {
        values: values.value.clone(),
        known_in_plan: values.known_in_plan,
        place: sources.range(values.span).to_string(),
    }
}

/// Overrides of a file that name nothing in the modules that its runs are about.
pub(super) fn without_target(main: &Configuration, file: &SuiteFile) -> Vec<Diagnostic> {
    let under_test = |run: &Run| match file.modules.get(&run.name) {
        Some(module) => module.clone(),
        None => Arc::new(main.clone()),
    };
    let of_file = file.file.overrides.iter().filter(|found| {
        !is_there(main, found) && !file.modules.values().any(|module| is_there(module, found))
    });
    let of_runs = file.file.runs.iter().flat_map(|run| {
        let module = under_test(run);
        run.overrides.iter().filter(move |found| !is_there(&module, found))
    });
    let warning = |found: &Override| {
        Diagnostic::warning(
            "Invalid override target",
            format!(
                "The override target {} does not exist within the configuration under test. This could indicate a typo in the target address or an unnecessary override.",
                found.target
            ),
        )
        .at(found.target_span)
    };
    of_file.chain(of_runs).map(warning).collect()
}

fn is_there(configuration: &Configuration, found: &Override) -> bool {
    match &found.target {
        OverrideTarget::Module(module) => configuration.get(&module.path()).is_some(),
        OverrideTarget::Resource(address) => configuration.resource(&address.config()).is_some(),
    }
}

/// Overrides that are not supported: a module's instances have one configuration.
pub(super) fn unsupported(file: &TestFile, run: &Run) -> Vec<Diagnostic> {
    let keyed = overrides(file, run).filter(|found| match &found.target {
        OverrideTarget::Module(module) => module.0.iter().any(|step| step.key != InstanceKey::None),
        OverrideTarget::Resource(_) => false,
    });
    let error = |found: &Override| {
        Diagnostic::error(
            "Override of a module instance not supported",
            format!(
                "Only a module in all its instances can be overridden, and {} names one of them. Leave the key out.",
                found.target
            ),
        )
        .at(found.target_span)
    };
    keyed.map(error).collect()
}
