//! What must hold for any bytes that are read as something other than votes: predictions, inputs, images,
//! studies, specs, files of a store, packs, encoders and their cache. Used by the fuzz targets (`fuzz/`)
//! and by the test of their seeds. A reader gives a value that fits together, or an error with a message;
//! it does not panic.

use std::fmt::Display;
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use dissensus::embed::{Cache, Cached, EmbedError, Encoder, Identity, Kind, Progress, open_folder};
use dissensus::io::{Limits, tensors};
use dissensus::store::{ActiveRun, Begun, Logits, Store, Which, unpack};
use dissensus::studies::{Study, results};
use dissensus::train::{EpochRow, RunResult, Spec};
use dissensus::{inputs, predictions};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Small, so that reaching them costs nothing.
const LIMITS: Limits = Limits { line: 64 << 10, document: 4 << 20, cells: 1 << 18, votes: 1 << 16 };

/// Models that are small enough to be read for every input.
macro_rules! golden {
    ($($file:literal)*) => {
        [$(($file, include_bytes!(concat!("../../../embed/tests/golden/", $file)).as_slice())),*]
    };
}
const GOLDEN: [(&str, &[u8]); 5] = golden!(
    "bert/config.json" "bert/model.safetensors" "bert/tokenizer.json" "vit/config.json" "vit/model.safetensors"
);

/// Every target that [`run`] knows.
pub const TARGETS: [&str; 14] = [
    "cache",
    "checkpoint",
    "encoder",
    "image",
    "inputs",
    "logits",
    "pack",
    "predictions",
    "results",
    "run",
    "safetensors",
    "spec",
    "study",
    "tokenizer",
];

/// Checks bytes as what a target takes them for.
pub fn run(target: &str, bytes: &[u8]) {
    match target {
        "cache" => cache(bytes),
        "checkpoint" => checkpoint(bytes),
        "encoder" => encoder(bytes),
        "image" => image(bytes),
        "inputs" => check_inputs(bytes),
        "logits" => logits(bytes),
        "pack" => pack(bytes),
        "predictions" => check_predictions(bytes),
        "results" => check_results(bytes),
        "run" => run_files(bytes),
        "safetensors" => safetensors(bytes),
        "spec" => check_spec(bytes),
        "study" => study(bytes),
        "tokenizer" => tokenizer(bytes),
        other => panic!("there is no target {other}"),
    }
}

/// An error says something; a value is handed on.
fn said<T, E: Display>(result: Result<T, E>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error without a message");
            None
        }
    }
}

/// What else a user might say is chosen by the bytes themselves.
fn choice(bytes: &[u8], of: usize) -> usize {
    bytes.iter().fold(bytes.len(), |sum, &b| sum.wrapping_mul(31).wrapping_add(b.into())) % of
}

fn check_predictions(bytes: &[u8]) {
    let mut options = predictions::ReadOptions { limits: LIMITS, ..Default::default() };
    match choice(bytes, 16) {
        0 => options.kind = Some(predictions::Kind::Logits),
        1 => options.kind = Some(predictions::Kind::Probabilities),
        2 => options.by_position.items = true,
        3 => options.by_position.classes = true,
        4 => options.header = Some(false),
        5 => options.id = Some("#1".to_owned()),
        6 => options.key = Some("logits".to_owned()),
        7 => options.class_map = "a=b".parse().ok(),
        _ => {}
    }
    for found in said(predictions::read_bytes("x", bytes.to_vec(), &options)).into_iter().flatten()
    {
        assert_eq!(found.values.len(), found.len() * found.width);
        assert!(found.ids.is_none_or(|ids| ids.len() * found.width == found.values.len()));
        assert!(found.classes.is_none_or(|classes| classes.len() == found.width));
        assert!(
            found.values.iter().all(|value| !value.is_nan()),
            "a prediction that is not a number"
        );
    }
}

fn check_inputs(bytes: &[u8]) {
    let mut options = inputs::ReadOptions { limits: LIMITS, ..Default::default() };
    match choice(bytes, 16) {
        0 => options.layout = Some(inputs::Layout::Nchw),
        1 => options.layout = Some(inputs::Layout::Nhwc),
        2 => options.by_position = true,
        3 => options.header = Some(false),
        4 => options.id = Some("#1".to_owned()),
        5 => options.key = Some("x".to_owned()),
        6 => options.skip = vec!["#2".to_owned()],
        _ => {}
    }
    fits(said(inputs::read_bytes("x", bytes.to_vec(), &options)));
}

fn image(bytes: &[u8]) {
    let folder = scratch().path.join("images");
    put(&folder.join("a.png"), bytes);
    let resize = (choice(bytes, 4) == 0).then_some([3, 5]);
    let options = inputs::ReadOptions { limits: LIMITS, resize, ..Default::default() };
    fits(said(inputs::read(&folder, &options)));
}

fn fits(inputs: Option<inputs::Inputs>) {
    let Some(inputs) = inputs else { return };
    assert!(inputs.ids().is_none_or(|ids| ids.len() == inputs.len()));
}

fn study(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    said(Study::parse(&text, "x"));
    said(Study::parse_stored(&text, "x"));
}

fn check_spec(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (overrides, text) = text.split_once('\0').unwrap_or(("", &text));
    let overrides: Vec<String> = overrides.lines().map(str::to_owned).collect();
    if let Some(spec) = said(Spec::parse(text, "x", &overrides)) {
        let runs = spec.delivery.methods.len() * spec.data.votes.len() * spec.run.seeds.len();
        assert_eq!(spec.runs().len(), runs);
        serde_json::to_string(&spec).expect("a spec is JSON");
    }
}

fn check_results(bytes: &[u8]) {
    if let Some(rows) = said(results::from_csv(bytes, "x")) {
        let again = results::to_csv(&rows.iter().collect::<Vec<_>>())
            .expect("rows that were read are written");
        let again = results::from_csv(&again, "x").expect("rows that were written are read");
        let same = |a: &Option<f64>, b: &Option<f64>| a.map(f64::to_bits) == b.map(f64::to_bits);
        let mut both = rows.iter().zip(&again);
        assert!(rows.len() == again.len() && both.all(|(a, b)| same(&a.value, &b.value)));
    }
}

fn safetensors(bytes: &[u8]) {
    if let Some(file) = said(tensors::Tensors::parse(bytes)) {
        for name in file.names() {
            let shape = file.shape(&name).expect("a name of the file");
            if let Some(numbers) = said(file.array(&name)).and_then(|array| said(array.numbers())) {
                assert_eq!(numbers.len(), shape.iter().product::<usize>());
            }
        }
    }
}

fn logits(bytes: &[u8]) {
    let bytes = if bytes.starts_with(b"PK") { bytes.to_vec() } else { npz(bytes) };
    if let Some(found) = said(Logits::from_npz(bytes)) {
        assert_eq!(found.logits().len(), found.ids().len() * found.classes().len());
    }
}

/// The arrays of an archive, whose checksums would otherwise protect them from any change.
fn npz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, member) in parts(bytes, &["logits.npy", "ids.npy", "classes.npy", "x.npy"]) {
        if writer.start_file(name, stored).is_ok() {
            writer.write_all(member).expect("memory");
        }
    }
    writer.finish().expect("memory").into_inner()
}

/// Parts, each the number of a name, two bytes of length, and as many bytes.
fn parts<'a>(mut bytes: &'a [u8], names: &[&'static str]) -> Vec<(&'static str, &'a [u8])> {
    let mut parts: Vec<(&str, &[u8])> = Vec::new();
    while let [name, low, high, rest @ ..] = bytes {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (part, after) = rest.split_at(length);
        parts.push((names[usize::from(*name) % names.len()], part));
        bytes = after;
    }
    parts
}

fn checkpoint(bytes: &[u8]) {
    let mut scratch = scratch();
    put(&scratch.run.dir().join("checkpoint.safetensors"), bytes);
    if let Some(Some(found)) = said(scratch.run.checkpoint()) {
        for tensor in &found.tensors {
            assert_eq!(tensor.values().len(), tensor.shape().iter().product::<usize>());
        }
    }
    put(&scratch.run.dir().join("best.safetensors"), bytes);
    said(scratch.store.run(scratch.run.id()).and_then(|run| run.weights(Which::Best)));
}

/// The first byte chooses which file of a run it is.
fn run_files(bytes: &[u8]) {
    let [first, bytes @ ..] = bytes else { return };
    let scratch = scratch();
    let folder = scratch.run.dir();
    let files =
        ["status.json", "about.json", "history.jsonl", "result.json", "predictions/best.npz"];
    let path = folder.join(files[usize::from(*first) % files.len()]);
    let before = fs::read(&path).ok();
    put(&path, bytes);
    if let Some(info) = said(scratch.store.run(scratch.run.id())) {
        said(info.history::<EpochRow>());
        said(info.result::<RunResult>());
        said(info.predictions(Which::Best));
        said(info.predictions_digest());
    }
    said(scratch.store.runs());
    match before {
        Some(before) => put(&path, &before),
        None => fs::remove_file(&path).expect("it was just written"),
    }
}

/// A pack of the given parts: its manifest is written for them, unless one of them is a manifest.
fn pack(bytes: &[u8]) {
    const NAMES: [&str; 10] = [
        "runs/0123456789abcdef/spec.json",
        "runs/0123456789abcdef/status.json",
        "runs/0123456789abcdef/about.json",
        "studies/s/results.csv",
        "manifest.json",
        "studies/s/stages/x/0123456789abcdef.csv",
        "../outside",
        "/tmp/outside",
        "runs/0123456789abcdef/../../outside",
        "studies/s/../outside",
    ];
    let scratch = scratch();
    let path = scratch.path.join("pack");
    if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        put(&path, bytes);
    } else {
        let mut parts = parts(bytes, &NAMES);
        parts.sort_by_key(|part| part.0);
        put(&path, &packed(&parts));
    }
    let into = scratch.path.join("unpacked");
    let before = count_files(&scratch.path);
    said(unpack(&path, &into));
    let _ = fs::remove_dir_all(&into);
    assert_eq!(count_files(&scratch.path), before, "a pack left something outside its store");
}

fn packed(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let sha = |bytes: &[u8]| -> String {
        Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let given = parts.iter().find(|(name, _)| *name == "manifest.json");
    let parts: Vec<_> = parts.iter().filter(|(name, _)| *name != "manifest.json").collect();
    let files: Vec<Value> = parts
        .iter()
        .map(|(name, bytes)| json!({"path": name, "bytes": bytes.len(), "sha256": sha(bytes)}))
        .collect();
    let has_run = parts.iter().any(|(name, _)| name.starts_with("runs/0123456789abcdef"));
    let runs: &[&str] = if has_run { &["0123456789abcdef"] } else { &[] };
    let manifest = json!({"format": 1, "made_by": "x", "runs": runs, "files": files}).to_string();
    let manifest = given.map_or(manifest.as_bytes(), |(_, bytes)| bytes);
    let mut tar = tar::Builder::new(zstd::Encoder::new(Vec::new(), 1).expect("memory"));
    for (name, bytes) in [("manifest.json", manifest)].iter().chain(parts) {
        let mut header = tar::Header::new_ustar();
        // Not by `set_path`, which refuses what a hostile pack has.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        tar.append(&header, *bytes).expect("memory");
    }
    tar.into_inner().and_then(zstd::Encoder::finish).expect("memory")
}

/// Files and folders below a folder.
fn count_files(folder: &Path) -> usize {
    let entries =
        fs::read_dir(folder).expect("our folder").map(|entry| entry.expect("our file").path());
    entries.map(|path| 1 + if path.is_dir() { count_files(&path) } else { 0 }).sum()
}

/// The first byte chooses the model and which of its files it is.
fn encoder(bytes: &[u8]) {
    let [first, bytes @ ..] = bytes else { return };
    let model = if first & 1 == 0 { "bert" } else { "vit" };
    let files = ["config.json", "model.safetensors", "modules.json", "preprocessor_config.json"];
    with_file(model, files[usize::from(first >> 1) % files.len()], bytes, &[]);
}

fn tokenizer(bytes: &[u8]) {
    let texts =
        ["", "A cat sits.", "[CLS] dogs, 日本 ﬁ [MASK]x", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"];
    with_file("bert", "tokenizer.json", bytes, &texts);
}

/// Opens a golden model with one of its files replaced, and encodes texts with it.
fn with_file(model: &str, file: &str, bytes: &[u8], texts: &[&str]) {
    let folder = scratch().path.join(model);
    let path = folder.join(file);
    let before = fs::read(&path).ok();
    put(&path, bytes);
    if let Some(encoder) = said(open_folder(&folder, None)) {
        let width = encoder.width().expect("known for models in folders");
        if let Some(vectors) = said(encoder.texts(texts, &mut |_| true)) {
            assert_eq!(vectors.len(), texts.len() * width);
        }
    }
    match before {
        Some(before) => put(&path, &before),
        None => fs::remove_file(&path).expect("it was just written"),
    }
}

/// An encoder whose vectors are all in the cache, or zeros.
struct Nothing(Identity);

impl Encoder for Nothing {
    fn identity(&self) -> &Identity {
        &self.0
    }
    fn kind(&self) -> Kind {
        Kind::Text
    }
    fn width(&self) -> Option<usize> {
        None
    }
    fn texts(&self, texts: &[&str], _: &mut Progress<'_>) -> Result<Vec<f32>, EmbedError> {
        Ok(vec![0.0; 2 * texts.len()])
    }
}

/// The header's checksum is made right, so that what is behind it is reached.
fn cache(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    if let Some(length) = bytes.get(8..12).and_then(|length| length.first_chunk::<4>()) {
        let length = u32::from_le_bytes(*length) as usize;
        if let Some((head, _)) = bytes.split_at_checked(length).filter(|(head, _)| head.len() > 4) {
            let sum = crc32c::crc32c(&head[..length - 4]).to_le_bytes();
            bytes[length - 4..length].copy_from_slice(&sum);
        }
    }
    let digest = "ab".repeat(32);
    let folder = scratch().path.join("cache");
    put(&folder.join(format!("{digest}.vectors")), &bytes);
    let identity = Identity { name: "x".to_owned(), digest };
    let cache = Cache::open(folder).expect("our folder");
    let cached = said(Cached::new(Box::new(Nothing(identity)), &cache));
    if let Some(vectors) =
        cached.and_then(|cached| said(cached.texts(&["a", "b", "a"], &mut |_| true)))
    {
        assert_eq!(vectors.len() % 3, 0);
    }
}

/// What every reader of files works in: a folder of its own, with a store that has one run.
struct Scratch {
    path: PathBuf,
    store: Store,
    run: ActiveRun,
}

impl Scratch {
    fn new() -> Self {
        let path = match option_env!("CARGO_TARGET_TMPDIR") {
            Some(tests) => Path::new(tests).join("readers"),
            None => std::env::temp_dir().join(format!("dissensus-fuzz-{}", std::process::id())),
        };
        let _ = fs::remove_dir_all(&path);
        let store = Store::create_or_open(path.join("store")).expect("our folder");
        let (spec, about) = (json!({"seed": 1}), json!({"code": "x"}));
        let begin = || match store.begin(&spec, &about, 5) {
            Ok(Begun::Run(run)) => run,
            other => panic!("a run: {other:?}"),
        };
        // As an older version wrote it: a file without a checksum is read to its end.
        let file = begin().dir().join("about.json");
        let mut older: Value =
            serde_json::from_slice(&fs::read(&file).expect("our file")).expect("our file");
        older["format"] = 1.into();
        older.as_object_mut().expect("an object").remove("sha256");
        put(&file, older.to_string().as_bytes());
        put(&path.join("store/store.json"), br#"{"format":1,"made_by":"x"}"#);
        let run = begin();
        for (file, bytes) in GOLDEN {
            put(&path.join(file), bytes);
        }
        Self { path, store, run }
    }
}

fn scratch() -> impl std::ops::DerefMut<Target = Scratch> {
    static SCRATCH: std::sync::LazyLock<Mutex<Scratch>> =
        std::sync::LazyLock::new(|| Mutex::new(Scratch::new()));
    SCRATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("our folder");
    fs::write(path, bytes).expect("our file");
}
