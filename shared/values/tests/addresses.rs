use proptest::prelude::*;
use values::address::{
    AbsoluteResource, ConfigResource, InstanceKey, ModuleInstance, ProviderAddress,
    ProviderConfigAddress, Resource, ResourceInstance, ResourceMode,
};

#[test]
fn addresses_print_as_they_are_read() {
    for text in [
        "aws_instance.web",
        "aws_instance.web[0]",
        "data.aws_ami.x[\"a b\"]",
        "module.a[\"k\"].module.b[3].ephemeral.x_y.z",
        "module.a.aws_x.y[\"$${v} \\\"q\\\" \\n\"]",
    ] {
        assert_eq!(text.parse::<ResourceInstance>().unwrap().to_string(), text);
    }
    assert_eq!(
        "module.a.module.b[1]".parse::<ModuleInstance>().unwrap().to_string(),
        "module.a.module.b[1]"
    );
    assert!("".parse::<ModuleInstance>().unwrap().is_root());
    assert_eq!("resource.a_b.c".parse::<AbsoluteResource>().unwrap().to_string(), "a_b.c");
    let provider = "module.x.provider[\"registry.terraform.io/hashicorp/aws\"].west";
    assert_eq!(provider.parse::<ProviderConfigAddress>().unwrap().to_string(), provider);
}

#[test]
fn what_is_no_address() {
    for text in [
        "",
        "aws_instance",
        "a.b.c",
        "a.b[",
        "a.b[-1]",
        "a.b[\"x]",
        "a.b[\"${x}\"]",
        "module.a",
        "module.a.",
        "data.a",
        "a.b[0] x",
        "1a.b",
    ] {
        assert!(text.parse::<ResourceInstance>().is_err(), "{text}");
    }
    assert!("module.a[0].b.c".parse::<ConfigResource>().is_err());
    assert!("a.b[0]".parse::<AbsoluteResource>().is_err());
}

#[test]
fn provider_sources() {
    for (source, address) in [
        ("aws", "registry.terraform.io/hashicorp/aws"),
        ("HashiCorp/AWS", "registry.terraform.io/hashicorp/aws"),
        ("example.com/a/b", "example.com/a/b"),
        ("example.com:8080/a/b", "example.com:8080/a/b"),
        ("localhost/a/b", "localhost/a/b"),
    ] {
        assert_eq!(source.parse::<ProviderAddress>().unwrap().to_string(), address);
    }
    for (source, summary) in [
        ("", "Invalid provider source string"),
        ("a/b/c/d", "Invalid provider source string"),
        ("aws/", "Invalid provider source string"),
        ("hashicorp/terraform-provider-aws", "Invalid provider type"),
        ("hash/a_ws", "Invalid provider type"),
        ("aws.", "Invalid provider type"),
        ("_/aws", "Invalid provider namespace"),
        ("has--h/aws", "Invalid provider namespace"),
        ("ex ample.com/a/b", "Invalid provider source hostname"),
    ] {
        assert_eq!(ProviderAddress::parse_source(source).unwrap_err().summary, summary, "{source}");
    }
}

fn key() -> impl Strategy<Value = InstanceKey> {
    prop_oneof![
        Just(InstanceKey::None),
        any::<u64>().prop_map(InstanceKey::Int),
        any::<String>().prop_map(|s| InstanceKey::String(s.into())),
        "[$%{}\"\\\\]{0,6}".prop_map(|s| InstanceKey::String(s.into())),
    ]
}

fn instance() -> impl Strategy<Value = ResourceInstance> {
    let name = "[a-z_][a-z0-9_-]{0,5}";
    let mode = prop_oneof![
        Just(ResourceMode::Managed),
        Just(ResourceMode::Data),
        Just(ResourceMode::Ephemeral)
    ];
    (prop::collection::vec((name, key()), 0..3), mode, "x[a-z0-9_]{0,5}", name, key()).prop_map(
        |(modules, mode, ty, name, key)| {
            let module = modules
                .into_iter()
                .fold(ModuleInstance::root(), |m, (name, key)| m.child(name, key));
            let resource = Resource { mode, ty: ty.into(), name: name.into() };
            ResourceInstance { module, resource, key }
        },
    )
}

proptest! {
    #[test]
    fn instances_round_trip(address in instance()) {
        prop_assert_eq!(address.to_string().parse::<ResourceInstance>().unwrap(), address.clone());
        let resource = address.containing();
        prop_assert_eq!(resource.to_string().parse::<AbsoluteResource>().unwrap(), resource);
        let module = address.module;
        prop_assert_eq!(module.to_string().parse::<ModuleInstance>().unwrap(), module);
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _ = text.parse::<ResourceInstance>();
        let _ = text.parse::<ProviderConfigAddress>();
        let _ = text.parse::<ProviderAddress>();
    }
}
