//! `dissensus deliver`

use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;

use dissensus::core::Keep;
use dissensus::labels::{Delivers, Delivery, Target, methods_help};
use dissensus::{DeliverOptions, SparseDraw, deliver};

use crate::args::{VoteArgs, whole};
use crate::ui::{self, text};

/// Write the labels of each epoch, for any training loop.
///
/// The label of an example in an epoch is a pure function of the seed, the epoch and the example's
/// id: the same here, in `dissensus train`, and in the few lines of numpy in the
/// documentation of the `labels` crate. Labels are written as epochs × items (.npy) or a row
/// per epoch and item (.csv), distributions that stay the same as items × classes, and those of each
/// epoch as epochs × items × classes. Samples, which are the same in every epoch, are one row each: the
/// item, the annotator where the votes name one, and the label (.npy has their numbers).
#[derive(clap::Args)]
#[command(after_help = methods_help())]
pub(crate) struct Args {
    /// The votes
    #[arg(long, value_name = "FILE")]
    votes: PathBuf,
    /// The delivery method with its settings, such as sls or sls:every=5
    #[arg(long, value_name = "METHOD")]
    method: Delivery,
    /// The target distribution of the delivery, with its settings
    #[arg(long, value_name = "TARGET", default_value = "frequencies")]
    target: Target,
    /// The epochs to write: A..B, from A up to but not including B
    #[arg(long, value_name = "A..B", value_parser = epochs, default_value = "0..1")]
    epochs: Range<u64>,
    /// Draw K votes per item first: K (with replacement), or K:without (from the real votes)
    #[arg(long, value_name = "K")]
    sparse: Option<SparseDraw>,
    /// The random seed
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>(0..=u64::MAX), allow_negative_numbers = true)]
    seed: u64,
    /// The file to write: .npy or .csv [default: CSV on standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reading: VoteArgs,
}

/// As many epochs as a run can have.
const MOST_EPOCHS: u64 = 1_000_000;

fn epochs(typed: &str) -> Result<Range<u64>, String> {
    let wrong = || "expected two numbers such as 0..200, the first smaller".to_owned();
    let (from, to): (&str, &str) = typed.split_once("..").ok_or_else(wrong)?;
    let (from, to): (u64, u64) =
        (from.parse().map_err(|_| wrong())?, to.parse().map_err(|_| wrong())?);
    match (from < to, to.saturating_sub(from) > MOST_EPOCHS) {
        (false, _) => Err(wrong()),
        (_, true) => {
            Err(format!("expected at most {} epochs", text::thousands(MOST_EPOCHS as usize)))
        }
        _ => Ok(from..to),
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    dissensus::files::check_free(args.out.as_deref(), args.force)?;
    let votes = args.reading.read(&args.votes, Keep::Votes)?.table;
    let (target, sparse) = (Some(args.target.clone()), args.sparse);
    let options = DeliverOptions { target, sparse, seed: args.seed };
    let delivered = deliver(&votes, &args.method, &options)?;
    match &args.out {
        None => {
            let mut out = std::io::BufWriter::new(ui::DataWriter);
            delivered.write_csv(&args.epochs, &mut out).and_then(|()| out.flush())?;
        }
        Some(path) => {
            delivered.write_file(path, &args.epochs, args.force)?;
            let epochs = args.epochs.end - args.epochs.start;
            let epochs = format!("{} epochs", text::thousands(epochs as usize));
            let items = format!("{} items", text::thousands(delivered.items().len()));
            let classes = format!("{} classes", delivered.classes().len());
            let shape = match delivered.delivers() {
                Delivers::Labels => vec![epochs, items],
                Delivers::Distributions => vec![items, classes],
                Delivers::EpochDistributions => vec![epochs, items, classes],
                Delivers::Samples => {
                    let samples = delivered.prepared().samples().map_or(0, |all| all.labels.len());
                    vec![items, format!("{} samples", text::thousands(samples))]
                }
            };
            let method = delivered.prepared().delivery();
            ui::wrote(path, &format!("{method}, {}", shape.join(" × ")));
        }
    }
    if delivered.prepared().mixing().is_some() {
        ui::remark(
            "mixup mixes these labels batch by batch: the documentation of `labels` says how λ and \
             the partners follow from seed, epoch and batch",
        );
    }
    Ok(())
}
