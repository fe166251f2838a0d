//! A table that exists is right: whatever the constructors of the data model accept can be summarized,
//! linted, written, delivered, scored and compared, with a result or an error, and no panic.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::Cursor;

use dissensus::core::philox::Stream;
use dissensus::core::{
    Ballots, ClassOrder, ClassSet, Counts, Ids, Keep, Probabilities, Scale, ShardVote, Silent,
    TableBuilder, VoteTable, id_hash,
};
use dissensus::labels::{DELIVERIES, EpochBuffer, Source, TARGETS, Target, subset};
use dissensus::predictions::BASELINES;
use dissensus::votes::write::{TARGETS as FORMS, write};
use dissensus::votes::{ReadOptions, lint::lint_table, read_bytes, summary::summarize};
use dissensus::{DeliverOptions, ScoreOptions, baseline_csv, ceiling, deliver, evaluate};

const CASES: u64 = 4000;

/// What a careless caller passes.
struct Case(Stream);

impl Case {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Mostly different names, some the same, empty, numbers, or hard to write.
    fn name(&mut self, at: u64) -> String {
        match self.below(24) {
            0 => String::new(),
            1 => "1".to_owned(),
            2 => "NA".to_owned(),
            3 => "a,\"b\"\n".to_owned(),
            4 => format!("\0{at}"),
            5 => format!("-{at}.5"),
            _ => format!("n{at}"),
        }
    }

    fn names(&mut self, most: u64) -> Vec<String> {
        (0..self.below(most + 1)).map(|at| self.name(at)).collect()
    }

    fn number(&mut self) -> f64 {
        match self.below(12) {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => -1.0,
            3 => f64::MAX,
            4 => f64::MIN_POSITIVE,
            5 => 0.0,
            6 => 1e100,
            _ => self.0.unit(),
        }
    }

    fn scale(&mut self) -> Scale {
        Scale::ALL[self.below(3) as usize]
    }

    fn classes(&mut self) -> Option<ClassSet> {
        const ORDERS: [ClassOrder; 3] =
            [ClassOrder::Declared, ClassOrder::Numeric, ClassOrder::Alphabetical];
        let (most, order) = (1 + self.below(5), ORDERS[self.below(3) as usize]);
        let names = match self.one_in(2) {
            true => (0..most).map(|at| at.to_string()).collect(),
            false => self.names(most),
        };
        ClassSet::new(names, order).ok()?.with_scale(self.scale()).ok()
    }

    fn ids(&mut self) -> Option<Ids> {
        let ids = match self.one_in(2) {
            true => Ids::positions(self.below(7) as usize),
            false => Ids::new(self.names(6)).ok()?,
        };
        // A resample may name an item twice.
        let places: Vec<usize> = (0..ids.len()).map(|_| self.below(7) as usize).collect();
        Some(if self.one_in(8) { ids.select(places) } else { ids })
    }

    fn rows(&mut self, items: usize) -> usize {
        if self.one_in(8) { self.below(8) as usize } else { items }
    }

    fn counted(&mut self) -> Option<VoteTable> {
        let (classes, items) = (self.classes()?, self.ids()?);
        let mut counts = Counts::new();
        let weighted = self.one_in(3);
        for _ in 0..self.rows(items.len()) {
            let entries: Vec<(u16, u32, f64)> = (0..self.below(5))
                .map(|_| {
                    let beyond = u64::from(self.one_in(9));
                    let class = self.below((classes.len() as u64 + beyond).max(1));
                    let votes = if self.one_in(40) { 300 } else { self.below(4) as u32 };
                    let weight = if self.one_in(20) { self.number() } else { f64::from(votes) };
                    (class as u16, votes, weight)
                })
                .collect();
            match weighted && !self.one_in(5) {
                true => counts.push_weighted(entries).ok()?,
                false => counts.push(entries.into_iter().map(|(class, n, _)| (class, n))).ok()?,
            }
        }
        VoteTable::from_counts(classes, items, counts).ok()
    }

    fn shared(&mut self) -> Option<VoteTable> {
        let (classes, items) = (self.classes()?, self.ids()?);
        let width = if self.one_in(8) { self.below(5) as usize } else { classes.len() };
        let mut rows = Probabilities::new(width);
        for _ in 0..self.rows(items.len()) {
            let mut row: Vec<f64> = (0..width).map(|_| self.0.unit()).collect();
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= sum);
            if self.one_in(20) && width > 0 {
                row[0] = self.number();
            }
            rows.push(&row).ok()?;
        }
        VoteTable::from_probabilities(classes, items, rows).ok()
    }

    fn cast(&mut self) -> Option<VoteTable> {
        const KEEP: [Keep; 3] = [Keep::Counts, Keep::Votes, Keep::VotesAndRows];
        let shards = 1 + self.below(3) as usize;
        let mut builder = TableBuilder::with_shards(KEEP[self.below(3) as usize], shards);
        builder.set_scale(self.scale());
        if let (true, Some(classes)) = (self.one_in(2), self.classes()) {
            builder.declare(classes).ok()?;
        }
        let sets = builder.scale() == Scale::MultiLabel;
        for row in 1..self.below(24) {
            let (item, who) = (format!("i{}", self.below(5)), format!("w{}", self.below(4)));
            let item = if self.one_in(60) { String::new() } else { item };
            let who = Some(who.as_str()).filter(|_| !self.one_in(5));
            let labels: Vec<String> =
                (0..self.below(4)).map(|_| self.below(4).to_string()).collect();
            let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
            let weight = if self.one_in(30) { self.number() } else { 1.0 };
            let added = match (sets, self.below(12)) {
                (_, 0) => builder.item(&item, row),
                (false, 1) => builder.votes(&item, "2", self.below(4) as u32, row),
                (_, 2) => {
                    let hash = id_hash(&item);
                    let home = TableBuilder::shard_of(hash, shards);
                    let (class, annotator) = (self.below(6) as u16, Some(self.below(5) as u32));
                    let vote = ShardVote { item: &item, hash, class, annotator, weight, row };
                    let shard = &mut builder.shards_mut()[home];
                    if self.one_in(3) {
                        shard.push_on(class.into(), vote)
                    } else {
                        shard.push(vote)
                    }
                }
                (true, _) => builder.vote_set(&item, who, &labels, weight, row),
                (false, _) => builder.vote(&item, who, labels.first()?, weight, row),
            };
            if added.is_err() && self.one_in(2) {
                return None;
            }
        }
        builder.finish().ok()
    }

    fn table(&mut self) -> Option<VoteTable> {
        let table = match self.below(3) {
            0 => self.counted(),
            1 => self.shared(),
            _ => self.cast(),
        }?;
        let places: Vec<usize> = (0..self.below(8)).map(|_| self.below(9) as usize).collect();
        Some(match self.below(8) {
            0 => table.select(&places),
            1 => table.without_voters(),
            2 => table.with_scale(self.scale()).ok()?,
            3 => table.with_classes(self.classes()?).ok()?,
            4 => table.clone().followed_by(&table.with_prefix("again/")).ok()?,
            _ => table,
        })
    }
}

/// Everything that is made of a table. Errors are fine; what is said must be consistent.
fn use_it(table: &VoteTable) {
    let one_label = Scale::ONE_LABEL.contains(&table.scale());
    let summary = summarize(table, &[], 3);
    assert_eq!(summary.items, table.len());
    assert!(summary.ratings.is_none() || table.scale() == Scale::Ordinal);
    let shares: f64 = summary.classes.iter().map(|class| class.share).sum();
    assert!(!one_label || shares < 1.0 + 1e-9, "{shares}");
    lint_table(table);
    assert_eq!(table.distributions().len(), table.len());
    for form in FORMS {
        let mut out = Cursor::new(Vec::new());
        if write(table, &[], form, &mut out).is_ok() && !table.is_empty() {
            let back = read_bytes("x", out.into_inner(), &ReadOptions::default());
            let back = back.unwrap_or_else(|error| panic!("{}: {error}", form.name)).table;
            assert_eq!(back.scale(), table.scale(), "{}", form.name);
            assert!(back.items().iter().eq(table.items().iter()), "{}", form.name);
            if matches!(table.ballots(), Ballots::Votes(_)) && form.name != "npz" {
                assert_eq!(back.digest(), table.digest(), "{}", form.name);
            }
        }
    }
    for target in TARGETS {
        let target: Target = target.name.parse().unwrap();
        let estimated = target.estimate(table);
        assert!(one_label || estimated.is_err());
        estimated.map(|estimated| estimated.targets.distributions()).ok();
    }
    for entry in DELIVERIES {
        let delivered = deliver(table, &entry.name.parse().unwrap(), &DeliverOptions::default());
        assert!(one_label || delivered.is_err(), "{}", entry.name);
        if let Ok(delivered) = delivered {
            delivered.prepared().targets_at(1, &mut EpochBuffer::default());
        }
    }
    Source::new(table).map(|source| source.select(&[0, 0]).map(|some| some.distributions())).ok();
    subset::entropy_bins(table, &subset::EntropyBins::default()).ok();
    let options = ScoreOptions { replicates: Some(0), ..ScoreOptions::default() };
    let all: Vec<usize> = (0..table.len()).collect();
    let limits = ceiling(table, &all, 1, &options);
    assert!(one_label || limits.is_err());
    for baseline in BASELINES {
        let Ok(csv) = baseline_csv(baseline, table, 1) else {
            assert!(!one_label);
            continue;
        };
        let predictions =
            dissensus::predictions::read_bytes("b.csv", csv.into(), &Default::default());
        let Ok(predictions) = predictions else { continue };
        if let Ok(model) = evaluate(table, &predictions[0], &options) {
            model.score(&options, &Silent).ok();
        }
    }
}

#[test]
fn what_a_constructor_accepts_can_be_used() {
    let mut made = [0; 3];
    for case in 0..CASES {
        let mut case = Case(Stream::new([0x7661_6c75, 0], [case, 0, 0]));
        if let Some(table) = case.table() {
            made[match table.ballots() {
                Ballots::Votes(_) => 0,
                Ballots::Counts(_) => 1,
                Ballots::Probabilities(_) => 2,
            }] += 1;
            use_it(&table);
        }
    }
    assert!(made.iter().all(|&kind| kind > CASES / 20), "{made:?} tables of {CASES} cases");
}
