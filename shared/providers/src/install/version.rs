use language::version::compare_prereleases;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A version of a provider: semantic versioning 2.0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    prerelease: String,
    metadata: String,
}

/// Which versions will do: terms that must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionConstraints(Vec<Constraint>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Constraint {
    boundary: Version,
    operator: Operator,
}

/// In the order in which equal boundaries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Operator {
    Greater,
    GreaterOrEqual,
    Equal,
    /// `~> 1.2.3`: below 1.3.0.
    PatchOnly,
    /// `~> 1.2`: below 2.0.0.
    MinorOnly,
    LessOrEqual,
    Less,
    NotEqual,
}

/// A text is not a version or not a version constraint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid {what} {text:?}: {reason}")]
pub struct VersionError {
    what: &'static str,
    text: String,
    reason: &'static str,
}

impl Version {
    /// Whether it is a prerelease, which only an exact constraint selects.
    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }
    fn precedence(&self) -> (u64, u64, u64) {
        (self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = VersionError;
    fn from_str(text: &str) -> Result<Version, VersionError> {
        let wrong = |reason| VersionError { what: "version", text: text.into(), reason };
        match parse(text).map_err(wrong)? {
            (version, 3) => Ok(version),
            _ => Err(wrong("three numbers separated by dots are needed")),
        }
    }
}

/// A version of one to three numbers, and of how many.
fn parse(text: &str) -> Result<(Version, usize), &'static str> {
    let (rest, metadata) = match text.split_once('+') {
        Some((rest, metadata)) => (rest, Some(metadata)),
        None => (text, None),
    };
    let (numbers, prerelease) = match rest.split_once('-') {
        Some((numbers, prerelease)) => (numbers, Some(prerelease)),
        None => (rest, None),
    };
    let mut parts = [0; 3];
    let mut count = 0;
    for number in numbers.split('.') {
        let part = parts.get_mut(count).ok_or("at most three numbers are possible")?;
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
            return Err("numbers separated by dots are needed");
        }
        if number.len() > 1 && number.starts_with('0') {
            return Err("numbers must not start with 0");
        }
        *part = number.parse().map_err(|_| "a number is too large")?;
        count += 1;
    }
    let identifiers = |text: Option<&str>| match text {
        None => Ok(String::new()),
        Some(text) => {
            let valid = text.split('.').all(|id| {
                !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            });
            match valid {
                true => Ok(text.to_owned()),
                false => Err("prerelease and build metadata are letters, digits, - and ."),
            }
        }
    };
    let [major, minor, patch] = parts;
    let (prerelease, metadata) = (identifiers(prerelease)?, identifiers(metadata)?);
    if count < 3 && !(prerelease.is_empty() && metadata.is_empty()) {
        return Err("a prerelease or build metadata needs all three numbers");
    }
    Ok((Version { major, minor, patch, prerelease, metadata }, count))
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        write_suffixes(f, self)
    }
}

fn write_suffixes(f: &mut fmt::Formatter<'_>, version: &Version) -> fmt::Result {
    if !version.prerelease.is_empty() {
        write!(f, "-{}", version.prerelease)?;
    }
    if !version.metadata.is_empty() {
        write!(f, "+{}", version.metadata)?;
    }
    Ok(())
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Precedence, build metadata last so that the order is total.
impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        self.precedence()
            .cmp(&other.precedence())
            .then_with(|| compare_prereleases(&self.prerelease, &other.prerelease))
            .then_with(|| self.metadata.cmp(&other.metadata))
    }
}

impl VersionConstraints {
    /// Only this version.
    pub fn exactly(version: &Version) -> VersionConstraints {
        let boundary = version.clone();
        VersionConstraints(vec![Constraint { boundary, operator: Operator::Equal }])
    }
    /// Whether any version will do.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// These and those.
    #[must_use]
    pub fn and(mut self, other: &VersionConstraints) -> VersionConstraints {
        self.0.extend_from_slice(&other.0);
        self
    }
    /// Whether a version will do. A prerelease does only where it is named exactly.
    pub fn allow(&self, version: &Version) -> bool {
        if !self.0.iter().all(|c| c.holds(version)) {
            return false;
        }
        let named =
            |c: &Constraint| c.operator == Operator::Equal && c.boundary.cmp(version).is_eq();
        !version.is_prerelease() || self.0.iter().any(named)
    }
    /// The newest of these versions that will do.
    pub fn newest<'v>(
        &self,
        versions: impl IntoIterator<Item = &'v Version>,
    ) -> Option<&'v Version> {
        versions.into_iter().filter(|v| self.allow(v)).max()
    }
}

impl Constraint {
    fn holds(&self, version: &Version) -> bool {
        let b = &self.boundary;
        match self.operator {
            Operator::Greater => version > b,
            Operator::GreaterOrEqual => version >= b,
            Operator::Less => version < b,
            Operator::LessOrEqual => version <= b,
            Operator::Equal => version == b,
            Operator::NotEqual => version != b,
            Operator::PatchOnly => {
                version >= b && (version.major, version.minor) == (b.major, b.minor)
            }
            Operator::MinorOnly => version >= b && version.major == b.major,
        }
    }
}

impl FromStr for VersionConstraints {
    type Err = VersionError;
    fn from_str(text: &str) -> Result<VersionConstraints, VersionError> {
        if text.trim().is_empty() {
            return Ok(VersionConstraints::default());
        }
        let wrong = |reason| VersionError { what: "version constraint", text: text.into(), reason };
        text.split(',')
            .map(|term| constraint(term).map_err(wrong))
            .collect::<Result<_, _>>()
            .map(VersionConstraints)
    }
}

fn constraint(term: &str) -> Result<Constraint, &'static str> {
    let term = term.trim();
    let symbol_end = term.find(|c: char| !"=!<>~".contains(c)).unwrap_or(term.len());
    let (symbol, version) = term.split_at(symbol_end);
    let version = version.trim();
    if version.is_empty() {
        return Err("a version is missing");
    }
    if version.starts_with('v') {
        return Err("a \"v\" before the version is not used");
    }
    let (boundary, numbers) = parse(version)?;
    let operator = match symbol {
        "" | "=" => Operator::Equal,
        "!=" => Operator::NotEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        "~>" if numbers == 3 => Operator::PatchOnly,
        "~>" => Operator::MinorOnly,
        _ => return Err("the operators are =, !=, >, >=, <, <= and ~>"),
    };
    Ok(Constraint { boundary, operator })
}

/// The normal form that lock files carry: distinct terms in order, abbreviations written out.
impl fmt::Display for VersionConstraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut terms: Vec<&Constraint> = self.0.iter().collect();
        terms.sort_by(|a, b| a.boundary.cmp(&b.boundary).then_with(|| a.operator.cmp(&b.operator)));
        terms.dedup();
        for (i, Constraint { boundary, operator }) in terms.into_iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            f.write_str(match operator {
                Operator::Greater => "> ",
                Operator::GreaterOrEqual => ">= ",
                Operator::Less => "< ",
                Operator::LessOrEqual => "<= ",
                Operator::PatchOnly | Operator::MinorOnly => "~> ",
                Operator::Equal => "",
                Operator::NotEqual => "!= ",
            })?;
            match operator {
                Operator::MinorOnly => write!(f, "{}.{}", boundary.major, boundary.minor)?,
                _ => write!(f, "{boundary}")?,
            }
        }
        Ok(())
    }
}
