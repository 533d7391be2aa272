//! HTML, in which every text is escaped.

use crate::visible::name_of;
use jiff::Timestamp;
use std::fmt::Display;

/// HTML that is being written. Markup is constant: what is not known when this is compiled can be written as text alone.
#[derive(Default)]
pub(super) struct Html {
    out: String,
}

impl Html {
    /// Markup.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Html {
        self.out.push_str(markup);
        self
    }

    /// Text, for elements and for quoted attributes alike.
    pub(super) fn text(&mut self, text: &str) -> &mut Html {
        for c in text.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                c => match name_of(c) {
                    Some(name) => self.out.push_str(&name),
                    None => self.out.push(c),
                },
            }
        }
        self
    }

    /// A number, or something else that is written in letters and digits alone.
    pub(super) fn show(&mut self, what: impl Display) -> &mut Html {
        self.text(&what.to_string())
    }

    /// A time, in seconds since the epoch.
    pub(super) fn time(&mut self, seconds: i64) -> &mut Html {
        let Ok(time) = Timestamp::from_second(seconds) else { return self.show(seconds) };
        self.raw("<time datetime=\"").show(time).raw("\">");
        self.show(time.strftime("%Y-%m-%d %H:%M UTC")).raw("</time>")
    }

    /// A link to somewhere else; the text alone where the address is none of the web's.
    pub(super) fn link(&mut self, address: Option<&str>, text: &str) -> &mut Html {
        let web =
            |address: &&str| address.starts_with("https://") || address.starts_with("http://");
        match address.filter(web) {
            Some(address) => {
                self.raw("<a href=\"").text(address).raw("\" rel=\"noreferrer\">");
                self.text(text).raw("</a>")
            }
            None => self.text(text),
        }
    }

    /// A part of a path, or a value in a query, in an address that is ours.
    pub(super) fn address_part(&mut self, part: &str) -> &mut Html {
        for byte in part.bytes() {
            match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                true => self.out.push(char::from(byte)),
                false => self.out.push_str(&format!("%{byte:02X}")),
            }
        }
        self
    }

    /// How long it is so far.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// What was written since.
    pub(super) fn into_text(self) -> String {
        self.out
    }
}
