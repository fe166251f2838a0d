//! Texts as numbers of word pieces, by a `tokenizer.json` of Hugging Face.
//!
//! A word is cut into pieces of the vocabulary greedily, the longest first; what has no pieces is
//! one unknown token. Devlin et al., “BERT”, 2019. Of the format, what BERT models use is read:
//! WordPiece, BERT's normalizer and words, a template of special tokens, added tokens.
//!
//! Truncation and padding that stand in the file are not used: the model's settings decide.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::normalize::{Normalizer, words};
use crate::EmbedError;

pub(super) struct Tokenizer {
    normalizer: Option<Normalizer>,
    /// Found in the text as it is, and in the normalized text.
    raw: Vec<Added>,
    normalized: Vec<Added>,
    vocabulary: HashMap<String, u32>,
    unknown: u32,
    prefix: String,
    longest_word: usize,
    /// Bytes of the longest entry of the vocabulary: no piece is longer.
    longest_piece: usize,
    before: Vec<u32>,
    after: Vec<u32>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    added_tokens: Vec<Added>,
    normalizer: Option<Normalizers>,
    pre_tokenizer: Option<PreTokenizer>,
    post_processor: Option<PostProcessor>,
    model: Model,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Normalizers {
    BertNormalizer(Normalizer),
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum PreTokenizer {
    BertPreTokenizer,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Model {
    WordPiece {
        unk_token: String,
        continuing_subword_prefix: String,
        max_input_chars_per_word: usize,
        vocab: HashMap<String, u32>,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum PostProcessor {
    BertProcessing { sep: (String, u32), cls: (String, u32) },
    TemplateProcessing { single: Vec<Piece>, special_tokens: HashMap<String, Special> },
}

#[derive(Deserialize)]
enum Piece {
    SpecialToken { id: String, type_id: u32 },
    Sequence { type_id: u32 },
}

#[derive(Deserialize)]
struct Special {
    ids: Vec<u32>,
}

/// A token that is looked for as it stands, before words are cut.
#[derive(Deserialize)]
struct Added {
    id: u32,
    content: String,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
    #[serde(default)]
    normalized: bool,
}

impl Tokenizer {
    /// Reads a `tokenizer.json` for a model that knows `tokens` tokens.
    pub(super) fn read(path: &Path, bytes: &[u8], tokens: usize) -> Result<Self, EmbedError> {
        let problem = |problem| EmbedError::Model { path: path.to_owned(), problem };
        let file: File = serde_json::from_slice(bytes).map_err(|error| {
            problem(format!("not a tokenizer of a BERT model (WordPiece): {error}"))
        })?;
        let Model::WordPiece {
            unk_token,
            continuing_subword_prefix,
            max_input_chars_per_word,
            vocab,
        } = file.model;
        if file.pre_tokenizer.is_none() {
            return Err(problem("pre_tokenizer is null; BertPreTokenizer is read".to_owned()));
        }
        let unknown = *vocab
            .get(&unk_token)
            .ok_or_else(|| problem(format!("unk_token {unk_token:?} is not in the vocabulary")))?;
        let (before, after) = match file.post_processor {
            None => (Vec::new(), Vec::new()),
            Some(PostProcessor::BertProcessing { sep, cls }) => (vec![cls.1], vec![sep.1]),
            Some(PostProcessor::TemplateProcessing { single, special_tokens }) => {
                template(&single, &special_tokens).map_err(problem)?
            }
        };
        let (mut normalized, raw): (Vec<Added>, Vec<Added>) = file
            .added_tokens
            .into_iter()
            .filter(|t| !t.content.is_empty())
            .partition(|t| t.normalized);
        let normalizer = file.normalizer.map(|Normalizers::BertNormalizer(n)| n);
        if let Some(normalizer) = normalizer {
            normalized.iter_mut().for_each(|t| t.content = normalizer.apply(&t.content));
        }
        let all = vocab.values().chain(&before).chain(&after);
        let largest = all.copied().chain(raw.iter().chain(&normalized).map(|t| t.id)).max();
        if largest.is_some_and(|largest| largest as usize >= tokens) {
            return Err(problem(format!(
                "it has a token number {}, config.json a vocab_size of {tokens}",
                largest.unwrap_or(0)
            )));
        }
        Ok(Self {
            normalizer,
            raw,
            normalized,
            longest_piece: vocab.keys().map(String::len).max().unwrap_or(0),
            vocabulary: vocab,
            unknown,
            prefix: continuing_subword_prefix,
            longest_word: max_input_chars_per_word,
            before,
            after,
        })
    }

    /// How many tokens stand around every text.
    pub(super) fn special(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// The tokens of a text, special ones included, cut at the end to `most` in all.
    pub(super) fn encode(&self, text: &str, most: usize) -> Vec<u32> {
        let room = most.saturating_sub(self.special());
        let mut tokens = self.before.clone();
        let end = tokens.len() + room;
        // What stands beyond the room is cut off anyway: a long text is read only as far as needed.
        split(text, &self.raw, &mut |part| {
            match part {
                Part::Token(id) => tokens.push(id),
                Part::Text(text) => {
                    let text = self.normalizer.map_or_else(|| text.to_owned(), |n| n.apply(text));
                    split(&text, &self.normalized, &mut |part| {
                        match part {
                            Part::Token(id) => tokens.push(id),
                            Part::Text(text) => {
                                for word in words(text).take(end.saturating_sub(tokens.len())) {
                                    self.pieces(word, &mut tokens);
                                }
                            }
                        }
                        tokens.len() < end
                    });
                }
            }
            tokens.len() < end
        });
        tokens.truncate(end);
        tokens.extend_from_slice(&self.after);
        tokens
    }

    fn pieces(&self, word: &str, tokens: &mut Vec<u32>) {
        let (first, mut start) = (tokens.len(), 0);
        if word.chars().nth(self.longest_word).is_some() {
            tokens.push(self.unknown);
            return;
        }
        let mut continued = self.prefix.clone();
        while start < word.len() {
            let reach = (start..=word.len().min(start + self.longest_piece)).rev();
            let reach = reach.into_iter().find(|&end| word.is_char_boundary(end)).unwrap_or(start);
            let part = word[start..reach].char_indices();
            let ends = part.map(|(at, c)| start + at + c.len_utf8()).rev();
            let found = ends.into_iter().find_map(|end| {
                let piece = &word[start..end];
                let id = if start == 0 {
                    self.vocabulary.get(piece)
                } else {
                    continued.truncate(self.prefix.len());
                    continued.push_str(piece);
                    self.vocabulary.get(&continued)
                };
                id.map(|&id| (id, end))
            });
            match found {
                Some((id, end)) => {
                    tokens.push(id);
                    start = end;
                }
                None => {
                    tokens.truncate(first);
                    tokens.push(self.unknown);
                    return;
                }
            }
        }
    }
}

/// The tokens before and behind a single text.
fn template(
    pieces: &[Piece],
    special: &HashMap<String, Special>,
) -> Result<(Vec<u32>, Vec<u32>), String> {
    let (mut before, mut after, mut texts) = (Vec::new(), Vec::new(), 0);
    for piece in pieces {
        let (Piece::SpecialToken { type_id, .. } | Piece::Sequence { type_id }) = piece;
        if *type_id != 0 {
            return Err(format!("a token type of {type_id} in a single text; 0 is read"));
        }
        match piece {
            Piece::Sequence { .. } => texts += 1,
            Piece::SpecialToken { id, .. } => {
                let ids = special
                    .get(id)
                    .ok_or_else(|| format!("{id:?} of the template is not in special_tokens"))?;
                let to = if texts == 0 { &mut before } else { &mut after };
                to.extend_from_slice(&ids.ids);
            }
        }
    }
    match texts {
        1 => Ok((before, after)),
        _ => Err(format!("the template has the text {texts} times, not once")),
    }
}

enum Part<'a> {
    Token(u32),
    Text(&'a str),
}

/// Hands a text on in parts, cut where added tokens stand, until `take` answers false.
fn split<'a>(text: &'a str, added: &[Added], take: &mut dyn FnMut(Part<'a>) -> bool) {
    let mut done = 0;
    while let Some((start, end, id)) = next(text, done, added) {
        if (start > done && !take(Part::Text(&text[done..start]))) || !take(Part::Token(id)) {
            return;
        }
        done = end;
    }
    if done < text.len() {
        take(Part::Text(&text[done..]));
    }
}

/// The first added token from `from` on, the longest of several: where it starts and ends.
fn next(text: &str, from: usize, added: &[Added]) -> Option<(usize, usize, u32)> {
    let places = added.iter().filter_map(|token| {
        let mut found = text[from..].match_indices(&token.content).map(|(at, _)| from + at);
        let at = found.find(|&at| !token.single_word || stands_alone(text, at, &token.content))?;
        Some((at, token))
    });
    let (at, token) = places.min_by_key(|(at, token)| (*at, usize::MAX - token.content.len()))?;
    let (mut start, mut end) = (at, at + token.content.len());
    if token.lstrip {
        start = from + text[from..start].trim_end().len();
    }
    if token.rstrip {
        end = text.len() - text[end..].trim_start().len();
    }
    Some((start, end, token.id))
}

fn stands_alone(text: &str, at: usize, content: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..at].chars().next_back();
    let after = text[at + content.len()..].chars().next();
    !before.is_some_and(is_word) && !after.is_some_and(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(change: impl Fn(&mut serde_json::Value)) -> Result<Tokenizer, String> {
        let mut json = serde_json::json!({
            "added_tokens": [
                {"id": 1, "content": "[CLS]"}, {"id": 2, "content": "[SEP]"},
                {"id": 3, "content": "[MASK]", "lstrip": true},
                {"id": 8, "content": "Ab", "single_word": true, "normalized": true},
            ],
            "normalizer": {"type": "BertNormalizer", "clean_text": true,
                "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}},
                    {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
                "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
                    "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 6, "vocab": {"[UNK]": 0, "un": 4, "##do": 5,
                    "##ing": 6, "!": 7, "a": 9, "##b": 10}}
        });
        change(&mut json);
        Tokenizer::read(Path::new("t"), json.to_string().as_bytes(), 11).map_err(|e| e.to_string())
    }

    #[test]
    fn words_become_their_longest_pieces() {
        let tokenizer = file(|_| ()).unwrap();
        let encode = |text| tokenizer.encode(text, 100);
        assert_eq!(encode("UNDO!"), [1, 4, 5, 7, 2]);
        assert_eq!(encode(""), [1, 2]);
        assert_eq!(encode("undone un"), [1, 0, 4, 2]);
        assert_eq!(encode("undoing un"), [1, 0, 4, 2], "seven letters are too many");
        assert_eq!(encode("un[SEP]un  [MASK]!"), [1, 4, 2, 4, 3, 7, 2]);
        assert_eq!(encode("ab aab AB"), [1, 8, 0, 8, 2]);
        assert_eq!(tokenizer.encode("un un undo", 5), [1, 4, 4, 4, 2]);
        assert_eq!(tokenizer.encode("un [MASK] [MASK] [MASK]", 4), [1, 4, 3, 2]);
    }

    #[test]
    fn other_tokenizers_are_refused_by_name() {
        let error = |change: fn(&mut serde_json::Value)| file(change).err().unwrap();
        let found = error(|json| json["model"]["type"] = "Unigram".into());
        assert!(found.contains("unknown variant `Unigram`, expected `WordPiece`"), "{found}");
        let found = error(|json| json["pre_tokenizer"] = serde_json::Value::Null);
        assert!(found.contains("BertPreTokenizer is read"), "{found}");
        let found = error(|json| json["model"]["unk_token"] = "?".into());
        assert_eq!(found, "t: unk_token \"?\" is not in the vocabulary");
        let found = error(|json| json["model"]["vocab"]["b"] = 11.into());
        assert_eq!(found, "t: it has a token number 11, config.json a vocab_size of 11");
        let found = error(|json| {
            json["post_processor"]["single"][1] = serde_json::json!(
            {"SpecialToken": {"id": "[SEP]", "type_id": 0}})
        });
        assert_eq!(found, "t: the template has the text 0 times, not once");
        let found =
            error(|json| json["post_processor"]["single"][0]["SpecialToken"]["id"] = "x".into());
        assert_eq!(found, "t: \"x\" of the template is not in special_tokens");
    }
}
