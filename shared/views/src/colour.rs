//! Colours of a terminal, where they are asked for.

/// Whether text carries ANSI colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Colour {
    /// Plain text.
    #[default]
    Plain,
    /// ANSI escape sequences.
    Ansi,
}

impl Colour {
    /// Replaces `[bold]`, `[red]` and the like in a template, and each `{}` by the next argument.
    /// What arguments hold is left as it is, so that no address is mistaken for a colour.
    ///
    /// Each painted piece ends with a reset of its own, as in Terraform's output.
    pub(crate) fn paint(self, template: &str, arguments: &[&str]) -> String {
        let (mut out, coloured) = self.fill(template, arguments);
        if coloured {
            out.push_str(self.reset());
        }
        out
    }

    /// As [`Colour::paint`], without the reset: more is to follow.
    pub(crate) fn paint_part(self, template: &str, arguments: &[&str]) -> String {
        self.fill(template, arguments).0
    }

    /// What ends a painted piece.
    pub(crate) fn reset(self) -> &'static str {
        match self {
            Colour::Plain => "",
            Colour::Ansi => "\x1b[0m",
        }
    }

    fn fill(self, template: &str, arguments: &[&str]) -> (String, bool) {
        let mut out = String::with_capacity(template.len() + 16);
        let mut arguments = arguments.iter();
        let mut coloured = false;
        let mut rest = template;
        while let Some(at) = rest.find(['[', '{']) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("{}") {
                out.push_str(arguments.next().unwrap_or(&""));
                rest = after;
                continue;
            }
            let code = rest.find(']').and_then(|end| Some((code(&rest[1..end])?, end)));
            match code {
                Some((code, end)) => {
                    coloured = true;
                    self.push(code, &mut out);
                    rest = &rest[end + 1..];
                }
                None => {
                    out.push_str(&rest[..1]);
                    rest = &rest[1..];
                }
            }
        }
        out.push_str(rest);
        (out, coloured)
    }

    fn push(self, code: &str, out: &mut String) {
        if self == Colour::Ansi {
            out.push_str("\x1b[");
            out.push_str(code);
            out.push('m');
        }
    }
}

fn code(name: &str) -> Option<&'static str> {
    Some(match name {
        "reset" => "0",
        "bold" => "1",
        "red" => "31",
        "green" => "32",
        "yellow" => "33",
        "cyan" => "36",
        "light_gray" => "37",
        "dark_gray" => "90",
        _ => return None,
    })
}
