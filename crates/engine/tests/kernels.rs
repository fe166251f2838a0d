//! The CUDA kernels without a GPU: compiled as C++ with an emulation of blocks and threads, and
//! compared with their formulas; labels with what the host draws. Those for compute capability 9.0 are run with what
//! their instructions do, one size at a time. Skips where there is no compiler.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Command;

use dissensus_engine::device::{Choice, Votes};

const KERNELS: [&str; 9] = [
    "common",
    "images",
    "norm",
    "flat",
    "losses/binary_cross_entropy",
    "losses/rps",
    "labels",
    "optimizer",
    "bf16x3/conv",
];

/// Those for compute capability 9.0, in the order of `scripts/check-kernels.py`.
const HOPPER: [&str; 7] = [
    "common",
    "hopper/common",
    "hopper/weights",
    "hopper/conv",
    "hopper/stride",
    "hopper/stem",
    "hopper/parts",
];

/// What a program of checks over these kernels printed, or `None` without a compiler.
fn run(program: &str, kernels: &[&str], options: &[String]) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = format!("kernels-{program}{}", options.concat());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let read = |name: &&str| {
        let path: PathBuf = root.join("src/cuda/kernels").join(format!("{name}.cu"));
        std::fs::read_to_string(path).unwrap()
    };
    let source: String = kernels.iter().map(read).collect();
    std::fs::write(folder.join("kernels.cu"), source).unwrap();
    let made = folder.join("checks");
    let mut compiler = Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()));
    compiler.args(["-std=c++20", "-O2", "-w", "-pthread"]);
    compiler.args(["-ffp-contract=off", "-fno-strict-aliasing"]);
    // Jumps between stacks are none that it may check.
    compiler.arg("-U_FORTIFY_SOURCE");
    compiler.args(options);
    for include in [&folder, &root.join("tests/kernels")] {
        compiler.arg("-I").arg(include);
    }
    compiler.arg(root.join(format!("tests/kernels/{program}.cpp"))).arg("-o").arg(&made);
    let compiled = match compiler.output() {
        Ok(compiled) => compiled,
        Err(error) => {
            let why = format!("there is no C++ compiler for the CUDA kernels on the CPU ({error})");
            return dissensus_testing::skipped("c++", &why);
        }
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let done = Command::new(made).output().unwrap();
    let printed = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success(), "{printed}{}", String::from_utf8_lossy(&done.stderr));
    Some(printed)
}

/// The votes that checks.cpp makes up.
fn votes(choice: Choice) -> Votes {
    let (mut starts, mut votes) = (vec![0], Vec::new());
    for i in 0..50u16 {
        votes.extend((0..i % 6).map(|j| (i * 7 + j * 3) % 10));
        starts.push(votes.len() as u32);
    }
    Votes { starts, votes, choice }
}

fn labels_agree(printed: &str) {
    let keys = (0..50u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1)).collect();
    let drawn = [votes(Choice::Turns), votes(Choice::Words { keys, seed: 7, stream: 11 })];
    let mut lines = 0;
    for line in printed.lines().filter_map(|line| line.strip_prefix("labels ")) {
        let numbers: Vec<u64> = line.split(' ').map(|n| n.parse().unwrap()).collect();
        let [words, draw, labels @ ..] = &numbers[..] else { panic!("{line}") };
        assert_eq!(labels.len(), 50);
        for (row, &label) in labels.iter().enumerate() {
            let wanted = drawn[*words as usize].class(row, *draw);
            assert_eq!(label, wanted.map_or(99, u64::from), "draw {draw}, row {row}");
        }
        lines += 1;
    }
    assert_eq!(lines, 18);
}

fn kernels(half: bool) {
    let options = [format!("-DBF16={}", u8::from(half))];
    if let Some(printed) = run("checks", &KERNELS, &options) {
        labels_agree(&printed);
    }
}

#[test]
fn kernels_in_f32() {
    kernels(false);
}

#[test]
fn kernels_in_bf16() {
    kernels(true);
}

/// The kernels for compute capability 9.0 of one size.
fn hopper(channels: usize) {
    let options = ["-DBF16=1".to_owned(), format!("-DCHANNELS={channels}")];
    let _ = run("hopper_checks", &HOPPER, &options);
}

#[test]
fn hopper_of_images() {
    hopper(8);
}

#[test]
fn hopper_of_64_channels() {
    hopper(64);
}

#[test]
fn hopper_of_128_channels() {
    hopper(128);
}

#[test]
fn hopper_of_256_channels() {
    hopper(256);
}

#[test]
fn hopper_of_512_channels() {
    hopper(512);
}
