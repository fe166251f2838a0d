//! The template, with what the lists of models, deliveries, targets and losses say of their members.

use std::fmt::Write as _;
use std::sync::LazyLock;

use dissensus_engine::{InputKind, LOSSES, LossEntry, MODELS};
use dissensus_labels::{DELIVERIES, TARGETS};

pub(super) static TEMPLATE: LazyLock<String> = LazyLock::new(|| {
    let lists = [
        ("# {models}\n", models()),
        ("# {model settings}\n", model_settings()),
        ("# {deliveries}\n", members(DELIVERIES.iter().map(|info| (info.name, info.description)))),
        ("# {losses}\n", losses()),
        ("# {targets}\n", members(TARGETS.iter().map(|info| (info.name, info.description)))),
    ];
    let text = include_str!("template.toml").to_owned();
    lists.into_iter().fold(text, |text, (marker, list)| text.replace(marker, &list))
});

/// One comment line per member.
fn members<'a>(list: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, title) in list {
        let _ = writeln!(text, "#   {name}: {title}");
    }
    text
}

fn models() -> String {
    let mut text = String::new();
    for model in MODELS {
        let kind = match model.takes {
            InputKind::Images => "images",
            InputKind::Vectors => "feature vectors",
        };
        let _ = writeln!(text, "#   \"{}\" ({kind}): {}", model.name, model.description);
    }
    text
}

fn losses() -> String {
    let line = |loss: &LossEntry| format!("#   \"{}\": {}\n", loss.name, loss.description);
    LOSSES.iter().map(line).collect()
}

fn model_settings() -> String {
    let mut text = String::new();
    for model in MODELS {
        for setting in model.settings {
            let _ = writeln!(text, "# {}: {}.", model.name, setting.description);
            let _ = writeln!(text, "# {} = {}", setting.name, setting.default_text);
        }
    }
    text
}
