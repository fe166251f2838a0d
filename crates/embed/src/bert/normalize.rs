//! From a text to words, as BERT does it.
//!
//! In this order: control characters go and every white space becomes a blank; Chinese characters
//! get blanks around them; accents go (NFD without its marks); upper case becomes lower case. Words
//! are then what lies between white space, and every punctuation character is a word of its own.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// What is done to a text before it is cut into words.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
pub(super) struct Normalizer {
    clean_text: bool,
    handle_chinese_chars: bool,
    /// Where it is left out, accents go with upper case.
    strip_accents: Option<bool>,
    lowercase: bool,
}

impl Normalizer {
    pub(super) fn apply(self, text: &str) -> String {
        let strip = self.strip_accents.unwrap_or(self.lowercase);
        // Nothing but upper case matters in plain ASCII; this is most of English.
        if text.bytes().all(|b| matches!(b, b' '..=b'~')) {
            return if self.lowercase { text.to_ascii_lowercase() } else { text.to_owned() };
        }
        let mut cleaned = String::with_capacity(text.len() + 8);
        for c in text.chars() {
            if self.clean_text && is_dropped(c) {
                continue;
            }
            let c = if self.clean_text && c.is_whitespace() { ' ' } else { c };
            if self.handle_chinese_chars && is_chinese(c) {
                cleaned.extend([' ', c, ' ']);
            } else {
                cleaned.push(c);
            }
        }
        let stripped = match strip {
            true => cleaned.nfd().filter(|&c| !is_mark(c)).collect(),
            false => cleaned,
        };
        match self.lowercase {
            // Letter by letter: a sigma at the end of a word is not a special case here.
            true => stripped.chars().flat_map(char::to_lowercase).collect(),
            false => stripped,
        }
    }
}

/// Control and format characters and private ones; what is not assigned stays.
fn is_dropped(c: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    let other = matches!(c.general_category(), Control | Format | PrivateUse);
    c == '\u{fffd}' || (other && !matches!(c, '\t' | '\n' | '\r'))
}

fn is_mark(c: char) -> bool {
    c.general_category() == GeneralCategory::NonspacingMark
}

/// The blocks of ideographs that BERT counts; neither kana nor hangul.
fn is_chinese(c: char) -> bool {
    matches!(
        u32::from(c),
        0x4e00..=0x9fff
            | 0x3400..=0x4dbf
            | 0x20000..=0x2a6df
            | 0x2a700..=0x2b73f
            | 0x2b740..=0x2b81f
            | 0x2b920..=0x2ceaf
            | 0xf900..=0xfaff
            | 0x2f800..=0x2fa1f
    )
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || (!c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Punctuation)
}

/// The words of a text, each punctuation character by itself.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().flat_map(|word| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let end = match is_punctuation(first) {
                true => first.len_utf8(),
                false => rest.find(is_punctuation).unwrap_or(rest.len()),
            };
            let (word, after) = rest.split_at(end);
            rest = after;
            Some(word)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BERT: Normalizer = Normalizer {
        clean_text: true,
        handle_chinese_chars: true,
        strip_accents: None,
        lowercase: true,
    };

    #[test]
    fn a_text_becomes_plain_words() {
        let text = BERT.apply("Ça va,\tNaïve\u{0}  \u{200d}日本 ÅSA?!");
        assert_eq!(text, "ca va, naive   日  本  asa?!");
        let found: Vec<&str> = words(&text).collect();
        assert_eq!(found, ["ca", "va", ",", "naive", "日", "本", "asa", "?", "!"]);
    }

    /// Every character between two letters, against Hugging Face's tokenizers
    /// (`reference/embed/tokens.py`), but for blocks with characters that its tables do not know.
    #[test]
    fn every_character_is_treated_as_the_reference_does() {
        let golden = include_str!("../../tests/golden/characters.json");
        let golden: serde_json::Value = serde_json::from_str(golden).unwrap();
        let newer: Vec<u32> = serde_json::from_value(golden["newer"].clone()).unwrap();
        let mut all = String::new();
        for c in ('\0'..=char::MAX).filter(|&c| !newer.contains(&(u32::from(c) >> 8))) {
            let text = BERT.apply(&format!("a{c}b"));
            all.extend(words(&text).collect::<Vec<_>>().join(" ").chars().chain(['\n']));
        }
        assert_eq!(crate::transformer::sha256(all.as_bytes()), golden["digest"]);
    }

    #[test]
    fn cased_models_keep_case_and_accents() {
        let cased = Normalizer { lowercase: false, ..BERT };
        assert_eq!(cased.apply("Ça Va"), "Ça Va");
        assert_eq!(Normalizer { strip_accents: Some(true), ..cased }.apply("Ça Va"), "Ca Va");
        assert_eq!(Normalizer { clean_text: false, ..BERT }.apply("a\tÉ"), "a\te");
    }
}
