//! Text from data on its way into HTML and into JSON inside HTML.
//!
//! Three places are dangerous. In markup, `& < > " '` are written as references, so a text never
//! becomes a tag or leaves an attribute. In a block of JSON, `<` `>` `&` are written as `\u003c` and
//! so on, so that no `</script>` or `<!--` can end it early, and so are U+2028 and U+2029. In the
//! template, names in braces are filled in one pass, so braces in a text stay what they are.

use std::borrow::Cow;

use serde::Serialize;

/// Text for markup or an attribute in quotes. What HTML cannot hold becomes U+FFFD.
pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\r' => out.push('\n'),
            c if c.is_control() || is_noncharacter(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Sentences for markup: as [`html`], with what stands between two backticks as code.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, (code, after))) =
        rest.split_once('`').and_then(|(before, after)| Some((before, after.split_once('`')?)))
    {
        out.push_str(&format!("{}<code>{}</code>", html(before), html(code)));
        rest = after;
    }
    out + &html(rest)
}

fn is_noncharacter(c: char) -> bool {
    let code = u32::from(c);
    code & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&code)
}

/// A value as JSON that can stand inside a `script` element.
pub(super) fn json(value: &impl Serialize) -> String {
    // Plain lists, maps with text keys and numbers: nothing here that JSON cannot say.
    let plain = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    inside_script(&plain).into_owned()
}

fn inside_script(json: &str) -> Cow<'_, str> {
    let special = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    if !json.contains(special) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + json.len() / 16);
    for c in json.chars() {
        if special(c) {
            // All five are below U+10000: one unit of four digits.
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Fills `{{name}}` in a template; a name that is not given stays as it is. What is filled in is
/// not looked at again.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let length: usize = values.iter().map(|(_, value)| value.len()).sum();
    let mut out = String::with_capacity(template.len() + length);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let found = after.split_once("}}").and_then(|(name, rest)| {
            values.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value, rest))
        });
        match found {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push_str("{{");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A name as an element's id: letters, digits and dashes, with a number that keeps two apart.
pub(super) fn anchor(kind: &str, at: usize, name: &str) -> String {
    let plain: String = name
        .chars()
        .take(60)
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    format!("{kind}-{}-{plain}", at + 1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        let text = html("<b onclick=\"x('y')\">&\u{0}\u{ffff}\r\n");
        assert_eq!(text, "&lt;b onclick=&quot;x(&#39;y&#39;)&quot;&gt;&amp;\u{fffd}\u{fffd}\n\n");
    }

    #[test]
    fn backticks_become_code() {
        assert_eq!(prose("see `a<b` and `c`."), "see <code>a&lt;b</code> and <code>c</code>.");
        assert_eq!(prose("one ` alone & `x`"), "one <code> alone &amp; </code>x`");
        assert_eq!(prose("none"), "none");
    }

    #[test]
    fn json_cannot_end_its_script() {
        let text = json(&["</script><!-- &amp; ]]>", "\u{2028}\u{2029}\"\\"]);
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{text}");
        let back: Vec<String> = serde_json::from_str(&text).unwrap();
        assert_eq!(back, ["</script><!-- &amp; ]]>", "\u{2028}\u{2029}\"\\"]);
    }

    #[test]
    fn a_template_is_filled_once() {
        let filled = fill("{{a}} {{b}} {{c}} {{", &[("a", "{{b}}"), ("b", "2")]);
        assert_eq!(filled, "{{b}} 2 {{c}} {{");
    }

    #[test]
    fn anchors_are_plain_and_apart() {
        assert_eq!(anchor("table", 0, "A \"b\""), "table-1-a--b-");
        assert_ne!(anchor("table", 0, "é"), anchor("table", 1, "è"));
    }
}
