//! Scores predictions in memory with `dissensus-evaluate` alone.

use dissensus_evaluate::core::{ClassOrder, ClassSet, Counts, Ids, VoteTable};
use dissensus_evaluate::predictions::Predictions;
use dissensus_evaluate::{ScoreOptions, Scores, score};

/// The scores of a model on three items with four votes each.
pub(crate) fn scores() -> Result<Scores, Box<dyn std::error::Error>> {
    let ids = ["a", "b", "c"].map(str::to_owned).to_vec();
    let classes = ["cat", "dog"].map(str::to_owned).to_vec();
    let mut counts = Counts::new();
    for row in [[3u32, 1], [0, 4], [2, 2]] {
        counts.push((0u16..).zip(row))?;
    }
    let set = ClassSet::new(classes.clone(), ClassOrder::Declared)?;
    let votes = VoteTable::from_counts(set, Ids::new(ids.clone())?, counts)?;
    let values = vec![0.75, 0.25, 0.1, 0.9, 0.5, 0.5];
    let model =
        Predictions::from_rows("model", values, 2, Some(ids), Some(classes), &Default::default())?;
    Ok(score(&votes, &model, &ScoreOptions::default())?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for metric in scores()?.metrics {
        println!("{}: {:?}", metric.metric, metric.value);
    }
    Ok(())
}
