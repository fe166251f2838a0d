//! `dissensus geometry`

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use dissensus::examine::{
    Curvature, CurvatureSettings, Model, Slice, Variance, VarianceSettings, curvature, variance,
};
use dissensus::geometry::curvature::{
    DensitySettings, LanczosSettings, PowerSettings, TraceSettings,
};
use dissensus::geometry::model::Grouping;
use serde::Serialize;

use crate::evaluation::number;
use crate::examining::{Models, Terminal, estimated, short, significant};
use crate::ui::table::{Cell, Form, Print as _, Table};
use crate::ui::{self, files, paint, text};

/// Estimate the curvature of the loss at the weights of runs: λ_max and trace of the Hessian.
///
/// The loss is the soft NLL against the votes, over a part of each run's split; batch statistics are
/// frozen. Products with the Hessian are exact. λ_max, the largest eigenvalue, is estimated by power
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
    slices: Vec<String>,
    /// The part of the split [default: the reported part, the last]
    #[arg(long, value_name = "PART")]
    part: Option<String>,
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
    /// Also correlate the variance of the last layer's gradient under label sampling with entropy
    #[arg(long)]
    variance: bool,
    /// Maximum probes of the trace; fewer are used if its error is small enough
    #[arg(long, value_name = "N", default_value_t = 100)]
    probes: usize,
    /// Relative tolerance of an eigenvalue
    #[arg(long, value_name = "SHARE", default_value_t = 1e-3)]
    tolerance: f64,
    /// Relative standard error at which the trace has converged
    #[arg(long, value_name = "SHARE", default_value_t = 0.02)]
    trace_tolerance: f64,
    /// Maximum Hessian products per eigenvalue search
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_products: usize,
    /// The random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    models: Models,
    /// Print all results as JSON
    #[arg(long, group = "form")]
    json: bool,
    /// Print as CSV
    #[arg(long, group = "form")]
    csv: bool,
    /// Print as a Markdown table
    #[arg(long, group = "form")]
    markdown: bool,
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

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let slices: Vec<Slice> =
        args.slices.iter().map(|slice| Ok(slice.parse()?)).collect::<anyhow::Result<_>>()?;
    let infos = args.models.find(&args.runs)?;
    let mut opened = args.models.open()?;
    let (mut labels, mut found, mut variances) = (Vec::new(), Vec::new(), Vec::new());
    for info in &infos {
        let mut model: Model = opened.model(info)?;
        let name = short(model.id());
        for &slice in &slices {
            let settings = args.settings(slice);
            let bars = Terminal::named(&format!("{name}, {slice}"));
            labels.push(model.label());
            found.push(curvature(&mut model, &settings, &bars.observer())?);
        }
        if args.variance {
            let settings = VarianceSettings { part: args.part.clone(), ..Default::default() };
            variances.push(variance(&mut model, &settings, &Terminal::named(&name).observer())?);
        }
    }
    if let Some(path) = &args.density {
        let csv = dissensus::densities_csv(&found);
        files::replace(path, |out| out.write_all(csv.as_bytes()))?;
        ui::err(&format!("wrote {}\n", path.display()));
    }
    if args.json {
        opened.print(&Report { curvatures: &found, variances: &variances })?;
        return Ok(ExitCode::SUCCESS);
    }
    let form = Form::asked(args.csv, args.markdown, false);
    if form == Form::Csv {
        ui::out(&plain(&labels, &found).print(form))?;
    } else {
        ui::out(&table(&labels, &found).print(form))?;
        for page in [eigenvalues(&found), blocks(&found), varying(&variances)].into_iter().flatten()
        {
            ui::out(&format!("\n{}", page.print(form)))?;
        }
    }
    for one in &found {
        doubts(one);
    }
    Ok(ExitCode::SUCCESS)
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
            part: self.part.clone(),
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

fn table(labels: &[String], found: &[Curvature]) -> Table {
    let row = |(label, one): (&String, &Curvature)| {
        let items = text::thousands(one.items as u64);
        let cells = [
            short(&one.run),
            label.clone(),
            one.settings.slice.to_string(),
            items,
            number(Some(one.loss)),
            estimated(one.lambda_max()),
            estimated(one.trace()),
            one.products.to_string(),
        ];
        cells.map(Cell::new).to_vec()
    };
    let columns = ["run", "what", "slice", "items", "soft_nll", "λ_max", "trace", "products"];
    Table::new(columns.map(str::to_owned).to_vec(), 3, labels.iter().zip(found).map(row).collect())
}

/// The same with one number per cell.
fn plain(labels: &[String], found: &[Curvature]) -> Table {
    let columns = [
        "run",
        "what",
        "part",
        "slice",
        "items",
        "soft_nll",
        "gradient_norm",
        "lambda_max",
        "lambda_max_error",
        "lambda_max_converged",
        "lambda_min",
        "lambda_min_error",
        "trace",
        "trace_error",
        "trace_converged",
        "products",
    ];
    let row = |(label, one): (&String, &Curvature)| {
        let exact = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
        let (top, low, trace) = (one.lambda_max(), one.lambda_min(), one.trace());
        let said = |converged: Option<bool>| converged.map_or(String::new(), |c| c.to_string());
        let cells = [
            one.run.clone(),
            label.clone(),
            one.part.clone(),
            one.settings.slice.to_string(),
            one.items.to_string(),
            one.loss.to_string(),
            one.gradient_norm.to_string(),
            exact(top.map(|e| e.value)),
            exact(top.and_then(|e| e.error)),
            said(top.map(|e| e.converged)),
            exact(low.map(|e| e.value)),
            exact(low.and_then(|e| e.error)),
            exact(trace.map(|e| e.value)),
            exact(trace.and_then(|e| e.error)),
            said(trace.map(|e| e.converged)),
            one.products.to_string(),
        ];
        cells.map(Cell::new).to_vec()
    };
    Table::new(columns.map(str::to_owned).to_vec(), 4, labels.iter().zip(found).map(row).collect())
}

/// The eigenvalues that Lanczos found.
fn eigenvalues(found: &[Curvature]) -> Option<Table> {
    let mut rows = Vec::new();
    for one in found {
        let Some(extremes) = &one.extremes else { continue };
        let top = extremes.largest.iter().enumerate().map(|(at, e)| (format!("λ{}", at + 1), e));
        let low = extremes.smallest.iter().enumerate().map(|(at, e)| (format!("λ−{}", at + 1), e));
        for (name, estimate) in top.chain(low) {
            let slice = one.settings.slice.to_string();
            let cells = [short(&one.run), slice, name, estimated(Some(*estimate))];
            rows.push(cells.map(Cell::new).to_vec());
        }
    }
    let columns = ["run", "slice", "eigenvalue", "by Lanczos"].map(str::to_owned).to_vec();
    (!rows.is_empty()).then_some(Table::new(columns, 3, rows))
}

fn blocks(found: &[Curvature]) -> Option<Table> {
    let mut rows = Vec::new();
    for one in found {
        let Some(traces) = &one.traces else { continue };
        for block in &traces.blocks {
            let share = block.trace.value / traces.trace.value;
            let cells = [
                short(&one.run),
                one.settings.slice.to_string(),
                block.name.clone(),
                text::thousands(block.parameters as u64),
                estimated(Some(block.trace)),
                format!("{:.1} %", 100.0 * share),
            ];
            rows.push(cells.map(Cell::new).to_vec());
        }
    }
    let columns = ["run", "slice", "block", "parameters", "trace", "share"];
    let columns = columns.map(str::to_owned).to_vec();
    (!rows.is_empty()).then_some(Table::new(columns, 3, rows))
}

fn varying(found: &[Variance]) -> Option<Table> {
    let row = |one: &Variance| {
        let cells = [
            short(&one.run),
            text::thousands(one.items.len() as u64),
            significant(one.mean),
            number(one.correlation.r),
        ];
        cells.map(Cell::new).to_vec()
    };
    let columns = ["run", "items", "gradient variance", "Spearman with entropy"];
    let columns = columns.map(str::to_owned).to_vec();
    (!found.is_empty()).then(|| Table::new(columns, 1, found.iter().map(row).collect()))
}

/// Prints which estimates did not converge, and what to do.
fn doubts(one: &Curvature) {
    let place = format!("{} of {}", one.settings.slice, short(&one.run));
    let say = |text: String| ui::err(&format!("{} {text}\n", paint::warn("note:")));
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
