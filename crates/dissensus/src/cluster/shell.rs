//! The one writer of shell commands: words that a shell takes as they are.
//!
//! A word stands in single quotes unless each of its characters means nothing to a shell.
//! `clusters/fuzz-scripts.py` runs what is written.

/// A word of a command.
pub(super) fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=@,%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => quoted(text),
    }
}

/// A command of these words. The first may be no assignment and no job.
pub(super) fn command(words: &[&str]) -> String {
    let first = |text: &str| match text.contains(['=', '%']) {
        true => quoted(text),
        false => word(text),
    };
    let rest = words.iter().skip(1).map(|text| word(text));
    words.iter().take(1).map(|text| first(text)).chain(rest).collect::<Vec<_>>().join(" ")
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    /// The words that a shell makes of a command's words.
    fn read(words: &[String]) -> Vec<String> {
        let words: Vec<&str> =
            ["printf", "%s\\0"].into_iter().chain(words.iter().map(String::as_str)).collect();
        let output = Command::new("sh").args(["-c", &command(&words)]).output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_shell_reads_words_back(
            words in prop::collection::vec("([ -~]|\n|\t|\u{85}|\u{2028}|é|'|\"|\\$|`|\\\\|~|!|\\*){0,12}", 1..20)
        ) {
            prop_assert_eq!(read(&words), words);
        }
    }

    #[test]
    fn a_program_is_no_assignment() {
        assert_eq!(command(&["A=b", "C=d", "%1"]), "'A=b' C=d %1");
        assert_eq!(command(&["", "it's"]), "'' 'it'\\''s'");
    }
}
