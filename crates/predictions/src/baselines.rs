//! Predictions that need no model, to stand beside those of one: what a table of scores is read
//! against. One list.
//!
//! With p an item's vote distribution and K classes:
//!
//! | name | predicts | its KL(p‖q) |
//! |---|---|---|
//! | `uniform` | 1/K | ln K − H(p) |
//! | `prior` | the mean of p over the items, the same for all | the information in knowing the item |
//! | `votes` | p itself | 0: the best there is |
//! | `tempered` | p^(1/T), normalized; T = 2 | above 0: too even |
//! | `majority` | 1 for the most-voted class (ties: the first) | infinite where anyone disagrees |
//! | `random` | a draw from the flat Dirichlet, seeded | that of guessing |

use dissensus_core::philox::Stream;
use dissensus_core::{ScaleError, VoteTable};

/// A prediction that needs no model.
pub struct Baseline {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it predicts.
    pub about: &'static str,
    predict: fn(&[f64], &Context<'_>) -> Vec<f64>,
}

struct Context<'a> {
    prior: &'a [f64],
    stream: Stream,
}

/// All baselines.
pub const BASELINES: &[Baseline] = &[
    Baseline {
        name: "uniform",
        about: "every class alike",
        predict: |p, _| vec![1.0 / p.len() as f64; p.len()],
    },
    Baseline {
        name: "prior",
        about: "the mean vote distribution, the same for every item",
        predict: |_, context| context.prior.to_vec(),
    },
    Baseline {
        name: "votes",
        about: "the votes themselves: the best there is",
        predict: |p, _| p.to_vec(),
    },
    Baseline {
        name: "tempered",
        about: "the votes at temperature 2: too even",
        predict: |p, _| {
            let roots: Vec<f64> = p.iter().map(|v| v.sqrt()).collect();
            let sum: f64 = roots.iter().sum();
            roots.iter().map(|v| v / sum).collect()
        },
    },
    Baseline {
        name: "majority",
        about: "the most-voted class with certainty",
        predict: |p, _| {
            let most = p.iter().copied().fold(0.0, f64::max);
            let first = p.iter().position(|v| *v == most);
            (0..p.len()).map(|class| f64::from(Some(class) == first)).collect()
        },
    },
    Baseline {
        name: "random",
        about: "a random distribution for each item (seeded)",
        predict: |p, context| {
            // Gaps between sorted uniforms are flat Dirichlet; −ln of uniforms, normalized, too.
            let mut stream = context.stream.clone();
            let draws: Vec<f64> = p.iter().map(|_| -(1.0 - stream.unit()).ln()).collect();
            let sum: f64 = draws.iter().sum();
            draws.iter().map(|v| v / sum).collect()
        },
    },
];

/// The stream of the `random` baseline.
const STREAM: u64 = 0x6261_7365_6c69_6e65;

impl Baseline {
    /// The baseline of this name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        BASELINES.iter().find(|baseline| baseline.name == name)
    }

    /// A prediction for every item of the table that has votes, with its id.
    pub fn predict<'a>(
        &self,
        table: &'a VoteTable,
        seed: u64,
    ) -> Result<Vec<(&'a str, Vec<f64>)>, ScaleError> {
        table.require_one_label()?;
        let distributions = table.distributions();
        let voted: Vec<(usize, &[f64])> = distributions
            .iter()
            .enumerate()
            .filter_map(|(item, p)| Some((item, p.as_ref()?.values())))
            .collect();
        let mut prior = vec![0.0; table.classes().len()];
        for (_, p) in &voted {
            prior.iter_mut().zip(*p).for_each(|(sum, v)| *sum += v / voted.len() as f64);
        }
        let predict = |&(item, p): &(usize, &[f64])| {
            let stream = Stream::new([seed, STREAM], [item as u64, 0, 0]);
            let context = Context { prior: &prior, stream };
            (table.items().name(item), (self.predict)(p, &context))
        };
        Ok(voted.iter().map(predict).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_baseline_predicts_distributions() {
        let text = "id,cat,dog,emu\na,3,1,0\nb,0,4,4\nc,0,0,0\n";
        let values = Some(dissensus_votes::Values::Counts);
        let options = dissensus_votes::ReadOptions { values, ..Default::default() };
        let table = dissensus_votes::read_bytes("v", text.into(), &options).unwrap().table;
        for baseline in BASELINES {
            let rows = baseline.predict(&table, 7).unwrap();
            let ids: Vec<&str> = rows.iter().map(|(id, _)| *id).collect();
            assert_eq!(ids, ["a", "b"], "{}", baseline.name);
            for (_, row) in &rows {
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{} {row:?}", baseline.name);
            }
        }
        let of = |name: &str| Baseline::by_name(name).unwrap().predict(&table, 7).unwrap();
        assert_eq!(of("votes")[0].1, [0.75, 0.25, 0.0]);
        assert_eq!(of("prior")[1].1, [0.375, 0.375, 0.25]);
        assert_eq!(of("majority")[1].1, [0.0, 1.0, 0.0]);
        assert_eq!(of("random"), Baseline::by_name("random").unwrap().predict(&table, 7).unwrap());
        assert_ne!(of("random"), Baseline::by_name("random").unwrap().predict(&table, 8).unwrap());
    }
}
