//! The code generated from `shared/providers/proto` is checked in, so that nobody has to generate
//! it. `UPDATE_GENERATED=1 cargo test -p test-provider generated` writes it anew.

use std::path::{Path, PathBuf};

const MESSAGES: &str = "::providers::protocol::tfplugin6";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn descriptors(proto: &str) -> prost_types::FileDescriptorSet {
    protox::compile([proto], [repository().join("shared/providers/proto")]).unwrap()
}

fn check(kept: &str, made: &Path) {
    let kept = repository().join(kept);
    let made = std::fs::read_to_string(made).unwrap();
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&kept, &made).unwrap();
    }
    let kept_text = std::fs::read_to_string(&kept).unwrap_or_default();
    assert!(kept_text == made, "{} is not what its definition gives", kept.display());
}

#[test]
fn messages_of_protocol_6() {
    let out = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .build_client(false)
        .build_server(false)
        .out_dir(out.path())
        .compile_fds(descriptors("tfplugin6.proto"))
        .unwrap();
    check("shared/providers/src/protocol/tfplugin6.rs", &out.path().join("tfplugin6.rs"));
}

/// Only what differs from protocol 6.
#[test]
fn messages_of_protocol_5() {
    let mut set = descriptors("tfplugin5.proto");
    let own = ["Schema", "GetProviderSchema", "PrepareProviderConfig"];
    let mut config = tonic_prost_build::configure().build_client(false).build_server(false);
    for file in set.file.iter_mut().filter(|f| f.package() == "tfplugin5") {
        file.service.clear();
        for name in file.message_type.iter().map(|m| m.name()).chain(["StringKind"]) {
            if !own.contains(&name) {
                config = config.extern_path(
                    format!(".tfplugin5.{name}"),
                    format!("crate::protocol::tfplugin6::{name}"),
                );
            }
        }
    }
    let out = tempfile::tempdir().unwrap();
    config.out_dir(out.path()).compile_fds(set).unwrap();
    check("shared/providers/src/protocol/tfplugin5.rs", &out.path().join("tfplugin5.rs"));
}

#[test]
fn server_of_protocol_6() {
    let out = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .build_client(false)
        .extern_path(".tfplugin6", MESSAGES)
        .out_dir(out.path())
        .compile_fds(descriptors("tfplugin6.proto"))
        .unwrap();
    check("tests/provider/src/server/generated.rs", &out.path().join("tfplugin6.rs"));
}

#[test]
fn server_of_the_plugin_machinery() {
    let out = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .build_client(false)
        .out_dir(out.path())
        .compile_fds(descriptors("grpc_controller.proto"))
        .unwrap();
    check("tests/provider/src/server/controller.rs", &out.path().join("plugin.rs"));
}

/// Messages of protocol 6 are used for protocol 5 too: they must be the same on the wire.
#[test]
fn both_protocols_are_the_same_on_the_wire() {
    fn fields(
        prefix: &str,
        messages: &[prost_types::DescriptorProto],
        out: &mut std::collections::BTreeMap<String, String>,
    ) {
        for m in messages {
            let name = format!("{prefix}{}", m.name());
            for f in &m.field {
                let ty = f.type_name().replace("tfplugin5", "tfplugin6");
                let what = format!("{} {:?} {:?} {ty}", f.name(), f.r#type(), f.label());
                out.insert(format!("{name} {}", f.number()), what);
            }
            fields(&format!("{name}."), &m.nested_type, out);
        }
    }
    let renamed = [
        ("PrepareProviderConfig", "ValidateProviderConfig"),
        ("ValidateResourceTypeConfig", "ValidateResourceConfig"),
        ("ValidateDataSourceConfig", "ValidateDataResourceConfig"),
        ("Configure", "ConfigureProvider"),
        ("Stop", "StopProvider"),
    ];
    let [mut v5, mut v6] = ["tfplugin5", "tfplugin6"].map(|package| {
        let mut set = descriptors(&format!("{package}.proto"));
        let mut out = Default::default();
        for file in set.file.iter_mut().filter(|f| f.package() == package) {
            for m in &mut file.message_type {
                let new = renamed.iter().find(|(old, _)| *old == m.name());
                if let Some((_, new)) = new.filter(|_| package == "tfplugin5") {
                    m.name = Some((*new).into());
                }
            }
            fields("", &file.message_type, &mut out);
        }
        out
    });
    for different in [
        "Schema.Attribute 10",
        "Schema.Attribute 11",
        "Schema.Object 1",
        "Schema.Object 3",
        "ValidateProviderConfig.Response 1",
    ] {
        assert_ne!(v5.remove(different), v6.remove(different), "{different}");
    }
    assert_eq!(v5, v6);
}
