//! The images, votes and texts of known datasets, read as a user would read them, against what is known of each.
//!
//! The files are not part of the repository; `dissensus_testing::data` says where they are looked for.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use dissensus_core::Ballots;
use dissensus_inputs::{Images, Inputs, Kind, Matched, from_dataset, join, texts, votes};
use dissensus_testing::{data, data_named};

fn images(inputs: &Inputs) -> &Images {
    let Kind::Images(images) = inputs.kind() else { panic!("images") };
    images
}

/// What is known of a set of images.
struct Facts {
    items: usize,
    mean: [f64; 3],
    sd: [f64; 3],
    /// Of image 3: two neighbours in the first row, then the first of the second row.
    pixels: Option<[[u8; 3]; 3]>,
}

/// The golden numbers come from plain Python 3, which counts the bytes of each plane:
///
/// ```text
/// c = Counter(plane of every image); n = sum(c.values())
/// s = sum(v * k for v, k in c.items()); q = sum(v * v * k for v, k in c.items())
/// mean = s / n / 255; sd = sqrt(q / n - (s / n) ** 2) / 255
/// ```
fn check(name: &str, file: &str, facts: &Facts) -> Option<Inputs> {
    let needs = if name == "cifar10n" { "cifar10-train" } else { "data" };
    let cache = data_named(needs, &[file])?;
    let inputs = from_dataset(name, &cache).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(inputs.len(), facts.items, "{name}");
    let images = images(&inputs);
    assert_eq!((images.height(), images.width(), images.channels()), (32, 32, 3), "{name}");
    let found = images.normalization(None).unwrap();
    for (found, wanted) in [(found.mean, facts.mean), (found.sd, facts.sd)] {
        let near = found.iter().zip(wanted).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6);
        assert!(near, "{name}: {found:?} is not {wanted:?}");
    }
    if let Some(wanted) = facts.pixels {
        let image = images.image(3);
        let pixels = [0, 1, 32].map(|pixel| &image[3 * pixel..][..3]);
        assert_eq!(pixels, wanted.each_ref().map(|pixel| &pixel[..]), "{name}");
    }
    Some(inputs)
}

#[test]
fn cifar10h_images_have_the_ids_of_the_votes() {
    let facts = Facts {
        items: 10_000,
        mean: [0.4942142800245098, 0.4851313890165441, 0.4504090927542892],
        sd: [0.24665251509497996, 0.2428922634600537, 0.26159237802202345],
        pixels: Some([[155, 156, 149], [167, 176, 187], [153, 155, 157]]),
    };
    let Some(inputs) = check("cifar10h", "cifar10/test_batch.bin", &facts) else { return };
    let first: u64 = images(&inputs).image(0).iter().map(|&v| u64::from(v)).sum();
    assert_eq!(first as f64 / 3072.0, 108.38606770833333);

    let Some(cache) = data(&["cifar10h/cifar10h-counts.npy"]) else { return };
    let votes = cache.join("cifar10h/cifar10h-counts.npy");
    let table = dissensus_votes::read(&votes, &Default::default()).unwrap().table;
    let joined = join(&table, &inputs).unwrap();
    assert_eq!((joined.matched, joined.items.len()), (Matched::ById, 10_000));
    assert!(joined.items.iter().all(|(item, row)| item == row));
    assert_eq!((joined.without_row.count, joined.without_item.count), (0, 0));

    // The label before each image is what most people chose, on all but 79 images.
    let records = std::fs::read(cache.join("cifar10/test_batch.bin")).unwrap();
    let counts = table.counts().unwrap();
    let agrees = |&(item, row): &(usize, usize)| {
        let votes = counts.row(item, 10);
        let most = votes.iter().copied().fold(0.0, f64::max);
        let label = records[row * 3073];
        votes.iter().position(|v| *v == most) == Some(usize::from(label))
    };
    assert_eq!(joined.items.iter().filter(|pair| agrees(pair)).count(), 9_921);
}

/// The five files are not in every mirror.
#[test]
fn cifar10n_images_have_the_ids_of_the_votes() {
    let facts = Facts {
        items: 50_000,
        mean: [0.49139967861519607, 0.48215840839460783, 0.44653091444546567],
        sd: [0.2470322324632821, 0.2434851280000555, 0.26158784172796445],
        pixels: Some([[28, 25, 10], [37, 34, 19], [33, 28, 13]]),
    };
    let Some(cache) = data(&["cifar10n/CIFAR-10_human.pt"]) else { return };
    let Some(inputs) = check("cifar10n", "cifar10/data_batch_5.bin", &facts) else { return };
    let table = votes("cifar10n", &cache).unwrap();
    let joined = join(&table, &inputs).unwrap();
    assert_eq!((joined.matched, joined.items.len()), (Matched::ById, 50_000));
    assert!(joined.items.iter().all(|(item, row)| item == row));

    // Against the label before each image, the three are wrong as often as is known of them.
    let records = |n: usize| std::fs::read(cache.join(format!("cifar10/data_batch_{n}.bin")));
    let labels: Vec<u8> = (1..=5)
        .flat_map(|n| records(n).unwrap().chunks_exact(3073).map(|r| r[0]).collect::<Vec<_>>())
        .collect();
    let Ballots::Votes(cast) = table.ballots() else { panic!("single votes") };
    let mut wrong = [0; 3];
    for (item, &label) in labels.iter().enumerate() {
        for vote in cast.of(item).filter(|vote| vote.labels != [u16::from(label)]) {
            wrong[vote.annotator.unwrap() as usize] += 1;
        }
    }
    let noise = wrong.map(|wrong| f64::from(wrong) / 50_000.0);
    let near = noise.iter().zip([0.1723, 0.1812, 0.1764]).all(|(a, b)| (a - b).abs() < 5.1e-5);
    assert!(near, "{noise:?}");
}

/// The order differs between the official file and the rebuilt one, the images do not.
#[test]
fn cifar100_images() {
    let facts = Facts {
        items: 10_000,
        mean: [0.5087964127604166, 0.48739301317401956, 0.44194221124387256],
        sd: [0.2682515741720802, 0.2573637364478125, 0.2770957707973042],
        pixels: None,
    };
    check("cifar100", "cifar100/test.bin", &facts);
}

#[test]
fn svhn_images() {
    let facts = Facts {
        items: 26_032,
        mean: [0.45242315741720973, 0.4524958427803695, 0.46897713063442087],
        sd: [0.21943445410806867, 0.22656966835099326, 0.22850612705118367],
        pixels: Some([[130, 141, 160], [129, 140, 159], [137, 148, 163]]),
    };
    check("svhn", "svhn/test_32x32.mat", &facts);
}

fn mean_normalized_entropy(table: &dissensus_core::VoteTable) -> f64 {
    let log = (table.classes().len() as f64).ln();
    let all = table.distributions();
    all.iter().map(|p| p.as_ref().unwrap().entropy() / log).sum::<f64>() / all.len() as f64
}

/// Facts of the second paper: 3,113 items of three classes, normalized entropy 0.592.
#[test]
fn chaosnli_is_both_of_its_parts() {
    let Some(cache) = data(&["chaosnli/chaosNLI_snli.jsonl"]) else { return };
    let table = votes("chaosnli", &cache).unwrap();
    assert_eq!((table.len(), table.counts().unwrap().total()), (3_113, 311_300));
    assert_eq!(table.classes().names(), ["e", "n", "c"]);
    assert!((mean_normalized_entropy(&table) - 0.592).abs() < 5e-4);
    // Ids are those of the files, since none stands in both.
    assert_eq!(table.items().name(0), "2407214681.jpg#0r1n");
    assert_eq!(table.items().name(1_514), "50830c");
    let count = |item| table.counts().unwrap().row(item, 3);
    assert_eq!((count(0), count(1_514)), (vec![30.0, 70.0, 0.0], vec![12.0, 68.0, 20.0]));

    let of = |name| votes(name, &cache).unwrap();
    let (snli, mnli) = (of("chaosnli-snli"), of("chaosnli-mnli"));
    assert_eq!((snli.len(), mnli.len(), of("chaosnli-alphanli").len()), (1_514, 1_599, 1_532));
    let first: Vec<usize> = (0..1_514).collect();
    assert_eq!(table.select(&first).digest(), snli.digest());

    let texts = texts("chaosnli", &cache).unwrap();
    assert!(texts.iter().map(|(id, _)| id.as_str()).eq(table.items().iter()));
    assert!(texts.iter().all(|(_, texts)| texts.len() == 2));
    assert!(texts[0].1[0].starts_with("Two young children in blue jerseys"), "{:?}", texts[0]);
    assert_eq!(texts[0].1[1], "Two kids at a ballgame wash their hands.");
    assert_eq!(texts[1_514].1[1], "We don't loan a lot of money.");
}

#[test]
fn the_stories_of_alphanli_have_four_texts() {
    let Some(cache) = data(&["chaosnli/chaosNLI_alphanli.jsonl"]) else { return };
    let texts = texts("chaosnli-alphanli", &cache).unwrap();
    assert!(texts.len() == 1_532 && texts.iter().all(|(_, texts)| texts.len() == 4));
}

#[test]
fn popquorn_is_politeness() {
    let Some(cache) = data(&["popquorn/politeness.csv"]) else { return };
    let table = votes("popquorn", &cache).unwrap();
    assert_eq!((table.len(), table.counts().unwrap().total()), (3_718, 25_042));
    assert_eq!(table.classes().names(), ["1", "2", "3", "4", "5"]);
    let all = texts("popquorn", &cache).unwrap();
    assert!(all.iter().map(|(id, _)| id.as_str()).eq(table.items().iter()));
    assert!(all.iter().all(|(_, texts)| texts.len() == 1));
    assert_eq!(all[0].1[0].split_once('.').unwrap().0, "Hey E, I have a question about my juices");

    assert_eq!(votes("popquorn-offensiveness", &cache).unwrap().len(), 1_500);
    let message = texts("popquorn-offensiveness", &cache).unwrap_err().to_string();
    assert!(message.starts_with("1500 of the 1500 items"), "{message}");
}

#[test]
fn every_set_of_votes_reads() {
    for set in dissensus_data::DATASETS.iter().flat_map(|d| d.votes) {
        let Some(cache) = data(&[set.files[0]]) else { continue };
        let table = votes(set.name, &cache).unwrap_or_else(|error| panic!("{error}"));
        assert!(!table.is_empty(), "{}", set.name);
    }
    // The parts of HS-Brexit count from 1 each.
    let Some(cache) = data(&["lewidi/HS-Brexit_dataset/HS-Brexit_train.json"]) else { return };
    assert_eq!(votes("lewidi-hs-brexit", &cache).unwrap().len(), 784 + 168 + 168);
}
