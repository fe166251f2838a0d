//! A small writer of SVG elements: everything that comes from data is escaped.

use std::fmt::{Display, Write};

use crate::figures::{Form, Paint, font};

/// A drawing under construction. One unit is one point, 1/72 inch.
pub(crate) struct Svg {
    body: String,
    form: Form,
}

/// Attributes of an element.
pub(crate) type Attributes<'a> = [(&'a str, &'a dyn Display)];

/// Escapes text for SVG, and drops what XML cannot hold or what turns the text around it.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' | '\r' => out.push(' '),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

impl Svg {
    pub(crate) fn new(form: Form) -> Self {
        Self { body: String::new(), form }
    }

    /// A colour as this form writes it.
    pub(crate) fn paint(&self, paint: Paint) -> String {
        paint.written(self.form)
    }

    fn start(&mut self, name: &str, attributes: &Attributes<'_>) {
        // Writing to a String cannot fail.
        let _ = write!(self.body, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.body, " {key}=\"{}\"", escape(&value.to_string()));
        }
    }

    /// Opens an element that holds others.
    pub(crate) fn open(&mut self, name: &str, attributes: &Attributes<'_>) {
        self.start(name, attributes);
        self.body.push_str(">\n");
    }

    pub(crate) fn close(&mut self, name: &str) {
        let _ = writeln!(self.body, "</{name}>");
    }

    /// An element with attributes and, where there is any, text inside.
    pub(crate) fn element(&mut self, name: &str, attributes: &Attributes<'_>, text: &str) {
        self.start(name, attributes);
        let _ = match text {
            "" => writeln!(self.body, "/>"),
            text => writeln!(self.body, ">{}</{name}>", escape(text)),
        };
    }

    /// An element that says something when it is pointed at.
    pub(crate) fn with_tip(&mut self, name: &str, attributes: &Attributes<'_>, tip: &str) {
        if tip.is_empty() {
            return self.element(name, attributes, "");
        }
        self.start(name, attributes);
        let _ = writeln!(self.body, "><title>{}</title></{name}>", escape(tip));
    }

    /// The whole drawing, so many points wide and high.
    pub(crate) fn finish(self, width: f64, height: f64, title: &str) -> String {
        let Self { body, form } = self;
        let (w, h, title) = (px(width), px(height), escape(title));
        let view = format!("viewBox=\"0 0 {w} {h}\" font-family=\"{}\"", font::FAMILY);
        match form {
            Form::File => format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" {view} width=\"{w}pt\" \
                 height=\"{h}pt\" role=\"img\">\n<title>{title}</title>\n\
                 <style>{}</style>\n<rect width=\"{w}\" height=\"{h}\" fill=\"{}\"/>\n\
                 {body}</svg>\n",
                font::css(),
                Paint::Paper.written(form),
            ),
            // A title of the whole would pop up wherever the pointer rests. The page multiplies the width
            // by one scale for all figures, so that letters have one size.
            Form::Page => format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" {view} \
                 width=\"{}\" height=\"{}\" style=\"--width:{w}\" role=\"img\" \
                 aria-label=\"{title}\">\n{body}</svg>\n",
                px(width * 4.0 / 3.0),
                px(height * 4.0 / 3.0),
            ),
        }
    }
}

/// A number as short as a drawing needs it.
pub(crate) fn px(value: f64) -> String {
    let text = format!("{value:.2}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("<b a=\"1\">&\n\u{1}\u{202e}x"), "&lt;b a=&quot;1&quot;&gt;&amp; x");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.0, 0.126, -0.001, 20.0].map(px), ["1", "0.13", "0", "20"]);
    }
}
