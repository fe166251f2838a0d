//! Labels for any training loop: what the loss should see in each epoch.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use dissensus_core::limits::MAX_VOTES_PER_ITEM;
use dissensus_core::{ClassSet, Ids, VoteTable};
use dissensus_io::npy::{ArrayWriter, write_array};
use dissensus_labels::{
    Delivers, Delivery, EpochBuffer, EpochTargets, LabelError, Prepared, Source, Target, sparse,
};
use dissensus_votes::write::WriteError;

use dissensus_report::csv::field as csv_cell;

use crate::Error;

/// How labels are made of votes, beside the delivery method.
#[derive(Clone, Debug, Default)]
pub struct DeliverOptions {
    /// The target distribution behind the delivery; `None` for the votes' frequencies.
    pub target: Option<Target>,
    /// Draw fewer votes per item first.
    pub sparse: Option<SparseDraw>,
    /// The seed of everything random.
    pub seed: u64,
}

/// A draw of some votes per item from those that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparseDraw {
    /// Votes per item.
    pub votes: u32,
    /// Whether one vote may be drawn twice.
    pub replacement: bool,
}

impl std::str::FromStr for SparseDraw {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, replacement) = match text.split_once(':') {
            None => (text, true),
            Some((number, "with")) => (number, true),
            Some((number, "without")) => (number, false),
            Some(_) => return Err("expected K, K:with or K:without"),
        };
        let votes = number.parse().ok().filter(|votes| (1..=MAX_VOTES_PER_ITEM).contains(votes));
        let votes = votes.ok_or("expected a whole number of votes from 1 to 1,000,000")?;
        Ok(Self { votes, replacement })
    }
}

impl DeliverOptions {
    /// The votes whose distributions are delivered: some of them are drawn first, and the target estimated.
    pub fn estimate<'a>(&self, votes: &'a VoteTable) -> Result<Cow<'a, VoteTable>, Error> {
        let drawn = match self.sparse {
            None => return Ok(self.target_of(votes)?),
            Some(draw) => draw.votes_of(votes, self.seed)?,
        };
        Ok(Cow::Owned(self.target_of(&drawn)?.into_owned()))
    }

    fn target_of<'a>(&self, votes: &'a VoteTable) -> Result<Cow<'a, VoteTable>, LabelError> {
        let Some(target) = &self.target else { return Ok(Cow::Borrowed(votes)) };
        Ok(target.estimate(votes)?.targets)
    }
}

impl SparseDraw {
    /// Votes drawn from these; the same for the same seed and ids.
    pub fn votes_of(self, votes: &VoteTable, seed: u64) -> Result<VoteTable, Error> {
        if self.votes > MAX_VOTES_PER_ITEM {
            let reason = format!("expected at most {MAX_VOTES_PER_ITEM} votes per item");
            return Err(Error::Option { value: self.votes.to_string(), reason });
        }
        let source = Source::new(votes)?;
        Ok(match self.replacement {
            true => sparse::with_replacement(&source, self.votes, seed)?,
            false => sparse::without_replacement(&source, self.votes, seed)?,
        })
    }
}

/// Prepares the labels of all epochs: a pure function of seed, epoch and the items' ids.
pub fn deliver(
    votes: &VoteTable,
    delivery: &Delivery,
    options: &DeliverOptions,
) -> Result<Delivered, Error> {
    delivery.require(votes.scale())?;
    let estimated = options.estimate(votes)?;
    let prepared = Arc::new(delivery.prepare(&Source::new(&estimated)?, options.seed)?);
    let (items, annotators) = (estimated.items().clone(), estimated.annotators().clone());
    Ok(Delivered { prepared, items, annotators, classes: estimated.classes().clone() })
}

/// The file forms that labels are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelFile {
    /// A row for each epoch and item.
    Csv,
    /// One array: epochs × items, items × classes, epochs × items × classes, or samples × 2: the
    /// numbers of the item and the label, and where it is known the annotator's.
    Npy,
}

impl LabelFile {
    /// The form that a file name asks for.
    pub fn of(path: &Path) -> Result<Self, WriteError> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("npy") => Ok(Self::Npy),
            _ => Err(WriteError::UnknownTarget { path: path.to_owned() }),
        }
    }
}

/// Labels or targets of every epoch, with the names of items and classes.
pub struct Delivered {
    prepared: Arc<Prepared>,
    items: Ids,
    annotators: Ids,
    classes: ClassSet,
}

impl Delivered {
    /// What answers for each epoch.
    pub fn prepared(&self) -> &Arc<Prepared> {
        &self.prepared
    }

    /// The items, in the order of rows.
    pub fn items(&self) -> &Ids {
        &self.items
    }

    /// The annotators that samples name, by their numbers.
    pub fn annotators(&self) -> &Ids {
        &self.annotators
    }

    /// The classes, in the order of columns and label numbers.
    pub fn classes(&self) -> &ClassSet {
        &self.classes
    }

    /// Whether labels or distributions are delivered.
    pub fn delivers(&self) -> Delivers {
        self.prepared.delivery().entry().delivers
    }

    /// Writes some epochs into a file, whole or not at all.
    pub fn write_file(&self, path: &Path, epochs: &Range<u64>, force: bool) -> Result<(), Error> {
        let form = LabelFile::of(path)?;
        let write = |out: &mut dyn Write| match form {
            LabelFile::Csv => self.write_csv(epochs, out),
            LabelFile::Npy => self.write_npy(epochs, out),
        };
        Ok(crate::files::write(path, force, |out| write(out))?)
    }

    /// Writes some epochs as CSV.
    pub fn write_csv(&self, epochs: &Range<u64>, out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<_> = self.classes.names().iter().map(|name| csv_cell(name)).collect();
        let names = names.join(",");
        let table = |before: &str, rows: &[f64], out: &mut dyn Write| {
            for (id, row) in self.items.iter().zip(rows.chunks(self.classes.len())) {
                let row: Vec<String> = row.iter().map(f64::to_string).collect();
                writeln!(out, "{before}{},{}", csv_cell(id), row.join(","))?;
            }
            Ok(())
        };
        match self.delivers() {
            Delivers::Distributions => {
                writeln!(out, "item,{names}")?;
                table("", self.prepared.targets().unwrap_or_default(), out)
            }
            Delivers::EpochDistributions => {
                writeln!(out, "epoch,item,{names}")?;
                self.each_targets(epochs, |epoch, rows| table(&format!("{epoch},"), rows, out))
            }
            Delivers::Samples => {
                let Some(samples) = self.prepared.samples() else { return Ok(()) };
                let who = samples.annotators.as_deref();
                writeln!(out, "item,{}label", if who.is_some() { "annotator," } else { "" })?;
                for (at, (&place, &label)) in samples.places.iter().zip(&samples.labels).enumerate()
                {
                    write!(out, "{},", csv_cell(self.items.name(place as usize)))?;
                    if let Some(who) = who {
                        write!(out, "{},", csv_cell(self.annotators.name(who[at] as usize)))?;
                    }
                    writeln!(out, "{}", csv_cell(self.classes.name(label)))?;
                }
                Ok(())
            }
            Delivers::Labels => {
                writeln!(out, "epoch,item,label")?;
                self.each_labels(epochs, |epoch, labels| {
                    for (id, &label) in self.items.iter().zip(labels) {
                        let label = csv_cell(self.classes.name(label));
                        writeln!(out, "{epoch},{},{label}", csv_cell(id))?;
                    }
                    Ok(())
                })
            }
        }
    }

    /// Writes some epochs as a numpy array: u16 labels, or f64 distributions.
    pub fn write_npy(&self, epochs: &Range<u64>, out: &mut dyn Write) -> io::Result<()> {
        let (items, classes) = (self.items.len(), self.classes.len());
        let count = usize::try_from(epochs.end - epochs.start).unwrap_or(usize::MAX);
        match self.delivers() {
            Delivers::Distributions => {
                write_array(out, &[items, classes], self.prepared.targets().unwrap_or_default())
            }
            Delivers::EpochDistributions => {
                let mut array = ArrayWriter::<f64, _>::new(out, &[count, items, classes])?;
                self.each_targets(epochs, |_, rows| array.push(rows))?;
                array.finish()
            }
            Delivers::Samples => {
                let Some(samples) = self.prepared.samples() else { return Ok(()) };
                let columns = 2 + usize::from(samples.annotators.is_some());
                let mut cells = Vec::with_capacity(samples.labels.len() * columns);
                for (at, (&place, &label)) in samples.places.iter().zip(&samples.labels).enumerate()
                {
                    cells.extend([place, u32::from(label)]);
                    cells.extend(samples.annotators.as_ref().map(|who| who[at]));
                }
                write_array(out, &[samples.labels.len(), columns], &cells)
            }
            Delivers::Labels => {
                let mut array = ArrayWriter::<u16, _>::new(out, &[count, items])?;
                self.each_labels(epochs, |_, labels| array.push(labels))?;
                array.finish()
            }
        }
    }

    fn each_targets(
        &self,
        epochs: &Range<u64>,
        mut each: impl FnMut(u64, &[f64]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut buffer = EpochBuffer::default();
        for epoch in epochs.clone() {
            if let EpochTargets::Distributions(rows) = self.prepared.targets_at(epoch, &mut buffer)
            {
                each(epoch, rows)?;
            }
        }
        Ok(())
    }

    fn each_labels(
        &self,
        epochs: &Range<u64>,
        mut each: impl FnMut(u64, &[u16]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut all = self.prepared.epochs().map_err(io::Error::other)?;
        for epoch in epochs.clone() {
            each(epoch, all.at(epoch))?;
        }
        Ok(())
    }
}
