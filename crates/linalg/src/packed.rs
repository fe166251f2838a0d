//! A matrix in the order in which a product reads it.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// A matrix of depth × columns, packed for this machine's registers.
pub struct Packed {
    pub(crate) depth: usize,
    pub(crate) columns: usize,
    /// Columns of a panel.
    pub(crate) panel: usize,
    /// Panel by panel, depth × panel each; zeros where the last one has no columns.
    pub(crate) values: Vec<f32>,
}

struct PanelWidth;

impl WithSimd for PanelWidth {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        2 * S::F32_LANES
    }
}

impl Packed {
    /// An empty one, to be filled.
    pub fn empty(arch: Arch) -> Self {
        Self { depth: 0, columns: 0, panel: arch.dispatch(PanelWidth), values: Vec::new() }
    }

    /// From the rows of the transposed matrix, `depth` numbers each, rounded to single precision.
    /// All cores pack.
    pub fn of_transposed(arch: Arch, rows: &[f64], depth: usize) -> Self {
        let mut packed = Self::empty(arch);
        let panel = packed.panel;
        packed.clear(depth, rows.len() / depth);
        let panels = packed.values.par_chunks_exact_mut(panel * depth);
        panels.zip(rows.par_chunks(panel * depth)).for_each(|(values, rows)| {
            for (lane, row) in rows.chunks_exact(depth).enumerate() {
                let to = values.chunks_exact_mut(panel);
                row.iter().zip(to).for_each(|(&value, to)| to[lane] = value as f32);
            }
        });
        packed
    }

    /// From rows of the transposed matrix, as PyTorch stores a linear layer: `weights` has
    /// `columns` rows of `depth`, the first at its start, the others `stride` apart.
    pub fn fill_transposed(
        &mut self,
        weights: &[f32],
        stride: usize,
        depth: usize,
        columns: usize,
    ) {
        self.clear(depth, columns);
        for (column, row) in weights.chunks(stride).take(columns).enumerate() {
            let (at, lane) = (column / self.panel * depth, column % self.panel);
            let to = self.values[at * self.panel..].chunks_exact_mut(self.panel);
            row[..depth].iter().zip(to).for_each(|(&value, to)| to[lane] = value);
        }
    }

    /// From rows as they are: `depth` rows of `columns`, `stride` apart.
    pub fn fill(&mut self, rows: &[f32], stride: usize, depth: usize, columns: usize) {
        self.clear(depth, columns);
        let panel = self.panel;
        for (k, row) in rows.chunks(stride).take(depth).enumerate() {
            for (p, part) in row[..columns].chunks(panel).enumerate() {
                self.values[(p * depth + k) * panel..][..part.len()].copy_from_slice(part);
            }
        }
    }

    fn clear(&mut self, depth: usize, columns: usize) {
        (self.depth, self.columns) = (depth, columns);
        self.values.clear();
        self.values.resize(columns.div_ceil(self.panel) * self.panel * depth, 0.0);
    }

    /// How many numbers are multiplied and added for an element of a product.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Columns of a panel: a product of some columns begins at a multiple of this.
    pub fn panel(&self) -> usize {
        self.panel
    }

    /// Numbers that a bias needs to be added panel by panel.
    pub fn padded(&self) -> usize {
        self.columns.next_multiple_of(self.panel)
    }
}
