//! CSV (RFC 4180; lines end with `\n`): one writer for tables and figures.

use std::borrow::Cow;

/// A table under construction.
pub(crate) struct Csv(String);

impl Csv {
    pub(crate) fn new(header: &[&str]) -> Self {
        let mut csv = Self(String::new());
        csv.row(header);
        csv
    }

    /// A row; a field that would be misread is quoted.
    pub(crate) fn row(&mut self, fields: &[&str]) {
        let fields: Vec<Cow<'_, str>> = fields.iter().map(|text| field(text)).collect();
        self.0.push_str(&fields.join(","));
        self.0.push('\n');
    }

    /// The same of fields that are made here.
    pub(crate) fn row_of(&mut self, fields: impl IntoIterator<Item = String>) {
        let fields: Vec<String> = fields.into_iter().collect();
        self.row(&fields.iter().map(String::as_str).collect::<Vec<_>>());
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// A field, quoted where it would be misread.
pub fn field(text: &str) -> Cow<'_, str> {
    match text.contains([',', '"', '\n', '\r']) {
        true => Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))),
        false => Cow::Borrowed(text),
    }
}

/// A number in full; nothing where there is none.
pub(crate) fn number(value: impl Into<Option<f64>>) -> String {
    value.into().filter(|v| v.is_finite()).map_or_else(String::new, |v| v.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut csv = Csv::new(&["a", "b"]);
        csv.row(&["x, \"y\"", &number(0.1)]);
        csv.row(&["\n", &number(None)]);
        assert_eq!(csv.finish(), "a,b\n\"x, \"\"y\"\"\",0.1\n\"\n\",\n");
    }
}
