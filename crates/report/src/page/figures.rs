//! Figures as drawings inside the page, with a link that a script adds.

use super::escape::{anchor, html, prose};
use super::tables::made_how;
use crate::book::Book;
use crate::figures::{Figure, variables};

/// A figure with its title, notes and link.
pub(super) fn figure(book: &Book, at: usize, figure: &Figure) -> String {
    let mut out = format!(
        "<figure class=\"card drawn\" id=\"{}\" data-figure=\"{}\">\n\
         <figcaption><h3>{}</h3></figcaption>\n\
         <div class=\"wide drawing\">\n",
        anchor("figure", at, &figure.name),
        html(&figure.name),
        prose(&figure.title)
    );
    // Title and note stand around the drawing as text that can be read, found and copied.
    out.push_str(&figure.bare());
    out.push_str("\n</div>\n");
    if !figure.note.is_empty() {
        out.push_str(&format!("<p class=\"note\">{}</p>\n", prose(&figure.note)));
    }
    let spec = book.figures.iter().find(|spec| spec.name == figure.name);
    let metrics = spec.into_iter().flat_map(|spec| &spec.metrics).map(String::as_str);
    made_how(book, metrics, &mut out);
    out.push_str(&format!(
        "<button type=\"button\" class=\"download\" data-download hidden>Download SVG\
         <span class=\"unseen\"> of {}</span></button>\n</figure>\n",
        prose(&figure.title)
    ));
    out
}

/// The colours of figures, on light and on dark ground.
pub(super) fn colours() -> (String, String) {
    let (mut light, mut dark) = (String::new(), String::new());
    for (name, on_light, on_dark) in variables() {
        light.push_str(&format!("{name}:{on_light};"));
        dark.push_str(&format!("{name}:{on_dark};"));
    }
    (light, dark)
}
