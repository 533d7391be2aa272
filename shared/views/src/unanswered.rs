//! Words on what is waited for where a provider has not answered.

use engine::clock::moment;
use jiff::Timestamp;
use values::address::ResourceInstance;

/// What is waited for, and until when.
pub(crate) fn waiting(addresses: &[ResourceInstance], until: Timestamp) -> String {
    let names: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    // Whole seconds, and none too few.
    let until = moment(until.as_second() + i64::from(until.subsec_nanosecond() > 0));
    format!(
        "{}: Not answered by the provider, and may still come to pass. Waiting until {until}...",
        names.join(", ")
    )
}
