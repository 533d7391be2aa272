//! The arguments of provisioners and connections.

use std::sync::{Arc, LazyLock};
use values::Type;
use values::schema::{Attribute, Block};

/// The provisioner that runs a command on this machine.
pub(super) const LOCAL_EXEC: &str = "local-exec";
/// The provisioner that copies files to another machine.
pub(super) const FILE: &str = "file";
/// The provisioner that runs commands on another machine.
pub(super) const REMOTE_EXEC: &str = "remote-exec";

static LOCAL_EXEC_ARGUMENTS: LazyLock<Block> = LazyLock::new(|| {
    block([
        ("command", Attribute::plain(Type::String).required()),
        ("interpreter", Attribute::plain(Type::list(Type::String)).optional()),
        ("working_dir", Attribute::plain(Type::String).optional()),
        ("environment", Attribute::plain(Type::map(Type::String)).optional()),
        ("quiet", Attribute::plain(Type::Bool).optional()),
    ])
});

static FILE_ARGUMENTS: LazyLock<Block> = LazyLock::new(|| {
    block([
        ("source", Attribute::plain(Type::String).optional()),
        ("content", Attribute::plain(Type::String).optional()),
        ("destination", Attribute::plain(Type::String).required()),
    ])
});

static REMOTE_EXEC_ARGUMENTS: LazyLock<Block> = LazyLock::new(|| {
    block([
        ("inline", Attribute::plain(Type::list(Type::String)).optional()),
        ("script", Attribute::plain(Type::String).optional()),
        ("scripts", Attribute::plain(Type::list(Type::String)).optional()),
    ])
});

/// What connections of any type may have.
pub(super) static CONNECTION: LazyLock<Block> = LazyLock::new(|| {
    const STRINGS: [&str; 21] = [
        "type",
        "user",
        "password",
        "timeout",
        "script_path",
        "target_platform",
        "private_key",
        "certificate",
        "host_key",
        "agent_identity",
        "proxy_scheme",
        "proxy_host",
        "proxy_user_name",
        "proxy_user_password",
        "bastion_host",
        "bastion_host_key",
        "bastion_user",
        "bastion_password",
        "bastion_private_key",
        "bastion_certificate",
        "cacert",
    ];
    let strings = STRINGS.map(|name| (name, Type::String));
    let numbers = ["port", "proxy_port", "bastion_port"].map(|name| (name, Type::Number));
    let switches = ["agent", "https", "insecure", "use_ntlm"].map(|name| (name, Type::Bool));
    let optional = strings.into_iter().chain(numbers).chain(switches);
    let optional = optional.map(|(name, ty)| (name, Attribute::plain(ty).optional()));
    let host = ("host", Attribute::plain(Type::String).required());
    block(optional.chain([host]))
});

/// The arguments of a kind of provisioner; `None` where there is none such.
pub(crate) fn schema(kind: &str) -> Option<&'static Block> {
    match kind {
        LOCAL_EXEC => Some(&LOCAL_EXEC_ARGUMENTS),
        FILE => Some(&FILE_ARGUMENTS),
        REMOTE_EXEC => Some(&REMOTE_EXEC_ARGUMENTS),
        _ => None,
    }
}

fn block(attributes: impl IntoIterator<Item = (&'static str, Attribute)>) -> Block {
    let attributes = attributes.into_iter().map(|(name, attribute)| (Arc::from(name), attribute));
    Block { attributes: attributes.collect(), ..Block::default() }
}
