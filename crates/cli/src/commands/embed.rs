//! `dissensus embed`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use dissensus::core::{Keep, VoteTable};
use dissensus::data::default_cache_dir;
use dissensus::embed::endpoint::{Cap, Settings};
use dissensus::embed::{Encoder, Endpoint, Kind as Takes};
use dissensus::inputs::{Inputs, Kind, WITH_IMAGES};
use dissensus::train::spec::Pair;
use dissensus::votes::ReadOptions;
use dissensus::{ENCODERS, EncoderSource as Source};

use super::votes::reading;
use crate::commands::inputs::InputArgs;
use crate::commands::votes::reading::ReadingArgs;
use crate::training::{encode, open_encoder};
use crate::ui::{self, paint, text};

/// Encode the texts or images of voted items as vectors, with a frozen encoder.
///
/// The encoder is one of the catalogue (`--list`), a model of the Hugging Face hub
/// (hf:facebook/dinov2-small; `dissensus data fetch` downloads both), a folder of BERT-family or
/// DINOv2 weights in safetensors, an ONNX file (run by ONNX Runtime), or an OpenAI-compatible
/// embeddings endpoint. Vectors are cached by the digests of the encoder and of its inputs, so nothing
/// is encoded or paid for twice. A spec's data.encoder does the same without a file.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A dataset of the catalogue, or a file of votes with texts
    #[arg(value_name = "DATASET|FILE", required_unless_present = "list")]
    data: Option<String>,
    /// The encoder: a name of `--list`, hf:OWNER/NAME, or a path
    #[arg(long, value_name = "NAME|PATH", required_unless_present_any = ["list", "endpoint"])]
    encoder: Option<String>,
    /// The file to write: vectors with their ids, as .npz
    #[arg(long, value_name = "FILE.npz", required_unless_present = "list")]
    out: Option<PathBuf>,
    /// The column of texts in a table of votes [default: guessed by its name]
    #[arg(long, value_name = "COLUMN")]
    text: Option<String>,
    /// How the vectors u and v of two texts become one: u, v, |u − v|, u·v; u, v; or as one text
    #[arg(long, value_enum, default_value_t = PairArg::Combined)]
    pair: PairArg,
    /// Images by item id, if the data have none
    #[arg(long, value_name = "PATH")]
    inputs: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    reading_inputs: InputArgs,
    /// List the encoders of the catalogue
    #[arg(long)]
    list: bool,
    /// Encode with the OpenAI-compatible endpoint at this address
    #[arg(long, value_name = "URL", conflicts_with = "encoder", requires = "model")]
    endpoint: Option<String>,
    /// The endpoint's model, such as text-embedding-3-large
    #[arg(long, value_name = "NAME", requires = "endpoint")]
    model: Option<String>,
    /// The environment variable that holds the endpoint's key
    #[arg(long, value_name = "VARIABLE", default_value = "OPENAI_API_KEY")]
    key_variable: String,
    /// The price of a million tokens; needed for the cap
    #[arg(long, value_name = "PRICE", requires = "cap")]
    price: Option<f64>,
    /// The most that may be spent, in the same currency
    #[arg(long, value_name = "AMOUNT", requires = "price")]
    cap: Option<f64>,
    /// Spend without a cap
    #[arg(long, conflicts_with = "cap")]
    no_cap: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum PairArg {
    Combined,
    Both,
    Joint,
}

const EXAMPLES: &str = "\
Examples:
  dissensus embed --list
  dissensus data fetch minilm
  dissensus embed chaosnli --encoder minilm --out chaosnli.npz
  dissensus embed cifar10h --encoder model.onnx --out cifar10h.npz
  dissensus embed popquorn --endpoint https://api.openai.com/v1 --model text-embedding-3-large \\
      --price 0.13 --cap 1 --out popquorn.npz";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.list {
        for name in ENCODERS {
            let about = dissensus::data::find(name)?;
            ui::out(&format!("{} {}\n", paint::strong(&text::pad(name, 20)), about.what))?;
        }
        let hub = paint::strong(&text::pad("hf:OWNER/NAME", 20));
        ui::out(&format!("{hub} DINOv2 or a BERT-family model of the Hugging Face hub\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let (Some(data), Some(out)) = (&args.data, &args.out) else {
        anyhow::bail!("give a dataset or a file, and --out");
    };
    let encoder = match (&args.endpoint, &args.encoder) {
        (Some(url), _) => endpoint(args, url)?,
        (None, Some(name)) => open_encoder(name)?,
        (None, None) => anyhow::bail!("give an encoder with --encoder; --list lists some"),
    };
    let (table, source) = source(args, data, encoder.kind())?;
    let pair = match args.pair {
        PairArg::Combined => Pair::Combined,
        PairArg::Both => Pair::Both,
        PairArg::Joint => Pair::Joint,
    };
    let vectors = encode(encoder, &source, &table, pair)?;
    let width = write(&vectors, out)?;
    ui::err(&format!(
        "{} vectors of {} numbers; next: dissensus study new VOTES --inputs {}\n",
        text::thousands(vectors.len() as u64),
        width,
        out.display()
    ));
    ui::out(&format!("{}\n", out.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn endpoint(args: &Args, url: &str) -> anyhow::Result<Box<dyn Encoder>> {
    let cap = match (args.price, args.cap, args.no_cap) {
        (Some(price), Some(most), _) => Some(Cap { price, most }),
        (_, _, true) => None,
        _ => {
            anyhow::bail!("limit the cost with --price PER_MILLION --cap AMOUNT, or give --no-cap")
        }
    };
    let model = args.model.as_deref().context("an endpoint needs --model")?;
    let mut settings = Settings::new(url, model, cap);
    settings.key_variable = Some(args.key_variable.clone());
    Ok(Box::new(Endpoint::new(settings)?))
}

/// The votes, and the texts or images to encode.
fn source(args: &Args, data: &str, takes: Takes) -> anyhow::Result<(VoteTable, Source)> {
    let path = std::path::Path::new(data);
    let cache = default_cache_dir()?;
    let (table, texts) = match path.exists() {
        true => {
            let options = ReadOptions {
                text: args.text.clone(),
                texts: true,
                ..args.reading.options(Keep::Counts)
            };
            let read = reading::read(path, &options)?;
            let texts = read.texts.iter().map(|(id, text)| (id.clone(), vec![text.clone()]));
            let texts = texts.collect();
            (read.table, Some(texts))
        }
        false => (dissensus::inputs::votes(data, &cache)?, None),
    };
    let source = match (takes, texts) {
        (Takes::Text, Some(texts)) => Source::Texts(texts),
        (Takes::Text, None) => Source::Texts(dissensus::inputs::texts(data, &cache)?),
        (Takes::Image, _) => Source::Pictures(match &args.inputs {
            Some(inputs) => args.reading_inputs.read(inputs)?,
            None if WITH_IMAGES.contains(&data) => dissensus::inputs::from_dataset(data, &cache)?,
            None => anyhow::bail!("{data} has no images; give them with --inputs"),
        }),
    };
    Ok((table, source))
}

/// Writes the vectors, and returns their width.
fn write(vectors: &Inputs, out: &std::path::Path) -> anyhow::Result<usize> {
    let (Kind::Features(features), Some(ids)) = (vectors.kind(), vectors.ids()) else {
        anyhow::bail!("an encoder gave no vectors");
    };
    let ids: Vec<String> = ids.iter().map(str::to_owned).collect();
    let fill = |file: &mut dissensus::io::Out| {
        dissensus::inputs::write_features(file, &ids, features.width(), features.values())
    };
    ui::files::replace(out, fill).with_context(|| format!("writing {}", out.display()))?;
    Ok(features.width())
}
