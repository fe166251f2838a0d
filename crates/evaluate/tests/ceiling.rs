//! What votes allow, held against generated votes whose true distributions are known.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dissensus_core::Silent;
use dissensus_data::blends::{Settings, VotesPerItem};
use dissensus_evaluate::{ScoreOptions, ceiling, evaluate};

#[test]
fn the_ceiling_of_blends_is_near_the_scores_of_its_truth() {
    // Votes per item, and how far the truth's entropy correlations may be from 1 after correction.
    for (votes, correlation_off) in [(50, 0.02), (10, 0.05), (5, 0.1)] {
        let votes = VotesPerItem::Fixed(votes);
        let settings = Settings { items: 2000, votes, annotators: 5000, ..Settings::default() };
        let blends = settings.check().unwrap().generate().unwrap();
        let metrics = ["kl", "entropy_spearman", "entropy_pearson"].map(String::from).to_vec();
        let options = ScoreOptions { metrics, replicates: Some(0), ..ScoreOptions::default() };
        let all: Vec<usize> = (0..blends.len()).collect();
        let found = ceiling(blends.table(), &all, 10, &options).unwrap();

        let classes = blends.table().classes().names().join(",");
        let mut truth = format!("id,{classes}\n");
        for item in all {
            let row: Vec<String> = blends.truth(item).iter().map(ToString::to_string).collect();
            truth += &format!("{},{}\n", blends.table().items().name(item), row.join(","));
        }
        let truth = dissensus_predictions::read_bytes("p*", truth.into(), &Default::default());
        let truth = evaluate(blends.table(), &truth.unwrap()[0], &options).unwrap();
        let scores = truth.score(&options, &Silent).unwrap();
        let value = |name: &str| scores.metric(name).unwrap().value.unwrap();

        let kl = value("kl");
        println!("{votes:?}: KL of the truth {kl:.4}, estimated {:.4}", found.bias);
        // Answers that few people give are not seen in few votes: the estimate is low, never high.
        assert!((0.5 * kl..1.02 * kl).contains(&found.bias), "{votes:?}: {} {kl}", found.bias);
        for name in ["entropy_spearman", "entropy_pearson"] {
            let corrected = found.disattenuated(name, value(name)).unwrap();
            println!("{name} of the truth {:.4}, corrected {corrected:.4}", value(name));
            assert!((corrected - 1.0).abs() < correlation_off, "{votes:?}: {corrected}");
        }
    }
}
