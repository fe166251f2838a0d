//! The CUDA kernels without a GPU: compiled as C++ with an emulation of blocks and threads, and
//! compared with their formulas; labels with what the host draws. Skips where there is no compiler.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::Command;

use dissensus_engine::device::{Choice, Votes};

const KERNELS: [&str; 7] =
    ["common", "images", "norm", "flat", "labels", "optimizer", "bf16x3/conv"];

/// What the program of checks printed, or `None` without a compiler.
fn run(half: bool) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kernels-{half}"));
    std::fs::create_dir_all(&folder).unwrap();
    let read = |name: &&str| {
        let path: PathBuf = root.join("src/cuda/kernels").join(format!("{name}.cu"));
        std::fs::read_to_string(path).unwrap()
    };
    let source: String = KERNELS.iter().map(read).collect();
    std::fs::write(folder.join("kernels.cu"), source).unwrap();
    let program = folder.join("checks");
    let mut compiler = Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()));
    compiler.args(["-std=c++20", "-O1", "-pthread", "-ffp-contract=off", "-w"]);
    compiler.arg(format!("-DBF16={}", u8::from(half)));
    for include in [&folder, &root.join("tests/kernels")] {
        compiler.arg("-I").arg(include);
    }
    compiler.arg(root.join("tests/kernels/checks.cpp")).arg("-o").arg(&program);
    let made = match compiler.output() {
        Ok(made) => made,
        Err(error) => {
            eprintln!("SKIPPED: the CUDA kernels on the CPU, there is no C++ compiler ({error})");
            return None;
        }
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let done = Command::new(program).output().unwrap();
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

#[test]
fn kernels_in_f32() {
    if let Some(printed) = run(false) {
        labels_agree(&printed);
    }
}

#[test]
fn kernels_in_bf16() {
    if let Some(printed) = run(true) {
        labels_agree(&printed);
    }
}
