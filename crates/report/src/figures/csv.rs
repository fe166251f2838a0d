//! The data of a figure as a table of text.

/// A table under construction.
pub(super) struct Csv(String);

impl Csv {
    pub(super) fn new(header: &[&str]) -> Self {
        let mut csv = Self(String::new());
        csv.row(header);
        csv
    }

    /// A row; a field that would be misread is quoted.
    pub(super) fn row(&mut self, fields: &[&str]) {
        for (i, field) in fields.iter().enumerate() {
            if i > 0 {
                self.0.push(',');
            }
            if field.contains([',', '"', '\n', '\r']) {
                self.0.push('"');
                self.0.push_str(&field.replace('"', "\"\""));
                self.0.push('"');
            } else {
                self.0.push_str(field);
            }
        }
        self.0.push('\n');
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// A number in full; nothing where there is none.
pub(super) fn number(value: impl Into<Option<f64>>) -> String {
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
