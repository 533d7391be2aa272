//! Questions to a person.

use std::io::{self, BufRead, Write};

/// Somebody who can be asked.
pub(crate) trait Input {
    /// Asks, and returns the line that was entered, without blanks around it.
    ///
    /// # Errors
    /// Where nobody answers.
    fn ask(&mut self, title: &str, description: &str) -> io::Result<String>;
}

/// A person at standard input and output.
pub(crate) struct Terminal;

impl Input for Terminal {
    fn ask(&mut self, title: &str, description: &str) -> io::Result<String> {
        let mut out = io::stdout().lock();
        writeln!(out, "{title}")?;
        for line in description.lines() {
            writeln!(out, "  {line}")?;
        }
        write!(out, "\n  Enter a value: ")?;
        out.flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            writeln!(out)?;
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        writeln!(out)?;
        Ok(line.trim().to_owned())
    }
}
