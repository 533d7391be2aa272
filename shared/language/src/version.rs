//! Versions and version constraints, as `required_version` and `required_providers` have them.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// The version of Terraform whose language this is: what `required_version` is checked against.
pub const COMPATIBLE_TERRAFORM_VERSION: &str = "1.11.4";

/// A version: numbers, a pre-release and build metadata.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    /// The numbers as written, at least one.
    pub segments: Vec<u64>,
    /// What stands after `-`; empty for a release.
    pub prerelease: String,
    /// What stands after `+`.
    pub metadata: String,
}

/// A text is not a version, or not a version constraint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {expected}")]
pub struct VersionError {
    /// The text.
    pub text: String,
    /// `version` or `version constraint`.
    pub expected: &'static str,
}

impl Version {
    fn segment(&self, at: usize) -> u64 {
        self.segments.get(at).copied().unwrap_or(0)
    }

    fn compare_segments(&self, other: &Version) -> Ordering {
        let length = self.segments.len().max(other.segments.len());
        (0..length)
            .map(|at| self.segment(at).cmp(&other.segment(at)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        parse_version(text)
            .ok_or_else(|| VersionError { text: text.to_owned(), expected: "version" })
    }
}

fn parse_version(text: &str) -> Option<Version> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (rest, metadata) = match text.split_once('+') {
        Some((rest, metadata)) => (rest, valid_identifiers(metadata)?),
        None => (text, ""),
    };
    let numbers = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (numbers, prerelease) = rest.split_at(numbers);
    let prerelease = match prerelease.strip_prefix('-') {
        Some(identifiers) => valid_identifiers(identifiers)?,
        // Without a hyphen a pre-release starts with a letter: `1.0beta1`.
        None if prerelease.is_empty() => "",
        None => valid_identifiers(prerelease)?,
    };
    let segments =
        numbers.split('.').map(|number| number.parse::<u64>().ok()).collect::<Option<Vec<_>>>()?;
    Some(Version { segments, prerelease: prerelease.to_owned(), metadata: metadata.to_owned() })
}

/// The text, if it is dot-separated identifiers of letters, digits, `-` and `~`.
fn valid_identifiers(text: &str) -> Option<&str> {
    let valid = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "-~".contains(c))
    };
    text.split('.').all(valid).then_some(text)
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By numbers, then a pre-release before its release; metadata comes last, only to make the order
/// total.
impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare_segments(other)
            .then_with(|| compare_prereleases(&self.prerelease, &other.prerelease))
            .then_with(|| self.segments.len().cmp(&other.segments.len()))
            .then_with(|| self.metadata.cmp(&other.metadata))
    }
}

/// The order of what stands after `-` in two versions: by identifiers, numbers before words, and a release, which has
/// none, last.
pub fn compare_prereleases(left: &str, right: &str) -> Ordering {
    match (left.is_empty(), right.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            },
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// With at least three numbers, as Terraform shows versions.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for at in 0..self.segments.len().max(3) {
            if at > 0 {
                f.write_str(".")?;
            }
            write!(f, "{}", self.segment(at))?;
        }
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

/// Constraints separated by commas; all must hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VersionConstraints(Vec<VersionConstraint>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct VersionConstraint {
    operator: Operator,
    version: Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Pessimistic,
}

/// Longer symbols before those that they start with.
const OPERATORS: [(&str, Operator); 7] = [
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("~>", Operator::Pessimistic),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
];

impl VersionConstraints {
    /// Whether a version satisfies all constraints. A pre-release satisfies only a constraint that
    /// names a pre-release of the same numbers.
    pub fn matches(&self, version: &Version) -> bool {
        self.0.iter().all(|constraint| constraint.matches(version))
    }

    /// The constraints of such a text that name a pre-release, as they stand there.
    pub fn prereleases(text: &str) -> impl Iterator<Item = &str> {
        text.split(',').filter(|part| {
            let parsed: Result<VersionConstraints, VersionError> = part.parse();
            parsed.is_ok_and(|one| one.0.iter().any(|c| !c.version.prerelease.is_empty()))
        })
    }

    /// The one version that will do, where it is named and nothing else is said.
    pub fn exactly(&self) -> Option<&Version> {
        match self.0.as_slice() {
            [VersionConstraint { operator: Operator::Equal, version }] => Some(version),
            _ => None,
        }
    }
}

impl FromStr for VersionConstraints {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let parse = |part: &str| {
            let part = part.trim();
            let (operator, version) = OPERATORS
                .iter()
                .find_map(|(symbol, operator)| Some((*operator, part.strip_prefix(symbol)?)))
                .unwrap_or((Operator::Equal, part));
            Some(VersionConstraint { operator, version: parse_version(version.trim_start())? })
        };
        text.split(',')
            .map(parse)
            .collect::<Option<Vec<_>>>()
            .map(Self)
            .ok_or_else(|| VersionError { text: text.to_owned(), expected: "version constraint" })
    }
}

impl VersionConstraint {
    fn matches(&self, version: &Version) -> bool {
        let order = version
            .compare_segments(&self.version)
            .then_with(|| compare_prereleases(&version.prerelease, &self.version.prerelease));
        match self.operator {
            Operator::Equal => order.is_eq(),
            Operator::NotEqual => order.is_ne(),
            Operator::Greater => self.admits_prerelease(version) && order.is_gt(),
            Operator::Less => self.admits_prerelease(version) && order.is_lt(),
            Operator::GreaterOrEqual => self.admits_prerelease(version) && order.is_ge(),
            Operator::LessOrEqual => self.admits_prerelease(version) && order.is_le(),
            Operator::Pessimistic => {
                // All numbers but the last are fixed; the last may only grow.
                let fixed = self.version.segments.len().saturating_sub(1).max(1);
                let same = (0..fixed.min(self.version.segments.len().saturating_sub(1)))
                    .all(|at| version.segment(at) == self.version.segment(at));
                self.admits_prerelease(version)
                    && (self.version.prerelease.is_empty() || !version.prerelease.is_empty())
                    && order.is_ge()
                    && same
            }
        }
    }

    fn admits_prerelease(&self, version: &Version) -> bool {
        match (version.prerelease.is_empty(), self.version.prerelease.is_empty()) {
            (true, _) => true,
            (false, true) => false,
            (false, false) => version.compare_segments(&self.version).is_eq(),
        }
    }
}
