//! The items, packed for the page's explorer.
//!
//! Items stand in the order of annotator entropy, the highest first, so that whatever has to be left
//! out of a large study is taken from the end: what people agree on. For each item:
//!
//! * votes: one byte a class where all are counts up to 255, else their shares as f32;
//! * predictions: one byte a class, round(250 q), so a probability is kept to ±0.002 and is shown as
//!   a whole percent; 255 where there is none;
//! * for each prediction its cross-entropy −Σ p_k ln q_k under the votes, in f32, from the numbers
//!   before they were rounded: less the entropy of the votes it is KL(p‖q), and the difference of
//!   two is what one arm gains over another.
//!
//! Lists of bytes stand in blocks of their own as base64, which a browser keeps as text until they
//! are needed.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;

use super::error::PageError;
use super::escape::json;
use super::sprites::{self, Sheets};
use crate::book::{Book, Collection, Item, Picture};
use crate::tables::words::votes_title;

/// Probabilities are kept as multiples of 1 / `STEPS`.
const STEPS: f32 = 250.0;
/// In place of a probability that there is none of.
const ABSENT: u8 = 255;
/// In place of a picture's number.
const NO_PICTURE: u32 = u32::MAX;
/// Characters of an id that are kept.
const ID_LENGTH: usize = 200;
/// Characters of a text that are kept; the later ones are for studies with very many.
const TEXT_LENGTHS: [usize; 4] = [1000, 500, 250, 100];
/// What pictures may take, as text in the file: 9 MB of bytes.
const PICTURES: usize = 12_000_000;

/// What the page is told of a collection.
#[derive(Serialize)]
struct About<'b> {
    title: &'b str,
    name: &'b str,
    classes: &'b [String],
    by: Vec<By>,
    count: usize,
    of: usize,
    counts: bool,
    texts: bool,
    sheets: Option<Sheets>,
    notes: Vec<String>,
}

/// Whose a prediction is.
#[derive(Serialize)]
struct By {
    /// The arm's place in the book, for its colour.
    arm: Option<usize>,
    /// How a link names it.
    name: String,
    title: String,
}

/// The explorer's part of the page.
#[derive(Default)]
pub(super) struct Packed {
    /// JSON: a list of what is said of each collection.
    pub(super) about: String,
    /// The blocks with their numbers, texts and pictures.
    pub(super) blocks: String,
}

/// An item with its numbers.
struct Ranked<'b> {
    item: &'b Item,
    shares: Option<Vec<f64>>,
    entropy: f64,
}

/// Packs all collections of a book into about `budget` bytes.
pub(super) fn pack(book: &Book, budget: usize) -> Result<Packed, PageError> {
    let mut ranked = Vec::new();
    for collection in &book.collections {
        check(collection)?;
        ranked.push(rank(collection));
    }
    let all: Vec<usize> = ranked.iter().map(Vec::len).collect();
    // Numbers first, in at most half of the room; all collections are cut by the same share.
    let numbers: Vec<usize> =
        book.collections.iter().zip(&ranked).map(|(c, items)| numbers_length(c, items)).collect();
    let needed: usize = numbers.iter().sum();
    let room = budget / 2;
    if needed > room {
        for items in &mut ranked {
            items.truncate((items.len() as f64 * room as f64 / needed as f64) as usize);
        }
    }
    let left = budget - needed.min(room);
    let (length, texts) = texts(&ranked, left);
    let left = left.saturating_sub(texts.iter().map(|t| t.as_ref().map_or(0, String::len)).sum());
    let shares = picture_shares(&ranked, left.min(PICTURES));

    let mut packed = Packed::default();
    let mut about = Vec::new();
    for (at, collection) in book.collections.iter().enumerate() {
        let items = &ranked[at];
        let sheets = pictures(collection, items, shares[at])?;
        let blocks = &mut packed.blocks;
        let ids: Vec<String> = items.iter().map(|r| cut(&r.item.id, ID_LENGTH)).collect();
        block(blocks, &format!("ids-{at}"), &json(&ids));
        if let Some(texts) = &texts[at] {
            block(blocks, &format!("texts-{at}"), texts);
        }
        let counts = items.iter().all(|r| r.item.votes.iter().all(|v| is_small_count(*v)));
        bytes(blocks, &format!("votes-{at}"), &votes(items, counts, collection.classes.len()));
        let (probabilities, losses) = predictions(collection, items);
        bytes(blocks, &format!("predictions-{at}"), &probabilities);
        bytes(blocks, &format!("losses-{at}"), &losses);
        if let Some((sheets, places)) = &sheets {
            bytes(blocks, &format!("places-{at}"), places);
            for (number, url) in sheets.urls.iter().enumerate() {
                block(blocks, &format!("sheet-{at}-{number}"), url);
            }
        }
        let sheets = sheets.map(|(sheets, _)| sheets);
        about.push(About {
            title: book.dataset_title(&collection.dataset),
            name: &collection.dataset,
            classes: &collection.classes,
            by: by(book, collection),
            count: items.len(),
            of: all[at],
            counts,
            texts: texts[at].is_some(),
            notes: notes(items, all[at], length, sheets.as_ref()),
            sheets,
        });
    }
    packed.about = json(&about);
    Ok(packed)
}

/// Every list of an item is as long as it has to be.
fn check(collection: &Collection) -> Result<(), PageError> {
    let (classes, by) = (collection.classes.len(), collection.predicted_by.len());
    for item in &collection.items {
        let length = |what, got, expected, of| {
            let (dataset, id) = (collection.dataset.clone(), cut(&item.id, ID_LENGTH));
            PageError::Length { dataset, id, what, got, expected, of }
        };
        if item.votes.len() != classes {
            return Err(length("numbers of votes", item.votes.len(), classes, "classes"));
        }
        if item.predictions.len() != by {
            return Err(length("predictions", item.predictions.len(), by, "arms predict"));
        }
        if let Some(odd) = item.predictions.iter().find(|p| !p.is_empty() && p.len() != classes) {
            return Err(length("probabilities in a prediction", odd.len(), classes, "classes"));
        }
        if let Some(picture) = &item.picture {
            let &Picture { width, height, channels, ref pixels } = picture;
            let bytes = width.checked_mul(height).and_then(|n| n.checked_mul(channels));
            if !matches!(channels, 1 | 3) || pixels.is_empty() || bytes != Some(pixels.len()) {
                let (dataset, id) = (collection.dataset.clone(), cut(&item.id, ID_LENGTH));
                let got = pixels.len();
                return Err(PageError::Picture { dataset, id, got, width, height, channels });
            }
        }
    }
    Ok(())
}

/// The items by entropy, the highest first; those without votes last; ties stay in their order.
fn rank(collection: &Collection) -> Vec<Ranked<'_>> {
    let mut items: Vec<Ranked<'_>> = collection
        .items
        .iter()
        .map(|item| {
            let sum: f64 = item.votes.iter().sum();
            let proper = sum > 0.0 && sum.is_finite() && item.votes.iter().all(|v| *v >= 0.0);
            let shares: Option<Vec<f64>> =
                proper.then(|| item.votes.iter().map(|v| v / sum).collect());
            let entropy = shares.as_ref().map_or(-1.0, |shares| cross(shares, shares.iter()));
            Ranked { item, shares, entropy }
        })
        .collect();
    items.sort_by(|a, b| b.entropy.total_cmp(&a.entropy));
    items
}

/// −Σ p ln q in nats; classes without votes count nothing.
fn cross<'a>(p: &[f64], q: impl Iterator<Item = &'a f64>) -> f64 {
    let sum: f64 = p.iter().zip(q).filter(|(p, _)| **p > 0.0).map(|(p, q)| p * q.ln()).sum();
    // Not minus 0, which would be shown as such.
    0.0 - sum
}

fn is_small_count(votes: f64) -> bool {
    votes.fract() == 0.0 && (0.0..256.0).contains(&votes)
}

/// About what the numbers and ids of a collection take in the file.
fn numbers_length(collection: &Collection, items: &[Ranked<'_>]) -> usize {
    let classes = collection.classes.len();
    let counts = items.iter().all(|r| r.item.votes.iter().all(|v| is_small_count(*v)));
    let votes = classes * if counts { 1 } else { 4 };
    let each = (votes + collection.predicted_by.len() * (classes + 4) + 4) * 4 / 3;
    items.iter().map(|r| each + r.item.id.len().min(4 * ID_LENGTH) + 4).sum()
}

fn votes(items: &[Ranked<'_>], counts: bool, classes: usize) -> Vec<u8> {
    if counts {
        return items.iter().flat_map(|r| r.item.votes.iter().map(|v| *v as u8)).collect();
    }
    let share = |r: &Ranked<'_>, class: usize| r.shares.as_ref().map_or(0.0, |s| s[class] as f32);
    let shares = items.iter().flat_map(|r| (0..classes).map(move |class| share(r, class)));
    shares.flat_map(f32::to_le_bytes).collect()
}

/// The probabilities as bytes and the cross-entropies, both item by item.
fn predictions(collection: &Collection, items: &[Ranked<'_>]) -> (Vec<u8>, Vec<u8>) {
    let classes = collection.classes.len();
    let mut probabilities = Vec::new();
    let mut losses = Vec::new();
    for ranked in items {
        for predicted in &ranked.item.predictions {
            if predicted.is_empty() || predicted.iter().any(|q| !q.is_finite()) {
                probabilities.extend(std::iter::repeat_n(ABSENT, classes));
                losses.extend(f32::NAN.to_le_bytes());
                continue;
            }
            probabilities
                .extend(predicted.iter().map(|q| (q.clamp(0.0, 1.0) * STEPS).round() as u8));
            let predicted: Vec<f64> = predicted.iter().map(|q| f64::from(*q)).collect();
            let loss = ranked.shares.as_ref().map_or(f64::NAN, |p| cross(p, predicted.iter()));
            losses.extend((loss as f32).to_le_bytes());
        }
    }
    (probabilities, losses)
}

/// The texts of each collection as JSON, `null` where an item has none, and how long they may be:
/// as long as the room allows. Where even the shortest are too much, the last items have none.
fn texts(ranked: &[Vec<Ranked<'_>>], room: usize) -> (usize, Vec<Option<String>>) {
    let of = |items: &[Ranked<'_>], length: usize, first: usize| {
        let has = items.iter().any(|r| r.item.text.is_some());
        let kept = items.iter().enumerate().map(|(at, r)| {
            r.item.text.as_ref().filter(|_| at < first).map(|text| cut(text, length))
        });
        has.then(|| json(&kept.collect::<Vec<_>>()))
    };
    let size = |texts: &[Option<String>]| texts.iter().flatten().map(String::len).sum::<usize>();
    let mut made = (0, Vec::new());
    for length in TEXT_LENGTHS {
        let texts = ranked.iter().map(|items| of(items, length, items.len())).collect();
        made = (length, texts);
        if size(&made.1) <= room {
            return made;
        }
    }
    let share = room as f64 / size(&made.1).max(1) as f64;
    let first = |items: &[Ranked<'_>]| (items.len() as f64 * share) as usize;
    let texts = ranked.iter().map(|items| of(items, made.0, first(items))).collect();
    (made.0, texts)
}

/// A text's first characters, with a mark where there were more.
fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        None => text.to_owned(),
        Some((end, _)) => {
            let all = text.chars().count();
            format!("{} […] (cut: the first {length} of {all} characters)", &text[..end])
        }
    }
}

/// Room for the pictures of each collection, by how many pixels they have.
fn picture_shares(ranked: &[Vec<Ranked<'_>>], room: usize) -> Vec<usize> {
    let pixels = |items: &Vec<Ranked<'_>>| -> f64 {
        items.iter().filter_map(|r| r.item.picture.as_ref()).map(|p| p.pixels.len() as f64).sum()
    };
    let each: Vec<f64> = ranked.iter().map(pixels).collect();
    let all = each.iter().sum::<f64>().max(1.0);
    each.iter().map(|pixels| (room as f64 * pixels / all) as usize).collect()
}

/// The sheets of a collection, and the number of each item's picture.
fn pictures(
    collection: &Collection,
    items: &[Ranked<'_>],
    room: usize,
) -> Result<Option<(Sheets, Vec<u8>)>, PageError> {
    let pictures: Vec<&Picture> = items.iter().filter_map(|r| r.item.picture.as_ref()).collect();
    let packed = sprites::pack(&pictures, room).map_err(|why| PageError::Sheet {
        dataset: collection.dataset.clone(),
        why: why.to_string(),
    })?;
    let Some(sheets) = packed else { return Ok(None) };
    let mut next = 0..sheets.kept as u32;
    let places = items.iter().flat_map(|r| {
        let place = r.item.picture.as_ref().and_then(|_| next.next()).unwrap_or(NO_PICTURE);
        place.to_le_bytes()
    });
    let places = places.collect();
    Ok(Some((sheets, places)))
}

/// Whose the predictions are; the number of votes is said where an arm has several.
fn by(book: &Book, collection: &Collection) -> Vec<By> {
    let several = |arm: &str| collection.predicted_by.iter().filter(|(a, _)| a == arm).count() > 1;
    let each = collection.predicted_by.iter().map(|(name, k)| {
        let arm = book.arms.iter().position(|arm| arm.name == *name);
        let title = match (book.arm_title(name), several(name)) {
            (title, true) => format!("{title}, {}", votes_title(*k)),
            (title, false) => title.to_owned(),
        };
        By { arm, name: k.map_or(name.clone(), |k| format!("{name}@{k}")), title }
    });
    each.collect()
}

/// What a reader has to know of what was left out or changed.
fn notes(items: &[Ranked<'_>], all: usize, length: usize, sheets: Option<&Sheets>) -> Vec<String> {
    let mut notes = Vec::new();
    if items.len() < all {
        notes.push(format!(
            "{} of {all} items are here, those that people disagree on most: more would make this \
             page too large.",
            items.len()
        ));
    }
    if length < TEXT_LENGTHS[0] && items.iter().any(|r| r.item.text.is_some()) {
        notes.push(format!("Texts are cut at {length} characters to keep this page small."));
    }
    if let Some(sheets) = sheets {
        if sheets.kept < sheets.of {
            notes.push(format!(
                "{} of {} images are shown, those that people disagree on most; more would make \
                 this page too large.",
                sheets.kept, sheets.of
            ));
        }
        if let Some(quality) = sheets.quality {
            notes.push(format!("Images are compressed (JPEG, quality {quality})."));
        }
    }
    notes
}

fn block(out: &mut String, id: &str, content: &str) {
    out.push_str("<script type=\"text/plain\" id=\"");
    out.push_str(id);
    out.push_str("\">");
    out.push_str(content);
    out.push_str("</script>\n");
}

fn bytes(out: &mut String, id: &str, content: &[u8]) {
    block(out, id, &STANDARD.encode(content));
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::book::Arm;

    fn item(id: &str, votes: &[f64], predictions: &[&[f32]]) -> Item {
        let predictions = predictions.iter().map(|p| p.to_vec()).collect();
        Item { id: id.into(), votes: votes.to_vec(), predictions, ..Item::default() }
    }

    fn book(items: Vec<Item>, by: &[(&str, Option<u32>)]) -> Book {
        let predicted_by = by.iter().map(|(arm, k)| ((*arm).to_owned(), *k)).collect();
        let classes = vec!["cat".into(), "dog".into()];
        let collection = Collection { dataset: "pets".into(), classes, items, predicted_by };
        let arm = Arm { name: "sls".into(), title: "Sampled".into(), about: String::new() };
        Book { arms: vec![arm], collections: vec![collection], ..Book::default() }
    }

    fn content<'a>(packed: &'a Packed, id: &str) -> &'a str {
        let (_, after) = packed.blocks.split_once(&format!("id=\"{id}\">")).unwrap();
        after.split_once("</script>").unwrap().0
    }

    fn decoded(packed: &Packed, id: &str) -> Vec<u8> {
        STANDARD.decode(content(packed, id)).unwrap()
    }

    #[test]
    fn numbers_are_packed_by_entropy() {
        let items = vec![
            item("sure", &[4.0, 0.0], &[&[0.9, 0.1], &[]]),
            item("split", &[2.0, 2.0], &[&[0.5, 0.5], &[0.25, 0.75]]),
        ];
        let packed = pack(&book(items, &[("sls", None), ("sls", Some(3))]), 1 << 20).unwrap();
        assert_eq!(content(&packed, "ids-0"), "[\"split\",\"sure\"]");
        assert_eq!(decoded(&packed, "votes-0"), [2, 2, 4, 0]);
        assert_eq!(decoded(&packed, "predictions-0"), [125, 125, 63, 188, 225, 25, 255, 255]);
        let losses: Vec<f32> = decoded(&packed, "losses-0")
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        let expected = [0.5f32.ln(), (0.25f32.ln() + 0.75f32.ln()) / 2.0, 0.9f32.ln()];
        for (loss, expected) in losses.iter().zip(expected) {
            assert!((loss + expected).abs() < 1e-6, "{losses:?}");
        }
        assert!(losses[3].is_nan());
        assert!(packed.about.contains("Sampled, all votes"), "{}", packed.about);
        assert!(packed.about.contains("\"sls@3\""), "{}", packed.about);
    }

    #[test]
    fn shares_that_are_no_counts_stay_exact() {
        let packed = pack(&book(vec![item("a", &[0.25, 0.75], &[])], &[]), 1 << 20).unwrap();
        let bytes: Vec<u8> = [0.25f32, 0.75].into_iter().flat_map(f32::to_le_bytes).collect();
        assert_eq!(decoded(&packed, "votes-0"), bytes);
    }

    #[test]
    fn without_votes_an_item_comes_last_and_has_no_loss() {
        let items = vec![item("none", &[0.0, 0.0], &[&[0.5, 0.5]]), item("a", &[1.0, 0.0], &[&[]])];
        let packed = pack(&book(items, &[("sls", None)]), 1 << 20).unwrap();
        assert_eq!(content(&packed, "ids-0"), "[\"a\",\"none\"]");
        assert!(decoded(&packed, "losses-0").chunks(4).all(|b| b == f32::NAN.to_le_bytes()));
    }

    #[test]
    fn long_texts_are_cut_with_a_mark() {
        let mut long = item("a", &[1.0, 0.0], &[]);
        long.text = Some("é".repeat(1234));
        let packed = pack(&book(vec![long], &[]), 1 << 20).unwrap();
        let texts: Vec<String> = serde_json::from_str(content(&packed, "texts-0")).unwrap();
        assert!(texts[0].starts_with(&"é".repeat(1000)));
        assert!(texts[0].ends_with("é […] (cut: the first 1000 of 1234 characters)"));
    }

    #[test]
    fn a_small_room_keeps_what_people_disagree_on() {
        let items = (0..1000)
            .map(|at| Item {
                text: Some(format!("{at} {}", "word ".repeat(300))),
                ..item(&at.to_string(), &[f64::from(at % 7), 3.0], &[&[0.5, 0.5]])
            })
            .collect();
        let packed = pack(&book(items, &[("sls", None)]), 20_000).unwrap();
        assert!(packed.blocks.len() < 25_000, "{}", packed.blocks.len());
        let ids: Vec<String> = serde_json::from_str(content(&packed, "ids-0")).unwrap();
        assert!((100..1000).contains(&ids.len()), "{}", ids.len());
        assert_eq!(ids[0], "3", "an even split comes first");
        assert!(packed.about.contains("of 1000 items are here"), "{}", packed.about);
        assert!(packed.about.contains("cut at 100 characters"), "{}", packed.about);
    }

    #[test]
    fn lists_of_the_wrong_length_are_named() {
        let wrong = |item: Item| pack(&book(vec![item], &[("sls", None)]), 1 << 20).err().unwrap();
        assert_eq!(
            wrong(item("x", &[1.0], &[&[]])).to_string(),
            "item \"x\" of data set \"pets\" has 1 numbers of votes, but 2 classes: give one for \
             each"
        );
        assert!(wrong(item("x", &[1.0, 0.0], &[])).to_string().contains("0 predictions"));
        let odd = wrong(item("x", &[1.0, 0.0], &[&[1.0]])).to_string();
        assert!(odd.contains("1 probabilities in a prediction"), "{odd}");
        let mut odd = item("x", &[1.0, 0.0], &[&[]]);
        odd.picture = Some(Picture { width: 2, height: 2, channels: 3, pixels: vec![0; 11] });
        assert!(wrong(odd).to_string().contains("has 11 bytes, but 2×2 pixels of 3 channels"));
    }
}
