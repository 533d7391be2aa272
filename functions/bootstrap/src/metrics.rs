//! Metrics of steps, in CloudWatch's embedded format: a line of the log that becomes numbers, without a request.
//!
//! They have no dimension, since every value of one is a metric that costs something: which function and which estate a number is of
//! is in its line. How long functions take is a metric that Lambda has already.

use serde_json::{Value, json};

/// The metrics' namespace.
const NAMESPACE: &str = "Plumbline";

/// What a step came to.
pub(crate) struct StepMetrics<'a> {
    /// The function, as Lambda calls it.
    pub(crate) function: &'a str,
    /// The estate.
    pub(crate) estate: &'a str,
    /// What it answered, or `unavailable`.
    pub(crate) answer: &'a str,
    /// How long it took.
    pub(crate) milliseconds: u64,
    /// When, in milliseconds since the epoch.
    pub(crate) at: i64,
}

impl StepMetrics<'_> {
    /// The line.
    pub(crate) fn line(&self) -> Value {
        let is = |answer: &str| u8::from(self.answer == answer);
        json!({
            "_aws": {
                "Timestamp": self.at,
                "CloudWatchMetrics": [{
                    "Namespace": NAMESPACE,
                    "Dimensions": [[]],
                    "Metrics": [
                        {"Name": "Failed", "Unit": "Count"},
                        {"Name": "Rejected", "Unit": "Count"},
                        {"Name": "Continued", "Unit": "Count"},
                        {"Name": "Busy", "Unit": "Count"},
                        {"Name": "Unavailable", "Unit": "Count"},
                    ],
                }],
            },
            "function": self.function,
            "estate": self.estate,
            "answer": self.answer,
            "milliseconds": self.milliseconds,
            "Failed": is("failed"),
            "Rejected": is("rejected"),
            "Continued": is("continue"),
            "Busy": is("busy"),
            "Unavailable": is("unavailable"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::StepMetrics;

    #[test]
    fn every_metric_that_is_declared_has_a_value() {
        let metrics = StepMetrics {
            function: "plumbline-Plan",
            estate: "network",
            answer: "rejected",
            milliseconds: 12,
            at: 1_000,
        };
        let line = metrics.line();
        let declared = &line["_aws"]["CloudWatchMetrics"][0];
        for metric in declared["Metrics"].as_array().unwrap() {
            assert!(line[metric["Name"].as_str().unwrap()].is_u64(), "{metric}");
        }
        assert_eq!((&line["Rejected"], &line["Failed"]), (&1.into(), &0.into()));
    }
}
