//! An encoder that asks another one only for what is not in the cache.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::file::VectorFile;
use super::key::{self, Key};
use super::{Cache, CacheError};
use crate::{EmbedError, Encoded, Encoder, Identity, Image, Kind, Progress};

/// How many are asked for, and written down, at a time.
const BLOCK: usize = 256;

/// What a cache was good for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Vectors that did not have to be made: found, or wanted twice.
    pub hits: u64,
    /// Vectors that were made.
    pub misses: u64,
}

/// An encoder with a cache; in a box, so that it may be chosen when the program runs.
pub struct Cached<E: ?Sized> {
    encoder: Box<E>,
    file: VectorFile,
    block: usize,
    stats: Mutex<Stats>,
}

impl<E: Encoder + ?Sized> Cached<E> {
    /// This encoder with its file in this cache.
    pub fn new(encoder: Box<E>, cache: &Cache) -> Result<Self, EmbedError> {
        let file = VectorFile::open(cache, encoder.identity())?;
        file.check_width(encoder.width())?;
        Ok(Self { encoder, file, block: BLOCK, stats: Mutex::default() })
    }

    /// Asks for so many at a time (at least 1) instead of 256, and writes as often.
    pub fn with_block(self, block: usize) -> Self {
        Self { block: block.max(1), ..self }
    }

    /// The encoder behind the cache.
    pub fn encoder(&self) -> &E {
        &self.encoder
    }

    /// What the cache was good for so far.
    pub fn stats(&self) -> Stats {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, hits: usize, misses: usize) {
        let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        stats.hits += hits as u64;
        stats.misses += misses as u64;
    }

    /// The vectors of these keys; `ask` makes those of the things at some places.
    fn vectors(
        &self,
        keys: &[Key],
        mut ask: impl FnMut(&[usize], &mut Progress<'_>) -> Result<Vec<f32>, EmbedError>,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<f32>, EmbedError> {
        let mut times: HashMap<Key, usize> = HashMap::with_capacity(keys.len());
        let mut firsts: Vec<usize> = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            let seen = times.entry(*key).or_default();
            *seen += 1;
            if *seen == 1 {
                firsts.push(place);
            }
        }
        let distinct: Vec<Key> = firsts.iter().map(|&place| keys[place]).collect();
        let mut vectors: HashMap<Key, Vec<f32>> = HashMap::with_capacity(distinct.len());
        for (key, vector) in distinct.iter().zip(self.file.get(&distinct)?) {
            vectors.extend(vector.map(|vector| (*key, vector)));
        }
        firsts.retain(|&place| !vectors.contains_key(&keys[place]));
        let here: usize = vectors.keys().filter_map(|key| times.get(key)).sum();
        self.count(here, 0);
        let mut go_on = here == 0 || progress(here) || firsts.is_empty();
        for block in firsts.chunks(self.block) {
            if !go_on {
                return Err(EmbedError::Stopped);
            }
            let mut told = |done: usize| {
                go_on &= progress(done);
                go_on
            };
            let asked = ask(block, &mut told);
            let block: Vec<Key> = block.iter().map(|&place| keys[place]).collect();
            let (made, error) = match asked {
                Ok(made) => (Encoded { rows: block.len(), vectors: made }, None),
                Err(EmbedError::Partly { done, why }) => (done, Some(*why)),
                Err(error) => (Encoded::default(), Some(error)),
            };
            let made = self.keep(&block, made)?;
            let again: usize = made.iter().map(|(key, _)| times[key] - 1).sum();
            self.count(again, made.len());
            vectors.extend(made);
            if let Some(error) = error {
                return Err(error);
            }
            if again > 0 {
                go_on &= progress(again);
            }
        }
        Ok(keys.iter().filter_map(|key| vectors.get(key)).flatten().copied().collect())
    }

    /// Checks what was made of the first keys of a block, and writes it down.
    fn keep(&self, block: &[Key], made: Encoded) -> Result<Vec<(Key, Vec<f32>)>, EmbedError> {
        let Encoded { rows, vectors } = made;
        if rows == 0 {
            return Ok(Vec::new());
        }
        let (name, found) = (self.encoder.identity().name.clone(), vectors.len());
        let width = found / rows;
        if rows > block.len() || width == 0 || found % rows != 0 {
            return Err(CacheError::Rows { name, rows: block.len(), found }.into());
        }
        if let Some(&value) = vectors.iter().find(|value| !value.is_finite()) {
            return Err(CacheError::NotFinite { name, value }.into());
        }
        self.file.append(&block[..rows], width, &vectors)?;
        let rows = block.iter().copied().zip(vectors.chunks_exact(width).map(<[f32]>::to_vec));
        Ok(rows.collect())
    }
}

impl<E: Encoder + ?Sized> Encoder for Cached<E> {
    fn identity(&self) -> &Identity {
        self.encoder.identity()
    }

    fn kind(&self) -> Kind {
        self.encoder.kind()
    }

    fn width(&self) -> Option<usize> {
        self.encoder.width().or_else(|| self.file.width())
    }

    fn texts(&self, texts: &[&str], progress: &mut Progress<'_>) -> Result<Vec<f32>, EmbedError> {
        let keys: Vec<Key> = texts.iter().map(|text| key::of_text(text)).collect();
        let ask = |places: &[usize], told: &mut Progress<'_>| {
            let some: Vec<&str> = places.iter().map(|&place| texts[place]).collect();
            self.encoder.texts(&some, told)
        };
        self.vectors(&keys, ask, progress)
    }

    fn images(
        &self,
        images: &[Image<'_>],
        progress: &mut Progress<'_>,
    ) -> Result<Vec<f32>, EmbedError> {
        let keys: Vec<Key> = images.iter().map(key::of_image).collect();
        let ask = |places: &[usize], told: &mut Progress<'_>| {
            let some: Vec<Image<'_>> = places.iter().map(|&place| images[place]).collect();
            self.encoder.images(&some, told)
        };
        self.vectors(&keys, ask, progress)
    }
}
