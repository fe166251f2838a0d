//! The trace as a mean over random signs: E[vᵀHv] = tr H for v of independent ±1 (Hutchinson, 1990).
//!
//! The products of one set of probes serve more than that. vᵀHv is a sum over blocks of the
//! parameters, and v_b·(Hv)_b has the trace of the block b of H as its mean; E‖Hv‖² is ‖H‖²_F. Each
//! has a standard error from the spread between probes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Estimate, Operator, PROBE, not_empty, product, rademacher, tolerance};
use crate::GeometryError;
use crate::error::finite;
use crate::vectors::{PRODUCTS, dot};

/// A part of the parameters under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    pub name: String,
    /// Its stretches of the flat vector.
    pub ranges: Vec<Range<usize>>,
}

impl Block {
    /// How many parameters.
    pub fn len(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).sum()
    }

    /// True without parameters.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How to probe.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TraceSettings {
    /// The seed of the probes.
    pub seed: u64,
    /// Stops when the standard error is at most this share of the trace.
    pub tolerance: f64,
    /// Probes at least: a spread between few is itself uncertain, and may be small by chance.
    pub least: usize,
    /// Probes at most, one product each.
    pub most: usize,
}

impl Default for TraceSettings {
    fn default() -> Self {
        Self { seed: 0, tolerance: 0.02, least: 10, most: 100 }
    }
}

impl TraceSettings {
    pub(super) fn check(&self) -> Result<f64, GeometryError> {
        if self.least < 2 || self.most < self.least {
            let value = format!("{} to {}", self.least, self.most);
            return Err(GeometryError::setting("probes", value, "at least 2, and least ≤ most"));
        }
        tolerance(self.tolerance)
    }
}

/// The trace of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockTrace {
    pub name: String,
    /// How many parameters it has.
    pub parameters: usize,
    pub trace: Estimate,
}

/// What one set of probes says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traces {
    /// How it was probed.
    pub settings: TraceSettings,
    pub trace: Estimate,
    /// The sum of squares of all of H's numbers, which is that of its eigenvalues.
    pub squares: Estimate,
    /// The traces of the blocks, which add up to the trace where they cover all parameters.
    pub blocks: Vec<BlockTrace>,
    /// vᵀHv, by probe.
    pub samples: Vec<f64>,
}

/// The trace, those of blocks, and the sum of squares.
pub fn hutchinson<O: Operator + ?Sized>(
    operator: &mut O,
    blocks: &[Block],
    settings: &TraceSettings,
) -> Result<Traces, GeometryError> {
    not_empty(operator)?;
    let within = settings.check()?;
    let length = operator.len();
    let outside = |block: &&Block| block.ranges.iter().any(|r| r.end > length || r.start > r.end);
    if let Some(block) = blocks.iter().find(outside) {
        let (name, ranges) = (&block.name, &block.ranges);
        let text = format!("block `{name}` has the ranges {ranges:?} of {length} parameters");
        return Err(GeometryError::Data(text));
    }
    let (mut samples, mut squares) = (Vec::new(), Vec::new());
    let mut shares = vec![Vec::new(); blocks.len()];
    let trace = loop {
        let v = rademacher::<O::Number>(settings.seed, PROBE, samples.len() as u64, length);
        let w = product(operator, &v)?;
        samples.push(finite(|| format!("vᵀHv of probe {}", samples.len()), dot(&v, &w), PRODUCTS)?);
        squares.push(dot(&w, &w));
        for (shares, block) in shares.iter_mut().zip(blocks) {
            let own = |range: &Range<usize>| dot(&v[range.clone()], &w[range.clone()]);
            shares.push(block.ranges.iter().map(own).sum());
        }
        let trace = Estimate::mean(&samples, 0.0, samples.len(), within);
        if samples.len() >= settings.most || (samples.len() >= settings.least && trace.converged) {
            break trace;
        }
    };
    let products = samples.len();
    let block = |(block, shares): (&Block, &Vec<f64>)| BlockTrace {
        name: block.name.clone(),
        parameters: block.len(),
        trace: Estimate::mean(shares, 0.0, products, within),
    };
    Ok(Traces {
        settings: *settings,
        trace,
        squares: Estimate::mean(&squares, 0.0, products, within),
        blocks: blocks.iter().zip(&shares).map(block).collect(),
        samples,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::curvature::dense::Dense;

    fn block(name: &str, ranges: &[(usize, usize)]) -> Block {
        Block { name: name.into(), ranges: ranges.iter().map(|&(from, to)| from..to).collect() }
    }

    /// On a diagonal matrix every probe gives the trace itself, whole and by block.
    #[test]
    fn a_diagonal_is_exact() {
        let mut matrix = Dense::diagonal(&[0.0, 1.0, 2.0, 3.0, 4.0]);
        let blocks =
            [block("ends", &[(0, 1), (4, 5)]), block("middle", &[(1, 4)]), block("none", &[])];
        let found = hutchinson(&mut matrix, &blocks, &TraceSettings::default()).unwrap();
        assert_eq!((found.trace.value, found.trace.error), (10.0, Some(0.0)));
        assert!(found.trace.converged && found.trace.products == 10);
        assert_eq!(found.squares.value, 30.0);
        let parts: Vec<(f64, usize)> =
            found.blocks.iter().map(|b| (b.trace.value, b.parameters)).collect();
        assert_eq!(parts, [(4.0, 2), (6.0, 3), (0.0, 0)]);
    }

    #[test]
    fn it_stops_at_its_tolerance_or_says_that_it_did_not() {
        // All ones: vᵀHv = (Σv)² has mean n and a standard deviation of about n√2.
        let mut ones = Dense::new(64, vec![1.0; 64 * 64]);
        let settings = TraceSettings { tolerance: 0.1, most: 2000, ..Default::default() };
        let found = hutchinson(&mut ones, &[], &settings).unwrap();
        assert!(found.trace.converged && found.trace.error.unwrap() <= 0.1 * found.trace.value);
        assert!((100..400).contains(&found.samples.len()), "{}", found.samples.len());
        assert!((found.trace.value - 64.0).abs() < 4.0 * found.trace.error.unwrap());
        let few = TraceSettings { most: 20, ..settings };
        let found = hutchinson(&mut ones, &[], &few).unwrap();
        assert!(!found.trace.converged && found.trace.products == 20);
    }

    #[test]
    fn nonsense_is_refused() {
        let mut one = Dense::new(1, vec![1.0]);
        let error =
            hutchinson(&mut one, &[block("b", &[(0, 2)])], &TraceSettings::default()).unwrap_err();
        assert!(error.to_string().contains("block `b`"), "{error}");
        for (least, most) in [(1, 5), (5, 4)] {
            let settings = TraceSettings { least, most, ..Default::default() };
            assert!(hutchinson(&mut one, &[], &settings).is_err());
        }
    }
}
