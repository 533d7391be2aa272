//! `plumb version`

use crate::environment::ProcessEnvironment;
use crate::invocation::Invocation;
use providers::install::Platform;
use serde_json::json;
use views::product::{NAME, TERRAFORM_VERSION};

pub(super) fn run(invocation: &Invocation, environment: ProcessEnvironment) -> u8 {
    let (session, flags) = match super::begin(invocation, environment) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let own = env!("CARGO_PKG_VERSION");
    let platform = Platform::current().to_string();
    // A lock file that cannot be read is no reason not to say one's version.
    let locks = session.directory.locks().unwrap_or_default();
    if flags.switch("json", false) {
        let selections: serde_json::Map<String, serde_json::Value> =
            locks.0.iter().map(|(a, l)| (a.to_string(), l.version.to_string().into())).collect();
        let document = json!({
            "plumbline_version": own,
            "terraform_version": TERRAFORM_VERSION,
            "platform": platform,
            "provider_selections": selections,
            "terraform_outdated": false,
        });
        session.reporter.print(&format!("{document:#}\n"));
        return 0;
    }
    let mut text = format!("{NAME} v{own}\non {platform}\n");
    for (address, lock) in &locks.0 {
        text.push_str(&format!("+ provider {address} v{}\n", lock.version));
    }
    session.reporter.print(&text);
    0
}
