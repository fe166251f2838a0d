//! A small writer of SVG elements: everything that comes from data is escaped.

use std::fmt::{Display, Write};

/// A picture under construction.
pub(crate) struct Svg {
    body: String,
    width: f64,
    height: f64,
}

/// Escapes text for SVG, and drops what XML cannot hold.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

impl Svg {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { body: String::new(), width, height }
    }

    /// An element with attributes and, where there is any, text inside.
    pub(crate) fn element(&mut self, name: &str, attributes: &[(&str, &dyn Display)], text: &str) {
        // Writing to a String cannot fail.
        let _ = write!(self.body, "  <{name}");
        for (key, value) in attributes {
            let _ = write!(self.body, " {key}=\"{}\"", escape(&value.to_string()));
        }
        let _ = match text {
            "" => writeln!(self.body, "/>"),
            text => writeln!(self.body, ">{}</{name}>", escape(text)),
        };
    }

    /// The whole picture.
    pub(crate) fn finish(self, title: &str) -> String {
        let Self { body, width, height } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" font-family=\"Helvetica, Arial, sans-serif\" \
             font-size=\"12\" role=\"img\">\n  <title>{}</title>\n  \
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n",
            escape(title)
        )
    }
}

/// A number as short as a picture needs it.
pub(crate) fn px(value: f64) -> String {
    format!("{:.2}", value).trim_end_matches('0').trim_end_matches('.').to_owned()
}
