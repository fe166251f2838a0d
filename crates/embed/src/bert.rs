//! Sentence encoders of the BERT family: all-MiniLM, BGE, E5, GTE and others with the same files.
//!
//! A text becomes word pieces; each is the sum of three learned vectors (piece, place, type), norm;
//! then the layers; then pooling over all tokens, and division by the length. In f32. Devlin et
//! al., “BERT”, 2019; Reimers and Gurevych, “Sentence-BERT”, 2019.
//!
//! Nothing is padded, so nothing is spent on padding: texts are put together until a batch has
//! about [`TOKENS`] tokens, and batches go to the threads. A vector's bits depend on its text only.

mod normalize;
mod settings;
mod tokenizer;

use std::path::Path;
use std::sync::Mutex;

use dissensus_core::ContentHash;
use pulp::Arch;
use rayon::prelude::*;

use self::settings::{Config, Pooling, Settings};
use self::tokenizer::Tokenizer;
use crate::transformer::{
    Layer, Linear, Norm, Shape, Stack, Weights, Work, config, folder_name, read, sha256, unit,
};
use crate::{EmbedError, Encoder, Identity, Kind, Progress};

/// Tokens of a batch: enough that reading the weights is small beside computing, few enough that
/// what lies between two layers stays in a core's cache.
const TOKENS: usize = 192;

/// Names of published weights, by the SHA-256 of their file; others have the name of their folder.
const KNOWN: &[(&str, &str)] =
    &[("53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db", "all-MiniLM-L6-v2")];

/// A sentence encoder of the BERT family, from safetensors and a `tokenizer.json`, in f32. A
/// vector's bits depend on its text only: not on other texts, threads or registers.
pub struct Bert {
    identity: Identity,
    settings: Settings,
    tokenizer: Tokenizer,
    arch: Arch,
    width: usize,
    /// A row for every piece, and one for every place, into which the type is already summed.
    pieces: Vec<f32>,
    places: Vec<f32>,
    norm: Norm,
    stack: Stack,
}

impl std::fmt::Debug for Bert {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bert")
            .field("identity", &self.identity)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Bert {
    /// Opens a folder with `config.json`, `model.safetensors` and `tokenizer.json`; the files of
    /// sentence-transformers are used where they are.
    pub fn open(folder: &Path) -> Result<Self, EmbedError> {
        let (config, shape) = config(folder, Config::shape)?;
        let settings = Settings::read(folder, &config)?;
        let (path, vocabulary) = read(folder, "tokenizer.json")?;
        let tokenizer = Tokenizer::read(&path, &vocabulary, config.vocab_size)?;
        if settings.max_tokens <= tokenizer.special() {
            let problem = format!(
                "texts of at most {} tokens leave no room beside {} special ones",
                settings.max_tokens,
                tokenizer.special()
            );
            return Err(EmbedError::Model { path: folder.join("config.json"), problem });
        }
        let (path, bytes) = read(folder, "model.safetensors")?;
        let probe = "embeddings.word_embeddings.weight";
        let weights = Weights::open(&path, &bytes, &["", "bert."], probe)?;
        let arch = Arch::new();
        let width = shape.width;
        let layers = (0..config.num_hidden_layers)
            .map(|at| layer(&weights, at, shape, arch, config.layer_norm_eps))
            .collect::<Result<_, _>>()?;
        let pieces = weights.get(probe, &[config.vocab_size, width])?;
        let mut places = weights.get(
            "embeddings.position_embeddings.weight",
            &[config.max_position_embeddings, width],
        )?;
        let types = weights
            .get("embeddings.token_type_embeddings.weight", &[config.type_vocab_size, width])?;
        // A single text is all of the first type.
        for place in places.chunks_exact_mut(width) {
            place.iter_mut().zip(&types).for_each(|(x, t)| *x += t);
        }
        let norm = Norm::read(&weights, "embeddings.LayerNorm", width, config.layer_norm_eps)?;
        let identity = identity(folder, &config, &settings, &vocabulary, &bytes);
        let stack = Stack { shape, layers };
        Ok(Self { identity, settings, tokenizer, arch, width, pieces, places, norm, stack })
    }

    /// The same encoder under another name; what it computes, and so its digest, stays.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.identity.name);
        self
    }

    /// The numbers of a text's tokens, as the network sees them.
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        match self.settings.lowercase {
            true => self.tokenizer.encode(&text.to_lowercase(), self.settings.max_tokens),
            false => self.tokenizer.encode(text, self.settings.max_tokens),
        }
    }

    /// The most tokens of a text that are looked at, special ones included.
    pub fn max_tokens(&self) -> usize {
        self.settings.max_tokens
    }

    /// The vectors of some texts' tokens, one after the other.
    fn batch(&self, texts: &[Vec<u32>], buffers: &mut Buffers, out: &mut [f32]) {
        let width = self.width;
        let (x, lengths) = (&mut buffers.x, &mut buffers.lengths);
        x.clear();
        lengths.clear();
        for tokens in texts {
            lengths.push(tokens.len());
            for (&token, place) in tokens.iter().zip(self.places.chunks_exact(width)) {
                let piece = &self.pieces[token as usize * width..][..width];
                x.extend(piece.iter().zip(place).map(|(piece, place)| piece + place));
            }
        }
        self.norm.apply(self.arch, x);
        self.stack.apply(self.arch, x, lengths, &mut buffers.work);
        let mut first = 0;
        for (length, vector) in lengths.iter().zip(out.chunks_exact_mut(width)) {
            pool(self.settings.pooling, &x[first * width..][..length * width], vector);
            if self.settings.normalize {
                unit(vector);
            }
            first += length;
        }
    }
}

/// What a thread keeps from batch to batch.
struct Buffers {
    x: Vec<f32>,
    lengths: Vec<usize>,
    work: Work,
}

fn pool(pooling: Pooling, tokens: &[f32], vector: &mut [f32]) {
    let width = vector.len();
    let count = (tokens.len() / width) as f32;
    vector.copy_from_slice(&tokens[..width]);
    if pooling == Pooling::First {
        return;
    }
    for token in tokens.chunks_exact(width).skip(1) {
        for (sum, &x) in vector.iter_mut().zip(token) {
            *sum = if pooling == Pooling::Max { sum.max(x) } else { *sum + x };
        }
    }
    let by = match pooling {
        Pooling::Mean => count,
        Pooling::Root => count.sqrt(),
        Pooling::First | Pooling::Max => 1.0,
    };
    vector.iter_mut().for_each(|sum| *sum /= by);
}

fn layer(
    weights: &Weights<'_>,
    at: usize,
    shape: Shape,
    arch: Arch,
    epsilon: f32,
) -> Result<Layer, EmbedError> {
    let name = |part: &str| format!("encoder.layer.{at}.{part}");
    let norm = |part: &str| Norm::read(weights, &name(part), shape.width, epsilon);
    let linear = |parts: &[&str], inputs: usize, outputs: usize| {
        let (mut weight, mut bias) = (Vec::new(), Vec::new());
        for part in parts {
            weight.extend(weights.get(&name(&format!("{part}.weight")), &[outputs, inputs])?);
            bias.extend(weights.get(&name(&format!("{part}.bias")), &[outputs])?);
        }
        Ok::<_, EmbedError>(Linear::new(arch, &weight, bias))
    };
    let (width, inner) = (shape.width, shape.inner);
    let qkv = ["attention.self.query", "attention.self.key", "attention.self.value"];
    Ok(Layer {
        qkv: linear(&qkv, width, width)?,
        output: linear(&["attention.output.dense"], width, width)?,
        attention_norm: norm("attention.output.LayerNorm")?,
        up: linear(&["intermediate.dense"], width, inner)?,
        down: linear(&["output.dense"], inner, width)?,
        mlp_norm: norm("output.LayerNorm")?,
    })
}

fn identity(
    folder: &Path,
    config: &Config,
    settings: &Settings,
    vocabulary: &[u8],
    weights: &[u8],
) -> Identity {
    let weights = sha256(weights);
    let known = KNOWN.iter().find(|(digest, _)| *digest == weights).map(|(_, name)| *name);
    // The number goes up with any change that moves a bit of a vector: vectors are kept by this.
    let mut hash = ContentHash::new("dissensus bert encoder 1");
    hash.text(&weights);
    hash.text(&sha256(vocabulary));
    hash.text(&format!("{config:?} {settings:?}"));
    let name = known.map_or_else(|| folder_name(folder), str::to_owned);
    Identity { name, digest: hash.finish().to_string() }
}

impl Encoder for Bert {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn kind(&self) -> Kind {
        Kind::Text
    }

    fn width(&self) -> Option<usize> {
        Some(self.width)
    }

    fn texts(&self, texts: &[&str], progress: &mut Progress<'_>) -> Result<Vec<f32>, EmbedError> {
        let tokens: Vec<Vec<u32>> = texts.par_iter().map(|text| self.tokens(text)).collect();
        // A tokenizer without special tokens finds nothing in an empty text.
        if let Some(at) = tokens.iter().position(Vec::is_empty) {
            let (name, text) = (&self.identity.name, texts[at]);
            let start: String = text.chars().take(40).collect();
            let problem = format!("{name} has no tokens for the text {start:?}, and so no vector");
            return Err(EmbedError::Input(problem));
        }
        let mut vectors = vec![0.0; texts.len() * self.width];
        let mut batches = Vec::new();
        let (mut tokens, mut out) = (&tokens[..], &mut vectors[..]);
        while !tokens.is_empty() {
            let mut sum = 0;
            let fits = |text: &&Vec<u32>| {
                sum += text.len();
                sum <= TOKENS
            };
            let count = tokens.iter().take_while(fits).count().max(1);
            let (now, later) = tokens.split_at(count);
            let (to, rest) = out.split_at_mut(count * self.width);
            batches.push((now, to));
            (tokens, out) = (later, rest);
        }
        let progress = Mutex::new(progress);
        let buffers = || Buffers { x: Vec::new(), lengths: Vec::new(), work: Work::new(self.arch) };
        batches.into_par_iter().try_for_each_init(buffers, |buffers, (tokens, out)| {
            self.batch(tokens, buffers, out);
            // A lock is poisoned only where `progress` itself panicked, which then goes on anyway.
            let go_on = progress.lock().is_ok_and(|mut progress| progress(tokens.len()));
            if go_on { Ok(()) } else { Err(EmbedError::Stopped) }
        })?;
        Ok(vectors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooling_follows_its_name() {
        let tokens = [1.0, -2.0, 3.0, 5.0, 2.0, -6.0, 2.0, 4.0];
        let pooled = |pooling| {
            let mut vector = [0.0; 2];
            pool(pooling, &tokens, &mut vector);
            vector
        };
        assert_eq!(pooled(Pooling::First), [1.0, -2.0]);
        assert_eq!(pooled(Pooling::Mean), [2.0, 0.25]);
        assert_eq!(pooled(Pooling::Max), [3.0, 5.0]);
        assert_eq!(pooled(Pooling::Root), [4.0, 0.5]);
    }
}
