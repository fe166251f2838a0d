//! Every vote is a sample of its own: in an epoch, an example is visited once for each of its votes,
//! with that vote as its label. The target of an example stays its distribution, the mean of its
//! labels, and examples count by how many votes they have.
//!
//! Sheng, Provost and Ipeirotis, *Get another label? Improving data quality and data mining using
//! multiple, noisy labelers* (KDD 2008), train on repeated labels this way.
//!
//! A sample knows who voted, where the votes do. Nothing is random: the training loop shuffles the
//! samples. Memory: 6 bytes a vote, and 4 for its annotator.

use dissensus_core::Scale;

use super::{Delivers, DeliveryEntry, Kind, method};
use crate::source::check_memory;
use crate::{LabelError, Source};

pub(super) const ENTRY: DeliveryEntry = DeliveryEntry {
    name: "every_vote",
    title: "every vote",
    description: "every vote is a sample: an example is visited once per vote in an epoch",
    formula: "each of the m_i votes of example i, in every epoch",
    delivers: Delivers::Samples,
    scales: Scale::ONE_LABEL,
    needs_counts: true,
    settings: &[],
    make: |_| Ok(method(|source, _| Ok(Kind::Samples(samples(source)?)))),
};

/// What is trained on where an example may come several times: the same in every epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// The place of each sample's example, ascending.
    pub places: Vec<u32>,
    /// The label of each sample.
    pub labels: Vec<u16>,
    /// Who gave it, as a place among the annotators of the votes; `None` where a vote names nobody.
    pub annotators: Option<Vec<u32>>,
}

fn samples(source: &Source<'_>) -> Result<Samples, LabelError> {
    source.require_counts(ENTRY.name, "soft")?;
    let total: u128 = (0..source.len()).map(|place| u128::from(source.votes(place))).sum();
    // Places of samples and of examples are 32 bits wide.
    if total > u128::from(u32::MAX) || source.len() > u32::MAX as usize {
        return Err(LabelError::TooMany { what: "votes" });
    }
    check_memory(ENTRY.name, source.len(), source.classes().len(), 2 * total as u64)?;
    let mut all = Samples { annotators: Some(Vec::new()), ..Samples::default() };
    for (place, at) in (0..source.len()).zip(0u32..) {
        let Some(voters) = source.voters(place) else {
            all.annotators = None;
            for (class, votes) in source.entries(place) {
                all.places.extend((0..votes).map(|_| at));
                all.labels.extend((0..votes).map(|_| class));
            }
            continue;
        };
        for (class, who) in voters {
            all.places.push(at);
            all.labels.push(class);
            match (who, &mut all.annotators) {
                (Some(who), Some(annotators)) => annotators.push(who),
                _ => all.annotators = None,
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use dissensus_core::{Keep, TableBuilder, VoteTable};

    use super::Samples;
    use crate::testing::{counted, shares};
    use crate::{Delivery, LabelError, Source};

    fn samples(source: &Source<'_>) -> Samples {
        let every: Delivery = "every_vote".parse().unwrap();
        every.prepare(source, 3).unwrap().samples().unwrap().clone()
    }

    fn voted(votes: &[(&str, Option<&str>, &str)]) -> VoteTable {
        let mut builder = TableBuilder::new(Keep::Votes);
        for (row, (item, who, label)) in (0..).zip(votes) {
            builder.vote(item, *who, label, 1.0, row).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn a_sample_per_vote() {
        let table = counted(&[vec![1, 2], vec![3, 0]]);
        let found = samples(&Source::new(&table).unwrap());
        assert_eq!((found.places, found.labels), (vec![0, 0, 0, 1, 1, 1], vec![0, 1, 1, 0, 0, 0]));
        assert_eq!(found.annotators, None);
    }

    /// The same samples whatever the order of the votes, with the annotators' names.
    #[test]
    fn samples_know_who_voted() {
        let mut votes = vec![
            ("a", Some("zoe"), "y"),
            ("a", Some("ben"), "y"),
            ("a", Some("ann"), "x"),
            ("b", Some("ann"), "y"),
        ];
        for _ in 0..votes.len() {
            votes.rotate_left(1);
            let table = voted(&votes);
            let source = Source::new(&table).unwrap();
            let order = ["a", "b"].map(|id| table.items().position(id).unwrap());
            let found = samples(&source.select(&order).unwrap());
            assert_eq!((found.places, found.labels), (vec![0, 0, 0, 1], vec![0, 1, 1, 1]));
            let name = |&who: &u32| table.annotators().name(who as usize).to_owned();
            let names: Vec<String> = found.annotators.unwrap().iter().map(name).collect();
            assert_eq!(names, ["ann", "ben", "zoe", "ann"]);
        }
        let table = voted(&[("a", Some("ann"), "x"), ("a", None, "y")]);
        assert_eq!(samples(&Source::new(&table).unwrap()).annotators, None);
    }

    #[test]
    fn one_label_per_example_is_refused() {
        let table = counted(&[vec![1, 2]]);
        let every: Delivery = "every_vote".parse().unwrap();
        let prepared = every.prepare(&Source::new(&table).unwrap(), 3).unwrap();
        let error = LabelError::Sampled { delivery: "every_vote".into() };
        assert_eq!(prepared.label(0, 0), Err(error.clone()));
        assert_eq!(prepared.epoch(0, &mut [0]), Err(error.clone()));
        assert_eq!(prepared.target(0, 0, &mut [0.0; 2]), Err(error.clone()));
        assert_eq!(prepared.epochs().unwrap_err(), error);
        let table = shares(&[vec![0.5, 0.5]]);
        let error = every.prepare(&Source::new(&table).unwrap(), 0).unwrap_err().to_string();
        assert!(error.starts_with("every_vote needs vote counts"), "{error}");
    }
}
