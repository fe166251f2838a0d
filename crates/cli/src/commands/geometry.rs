//! `dissensus geometry`

use std::path::PathBuf;

use dissensus::examine::{
    Cost, Curvature, CurvatureSettings, GPU_PRECISION, Slice, Variance, VarianceSettings,
    curvature_among, variance,
};
use dissensus::geometry::curvature::{
    DensitySettings, LanczosSettings, PowerSettings, TraceSettings,
};
use dissensus::geometry::model::Grouping;
use dissensus::tables::curvature_tables;
use serde::Serialize;

use crate::args::{FormArgs, ModelArgs, ask, whole};
use crate::ui::{self, table::print};

/// Estimate the curvature of the loss at the weights of runs: λ_max and trace of the Hessian.
///
/// The loss is the one that a run was trained by (the soft NLL, unless training.loss was set) against
/// the votes, over a part of each run's split; batch statistics are frozen. Products with the Hessian are exact. λ_max, the largest eigenvalue, is estimated by power
/// iteration, which stops when both its change and its residual are within the tolerance; the trace
/// is estimated with Hutchinson's probes and has a standard error. An estimate that did not converge
/// has a question mark, and a note says what to do.
///
/// A slice is some of the items by annotator entropy: all, high (the tenth that people disagree on
/// most), top:SHARE as in top:0.25, or above:NATS as in above:0.5. Items of equal entropy stay
/// together.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The runs: their ids, or the first digits of them; `dissensus runs` lists them
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
    /// The slices of the part, separated by commas: all, high, top:SHARE, above:NATS
    #[arg(long = "slice", value_name = "SLICE,…", value_delimiter = ',', default_value = "all")]
    slices: Vec<Slice>,
    /// Also estimate the K largest eigenvalues by Lanczos
    #[arg(long, value_name = "K")]
    largest: Option<usize>,
    /// Also estimate the K smallest eigenvalues by Lanczos
    #[arg(long, value_name = "K", num_args = 0..=1, default_missing_value = "1")]
    smallest: Option<usize>,
    /// Also estimate the trace per tensor, layer or stage of the network
    #[arg(long, value_name = "BLOCK", num_args = 0..=1, default_missing_value = "stage")]
    #[arg(value_parser = ["tensor", "layer", "stage"])]
    blocks: Option<String>,
    /// Write the density of eigenvalues, by stochastic Lanczos quadrature, as CSV
    #[arg(long, value_name = "FILE.csv")]
    density: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Also correlate the variance of the last layer's gradient under label sampling with entropy
    #[arg(long)]
    variance: bool,
    /// Maximum probes of the trace; fewer are used if its error is small enough
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = whole::<usize>(1..=1_000_000))]
    probes: usize,
    /// Relative tolerance of an eigenvalue
    #[arg(long, value_name = "SHARE", default_value_t = 1e-3)]
    tolerance: f64,
    /// Relative standard error at which the trace has converged
    #[arg(long, value_name = "SHARE", default_value_t = 0.02)]
    trace_tolerance: f64,
    /// Maximum Hessian products per eigenvalue search
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = whole::<usize>(1..=1_000_000))]
    max_products: usize,
    /// The random seed
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>(0..=u64::MAX), allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    form: FormArgs,
}

const EXAMPLES: &str = "\
Examples:
  dissensus geometry 0f3a                          the whole evaluation part
  dissensus geometry 0f3a 77c1 --slice all,high    and the tenth that people disagree on most
  dissensus geometry 0f3a --largest 5 --smallest --blocks layer
  dissensus geometry 0f3a --density spectrum.csv --json";

/// Hessian products per probe of a density.
const STEPS: usize = 60;

#[derive(Serialize)]
struct Report<'a> {
    curvatures: &'a [Curvature],
    variances: &'a [Variance],
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    dissensus::files::check_free(args.density.as_deref(), args.force)?;
    let mut opened = args.models.open_in(&args.runs, GPU_PRECISION)?;
    let (mut labels, mut found, mut variances) = (Vec::new(), Vec::new(), Vec::new());
    let mut cost = Cost::default();
    for model in &opened.models {
        for &slice in &args.slices {
            cost.expect(model, &args.settings(slice))?;
        }
    }
    let each = |&slice: &Slice| args.settings(slice).most_products();
    let (runs, most) = (opened.models.len(), args.slices.iter().map(each).sum::<usize>());
    let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
    ui::remark(&format!("{runs}, at most {most} Hessian products per run"));
    for model in &mut opened.models {
        let name = model.id()[..8.min(model.id().len())].to_owned();
        for &slice in &args.slices {
            let settings = args.settings(slice);
            labels.push(model.label());
            let name = format!("{name}, {slice}");
            found.push(ask(&name, |observer| {
                curvature_among(model, &settings, &mut cost, observer)
            })?);
        }
        if args.variance {
            let part = args.models.part.clone();
            let settings = VarianceSettings { part, ..Default::default() };
            variances.push(ask(&name, |observer| variance(model, &settings, observer))?);
        }
    }
    if let Some(path) = &args.density {
        let densities = dissensus::densities_csv(&found);
        dissensus::files::write_bytes(path, args.force, densities.as_bytes())?;
        ui::wrote(path, "");
    }
    let Some(form) = args.form.table() else {
        return opened.json(&Report { curvatures: &found, variances: &variances });
    };
    print(&curvature_tables(&labels, &found, &variances, form), form)?;
    found.iter().for_each(doubts);
    Ok(())
}

impl Args {
    fn settings(&self, slice: Slice) -> CurvatureSettings {
        let (seed, tolerance, most) = (self.seed, self.tolerance, self.max_products);
        let ends = (self.largest.unwrap_or(0), self.smallest.unwrap_or(0));
        let lanczos = LanczosSettings {
            seed,
            largest: ends.0.max(usize::from(self.smallest.is_some())),
            smallest: ends.1,
            tolerance,
            most,
        };
        let trace = TraceSettings {
            seed,
            tolerance: self.trace_tolerance,
            least: TraceSettings::default().least.min(self.probes),
            most: self.probes,
        };
        CurvatureSettings {
            part: self.models.part.clone(),
            slice,
            power: Some(PowerSettings { seed, tolerance, most }),
            lanczos: (ends != (0, 0)).then_some(lanczos),
            trace: Some(trace),
            blocks: self.blocks.as_deref().map(|block| match block {
                "tensor" => Grouping::Tensor,
                "layer" => Grouping::Layer,
                _ => Grouping::Stage,
            }),
            hutch: None,
            density: self.density.is_some().then_some(DensitySettings {
                seed,
                steps: STEPS,
                ..Default::default()
            }),
        }
    }
}

/// Prints which estimates did not converge, and what to do.
fn doubts(one: &Curvature) {
    let place = format!("{} of {}", one.settings.slice, &one.run[..8.min(one.run.len())]);
    let say = |text: String| ui::note(&text);
    match one.lambda_max() {
        None => say(format!(
            "power iteration on {place} converged to a negative eigenvalue, which is not the largest; \
             use --largest 1"
        )),
        Some(top) if !top.converged => say(format!(
            "λ_max on {place} did not converge in {} products; raise --max-products, or use \
             --largest 1, which needs fewer",
            top.products
        )),
        Some(_) => {}
    }
    if one.extremes.as_ref().is_some_and(|extremes| !extremes.converged) {
        say(format!("Lanczos on {place} did not converge; raise --max-products"));
    }
    if let Some(trace) = one.trace().filter(|trace| !trace.converged) {
        let probes = trace.products;
        say(format!("the trace on {place} did not converge in {probes} probes; raise --probes"));
    }
    if one.density.as_ref().is_some_and(|density| !density.converged) {
        say(format!("the density on {place} did not converge; --json has its errors"));
    }
}
