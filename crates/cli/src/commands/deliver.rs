//! `dissensus deliver`

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dissensus_core::{ClassSet, Ids, Keep, VoteTable};
use dissensus_labels::{
    DELIVERIES, Delivers, Delivery, EpochBuffer, EpochTargets, Prepared, Source, TARGETS, Target,
    sparse,
};
use dissensus_votes::containers::npy;
use dissensus_votes::write::{WriteError, write_atomically};

use super::votes::reading::{self, HowArgs};
use crate::ui::table::csv_cell;
use crate::ui::{self, paint, text};

/// Write the labels that training would see, for any outside training loop.
///
/// The label of an example in an epoch is a pure function of the seed, the epoch and the example's
/// id: the same here, in dissensus' own training, and in the few lines of numpy that the
/// documentation of the `labels` crate gives. Labels are written as epochs × items (.npy) or a row
/// per epoch and item (.csv), distributions that stay the same as items × classes, and those of each
/// epoch as epochs × items × classes.
#[derive(clap::Args)]
#[command(after_help = methods())]
pub(crate) struct Args {
    /// The votes
    #[arg(long, value_name = "FILE")]
    votes: PathBuf,
    /// The delivery method with its settings, such as sls or sls:every=5
    #[arg(long, value_name = "METHOD")]
    method: Delivery,
    /// The target behind it, with its settings
    #[arg(long, value_name = "TARGET", default_value = "frequencies")]
    target: Target,
    /// The epochs to write: A..B, from A up to but not including B
    #[arg(long, value_name = "A..B", value_parser = epochs, default_value = "0..1")]
    epochs: Range<u64>,
    /// Draw so many votes an item first: K (with replacement), or K:without (from the real votes)
    #[arg(long, value_name = "K", value_parser = Sparse::parse)]
    sparse: Option<Sparse>,
    /// Seed of everything that is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The file to write: .npy or .csv [default: CSV on standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    how: HowArgs,
}

/// The lists of methods and targets, for the help.
fn methods() -> String {
    let mut page = String::from("Methods:\n");
    for info in DELIVERIES {
        page += &format!("  {:<16} {}\n", info.name, info.description);
        for s in info.settings {
            page += &format!("  {:<16}   {}={}: {}\n", "", s.name, s.default, s.description);
        }
    }
    let named = |form: Delivers| -> String {
        let of = DELIVERIES.iter().filter(|info| info.delivers == form).map(|info| info.name);
        of.collect::<Vec<_>>().join(", ")
    };
    page += &format!(
        "\nDistributions, the same in every epoch: {}\nDistributions of each epoch: {}\n",
        named(Delivers::Distributions),
        named(Delivers::EpochDistributions)
    );
    page += "\nTargets:\n";
    for info in TARGETS {
        page += &format!("  {:<16} {}\n", info.name, info.description);
    }
    page
}

fn epochs(text: &str) -> Result<Range<u64>, String> {
    let wrong = || "expected two numbers such as 0..200, the first smaller".to_owned();
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let (from, to) = (from.parse().map_err(|_| wrong())?, to.parse().map_err(|_| wrong())?);
    if from < to { Ok(from..to) } else { Err(wrong()) }
}

#[derive(Clone, Copy, Debug)]
struct Sparse {
    votes: u32,
    replacement: bool,
}

impl Sparse {
    fn parse(text: &str) -> Result<Self, String> {
        let (number, replacement) = match text.split_once(':') {
            None => (text, true),
            Some((number, "with")) => (number, true),
            Some((number, "without")) => (number, false),
            Some(_) => return Err("expected K, K:with or K:without".to_owned()),
        };
        let votes = number.parse().map_err(|_| "expected a number of votes".to_owned())?;
        Ok(Self { votes, replacement })
    }

    fn draw(self, table: &VoteTable, seed: u64) -> anyhow::Result<VoteTable> {
        let source = Source::new(table)?;
        Ok(match self.replacement {
            true => sparse::with_replacement(&source, self.votes, seed)?,
            false => sparse::without_replacement(&source, self.votes, seed)?,
        })
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(path) = args.out.as_ref().filter(|path| !args.force && path.exists()) {
        return Err(WriteError::Exists { path: path.clone() }.into());
    }
    let mut table = reading::read(&args.votes, &args.how.options(Keep::Votes))?.table;
    if let Some(sparse) = args.sparse {
        table = sparse.draw(&table, args.seed)?;
    }
    let estimated = args.target.estimate(&table)?;
    let source = Source::new(&estimated)?;
    let prepared = args.method.prepare(&source, args.seed)?;
    let view = View { prepared: &prepared, items: estimated.items(), classes: estimated.classes() };
    match &args.out {
        None => {
            let mut out = std::io::BufWriter::new(std::io::stdout().lock());
            match view.csv(&args.epochs, &mut out).and_then(|()| Ok(out.flush()?)) {
                Err(WriteError::Io(e)) if e.kind() == std::io::ErrorKind::BrokenPipe => {}
                other => other?,
            }
        }
        Some(path) => {
            let form = form_of(path)?;
            write_atomically(path, args.force, |out| match form {
                Form::Csv => view.csv(&args.epochs, out),
                Form::Npy => view.npy(&args.epochs, out),
            })?;
            let (epochs, items) = (view_epochs(&args.epochs), items(&view));
            let classes = view.classes.len();
            let shape = match view.form() {
                Shown::Labels => format!("{epochs} epochs × {items} items"),
                Shown::Once(_) => format!("{items} items × {classes} classes"),
                Shown::Epochs => format!("{epochs} epochs × {items} items × {classes} classes"),
            };
            let line = format!("wrote {}: {}, {shape}\n", path.display(), prepared.delivery());
            ui::err(&line);
        }
    }
    if prepared.mixing().is_some() {
        let note = "mixup mixes these labels batch by batch: the documentation of `labels` says how \
                    λ and the partners follow from seed, epoch and batch\n";
        ui::err(&paint::dim(note));
    }
    Ok(ExitCode::SUCCESS)
}

fn items(view: &View<'_>) -> String {
    text::thousands(view.items.len() as u64)
}

fn view_epochs(epochs: &Range<u64>) -> String {
    text::thousands(epochs.end - epochs.start)
}

enum Form {
    Csv,
    Npy,
}

fn form_of(path: &Path) -> Result<Form, WriteError> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("csv") => Ok(Form::Csv),
        Some("npy") => Ok(Form::Npy),
        _ => Err(WriteError::UnknownTarget { path: path.to_owned() }),
    }
}

/// What there is to write.
enum Shown<'a> {
    /// Labels of every epoch.
    Labels,
    /// Distributions that never change.
    Once(&'a [f64]),
    /// Distributions of every epoch.
    Epochs,
}

/// What is delivered, and the names of items and classes.
struct View<'a> {
    prepared: &'a Prepared,
    items: &'a Ids,
    classes: &'a ClassSet,
}

impl View<'_> {
    fn form(&self) -> Shown<'_> {
        match (self.prepared.targets(), self.prepared.delivery().entry().delivers) {
            (Some(rows), _) => Shown::Once(rows),
            (None, Delivers::Labels) => Shown::Labels,
            (None, _) => Shown::Epochs,
        }
    }

    fn csv(&self, epochs: &Range<u64>, out: &mut dyn Write) -> Result<(), WriteError> {
        let names: Vec<String> = self.classes.names().iter().map(|n| csv_cell(n)).collect();
        let names = names.join(",");
        let table = |before: &str, rows: &[f64], out: &mut dyn Write| {
            for (id, row) in self.items.iter().zip(rows.chunks(self.classes.len())) {
                let row: Vec<String> = row.iter().map(f64::to_string).collect();
                writeln!(out, "{before}{},{}", csv_cell(id), row.join(","))?;
            }
            Ok(())
        };
        match self.form() {
            Shown::Once(rows) => {
                writeln!(out, "item,{names}")?;
                table("", rows, out)
            }
            Shown::Epochs => {
                writeln!(out, "epoch,item,{names}")?;
                self.each_table(epochs, |epoch, rows| table(&format!("{epoch},"), rows, out))
            }
            Shown::Labels => {
                writeln!(out, "epoch,item,label")?;
                self.each_epoch(epochs, |epoch, labels| {
                    for (id, &label) in self.items.iter().zip(labels) {
                        let label = csv_cell(self.classes.name(label));
                        writeln!(out, "{epoch},{},{label}", csv_cell(id))?;
                    }
                    Ok(())
                })
            }
        }
    }

    fn npy(&self, epochs: &Range<u64>, out: &mut dyn Write) -> Result<(), WriteError> {
        let (n, classes) = (self.items.len(), self.classes.len());
        let count = usize::try_from(epochs.end - epochs.start).unwrap_or(usize::MAX);
        let table = |rows: &[f64], out: &mut dyn Write| {
            for row in rows.chunks(4096) {
                let bytes: Vec<u8> = row.iter().flat_map(|v| v.to_le_bytes()).collect();
                out.write_all(&bytes)?;
            }
            Ok(())
        };
        match self.form() {
            Shown::Once(rows) => {
                out.write_all(&npy::header("<f8", &[n, classes]))?;
                table(rows, out)
            }
            Shown::Epochs => {
                out.write_all(&npy::header("<f8", &[count, n, classes]))?;
                self.each_table(epochs, |_, rows| table(rows, out))
            }
            Shown::Labels => {
                out.write_all(&npy::header("<u2", &[count, n]))?;
                self.each_epoch(epochs, |_, labels| {
                    let bytes: Vec<u8> = labels.iter().flat_map(|l| l.to_le_bytes()).collect();
                    Ok(out.write_all(&bytes)?)
                })
            }
        }
    }

    /// The distributions of each epoch; of a method that delivers labels, none.
    fn each_table(
        &self,
        epochs: &Range<u64>,
        mut see: impl FnMut(u64, &[f64]) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let mut buffer = EpochBuffer::default();
        for epoch in epochs.clone() {
            if let EpochTargets::Distributions(rows) = self.prepared.targets_at(epoch, &mut buffer)
            {
                see(epoch, rows)?;
            }
        }
        Ok(())
    }

    fn each_epoch(
        &self,
        epochs: &Range<u64>,
        mut see: impl FnMut(u64, &[u16]) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let failed = |e: dissensus_labels::LabelError| WriteError::Encode(e.to_string());
        let mut all = self.prepared.epochs(epochs.clone()).map_err(failed)?;
        while let Some((epoch, labels)) = all.next() {
            see(epoch, labels)?;
        }
        Ok(())
    }
}
