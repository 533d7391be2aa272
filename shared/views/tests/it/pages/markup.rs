//! What a browser takes for markup in a page.

/// The tags of a page with the names of their attributes, each as `<name attribute …>`, and the texts between them; what is
/// in scripts and styles is neither.
pub(super) fn read(page: &str) -> (Vec<String>, String) {
    let (mut tags, mut text) = (Vec::new(), String::new());
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        let (tag, after) = tag(&rest[at + 1..]);
        let raw = ["script", "style"].into_iter().find(|raw| tag == format!("<{raw}>"));
        tags.push(tag);
        rest = after;
        if let Some(raw) = raw {
            let end = rest.find(&format!("</{raw}")).unwrap();
            rest = &rest[end..];
        }
    }
    text.push_str(rest);
    (tags, text)
}

/// A tag, from behind its `<`, and what follows it.
fn tag(text: &str) -> (String, &str) {
    let name: String = text.chars().take_while(|c| !c.is_whitespace() && *c != '>').collect();
    let mut rest = &text[name.len()..];
    let mut out = format!("<{name}");
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix("/>").or_else(|| rest.strip_prefix('>')) {
            return (format!("{out}>"), after);
        }
        let attribute: String =
            rest.chars().take_while(|c| !c.is_whitespace() && !"=>".contains(*c)).collect();
        assert!(
            !attribute.is_empty() && !rest.is_empty(),
            "an attribute without a name: {rest:.60}"
        );
        rest = &rest[attribute.len()..];
        out.push_str(&format!(" {attribute}"));
        if let Some(value) = rest.strip_prefix("=\"") {
            let end = value.find('"').unwrap();
            if attribute == "href" {
                let address = &value[..end];
                let known = ["#", "https://", "http://", "data:,", "../"];
                assert!(known.iter().any(|known| address.starts_with(known)), "{address}");
            }
            if ["action", "formaction"].contains(&&*attribute) {
                // Beside the page: no other host, no script.
                let address = &value[..end];
                let own = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%/".contains(&byte);
                assert!(address.bytes().all(own) && !address.starts_with('/'), "{address}");
            }
            rest = &value[end + 1..];
        } else {
            assert!(!rest.starts_with('='), "an attribute without quotes: {rest:.60}");
        }
    }
}
