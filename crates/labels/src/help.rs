//! The lists of methods and targets as text.

use crate::{DELIVERIES, Delivers, TARGETS};

/// The delivery methods with their settings, and the targets: a page of help.
pub fn methods_help() -> String {
    let mut page = String::from("Methods:\n");
    for info in DELIVERIES {
        page += &format!("  {:<16} {}\n", info.name, info.description);
        for s in info.settings {
            page += &format!("  {:<16}   {}={}: {}\n", "", s.name, s.default, s.description);
        }
    }
    let named = |form: Delivers| -> String {
        let of = DELIVERIES.iter().filter(|info| info.delivers == form).map(|info| info.name);
        of.collect::<Vec<_>>().join(", ")
    };
    page += &format!(
        "\nDistributions, the same in every epoch: {}\nDistributions of each epoch: {}\n\
         Samples, any number per item: {}\n",
        named(Delivers::Distributions),
        named(Delivers::EpochDistributions),
        named(Delivers::Samples)
    );
    page += "\nTargets:\n";
    for info in TARGETS {
        page += &format!("  {:<16} {}\n", info.name, info.description);
    }
    page
}

/// The targets with their formulas, what they need and their settings: a page of help.
pub fn targets_help() -> String {
    let mut page = String::from("Targets:\n");
    for info in TARGETS {
        page += &format!("  {:<12} {}\n", info.name, info.description);
        page += &format!("  {:<12}   {}\n", "", info.formula);
        page += &format!("  {:<12}   needs {}\n", "", info.needs);
        for s in info.settings {
            page += &format!("  {:<12}   {}={}: {}\n", "", s.name, s.default, s.description);
        }
    }
    page
}
