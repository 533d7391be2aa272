//! All findings of a store, and what a run makes of them.

use std::fmt;

use serde::Serialize;

use super::{Finding, Outcome, Setting, Waivers};

/// A finding, and whether a waiver covers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportedFinding {
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
    /// Whether `allow_insecure` names the setting and the finding may be waived.
    pub waived: bool,
}

impl ReportedFinding {
    /// Whether a run refuses the store for it.
    #[must_use]
    pub fn refuses(&self) -> bool {
        self.finding.outcome >= Outcome::Unreadable && !self.waived
    }
}

/// All findings of a store, in one order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    location: String,
    findings: Vec<ReportedFinding>,
    /// Settings that `allow_insecure` names, needed or not.
    allow_insecure: Vec<Setting>,
}

impl Report {
    /// Orders the findings; a setting without a finding has failed. Of two findings on one setting, as where
    /// records and artifacts are in two buckets, the graver stays, and of two alike both.
    #[must_use]
    pub fn new(
        location: String,
        settings: &[Setting],
        findings: Vec<Finding>,
        waivers: &Waivers,
    ) -> Self {
        let mut settings = settings.to_vec();
        settings.sort_unstable();
        settings.dedup();
        let findings = settings
            .into_iter()
            .map(|setting| {
                let of_setting = findings.iter().filter(|finding| finding.setting == setting);
                let finding = of_setting
                    .cloned()
                    .reduce(Finding::or_graver)
                    .unwrap_or_else(|| Finding::unfilled(setting));
                let waived = waivers.covers(setting)
                    && finding.waivable
                    && finding.outcome >= Outcome::Unreadable;
                ReportedFinding { finding, waived }
            })
            .collect();
        Self { location, findings, allow_insecure: waivers.iter().collect() }
    }

    /// Where the store is.
    #[must_use]
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Every finding, in the order of the settings.
    #[must_use]
    pub fn findings(&self) -> &[ReportedFinding] {
        &self.findings
    }

    /// Whether the report is clean. Unlike a run, a report fails on everything that did not pass, waived
    /// or not: it is asked what is, not what is accepted.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.iter().all(|reported| reported.finding.outcome == Outcome::Passed)
    }

    /// Whether a run would refuse the store.
    #[must_use]
    pub fn refuses(&self) -> bool {
        self.findings.iter().any(ReportedFinding::refuses)
    }

    /// What a run does: it refuses what failed or could not be read and is not waived, and else proceeds
    /// with a line for everything that did not pass and for every waiver.
    pub fn decide(&self) -> Decision {
        let notes = self.notes();
        let refusing: Vec<_> = self.findings.iter().filter(|reported| reported.refuses()).collect();
        if refusing.is_empty() {
            return Decision::Proceed(notes);
        }
        Decision::Refuse(Box::new(Refusal {
            location: self.location.clone(),
            waived_in_vain: refusing
                .iter()
                .map(|reported| reported.finding.setting)
                .filter(|setting| self.allow_insecure.contains(setting))
                .collect(),
            findings: refusing.into_iter().map(|reported| reported.finding.clone()).collect(),
            notes,
        }))
    }

    fn notes(&self) -> Vec<Note> {
        let note = |kind, setting, text: String| Note { kind, setting, text };
        let mut notes = Vec::new();
        for ReportedFinding { finding, waived } in &self.findings {
            let setting = finding.setting;
            match finding.outcome {
                Outcome::Warned => {
                    notes.push(note(NoteKind::Warned, setting, finding.found.clone()));
                }
                Outcome::NotChecked => {
                    notes.push(note(NoteKind::NotChecked, setting, finding.found.clone()));
                }
                Outcome::Failed | Outcome::Unreadable if *waived => notes.push(note(
                    NoteKind::Waived,
                    setting,
                    format!("allow_insecure waives {setting}: {}", finding.found),
                )),
                Outcome::Passed if self.allow_insecure.contains(&setting) => notes.push(note(
                    NoteKind::WaivedNeedlessly,
                    setting,
                    format!("allow_insecure names {setting}, which passes: remove it from there"),
                )),
                Outcome::Passed | Outcome::Failed | Outcome::Unreadable => {}
            }
        }
        notes
    }
}

/// What a run does with a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    /// It goes on, and shows these lines.
    Proceed(Vec<Note>),
    /// It does not use the store.
    Refuse(Box<Refusal>),
}

/// One line that a run shows about the store it proceeds with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Why there is a line.
    pub kind: NoteKind,
    /// The setting.
    pub setting: Setting,
    /// The line.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a run shows a line about a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoteKind {
    /// It is not as it should be.
    Warned,
    /// There was no way to find out.
    NotChecked,
    /// It would refuse the store, and is waived.
    Waived,
    /// It is waived, and passes.
    WaivedNeedlessly,
}

/// Why a store is refused: every setting that refuses it, with what it protects and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where the store is.
    pub location: String,
    /// The findings that refuse it, in the order of the settings; never empty.
    pub findings: Vec<Finding>,
    /// Settings among them that `allow_insecure` names although they cannot be waived.
    pub waived_in_vain: Vec<Setting>,
    /// The lines for what does not refuse the store.
    pub notes: Vec<Note>,
}

impl Refusal {
    /// The one line above everything.
    #[must_use]
    pub fn headline(&self) -> String {
        match self.findings.as_slice() {
            [only] => format!("The store {} is refused for its {}", self.location, only.setting),
            several => {
                format!("The store {} is refused for {} settings", self.location, several.len())
            }
        }
    }

    /// The one line below everything, after two findings or more.
    #[must_use]
    pub fn closing(&self) -> Option<String> {
        let count = self.findings.len();
        if count < 2 {
            return None;
        }
        let waivable: Vec<_> = self.findings.iter().filter(|finding| finding.waivable).collect();
        let names: Vec<_> = waivable.iter().map(|f| format!("{:?}", f.setting.name())).collect();
        let all = match count {
            2 => "both".to_owned(),
            more => format!("all {more}"),
        };
        let names = names.join(", ");
        Some(match waivable.len() {
            0 => format!("Mend {all}; none of them can be waived."),
            n if n == count => format!(
                "Mend {all}, or accept by name what you can live with: allow_insecure = [{names}]."
            ),
            _ => format!(
                "Mend {all}; only this can be accepted by name instead: allow_insecure = [{names}]."
            ),
        })
    }

    /// What a finding says of waivers, where there is something to say.
    #[must_use]
    pub fn about_waiver(&self, finding: &Finding) -> Option<&'static str> {
        self.waived_in_vain
            .contains(&finding.setting)
            .then_some("allow_insecure names it, and this cannot be waived.")
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.headline())?;
        for finding in &self.findings {
            write!(f, "\n\n{}: {}", finding.setting, finding.found)?;
            write!(f, "\n{}", finding.protects)?;
            if let Some(remedy) = &finding.remedy {
                write!(f, "\n{}", remedy.advice)?;
                for command in &remedy.commands {
                    write!(f, "\n  {command}")?;
                }
            }
            if let Some(waiver) = self.about_waiver(finding) {
                write!(f, "\n{waiver}")?;
            }
        }
        match self.closing() {
            Some(closing) => write!(f, "\n\n{closing}"),
            None => Ok(()),
        }
    }
}
