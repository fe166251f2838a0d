//! Ctrl-C and SIGTERM end every command that is at work, soon.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// When the signal comes after the start, and how long the command may take to end after it.
const AT_WORK: Duration = Duration::from_millis(400);
const SOON: Duration = Duration::from_secs(2);

/// Commands that would work for many seconds. RUN and OTHER are runs of the store.
const COMMANDS: &[&str] = &[
    "votes inspect votes.csv",
    "votes lint votes.csv",
    "votes convert votes.csv out.parquet",
    "votes ceiling few.csv --repeats 10000 --metrics all",
    "score --votes few.csv --predictions p.csv --metrics all --replicates 100000",
    "compare --votes few.csv --predictions p.csv q.csv --metrics all --replicates 100000",
    "baseline prior --votes votes.csv --out out.csv",
    "deliver --votes few.csv --method sls --epochs 0..100000 --out out.csv",
    "demo --items 655360 --no-train",
    "demo --epochs 100000 --seeds 1 --store demo",
    "train large.toml",
    "train long.toml --store new",
    "study run long-study.toml --store new",
    "study new votes.csv --inputs features.csv",
    "geometry RUN --probes 1000000 --trace-tolerance 1e-9 --tolerance 1e-12 --max-products 1000000",
    "barrier RUN OTHER --points 10000",
    "gradcam RUN --top 2000 --out maps",
    "ood RUN --out images.npz --replicates 100000",
    "predict RUN images.npz --out out.npz",
    "doctor --full --device cpu",
];

const SPEC: &str = "[data]\ndataset = \"blends\"\nitems = 2000\n[model]\nname = \"smallcnn\"\nwidth = 2\n\
                    [delivery]\nmethods = [\"soft\"]\n[training]\nepochs = 1\n[run]\nseeds = 2\n";

#[test]
fn signals_end_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let done = |line: &str| {
        let output = common::dissensus(folder, &line.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{line}: {}", common::show(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let (mut votes, mut features) = ("item,annotator,label\n".to_owned(), "id,x\n".to_owned());
    for vote in 0..1_500_000 {
        writeln!(votes, "item-{},w{},{}", vote / 3, vote % 1000, ["a", "b", "c"][vote * 7 % 3])
            .unwrap();
    }
    for item in 0..500_000 {
        writeln!(features, "item-{item},{}.5", item % 10).unwrap();
    }
    let few: String = votes.lines().take(3001).map(|line| format!("{line}\n")).collect();
    fs::write(folder.join("votes.csv"), votes).unwrap();
    fs::write(folder.join("features.csv"), features).unwrap();
    fs::write(folder.join("few.csv"), few).unwrap();
    for (name, text) in [
        ("spec.toml", SPEC.to_owned()),
        ("large.toml", SPEC.replace("2000", "655360")),
        ("long.toml", SPEC.replace("epochs = 1", "epochs = 100000")),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    let study = include_str!("common/small.toml").replace("epochs = 2", "epochs = 100000");
    fs::write(folder.join("long-study.toml"), study).unwrap();
    done("baseline prior --votes few.csv --out p.csv");
    done("baseline tempered --votes few.csv --out q.csv");
    done("demo --items 20000 --out .blends");
    fs::rename(folder.join(".blends/images.npz"), folder.join("images.npz")).unwrap();
    done("train spec.toml");
    let listed = done("runs list --csv");
    let runs: Vec<&str> =
        listed.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    for line in COMMANDS {
        let words: Vec<&str> = line
            .split(' ')
            .map(|word| match word {
                "RUN" => runs[0],
                "OTHER" => runs[1],
                word => word,
            })
            .collect();
        for (signal, number) in [("INT", 2), ("TERM", 15)] {
            let took = stopped(folder, &words, signal, number);
            assert!(took < SOON, "{line}: SIG{signal} took {took:?}");
        }
    }
}

/// How long a command takes to end after a signal. It ends as by the signal, or says that it was interrupted.
fn stopped(folder: &Path, words: &[&str], signal: &str, number: i32) -> Duration {
    use std::os::unix::process::ExitStatusExt as _;
    let mut child: Child = common::program(folder, words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(AT_WORK);
    let early = child.try_wait().unwrap();
    assert!(
        early.is_none(),
        "{words:?} ended before the signal, with {early:?}: give it more to do"
    );
    let killed = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > 5 * SOON {
            child.kill().unwrap();
            child.wait().unwrap();
            return start.elapsed();
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let ended = status.signal() == Some(number) || status.code() == Some(130);
    assert!(ended, "{words:?} ended with {status} after SIG{signal}");
    start.elapsed()
}
