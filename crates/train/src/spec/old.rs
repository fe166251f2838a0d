//! Names of earlier versions: stored studies are translated, and errors in users' files name the
//! present key.

/// Keys with their sections: the old name and the present one.
const RENAMED: &[(&str, &str)] = &[
    ("data.judged_on", "data.evaluate_on"),
    ("training.rate", "training.learning_rate"),
    ("training.batch", "training.batch_size"),
    ("run.lanes", "run.jobs"),
];

/// The section that held all others in a study.
const OUTER: &str = "spec";

/// The old keys of a section with the present ones.
pub(super) fn names(section: &str) -> Vec<(&'static str, &'static str)> {
    let name = |(old, new): &(&'static str, &'static str)| {
        Some((old.strip_prefix(section)?.strip_prefix('.')?, new.rsplit('.').next()?))
    };
    RENAMED.iter().filter_map(name).collect()
}

/// What to write instead of an old key or section.
pub(super) fn hint(path: &str) -> Option<String> {
    if path.split('.').next() == Some(OUTER) {
        return Some("sections are written without it: [data] instead of [spec.data]".to_owned());
    }
    let (_, new) = RENAMED.iter().find(|(old, _)| *old == path)?;
    let name = new.rsplit('.').next().unwrap_or(new);
    Some(format!("it is called `{name}` now"))
}

/// A study as this program or an earlier version stored it, in the present names. Only for texts that
/// were written by a program: they have one key per line and quote dotted keys.
pub fn translate_stored(text: &str) -> String {
    let (mut translated, mut section) = (String::with_capacity(text.len()), String::new());
    for line in text.lines() {
        let mut line = match line.strip_prefix("[spec.") {
            Some(rest) => format!("[{rest}"),
            None => line.to_owned(),
        };
        if let Some(head) = line.strip_prefix('[') {
            section = head.trim_end_matches(']').to_owned();
        }
        for (old, new) in RENAMED {
            line = line.replace(&format!("\"{old}\" ="), &format!("\"{new}\" ="));
            if let Some((of, old)) = old.rsplit_once('.').filter(|(of, _)| *of == section)
                && let Some(value) = line.strip_prefix(&format!("{old} ="))
            {
                line = format!("{} ={value}", &new[of.len() + 1..]);
            }
        }
        if line.contains("device") {
            line = line.replace("+alone\"", ":exclusive\"");
        }
        translated += &line;
        translated.push('\n');
    }
    translated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_studies_are_translated() {
        let old = "[study]\nset = { \"training.batch\" = 8, \"run.device\" = \"cuda+alone\" }\n\n\
                   [spec.data]\njudged_on = \"cifar10h\"\n\n[spec.training]\nbatch = 32\n\
                   rate = 0.1\n\n[spec.training.augment]\ncrop = 4\n\n[[reference]]\nrate = 1\n\n\
                   [grid]\n\"training.rate\" = [0.1]\n\"training.batch\" = [8]\n";
        let new = "[study]\nset = { \"training.batch_size\" = 8, \"run.device\" = \
                   \"cuda:exclusive\" }\n\n[data]\nevaluate_on = \"cifar10h\"\n\n[training]\n\
                   batch_size = 32\nlearning_rate = 0.1\n\n[training.augment]\ncrop = 4\n\n\
                   [[reference]]\nrate = 1\n\n[grid]\n\"training.learning_rate\" = [0.1]\n\
                   \"training.batch_size\" = [8]\n";
        assert_eq!(translate_stored(old), new);
        assert_eq!(translate_stored(new), new);
    }
}
