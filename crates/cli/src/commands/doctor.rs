//! `dissensus doctor`

use std::process::ExitCode;

use dissensus::engine::check::{Line, Scope, networks};
use dissensus::engine::cuda::{Gpu, Library, gpus, libraries};
use dissensus::engine::{Cpu, Device as _, Precision};
use dissensus::train::{DeviceCheck, system};

use crate::ui::{self, paint, text};
use dissensus::open_device;

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

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let scope = match &args.network {
        Some(name) if !networks().any(|known| known == name) => {
            let known: Vec<&str> = networks().collect();
            anyhow::bail!("there is no network {name:?}; there are {}", known.join(", "))
        }
        Some(name) => Scope::One(name),
        None if args.full => Scope::Full,
        None => Scope::Quick,
    };
    let (libraries, gpus) = (libraries(), gpus());
    if !args.json {
        ui::out(&found(&libraries, &gpus))?;
    }
    let device = open_device(&args.device)?;
    if !args.json {
        let title = format!("Checking {}", device.device().describe());
        ui::out(&format!("\n{}\n", paint::title(&title)))?;
    }
    let precision = args.precision.as_deref().and_then(Precision::named);
    let mut failed = None;
    let check = DeviceCheck::run(&device, precision, scope, &mut |line| {
        if args.full && !args.json && failed.is_none() {
            failed = ui::out(&compared(line)).err();
        }
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    match args.json {
        true => ui::json(&check.to_json(
            dissensus::VERSION,
            &libraries,
            gpus.as_deref().unwrap_or_default(),
        ))?,
        false => ui::out(&verdict(&check, args.full))?,
    }
    Ok(if check.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The first part of the page: devices and libraries.
fn found(libraries: &[Library], gpus: &Result<Vec<Gpu>, String>) -> String {
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
    match gpus {
        Err(problem) => {
            page += &line("GPUs", &format!("{}: {problem}", paint::warn("cannot be listed")));
        }
        Ok(gpus) if gpus.is_empty() => page += &line("GPUs", "none: everything runs on the CPU"),
        Ok(gpus) => {
            for (number, gpu) in gpus.iter().enumerate() {
                page += &line(&format!("cuda:{number}"), &gpu.to_string());
            }
        }
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

fn verdict(check: &DeviceCheck, full: bool) -> String {
    let (mut page, lines) = (String::new(), &check.lines);
    for &of in &check.precisions {
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
    let end = match check.holds() {
        true => "all is well",
        false => "something computes wrong here: please report it with the output of --full --json",
    };
    page + &format!("\n{end} ({:.1} s)\n", check.seconds)
}
