//! What is shown of a provisioner's output.

use values::Marks;

/// Whether output may be shown: what comes of a value that is not shown could repeat it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concealment {
    Shown,
    Sensitive,
    Ephemeral,
    Both,
}

impl Concealment {
    /// Of what is made from values with these marks.
    pub(crate) fn of(marks: Marks) -> Concealment {
        match (marks.is_sensitive(), marks.is_ephemeral()) {
            (false, false) => Concealment::Shown,
            (true, false) => Concealment::Sensitive,
            (false, true) => Concealment::Ephemeral,
            (true, true) => Concealment::Both,
        }
    }

    /// What stands in the place of each line.
    fn text(self) -> Option<&'static str> {
        match self {
            Concealment::Shown => None,
            Concealment::Sensitive => Some("(output suppressed due to sensitive value in config)"),
            Concealment::Ephemeral => Some("(output suppressed due to ephemeral value in config)"),
            Concealment::Both => {
                Some("(output suppressed due to sensitive, ephemeral value in config)")
            }
        }
    }

    /// The lines that are shown of a line of output. A carriage return ends a line too, and what is empty then is left
    /// out, unless nothing remains.
    pub(super) fn lines(self, written: &str, mut show: impl FnMut(&str)) {
        if let Some(text) = self.text() {
            return show(text);
        }
        let mut any = false;
        for line in written.split(['\r', '\n']).map(str::trim_end).filter(|l| !l.is_empty()) {
            show(line);
            any = true;
        }
        if !any {
            show("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(concealment: Concealment, written: &str) -> Vec<String> {
        let mut lines = Vec::new();
        concealment.lines(written, |line| lines.push(line.to_owned()));
        lines
    }

    #[test]
    fn carriage_returns_end_lines_and_an_empty_line_stays_one() {
        assert_eq!(shown(Concealment::Shown, "  a \rb\r"), ["  a", "b"]);
        assert_eq!(shown(Concealment::Shown, ""), [""]);
        assert_eq!(shown(Concealment::Shown, " \r\r"), [""]);
    }

    #[test]
    fn what_comes_of_marked_values_is_not_shown() {
        let both = Concealment::of(Marks::SENSITIVE | Marks::EPHEMERAL);
        let line = "(output suppressed due to sensitive, ephemeral value in config)";
        assert_eq!(shown(both, "a\rb"), [line]);
    }
}
