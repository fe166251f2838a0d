//! What votes allow, held against generated votes whose true distributions are known.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dissensus::data::blends::{Settings, VotesPerItem};
use dissensus::{ScoreOptions, Silent, ceiling, evaluate};

#[test]
fn the_ceiling_of_blends_is_near_the_scores_of_its_truth() {
    // Votes per item, and how far estimates may be off: of the bias, as a share of it; and of the
    // truth's entropy correlations after correction, from 1.
    for (votes, bias_off, correlation_off) in [(50, 0.15, 0.01), (10, 0.25, 0.03), (5, 0.35, 0.05)]
    {
        let votes = VotesPerItem::Fixed(votes);
        let settings = Settings { items: 2000, votes, annotators: 5000, ..Settings::default() };
        let blends = settings.check().unwrap().generate().unwrap();
        let metrics = ["kl", "entropy_spearman", "entropy_pearson"].map(String::from).to_vec();
        let options = ScoreOptions { metrics, replicates: 0, ..ScoreOptions::default() };
        let all: Vec<usize> = (0..blends.len()).collect();
        let found = ceiling(blends.table(), &all, 10, &options).unwrap();

        let classes = blends.table().classes().names().join(",");
        let mut truth = format!("id,{classes}\n");
        for item in all {
            let row: Vec<String> = blends.truth(item).iter().map(ToString::to_string).collect();
            truth += &format!("{},{}\n", blends.table().items().name(item), row.join(","));
        }
        let truth = dissensus::predictions::read_bytes("p*", truth.into(), &Default::default());
        let truth = evaluate(blends.table(), &truth.unwrap()[0], &options).unwrap();
        let scores = truth.score(&options, &Silent).unwrap();
        let value = |name: &str| scores.metric(name).unwrap().value.unwrap();

        let kl = value("kl");
        println!("{votes:?}: KL of the truth {kl:.4}, estimated {:.4}", found.bias);
        assert!((found.bias - kl).abs() < bias_off * kl, "{votes:?}: {} {kl}", found.bias);
        for name in ["entropy_spearman", "entropy_pearson"] {
            let corrected = found.disattenuated(name, value(name)).unwrap();
            println!("{name} of the truth {:.4}, corrected {corrected:.4}", value(name));
            assert!((corrected - 1.0).abs() < correlation_off, "{votes:?}: {corrected}");
        }
    }
}
