//! The cache of vectors: exact, whole after any kill, and shared by processes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use dissensus_embed::cache::Stats;
use dissensus_embed::{
    Cache, CacheError, Cached, EmbedError, Encoded, Encoder, Identity, Image, Kind, Progress,
};

/// Vectors that are a function of the text, and how often it was asked, for how many.
struct Made {
    identity: Identity,
    width: usize,
    calls: AtomicUsize,
    rows: AtomicUsize,
    /// Fails at this text.
    bad: Option<&'static str>,
}

impl Made {
    fn new(width: usize) -> Self {
        let identity = Identity { name: "made up".into(), digest: "0f".repeat(32) };
        Made { identity, width, calls: 0.into(), rows: 0.into(), bad: None }
    }

    fn asked(&self) -> (usize, usize) {
        (self.calls.load(Ordering::SeqCst), self.rows.load(Ordering::SeqCst))
    }
}

/// Bits that only come back if nothing rounds them.
fn vector(bytes: &[u8], width: usize) -> Vec<f32> {
    let seed = bytes.iter().fold(7u32, |h, &b| h.wrapping_mul(31).wrapping_add(u32::from(b)));
    (0..width as u32).map(|i| f32::from_bits(seed.wrapping_mul(2 * i + 1) & 0x807f_ffff)).collect()
}

fn expected(texts: &[&str], width: usize) -> Vec<u32> {
    texts.iter().flat_map(|t| vector(t.as_bytes(), width)).map(f32::to_bits).collect()
}

impl Encoder for Made {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn width(&self) -> Option<usize> {
        None
    }

    fn texts(&self, texts: &[&str], progress: &mut Progress<'_>) -> Result<Vec<f32>, EmbedError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let good = texts.iter().position(|t| Some(*t) == self.bad).unwrap_or(texts.len());
        self.rows.fetch_add(good, Ordering::SeqCst);
        let vectors: Vec<f32> =
            texts[..good].iter().flat_map(|t| vector(t.as_bytes(), self.width)).collect();
        progress(good);
        if good < texts.len() {
            let why = Box::new(EmbedError::Input("bad text".into()));
            return Err(EmbedError::Partly { done: Encoded { rows: good, vectors }, why });
        }
        Ok(vectors)
    }

    fn images(
        &self,
        images: &[Image<'_>],
        progress: &mut Progress<'_>,
    ) -> Result<Vec<f32>, EmbedError> {
        self.rows.fetch_add(images.len(), Ordering::SeqCst);
        progress(images.len());
        Ok(images.iter().flat_map(|p| vector(p.pixels, self.width)).collect())
    }
}

fn names(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("text {i}")).collect()
}

fn refs(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

fn open(folder: &Path) -> Cached<Made> {
    Cached::new(Box::new(Made::new(5)), &Cache::open(folder).unwrap()).unwrap()
}

fn bits(cached: &Cached<Made>, texts: &[&str]) -> Vec<u32> {
    let vectors = cached.texts(texts, &mut |_| true).unwrap();
    vectors.into_iter().map(f32::to_bits).collect()
}

fn file(folder: &Path) -> PathBuf {
    folder.join(format!("{}.vectors", "0f".repeat(32)))
}

/// Bytes of a record of five numbers.
const RECORD: usize = 32 + 5 * 4 + 4;

#[test]
fn only_what_is_missing_is_asked_for_and_the_bits_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let names = names(600);
    let texts = refs(&names);
    let first = open(folder.path());
    assert_eq!(bits(&first, &texts[..300]), expected(&texts[..300], 5));
    assert_eq!(first.encoder().asked(), (2, 300));
    assert_eq!(first.stats(), Stats { hits: 0, misses: 300 });
    assert_eq!(bits(&first, &texts), expected(&texts, 5));
    assert_eq!(first.encoder().asked(), (4, 600));
    assert_eq!(first.stats(), Stats { hits: 300, misses: 600 });

    let again = open(folder.path());
    let backwards: Vec<&str> = texts.iter().rev().copied().collect();
    assert_eq!(bits(&again, &backwards), expected(&backwards, 5));
    assert_eq!(again.encoder().asked(), (0, 0));
    assert_eq!(again.width(), Some(5));
    assert!(again.texts(&[], &mut |_| true).unwrap().is_empty());
}

#[test]
fn what_is_wanted_twice_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let cached = open(folder.path());
    let texts = ["a", "b", "a", "a", "c", "b"];
    let mut told = 0;
    let vectors = cached.texts(&texts, &mut |n| {
        told += n;
        true
    });
    let found: Vec<u32> = vectors.unwrap().into_iter().map(f32::to_bits).collect();
    assert_eq!(found, expected(&texts, 5));
    assert_eq!(cached.encoder().asked(), (1, 3));
    assert_eq!((cached.stats(), told), (Stats { hits: 3, misses: 3 }, 6));
}

#[test]
fn texts_and_images_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let cached = open(folder.path());
    bits(&cached, &["ab"]);
    let image = |height, width| Image { height, width, channels: 1, pixels: b"ab" };
    let both = [image(1, 2), image(2, 1), image(1, 2)];
    assert_eq!(cached.images(&both, &mut |_| true).unwrap().len(), 15);
    assert_eq!(cached.stats(), Stats { hits: 1, misses: 3 });
}

/// Every block is on disk before the next one is asked for, and so are the first ones of a block
/// that fails.
#[test]
fn what_was_made_before_an_error_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let names = names(10);
    let texts = refs(&names);
    let cache = Cache::open(folder.path()).unwrap();
    let failing = Made { bad: Some("text 7"), ..Made::new(5) };
    let cached = Cached::new(Box::new(failing), &cache).unwrap().with_block(4);
    let error = cached.texts(&texts, &mut |_| true).unwrap_err();
    assert!(matches!(&error, EmbedError::Input(text) if text == "bad text"), "{error}");
    assert_eq!(cached.stats(), Stats { hits: 0, misses: 7 });
    let again = open(folder.path());
    assert_eq!(bits(&again, &texts), expected(&texts, 5));
    assert_eq!(again.encoder().asked(), (1, 3));
}

#[test]
fn the_caller_may_stop_between_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let names = names(10);
    let texts = refs(&names);
    let cached = open(folder.path()).with_block(4);
    let error = cached.texts(&texts, &mut |_| false).unwrap_err();
    assert!(matches!(error, EmbedError::Stopped), "{error}");
    assert_eq!(cached.encoder().asked(), (1, 4));
    assert_eq!(open(folder.path()).texts(&texts[..4], &mut |_| false).unwrap().len(), 20);
}

/// Cut at any byte, the file gives every vector that it holds whole, and grows on.
#[test]
fn a_torn_file_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    let names = names(4);
    let texts = refs(&names);
    bits(&open(folder.path()), &texts[..3]);
    let whole = std::fs::read(file(folder.path())).unwrap();
    let header = whole.len() - 3 * RECORD;
    for end in 0..whole.len() {
        std::fs::write(file(folder.path()), &whole[..end]).unwrap();
        let kept = end.saturating_sub(header) / RECORD;
        let cached = open(folder.path());
        assert_eq!(bits(&cached, &texts), expected(&texts, 5), "cut at {end}");
        assert_eq!(cached.encoder().asked().1, 4 - kept, "cut at {end}");
        let mended = std::fs::read(file(folder.path())).unwrap();
        assert_eq!(mended.len(), header + 4 * RECORD, "cut at {end}");
        assert_eq!(mended[..whole.len()], whole, "cut at {end}");
        assert_eq!(open(folder.path()).texts(&texts, &mut |_| true).unwrap().len(), 20);
    }
}

#[test]
fn a_damaged_record_is_made_again_and_the_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let names = names(3);
    let texts = refs(&names);
    bits(&open(folder.path()), &texts);
    let whole = std::fs::read(file(folder.path())).unwrap();
    let first = whole.len() - 3 * RECORD;
    for at in [first, first + 40, first + RECORD - 1] {
        let mut bad = whole.clone();
        bad[at] ^= 4;
        std::fs::write(file(folder.path()), &bad).unwrap();
        let cached = open(folder.path());
        assert_eq!(bits(&cached, &texts), expected(&texts, 5));
        assert_eq!(cached.encoder().asked().1, 1);
        let again = open(folder.path());
        assert_eq!(bits(&again, &texts), expected(&texts, 5));
        assert_eq!(again.encoder().asked().1, 0);
    }
    // A file that changes under us is noticed, too.
    let cached = open(folder.path());
    let mut spoilt = std::fs::read(file(folder.path())).unwrap();
    spoilt[first..].fill(0);
    std::fs::write(file(folder.path()), &spoilt).unwrap();
    assert_eq!(bits(&cached, &texts), expected(&texts, 5));
    assert_eq!(cached.encoder().asked().1, 3);
    assert_eq!(bits(&cached, &texts), expected(&texts, 5));
    assert_eq!(cached.encoder().asked().1, 3);
    std::fs::remove_file(file(folder.path())).unwrap();
    assert_eq!(bits(&cached, &texts), expected(&texts, 5));
    assert_eq!(bits(&open(folder.path()), &texts), expected(&texts, 5));
}

#[test]
fn foreign_files_and_widths_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path().join("made/for/it")).unwrap();
    bits(&open(cache.folder()), &["a"]);
    let wide = Cached::new(Box::new(Made::new(6)), &cache).unwrap();
    let error = wide.texts(&["a", "b"], &mut |_| true).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("holds vectors of 5 numbers, made up gives 6"), "{text}");

    let mut other = Made::new(5);
    other.identity.digest = "1f".repeat(32);
    let theirs = cache.folder().join(format!("{}.vectors", other.identity.digest));
    std::fs::copy(file(cache.folder()), &theirs).unwrap();
    let refused = |made: Made| match Cached::new(Box::new(made), &cache) {
        Err(EmbedError::Cache(error)) => error,
        _ => panic!("it should be refused"),
    };
    let error = refused(other);
    assert!(error.to_string().contains("it belongs to another encoder; remove it"), "{error}");
    std::fs::write(file(cache.folder()), b"something else").unwrap();
    assert!(matches!(refused(Made::new(5)), CacheError::Foreign { .. }));
    let mut nameless = Made::new(5);
    nameless.identity.digest = "../../etc".into();
    assert!(matches!(refused(nameless), CacheError::Digest { .. }));
}

/// Width 0 gives no numbers at all; a vector that is not finite would spoil all that follows.
#[test]
fn what_an_encoder_gives_is_checked() {
    struct Odd(Identity, Vec<f32>);
    impl Encoder for Odd {
        fn identity(&self) -> &Identity {
            &self.0
        }
        fn kind(&self) -> Kind {
            Kind::Text
        }
        fn width(&self) -> Option<usize> {
            None
        }
        fn texts(&self, _: &[&str], _: &mut Progress<'_>) -> Result<Vec<f32>, EmbedError> {
            Ok(self.1.clone())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    for odd in [vec![], vec![1.0; 3], vec![1.0, f32::NAN], vec![f32::INFINITY, 0.0]] {
        // In a box, as a program holds an encoder that it chose while it ran.
        let boxed: Box<dyn Encoder> =
            Box::new(Odd(Identity { name: "odd".into(), digest: "aa".repeat(32) }, odd.clone()));
        let cached = Cached::new(boxed, &cache).unwrap();
        let error = cached.texts(&["a", "b"], &mut |_| true).unwrap_err();
        assert!(matches!(error, EmbedError::Cache(_)), "{odd:?}: {error}");
    }
    assert!(!folder.path().join(format!("{}.vectors", "aa".repeat(32))).exists());
}

/// Eight writers as eight processes would be: each with its own handle and its own knowledge.
#[test]
fn writers_do_not_lose_each_others_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let names = names(120);
    let texts = refs(&names);
    std::thread::scope(|scope| {
        for start in 0..8 {
            let (texts, folder) = (&texts, folder.path());
            scope.spawn(move || {
                let cached = open(folder).with_block(3);
                let mine: Vec<&str> = texts.iter().skip(start * 10).take(50).copied().collect();
                assert_eq!(bits(&cached, &mine), expected(&mine, 5));
            });
        }
    });
    let all = open(folder.path());
    assert_eq!(bits(&all, &texts), expected(&texts, 5));
    assert_eq!(all.encoder().asked().1, 0);
    let length = std::fs::read(file(folder.path())).unwrap().len();
    assert_eq!((length - (80 + "made up".len() + 4)) % RECORD, 0);
}
