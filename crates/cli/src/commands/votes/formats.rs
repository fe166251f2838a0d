//! `dissensus votes formats`

use std::fmt::Write as _;

use dissensus::io::ReadOption;
use dissensus::votes::formats::FORMATS;
use dissensus::votes::write::TARGETS;

use crate::ui::hints::flags;
use crate::ui::{self, paint};

pub(crate) fn run() -> anyhow::Result<()> {
    let mut page = String::new();
    writeln!(page, "{}", paint::title("Formats that are read"))?;
    for format in FORMATS {
        writeln!(page, "  {}  {}", paint::strong(&format!("{:<13}", format.name)), format.title)?;
        writeln!(page, "  {:<13}  {}", "", paint::dim(format.layout))?;
        writeln!(
            page,
            "  {:<13}  {}",
            "",
            paint::dim(&format!("trap: {}", flags(format.trap, ReadOption::ALL)))
        )?;
    }
    writeln!(page, "\n{}", paint::title("Forms that are written"))?;
    for target in TARGETS {
        writeln!(page, "  {}  {}", paint::strong(&format!("{:<13}", target.name)), target.title)?;
    }
    Ok(ui::out(&page)?)
}
