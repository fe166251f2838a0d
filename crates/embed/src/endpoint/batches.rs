//! Texts in requests, and how many tokens a request may take.

/// Cuts texts into runs of at most so many texts and characters. A text with more characters than
/// that is alone: whether it is too long, the server knows better.
pub(super) fn batches<'t>(
    mut texts: &'t [&'t str],
    most_texts: usize,
    most_characters: usize,
) -> impl Iterator<Item = &'t [&'t str]> {
    std::iter::from_fn(move || {
        let mut characters = 0;
        let fits = |text: &&&str| {
            characters += text.chars().count();
            characters <= most_characters
        };
        let run = texts.iter().take(most_texts).take_while(fits).count();
        let (batch, left) = texts.split_at_checked(run.max(1))?;
        texts = left;
        Some(batch)
    })
}

/// The most tokens that a request may take: a token is at least a byte of text, and a model adds a
/// few of its own. For English that is about four times too many, which costs nothing but that the
/// work ends one request before the cap; what an answer states is what counts afterwards.
pub(super) fn tokens_at_most(texts: &[&str]) -> u64 {
    const ADDED: u64 = 8;
    texts.iter().map(|text| text.len() as u64 + ADDED).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut<'t>(texts: &'t [&'t str], most: usize, characters: usize) -> Vec<Vec<&'t str>> {
        batches(texts, most, characters).map(<[_]>::to_vec).collect()
    }

    #[test]
    fn by_count_and_by_characters() {
        let texts = ["aa", "bb", "cc", "dd", "ee"];
        assert_eq!(cut(&texts, 2, 100), [vec!["aa", "bb"], vec!["cc", "dd"], vec!["ee"]]);
        assert_eq!(cut(&texts, 9, 6), [vec!["aa", "bb", "cc"], vec!["dd", "ee"]]);
        assert_eq!(cut(&texts, 9, 100).len(), 1);
        assert!(cut(&[], 2, 2).is_empty());
    }

    #[test]
    fn a_long_text_is_alone() {
        assert_eq!(cut(&["a", "bbbbbb", "c"], 9, 3), [vec!["a"], vec!["bbbbbb"], vec!["c"]]);
        // Characters, not bytes.
        assert_eq!(cut(&["é", "é"], 9, 2), [vec!["é", "é"]]);
        assert_eq!(tokens_at_most(&["é", "ab"]), 2 + 8 + 2 + 8);
    }
}
