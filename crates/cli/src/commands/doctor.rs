//! `dissensus doctor`

use std::process::ExitCode;
use std::time::Instant;

use dissensus::engine::check::{Line, Scope, networks, suite};
use dissensus::engine::cuda::{Gpu, Library, gpus, libraries};
use dissensus::engine::{Cpu, Device as _, Precision};
use serde::Serialize;

use crate::training::open_device;
use crate::ui::{self, paint, text};

/// List the devices and libraries of this machine, and check that they compute correctly.
///
/// Looks for NVIDIA's driver, libraries and GPUs, and explains how to install what is missing. It then
/// runs small networks on the device that `train` would use and compares everything with the CPU in
/// double precision: outputs, gradients, Hessian products, ten steps of training, drawn labels.
/// Nothing is changed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Check every operation and model in every precision, and print each comparison
    #[arg(long)]
    full: bool,
    /// Check only this network, by its name in `--full`
    #[arg(long, value_name = "NAME", hide = true)]
    network: Option<String>,
    /// Check only this precision
    #[arg(long, value_name = "PRECISION", hide = true, value_parser = Precision::NAMES)]
    precision: Option<String>,
    /// The device to check: auto, cpu, cuda, or one of several GPUs as in cuda:1
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: String,
    /// Print as JSON, every comparison included
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  dissensus doctor                    what is installed, and ten seconds of checks
  dissensus doctor --full             all checks, about a minute
  dissensus doctor --device cpu

Exit codes: 0 all checks pass; 1 a check fails; 2 the device cannot be opened.";

#[derive(Serialize)]
struct Report<'a> {
    version: &'a str,
    system: String,
    libraries: Vec<Found<'a>>,
    /// The name in JSON is of the first versions.
    #[serde(rename = "cards")]
    gpus: Vec<String>,
    device: &'a str,
    holds: bool,
    seconds: f64,
    comparisons: Vec<Compared<'a>>,
}

#[derive(Serialize)]
struct Found<'a> {
    name: &'a str,
    version: Option<&'a str>,
    how: &'a str,
}

#[derive(Serialize)]
struct Compared<'a> {
    network: &'a str,
    what: &'a str,
    precision: Precision,
    off: Option<f64>,
    bar: f64,
    holds: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let libraries = libraries();
    let gpus = gpus();
    let shown = gpus.as_deref().unwrap_or_default();
    if !args.json {
        ui::out(&found(&libraries, shown, gpus.as_ref().err()))?;
    }
    let device = open_device(&args.device)?;
    let (on_gpu, device) = (device.is_gpu(), device.into_device());
    let device_name = device.describe();
    let one = args.precision.as_deref().and_then(Precision::named);
    let precisions: &[Precision] = match (&one, on_gpu) {
        (_, false) => &[Precision::F32],
        (Some(one), true) => std::slice::from_ref(one),
        (None, true) => &Precision::ALL,
    };
    if !args.json {
        ui::out(&format!("\n{}\n", paint::title(&format!("Checking {device_name}"))))?;
    }
    let scope = match &args.network {
        Some(name) if !networks().any(|known| known == name) => {
            let known: Vec<&str> = networks().collect();
            anyhow::bail!("there is no network {name:?}; there are {}", known.join(", "))
        }
        Some(name) => Scope::One(name),
        None if args.full => Scope::Full,
        None => Scope::Quick,
    };
    let (start, mut failed) = (Instant::now(), None);
    let lines = suite(&*device, precisions, scope, &mut |line| {
        if args.full && !args.json && failed.is_none() {
            failed = ui::out(&compared(line)).err();
        }
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let seconds = start.elapsed().as_secs_f64();
    let holds = lines.iter().all(Line::holds);
    if args.json {
        let report = Report {
            version: dissensus::VERSION,
            system: system(),
            libraries: libraries.iter().map(as_found).collect(),
            gpus: shown.iter().map(describe).collect(),
            device: &device_name,
            holds,
            seconds,
            comparisons: lines.iter().map(as_compared).collect(),
        };
        ui::out(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else {
        ui::out(&verdict(&lines, precisions, args.full, seconds))?;
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn system() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let os = std::env::consts::OS;
    format!("{os} {}, {cores} cores", std::env::consts::ARCH)
}

fn gib(bytes: usize) -> String {
    format!("{:.0} GiB", bytes as f64 / (1u64 << 30) as f64)
}

fn describe(gpu: &Gpu) -> String {
    let Gpu { name, capability, memory: (all, free), processors } = gpu;
    format!(
        "{name}, compute capability {capability}, {processors} processors, {} ({} free)",
        gib(*all),
        gib(*free)
    )
}

/// The first part of the page: devices and libraries.
fn found(libraries: &[Library], gpus: &[Gpu], problem: Option<&String>) -> String {
    let mut page = format!("dissensus {}\n\n", dissensus::VERSION);
    page += &format!("{}\n", paint::title("This machine"));
    let line = |name: &str, what: &str| format!("  {} {what}\n", text::pad(name, 28));
    page += &line("system", &system());
    page += &line("CPU", &Cpu.describe());
    for library in libraries {
        page += &match &library.version {
            Some(version) => line(library.name, &paint::good(version)),
            None => line(library.name, &format!("{}: {}", paint::warn("missing"), library.how)),
        };
    }
    page += &line("cuBLAS", "not needed");
    for (number, one) in gpus.iter().enumerate() {
        page += &line(&format!("cuda:{number}"), &describe(one));
    }
    if let Some(problem) = problem {
        page += &line("GPUs", &format!("{}: {problem}", paint::warn("cannot be listed")));
    } else if gpus.is_empty() {
        page += &line("GPUs", "none: everything runs on the CPU");
    }
    page
}

fn compared(line: &Line) -> String {
    let off = match line.bar {
        0.0 => if line.holds() { "same" } else { "differ" }.to_owned(),
        bar => format!("off by {:.1e}, may be {bar:.0e}", line.off),
    };
    let mark = if line.holds() { paint::good("ok") } else { paint::bad("FAILED") };
    format!(
        "  {} {} {} {} {mark}\n",
        text::pad(line.network, 13),
        text::pad(line.precision.name(), 5),
        text::pad(line.what, 40),
        text::pad(&off, 32)
    )
}

fn verdict(lines: &[Line], precisions: &[Precision], full: bool, seconds: f64) -> String {
    let mut page = String::new();
    for &of in precisions {
        let own = || lines.iter().filter(move |line| line.precision == of);
        let (all, fine) = (own().count(), own().filter(|line| line.holds()).count());
        let words = format!("{fine} of {all} comparisons hold");
        let words = if fine == all { paint::good(&words) } else { paint::bad(&words) };
        let worst = own().filter(|line| line.bar > 0.0).max_by(|a, b| a.off.total_cmp(&b.off));
        let worst = worst.map_or(String::new(), |line| {
            format!("; furthest off {:.1e} ({}, {})", line.off, line.network, line.what)
        });
        page += &format!("  {} {words}{worst}\n", text::pad(of.name(), 5));
    }
    if !full {
        for line in lines.iter().filter(|line| !line.holds()) {
            page += &compared(line);
        }
    }
    let end = match lines.iter().all(Line::holds) {
        true => "all is well",
        false => "something computes wrong here: please report it with the output of --full --json",
    };
    page + &format!("\n{end} ({seconds:.1} s)\n")
}

fn as_found(library: &Library) -> Found<'_> {
    let Library { name, version, how } = library;
    Found { name, version: version.as_deref(), how }
}

fn as_compared(line: &Line) -> Compared<'_> {
    let &Line { network, what, precision, off, bar } = line;
    let finite = off.is_finite().then_some(off);
    Compared { network, what, precision, off: finite, bar, holds: line.holds() }
}
