//! The pictures of known datasets, read as a user would read them, against what is known of each.
//!
//! The files are not part of the repository. `DISSENSUS_MIRROR` names a folder that holds them (by
//! default `shared/data` beside the repository); without it every test says that it was skipped.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use std::path::PathBuf;

use dissensus_inputs::{Images, Inputs, Kind, Matched, from_dataset, join};

/// The mirror, which has the layout of a cache, or `None` (stated) where a file is not in it.
fn mirror(file: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let root = std::env::var_os("DISSENSUS_MIRROR").map_or_else(|| beside.into(), PathBuf::from);
    if !root.join(file).exists() {
        eprintln!("SKIPPED: {} is not there", root.join(file).display());
        return None;
    }
    Some(root)
}

fn images(inputs: &Inputs) -> &Images {
    let Kind::Images(images) = inputs.kind() else { panic!("pictures") };
    images
}

/// What is known of a set of pictures.
struct Facts {
    items: usize,
    mean: [f64; 3],
    sd: [f64; 3],
    /// Of picture 3: two neighbours in the first row, then the first of the second row.
    pixels: Option<[[u8; 3]; 3]>,
}

/// The golden numbers come from plain Python 3, which counts the bytes of each plane:
///
/// ```text
/// c = Counter(plane of every picture); n = sum(c.values())
/// s = sum(v * k for v, k in c.items()); q = sum(v * v * k for v, k in c.items())
/// mean = s / n / 255; sd = sqrt(q / n - (s / n) ** 2) / 255
/// ```
fn check(name: &str, file: &str, facts: &Facts) -> Option<Inputs> {
    let cache = mirror(file)?;
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
        let picture = images.picture(3);
        let pixels = [0, 1, 32].map(|pixel| &picture[3 * pixel..][..3]);
        assert_eq!(pixels, wanted.each_ref().map(|pixel| &pixel[..]), "{name}");
    }
    Some(inputs)
}

#[test]
fn cifar10h_pictures_have_the_ids_of_the_votes() {
    let facts = Facts {
        items: 10_000,
        mean: [0.4942142800245098, 0.4851313890165441, 0.4504090927542892],
        sd: [0.24665251509497996, 0.2428922634600537, 0.26159237802202345],
        pixels: Some([[155, 156, 149], [167, 176, 187], [153, 155, 157]]),
    };
    let Some(inputs) = check("cifar10h", "cifar10/test_batch.bin", &facts) else { return };
    let first: u64 = images(&inputs).picture(0).iter().map(|&v| u64::from(v)).sum();
    assert_eq!(first as f64 / 3072.0, 108.38606770833333);

    let Some(cache) = mirror("cifar10h/cifar10h-counts.npy") else { return };
    let votes = cache.join("cifar10h/cifar10h-counts.npy");
    let table = dissensus_votes::read(&votes, &Default::default()).unwrap().table;
    let joined = join(&table, &inputs).unwrap();
    assert_eq!((joined.matched, joined.items.len()), (Matched::ById, 10_000));
    assert!(joined.items.iter().all(|(item, row)| item == row));
    assert_eq!((joined.without_input.count, joined.without_votes.count), (0, 0));

    // The label before each picture is what most people chose, on all but 79 pictures.
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

/// The order differs between the official file and the rebuilt one, the pictures do not.
#[test]
fn cifar100_pictures() {
    let facts = Facts {
        items: 10_000,
        mean: [0.5087964127604166, 0.48739301317401956, 0.44194221124387256],
        sd: [0.2682515741720802, 0.2573637364478125, 0.2770957707973042],
        pixels: None,
    };
    check("cifar100", "cifar100/test.bin", &facts);
}

#[test]
fn svhn_pictures() {
    let facts = Facts {
        items: 26_032,
        mean: [0.45242315741720973, 0.4524958427803695, 0.46897713063442087],
        sd: [0.21943445410806867, 0.22656966835099326, 0.22850612705118367],
        pixels: Some([[130, 141, 160], [129, 140, 159], [137, 148, 163]]),
    };
    check("svhn", "svhn/test_32x32.mat", &facts);
}
