//! Where in a bucket records and artifacts are.

/// The prefixes of what is kept in one bucket, as they stand in the bucket's keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prefixes {
    records: Vec<String>,
    artifacts: Vec<String>,
}

impl Prefixes {
    /// Each in full, from the start of the bucket's keys, such as `team-a/network/`. An empty text stands for the
    /// whole bucket, and an empty list for nothing.
    #[must_use]
    pub fn new(
        records: impl IntoIterator<Item = impl Into<String>>,
        artifacts: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self { records: outermost(records), artifacts: outermost(artifacts) }
    }

    /// The prefixes of records, sorted.
    #[must_use]
    pub fn records(&self) -> &[String] {
        &self.records
    }

    /// The prefixes of artifacts, sorted.
    #[must_use]
    pub fn artifacts(&self) -> &[String] {
        &self.artifacts
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.records.iter().chain(&self.artifacts).map(String::as_str)
    }

    /// Whether artifacts lie among records, so that a statement for records is one for them too.
    pub(super) fn artifacts_among_records(&self) -> bool {
        self.artifacts.iter().any(|artifacts| {
            self.records.iter().any(|records| artifacts.starts_with(records.as_str()))
        })
    }
}

/// Sorted, without those that lie within another.
fn outermost(prefixes: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    let mut prefixes: Vec<String> = prefixes.into_iter().map(Into::into).collect();
    prefixes.sort_unstable();
    // What starts with a text follows it in order, with nothing else between.
    prefixes.dedup_by(|later, outer| later.starts_with(outer.as_str()));
    prefixes
}
