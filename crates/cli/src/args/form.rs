//! The form that results are printed in.

use crate::ui::table::Form;

#[derive(clap::Args)]
pub(crate) struct FormArgs {
    /// Print as JSON, with all figures and settings
    #[arg(long, group = "form")]
    json: bool,
    /// Print as CSV, with exact numbers
    #[arg(long, group = "form")]
    csv: bool,
    /// Print as a Markdown table
    #[arg(long, group = "form")]
    markdown: bool,
    /// Print as a LaTeX table (booktabs)
    #[arg(long, group = "form")]
    latex: bool,
}

impl FormArgs {
    /// How tables are printed; `None` for JSON.
    pub(crate) fn table(&self) -> Option<Form> {
        match self {
            Self { json: true, .. } => None,
            Self { csv: true, .. } => Some(Form::Csv),
            Self { markdown: true, .. } => Some(Form::Markdown),
            Self { latex: true, .. } => Some(Form::Latex),
            _ => Some(Form::Terminal),
        }
    }
}
