//! Image encoders from ONNX files, used as a caller would.
//!
//! The golden values are made by `reference/embed-onnx`. ONNX Runtime is searched as in the program;
//! where there is none, the tests that need it say that they were skipped. EfficientNet-Lite0 and
//! CIFAR-10's images are not part of the repository; `dissensus_testing::data` says where they are looked for.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use std::path::{Path, PathBuf};

use dissensus_embed::images::{Filter, Fit, Preparation};
use dissensus_embed::onnx::RuntimeError;
use dissensus_embed::{EmbedError, Encoder, Image, Kind, OnnxEncoder, OnnxSettings};
use dissensus_testing::skipped;
use serde_json::Value;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/onnx")).join(name)
}

fn cases(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(golden(name)).unwrap();
    let cases = serde_json::from_str::<Value>(&text).unwrap().as_array().unwrap().clone();
    assert!(!cases.is_empty(), "{name}");
    cases
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn bytes(value: &Value) -> Vec<u8> {
    numbers(value).into_iter().map(|number| number as u8).collect()
}

/// Whether ONNX Runtime is there. One that is there and cannot be used fails the test.
fn has_runtime() -> bool {
    match OnnxEncoder::open(golden("tiny.onnx"), &OnnxSettings::default()) {
        Err(EmbedError::Runtime(RuntimeError::NotFound { .. })) => {
            let why = "ONNX Runtime is not there; `pip install onnxruntime` brings it";
            skipped("onnxruntime", why).unwrap_or(false)
        }
        other => {
            other.unwrap();
            true
        }
    }
}

fn tiny(settings: &OnnxSettings) -> OnnxEncoder {
    OnnxEncoder::open(golden("tiny.onnx"), settings).unwrap()
}

fn go_on(_: usize) -> bool {
    true
}

fn square(side: usize, channels: usize, pixels: &[u8]) -> Image<'_> {
    Image { height: side, width: side, channels, pixels }
}

#[test]
fn a_small_encoder_gives_what_onnxruntime_gives() {
    if !has_runtime() {
        return;
    }
    for case in cases("tiny.json") {
        let output = case["output"].as_str().unwrap().to_owned();
        let encoder = tiny(&OnnxSettings { output: Some(output), ..OnnxSettings::default() });
        let (pixels, wanted) = (bytes(&case["pixels"]), numbers(&case["vector"]));
        let side = case["size"][0].as_u64().unwrap() as usize;
        let vector = encoder.images(&[square(side, 3, &pixels)], &mut go_on).unwrap();
        assert_eq!((vector.len(), encoder.width()), (wanted.len(), Some(wanted.len())));
        for (found, wanted) in vector.iter().zip(&wanted) {
            assert!((f64::from(*found) - wanted).abs() < 1e-5, "{found} is not {wanted}");
        }
    }
}

/// Channels first and last, fixed and any size, a vector beside a map, a map alone.
#[test]
fn common_forms_of_models_need_no_settings() {
    if !has_runtime() {
        return;
    }
    for case in cases("forms.json") {
        let form = case["form"].as_str().unwrap();
        let size = (form == "any_size").then_some([8, 8]);
        let settings = OnnxSettings { size, ..OnnxSettings::default() };
        let encoder = OnnxEncoder::open(golden(&format!("{form}.onnx")), &settings).unwrap();
        let (pixels, wanted) = (bytes(&case["pixels"]), numbers(&case["vector"]));
        let vector = encoder.images(&[square(8, 3, &pixels)], &mut go_on).unwrap();
        assert_eq!((vector.len(), encoder.width()), (wanted.len(), Some(wanted.len())), "{form}");
        for (found, wanted) in vector.iter().zip(&wanted) {
            assert!((f64::from(*found) - wanted).abs() < 1e-5, "{form}: {found} is not {wanted}");
        }
    }
}

#[test]
fn resizing_is_pillows() {
    for case in cases("resize.json") {
        let shape: Vec<usize> = bytes(&case["shape"]).into_iter().map(usize::from).collect();
        let channels = shape.get(2).copied().unwrap_or(1);
        let size = bytes(&case["size"]).into_iter().map(usize::from).collect::<Vec<_>>();
        let preparation = Preparation {
            size: size.try_into().unwrap(),
            fit: Fit::Stretch,
            filter: match case["filter"].as_str().unwrap() {
                "bicubic" => Filter::Bicubic,
                _ => Filter::Bilinear,
            },
            mean: [0.0; 3],
            scale: [1.0; 3],
        };
        let pixels = bytes(&case["pixels"]);
        let image = Image { height: shape[0], width: shape[1], channels, pixels: &pixels };
        let mut found = vec![];
        preparation.apply(&image, &mut found).unwrap();
        let wanted: Vec<f32> = bytes(&case["resized"]).into_iter().map(f32::from).collect();
        // A grey image has three equal channels.
        let found: Vec<f32> =
            found.into_iter().step_by(if channels == 1 { 3 } else { 1 }).collect();
        assert_eq!(found, wanted, "{} {}", case["filter"], case["shape"]);
    }
}

#[test]
fn a_image_of_another_shape_is_covered_from_its_middle() {
    // 2×6, the middle 2×2 of which is 9: at twice the size the middle four columns come of it alone.
    let row = [0, 0, 9, 9, 0, 0];
    let pixels = [row, row].concat();
    let mut preparation = Preparation {
        size: [2, 2],
        fit: Fit::Cover,
        filter: Filter::Bilinear,
        mean: [1.0, 2.0, 3.0],
        scale: [2.0, 2.0, 4.0],
    };
    let wide = Image { height: 2, width: 6, channels: 1, pixels: &pixels };
    let tall = Image { height: 6, width: 2, ..wide };
    let mut numbers = vec![];
    preparation.apply(&wide, &mut numbers).unwrap();
    assert_eq!(numbers, [4.0, 3.5, 1.5].repeat(4), "(9 − mean) / scale");
    let column: Vec<u8> = row.iter().flat_map(|byte| [*byte; 2]).collect();
    preparation.apply(&Image { pixels: &column, ..tall }, &mut numbers).unwrap();
    assert_eq!(numbers, [4.0, 3.5, 1.5].repeat(4));
    preparation.fit = Fit::Stretch;
    preparation.apply(&wide, &mut numbers).unwrap();
    assert!(numbers[0] < 4.0);
    // So long that a whole image of its shape would not fit into memory.
    preparation.fit = Fit::Cover;
    preparation.size = [4096, 8];
    let line = vec![7; 10_000_000];
    let long = Image { height: 1, width: line.len(), channels: 1, pixels: &line };
    preparation.apply(&long, &mut numbers).unwrap();
    assert!(numbers.iter().step_by(3).all(|number| *number == 3.0));
}

#[test]
fn a_vector_does_not_depend_on_its_neighbours() {
    if !has_runtime() {
        return;
    }
    let encoder = tiny(&OnnxSettings::default());
    let pixels: Vec<u8> = (0..200 * 16).map(|i| (i * 37 % 251) as u8).collect();
    let images: Vec<Image<'_>> =
        pixels.chunks_exact(16).map(|pixels| square(4, 1, pixels)).collect();
    let mut told = 0;
    let together = encoder
        .images(&images, &mut |more| {
            told += more;
            true
        })
        .unwrap();
    assert_eq!(told, 200);
    for (at, row) in together.chunks_exact(8).enumerate() {
        let alone = encoder.images(&images[at..=at], &mut go_on).unwrap();
        assert_eq!(alone, row);
    }
    assert!(encoder.images(&[], &mut go_on).unwrap().is_empty());
    let stopped = encoder.images(&images, &mut |_| false).unwrap_err();
    assert!(matches!(stopped, EmbedError::Stopped), "{stopped}");
}

#[test]
fn grey_is_three_equal_channels() {
    if !has_runtime() {
        return;
    }
    let encoder = tiny(&OnnxSettings::default());
    let grey: Vec<u8> = (0..25).map(|i| i * 9).collect();
    let colour: Vec<u8> = grey.iter().flat_map(|byte| [*byte; 3]).collect();
    let both = [square(5, 1, &grey), square(5, 3, &colour)];
    let vectors = encoder.images(&both, &mut go_on).unwrap();
    assert_eq!(vectors[..8], vectors[8..]);
}

#[test]
fn who_it_is() {
    if !has_runtime() {
        return;
    }
    let encoder = tiny(&OnnxSettings::default());
    assert_eq!((encoder.identity().name.as_str(), encoder.kind()), ("tiny", Kind::Image));
    assert_eq!(encoder.preparation().size, [8, 8]);
    assert!(encoder.runtime().contains("git-commit"), "{}", encoder.runtime());
    let own = OnnxSettings { name: Some("mine".to_owned()), ..OnnxSettings::default() };
    assert_eq!(tiny(&own).identity().name, "mine");
    let digest = |settings: OnnxSettings| tiny(&settings).identity().digest.clone();
    let plain = digest(OnnxSettings::default());
    assert_eq!((plain.len(), &plain), (64, &digest(own)), "a name decides nothing");
    let stated = OnnxSettings {
        output: Some("features".to_owned()),
        size: Some([8, 8]),
        ..OnnxSettings::default()
    };
    assert_eq!(plain, digest(stated), "what is stated is what would be found");
    let others = [
        OnnxSettings { output: Some("logits".to_owned()), ..OnnxSettings::default() },
        OnnxSettings { fit: Fit::Stretch, ..OnnxSettings::default() },
        OnnxSettings { filter: Filter::Bicubic, ..OnnxSettings::default() },
        OnnxSettings { mean: [127.0, 127.0, 126.0], ..OnnxSettings::default() },
        OnnxSettings { scale: [127.0; 3], ..OnnxSettings::default() },
    ];
    for settings in others {
        assert_ne!(plain, digest(settings.clone()), "{settings:?}");
    }
}

fn says(path: &Path, settings: &OnnxSettings) -> String {
    let problem = OnnxEncoder::open(path, settings).unwrap_err().to_string();
    assert!(problem.starts_with(&path.display().to_string()), "{problem}");
    problem
}

#[test]
fn settings_that_do_not_fit_are_named() {
    if !has_runtime() {
        return;
    }
    let path = golden("tiny.onnx");
    let plain = OnnxSettings::default;
    let problem = says(&path, &OnnxSettings { output: Some("feature".to_owned()), ..plain() });
    assert!(
        problem.contains(r#"called "feature"; name one of ["features", "logits"]"#),
        "{problem}"
    );
    let problem = says(&path, &OnnxSettings { size: Some([9, 8]), ..plain() });
    assert!(problem.contains("a side of 8, the settings say Some([9, 8])"), "{problem}");
    let problem = says(&path, &OnnxSettings { scale: [1.0, 0.0, 1.0], ..plain() });
    assert!(problem.contains("no scale of 0"), "{problem}");
    let problem = says(&golden("none.onnx"), &plain());
    assert!(problem.contains("No such file") || problem.contains("cannot find"), "{problem}");
}

#[test]
fn models_that_are_no_image_encoders_are_named() {
    if !has_runtime() {
        return;
    }
    for (name, problem) in [
        ("matrix", r#"its input "x" has shape [Some(3), Some(5)]; expected one image"#),
        ("two_inputs", r#"its inputs are ["x", "mask"]; an image encoder has one"#),
        ("half", r#"its input "x" does not take 32-bit floats"#),
        ("whole", r#"its output "class" is not of 32-bit floats"#),
        ("external", "its weights are in another file"),
    ] {
        let found = says(&golden(&format!("{name}.onnx")), &OnnxSettings::default());
        assert!(found.contains(problem), "{found}");
    }
}

#[test]
fn broken_files_are_named() {
    if !has_runtime() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.onnx");
    let whole = std::fs::read(golden("tiny.onnx")).unwrap();
    let after = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        says(&path, &OnnxSettings::default())
    };
    for bytes in [&whole[..whole.len() / 2], &whole[..20], b"\x89PNG\r\n\x1a\n", b""] {
        let problem = after(bytes);
        assert!(problem.contains("ONNX Runtime cannot load it"), "{problem}");
    }
    let problem = after(&replaced(&whole, b"GlobalAveragePool", b"GlobalAverageFool"));
    assert!(problem.contains("GlobalAverageFool"), "{problem}");
    // The name stands twice, in the node and with the tensor: the first one is the node's.
    let problem = after(&replaced(&whole, b"depth_bias", b"depth_biaz"));
    assert!(problem.contains("depth_biaz"), "{problem}");
}

/// Another model, or an error of the file; whatever is computed are vectors of its width.
#[test]
fn changed_bytes_give_vectors_or_errors() {
    if !has_runtime() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.onnx");
    let whole = std::fs::read(golden("tiny.onnx")).unwrap();
    let pixels = [7; 3 * 64];
    let (mut opened, mut refused) = (0, 0);
    for at in (0..whole.len()).step_by(whole.len() / 150) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&path, &bytes).unwrap();
        let encoder = match OnnxEncoder::open(&path, &OnnxSettings::default()) {
            Ok(encoder) => encoder,
            Err(error) => {
                assert!(matches!(error, EmbedError::Model { .. }), "byte {at}: {error:?}");
                refused += 1;
                continue;
            }
        };
        opened += 1;
        match encoder.images(&[square(8, 3, &pixels)], &mut go_on) {
            Ok(vector) => assert_eq!(encoder.width().unwrap_or(vector.len()), vector.len()),
            Err(error) => assert!(error.to_string().contains("changed"), "byte {at}: {error}"),
        }
    }
    assert!(opened > 20 && refused > 20, "{opened} opened, {refused} refused");
}

fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
    [&bytes[..at], new, &bytes[at + old.len()..]].concat()
}

#[test]
fn images_that_are_none_are_named() {
    if !has_runtime() {
        return;
    }
    let encoder = tiny(&OnnxSettings::default());
    for (height, channels, length) in [(4, 3, 47), (4, 2, 32), (0, 3, 0), (usize::MAX, 3, 48)] {
        let pixels = vec![0; length];
        let image = Image { height, width: 4, channels, pixels: &pixels };
        let problem = encoder.images(&[image], &mut go_on).unwrap_err().to_string();
        assert!(problem.contains("tiny, image 0: an image of"), "{problem}");
    }
    assert!(encoder.texts(&["a"], &mut go_on).is_err());
}

fn mirror(file: &str) -> Option<PathBuf> {
    Some(dissensus_testing::data(&[file])?.join(file))
}

/// Labels and images of CIFAR-10's test set: a label byte, then planes of red, green and blue.
fn cifar10(count: usize) -> Option<Vec<(u8, Vec<u8>)>> {
    let bytes = std::fs::read(mirror("cifar10/test_batch.bin")?).unwrap();
    let one = |row: &[u8]| {
        let pixel = |at: usize| [row[1 + at], row[1025 + at], row[2049 + at]];
        (row[0], (0..1024).flat_map(pixel).collect())
    };
    Some(bytes.chunks_exact(3073).take(count).map(one).collect())
}

#[test]
fn efficientnet_lite0_gives_what_onnxruntime_gives() {
    if !has_runtime() {
        return;
    }
    let Some(model) = mirror("models/efficientnet-lite0.onnx") else { return };
    let Some(items) = cifar10(4) else { return };
    let encoder = OnnxEncoder::open(model, &OnnxSettings::default()).unwrap();
    assert_eq!((encoder.width(), encoder.preparation().size), (Some(1280), [224, 224]));
    let images: Vec<Image<'_>> = items.iter().map(|(_, pixels)| square(32, 3, pixels)).collect();
    let vectors = encoder.images(&images, &mut go_on).unwrap();
    let cases = cases("features.json");
    assert_eq!(vectors.len(), cases.len() * 1280);
    for (vector, case) in vectors.chunks_exact(1280).zip(cases) {
        let (wanted, length) = (numbers(&case["first"]), case["norm"].as_f64().unwrap());
        let norm = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        assert!((norm / length - 1.0).abs() < 1e-5, "{norm} is not {length}");
        let squares =
            |pairs: &mut dyn Iterator<Item = f64>| pairs.map(|x| x * x).sum::<f64>().sqrt();
        let apart = squares(&mut vector.iter().zip(&wanted).map(|(x, w)| f64::from(*x) - w));
        let whole = squares(&mut wanted.iter().copied());
        assert!(apart / whole < 1e-5, "{}", apart / whole);
    }
}

/// The classes of CIFAR-10 from features by ridge regression on ±1 (λ = 1000 on features of
/// variance 1; from 300 to 10,000 it makes little difference): 86.3 % are known of this encoder.
#[test]
#[ignore = "takes a minute: cargo test --release -p dissensus-embed --test onnx -- --ignored"]
fn a_linear_probe_knows_cifar10() {
    if !has_runtime() {
        return;
    }
    let Some(model) = mirror("models/efficientnet-lite0.onnx") else { return };
    let Some(items) = cifar10(3000) else { return };
    let encoder = OnnxEncoder::open(model, &OnnxSettings::default()).unwrap();
    let images: Vec<Image<'_>> = items.iter().map(|(_, pixels)| square(32, 3, pixels)).collect();
    let start = std::time::Instant::now();
    let vectors = encoder.images(&images, &mut go_on).unwrap();
    eprintln!("{:.1} ms per image", start.elapsed().as_secs_f64() / 3.0);
    let (width, train) = (1280, 2000);
    let mut rows: Vec<Vec<f64>> = vectors
        .chunks_exact(width)
        .map(|row| row.iter().map(|x| f64::from(*x)).collect())
        .collect();
    for column in 0..width {
        let mean = rows[..train].iter().map(|row| row[column]).sum::<f64>() / train as f64;
        let square = rows[..train].iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>();
        let sd = (square / train as f64).sqrt().max(1e-6);
        rows.iter_mut().for_each(|row| row[column] = (row[column] - mean) / sd);
    }
    // With fewer items than features: weights = Xᵀ (X Xᵀ + λ)⁻¹ y, a system of the items' size.
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut kernel: Vec<Vec<f64>> =
        (0..train).map(|i| (0..=i).map(|j| dot(&rows[i], &rows[j])).collect()).collect();
    (0..train).for_each(|i| kernel[i][i] += 1000.0);
    for i in 0..train {
        for j in 0..=i {
            let sum = kernel[i][j] - dot(&kernel[i][..j], &kernel[j][..j]);
            kernel[i][j] = if i == j { sum.sqrt() } else { sum / kernel[j][j] };
        }
    }
    let classes: Vec<Vec<f64>> = (0..10u8)
        .map(|class| {
            let mut y: Vec<f64> = items[..train]
                .iter()
                .map(|(own, _)| if *own == class { 1.0 } else { -1.0 })
                .collect();
            for i in 0..train {
                y[i] = (y[i] - dot(&kernel[i][..i], &y[..i])) / kernel[i][i];
            }
            for i in (0..train).rev() {
                y[i] /= kernel[i][i];
                let solved = y[i];
                y[..i].iter_mut().zip(&kernel[i]).for_each(|(y, k)| *y -= k * solved);
            }
            (0..width).map(|k| (0..train).map(|i| rows[i][k] * y[i]).sum()).collect()
        })
        .collect();
    let right = rows[train..].iter().zip(&items[train..]).filter(|(row, (own, _))| {
        let scores: Vec<f64> = classes.iter().map(|weights| dot(weights, row)).collect();
        let best = (0..10).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
        best == usize::from(*own)
    });
    let accuracy = right.count() as f64 / 1000.0;
    eprintln!("accuracy {accuracy}");
    assert!((0.84..0.90).contains(&accuracy), "{accuracy}");
}
