//! `dissensus embed`

use std::path::PathBuf;

use anyhow::Context as _;
use dissensus::embed::endpoint::{Cap, Settings};
use dissensus::embed::{Encoder, Endpoint};
use dissensus::inputs::Kind;
use dissensus::train::spec::Pair;
use dissensus::{ENCODERS, encode_data, open_encoder};

use crate::args::{DataArgs, context};
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
    votes: Option<String>,
    /// The encoder: a name of `--list`, hf:OWNER/NAME, or a path
    #[arg(long, value_name = "NAME|PATH", required_unless_present_any = ["list", "endpoint"])]
    encoder: Option<String>,
    /// The file to write: vectors with their ids, as .npz
    #[arg(long, value_name = "FILE.npz", required_unless_present = "list")]
    out: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// How the vectors u and v of two texts become one: u, v, |u − v|, u·v; u, v; or as one text
    #[arg(long, value_name = "HOW", default_value = "combined", value_parser = pair)]
    pair: Pair,
    #[command(flatten)]
    data: DataArgs,
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

fn pair(text: &str) -> Result<Pair, String> {
    Pair::named(text).ok_or_else(|| format!("expected {}", Pair::NAMES.join(", ")))
}

const EXAMPLES: &str = "\
Examples:
  dissensus embed --list
  dissensus data fetch minilm
  dissensus embed chaosnli --encoder minilm --out chaosnli.npz
  dissensus embed cifar10h --encoder model.onnx --out cifar10h.npz
  dissensus embed popquorn --endpoint https://api.openai.com/v1 --model text-embedding-3-large \\
      --price 0.13 --cap 1 --out popquorn.npz";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if args.list {
        for name in ENCODERS {
            let about = dissensus::data::find(name)?;
            ui::out(&format!("{} {}\n", paint::strong(&text::pad(name, 20)), about.what))?;
        }
        let hub = paint::strong(&text::pad("hf:OWNER/NAME", 20));
        ui::out(&format!("{hub} DINOv2 or a BERT-family model of the Hugging Face hub\n"))?;
        return Ok(());
    }
    let (Some(votes), Some(out)) = (&args.votes, &args.out) else {
        anyhow::bail!("give a dataset or a file, and --out");
    };
    dissensus::files::check_free(Some(out), args.force)?;
    let encoder = match (&args.endpoint, &args.encoder) {
        (Some(url), _) => endpoint(args, url)?,
        (None, Some(name)) => open_encoder(name, &context())?,
        (None, None) => anyhow::bail!("give an encoder with --encoder; --list lists some"),
    };
    let mut data = args.data.data(votes)?;
    data.pair = args.pair;
    let vectors = encode_data(&data, encoder, &context())?;
    let (Kind::Features(features), Some(ids)) = (vectors.kind(), vectors.ids()) else {
        anyhow::bail!("an encoder gave no vectors");
    };
    let ids: Vec<String> = ids.iter().map(str::to_owned).collect();
    dissensus::files::write(out, args.force, |file| {
        dissensus::inputs::write_features(file, &ids, features.width(), features.values())
    })?;
    let (count, width) = (text::thousands(vectors.len()), features.width());
    let next = format!("dissensus study new VOTES --inputs {}", out.display());
    ui::err(&format!("{count} vectors of {width} numbers; next: {next}\n"));
    Ok(ui::out(&format!("{}\n", out.display()))?)
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
