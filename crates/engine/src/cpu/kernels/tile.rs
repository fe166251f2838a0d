//! The two inner loops that almost all arithmetic happens in.
//!
//! Both keep a tile of R rows × two registers of columns in registers and stream over a third
//! dimension; both find their rows by offsets, so that a convolution needs no copy of its input:
//!
//! * [`gather`]: out\[p\]\[j\] = Σ_t Σ_k in\[p + t\]\[k\] · w\[t\]\[k\]\[j\]. A convolution forward (p: output
//!   pixels, t: taps, k: input channels), its gradient in the input (with the weights transposed),
//!   and a product with a weight matrix (p: examples, one tap).
//! * [`outer`]: out\[t\]\[k\]\[j\] += Σ_p in\[p + t\]\[k\] · dy\[p\]\[j\]. The gradient in the weights.
//!
//! Every element of the output is one chain of fused multiply–adds in an order that depends on
//! shapes alone: not on the number of threads, nor on the width of the machine's registers.

#![allow(unsafe_code)]

use pulp::{Simd, WithSimd};

use crate::cpu::team::Team;
use crate::scalar::Real;

/// Where rows lie: `positions` in each of `count` examples that are `stride` apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) positions: &'a [u32],
    pub(crate) stride: usize,
    pub(crate) count: usize,
}

impl Rows<'_> {
    fn len(&self) -> usize {
        self.positions.len() * self.count
    }

    /// The offsets of R rows from `at` on (rows of the first example first).
    #[inline(always)]
    fn offsets<const R: usize>(&self, at: usize) -> [usize; R] {
        // One division at most: a tile is short, and a division takes as long as a step of it.
        let each = self.positions.len();
        let (mut example, mut place) = match self.count {
            1 => (0, at),
            _ => (at / each, at % each),
        };
        std::array::from_fn(|_| {
            let offset = example * self.stride + self.positions[place] as usize;
            place += 1;
            if place == each {
                (example, place) = (example + 1, 0);
            }
            offset
        })
    }

    /// The smallest and largest offset; `None` without rows.
    fn bounds(&self) -> Option<(usize, usize)> {
        let low = self.positions.iter().min()?;
        let high = self.positions.iter().max()?;
        let last = self.count.checked_sub(1)? * self.stride;
        Some((*low as usize, *high as usize + last))
    }
}

/// A step from a row to the row it is multiplied with, and where the weights for it start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tap {
    pub(crate) shift: isize,
    pub(crate) weights: usize,
}

/// Pixels of a block in [`outer`]: enough that loading and storing a tile is small beside it, few
/// enough that the rows of a block stay in the second-level cache.
const BLOCK: usize = 512;

/// A pointer that may cross threads: the tasks that use it write to different elements.
#[derive(Clone, Copy)]
pub(super) struct Shared<F>(pub(super) *mut F);
// SAFETY: see `Shared`; each use says why its elements are disjoint.
unsafe impl<F> Send for Shared<F> {}
// SAFETY: as above.
unsafe impl<F> Sync for Shared<F> {}
impl<F> Shared<F> {
    pub(super) fn get(self) -> *mut F {
        self.0
    }
}

pub(crate) struct Gather<'a, F> {
    pub(crate) input: &'a [F],
    pub(crate) from: Rows<'a>,
    pub(crate) taps: &'a [Tap],
    pub(crate) depth: usize,
    pub(crate) weights: &'a [F],
    pub(crate) columns: usize,
    pub(crate) to: Rows<'a>,
    pub(crate) accumulate: bool,
}

/// Panics where a row would lie outside: a defect of the caller, never of the data.
fn within(name: &str, rows: Rows<'_>, shifts: (isize, isize), width: usize, len: usize) {
    if let Some((low, high)) = rows.bounds() {
        let start = low as isize + shifts.0;
        let end = high as isize + shifts.1 + width as isize;
        assert!(start >= 0 && end as usize <= len, "{name} rows {start}..{end} of {len}");
    }
}

fn shifts(taps: &[Tap]) -> (isize, isize) {
    let low = taps.iter().map(|tap| tap.shift).min().unwrap_or(0);
    (low, taps.iter().map(|tap| tap.shift).max().unwrap_or(0))
}

impl<F> Gather<'_, F> {
    fn check(&self, output: usize) {
        assert_eq!(self.from.len(), self.to.len(), "as many rows out as in");
        within("input", self.from, shifts(self.taps), self.depth, self.input.len());
        within("output", self.to, (0, 0), self.columns, output);
        let last = self.taps.iter().map(|tap| tap.weights + self.depth * self.columns).max();
        assert!(last.unwrap_or(0) <= self.weights.len(), "weights");
    }
}

/// [`gather`] on the thread that calls it.
pub(super) fn gather_here<F: Real>(team: &Team, g: &Gather<'_, F>, output: &mut [F]) {
    g.check(output.len());
    let (rows, columns) = (0..g.to.len(), 0..g.columns);
    team.arch.dispatch(GatherPart { g, out: output.as_mut_ptr(), rows, columns });
}

/// out\[p\]\[j\] (+)= Σ_t Σ_k in\[p + t\]\[k\] · w\[t\]\[k\]\[j\].
pub(crate) fn gather<F: Real>(team: &Team, g: &Gather<'_, F>, output: &mut [F]) {
    if g.taps.is_empty() && g.accumulate {
        return;
    }
    g.check(output.len());
    let out = Shared(output.as_mut_ptr());
    let rows = g.to.len();
    let work = 2 * rows * g.columns * g.depth * g.taps.len().max(1);
    let tasks = team.tasks(work);
    // Cut where there is most to cut: rows of a convolution, columns of a small batch.
    if rows >= 16 * tasks {
        let share = rows.div_ceil(tasks).next_multiple_of(8);
        team.run(tasks, |task| {
            let rows = (task * share).min(rows)..((task + 1) * share).min(rows);
            // SAFETY: tasks have disjoint rows of the output; bounds were checked above.
            team.arch.dispatch(GatherPart { g, out: out.get(), rows, columns: 0..g.columns });
        });
    } else {
        let share = g.columns.div_ceil(tasks).next_multiple_of(64);
        team.run(tasks, |task| {
            let columns = (task * share).min(g.columns)..((task + 1) * share).min(g.columns);
            // SAFETY: tasks have disjoint columns of the output; bounds were checked above.
            team.arch.dispatch(GatherPart { g, out: out.get(), rows: 0..rows, columns });
        });
    }
}

struct GatherPart<'a, F> {
    g: &'a Gather<'a, F>,
    out: *mut F,
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
}

impl<F: Real> WithSimd for GatherPart<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = F::lanes::<S>();
        let mut column = self.columns.start;
        while column + 2 * lanes <= self.columns.end {
            self.panel::<S, 2, true>(simd, column, lanes);
            column += 2 * lanes;
        }
        while column < self.columns.end {
            let width = lanes.min(self.columns.end - column);
            match width == lanes {
                true => self.panel::<S, 1, true>(simd, column, width),
                false => self.panel::<S, 1, false>(simd, column, width),
            }
            column += width;
        }
    }
}

impl<F: Real> GatherPart<'_, F> {
    /// All rows of one panel of columns; `width` < lanes only in the last, of one register.
    #[inline(always)]
    fn panel<S: Simd, const V: usize, const WHOLE: bool>(
        &self,
        simd: S,
        column: usize,
        width: usize,
    ) {
        let mut row = self.rows.start;
        // Sixteen registers hold 4×2 accumulators, thirty-two 8×2.
        if S::REGISTER_COUNT >= 32 {
            while row + 8 <= self.rows.end {
                self.tile::<S, 8, V, WHOLE>(simd, row, column, width);
                row += 8;
            }
        }
        while row + 4 <= self.rows.end {
            self.tile::<S, 4, V, WHOLE>(simd, row, column, width);
            row += 4;
        }
        while row < self.rows.end {
            self.tile::<S, 1, V, WHOLE>(simd, row, column, width);
            row += 1;
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const R: usize, const V: usize, const WHOLE: bool>(
        &self,
        simd: S,
        row: usize,
        column: usize,
        width: usize,
    ) {
        let g = self.g;
        let zero = F::splat(simd, F::ZERO);
        let mut sums = [[zero; V]; R];
        let from: [usize; R] = g.from.offsets(row);
        let to: [usize; R] = g.to.offsets(row);
        for tap in g.taps {
            // SAFETY: `gather` checked that every row plus every shift, `depth` long, is inside.
            let rows: [*const F; R] = std::array::from_fn(|r| unsafe {
                g.input.as_ptr().offset(from[r] as isize + tap.shift)
            });
            // SAFETY: `gather` checked depth·columns numbers from here.
            let mut weights = unsafe { g.weights.as_ptr().add(tap.weights + column) };
            for k in 0..g.depth {
                let mut b = [zero; V];
                for (v, b) in b.iter_mut().enumerate() {
                    // SAFETY: as above; a part of a register is read as such.
                    *b = unsafe { load::<F, S, WHOLE>(simd, weights, v, width) };
                }
                for r in 0..R {
                    // SAFETY: k < depth.
                    let a = F::splat(simd, unsafe { *rows[r].add(k) });
                    for v in 0..V {
                        sums[r][v] = F::mul_add(simd, a, b[v], sums[r][v]);
                    }
                }
                // Past the end at most once, and not read there.
                weights = weights.wrapping_add(g.columns);
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            // SAFETY: `gather` checked the output's rows; tasks do not share elements.
            unsafe {
                let out = self.out.add(to[r] + column);
                for (v, &sum) in sums.iter().enumerate() {
                    let mut sum = sum;
                    if g.accumulate {
                        sum = F::plus(simd, load::<F, S, WHOLE>(simd, out, v, width), sum);
                    }
                    store::<F, S, WHOLE>(simd, out, v, width, sum);
                }
            }
        }
    }
}

/// The register at `from` + v registers; only `width` numbers of it unless `WHOLE`.
///
/// # Safety
/// Those numbers can be read.
#[inline(always)]
unsafe fn load<F: Real, S: Simd, const WHOLE: bool>(
    simd: S,
    from: *const F,
    v: usize,
    width: usize,
) -> F::Vector<S> {
    // SAFETY: by the caller.
    unsafe {
        if WHOLE {
            from.cast::<F::Vector<S>>().add(v).read_unaligned()
        } else {
            F::partial_load(simd, std::slice::from_raw_parts(from, width))
        }
    }
}

/// # Safety
/// Those numbers can be written, and no other task reads or writes them.
#[inline(always)]
unsafe fn store<F: Real, S: Simd, const WHOLE: bool>(
    simd: S,
    to: *mut F,
    v: usize,
    width: usize,
    value: F::Vector<S>,
) {
    // SAFETY: by the caller.
    unsafe {
        if WHOLE {
            to.cast::<F::Vector<S>>().add(v).write_unaligned(value);
        } else {
            F::partial_store(simd, std::slice::from_raw_parts_mut(to, width), value);
        }
    }
}

pub(crate) struct Outer<'a, F> {
    pub(crate) input: &'a [F],
    pub(crate) from: Rows<'a>,
    pub(crate) taps: &'a [Tap],
    pub(crate) depth: usize,
    pub(crate) gradient: &'a [F],
    pub(crate) at: Rows<'a>,
    pub(crate) columns: usize,
}

impl<F> Outer<'_, F> {
    /// How many rows are summed over.
    pub(crate) fn examples(&self) -> usize {
        self.at.len()
    }

    fn check(&self, output: usize) {
        assert_eq!(self.from.len(), self.at.len(), "as many rows of gradients as of inputs");
        within("input", self.from, shifts(self.taps), self.depth, self.input.len());
        within("gradient", self.at, (0, 0), self.columns, self.gradient.len());
        let weights = self.taps.iter().map(|tap| tap.weights).max().unwrap_or(0);
        assert!(self.taps.is_empty() || weights + self.depth * self.columns <= output, "weights");
    }
}

/// Some rows of the only tap, on the thread that calls it: out\[k − first\]\[j\] (+)= Σ_p in\[p\]\[k\] · dy\[p\]\[j\] for k in `rows`.
pub(crate) fn outer_rows<F: Real>(
    team: &Team,
    o: &Outer<'_, F>,
    rows: std::ops::Range<usize>,
    add: bool,
    output: &mut [F],
) {
    o.check(o.depth * o.columns);
    assert!(o.taps.len() == 1 && rows.end <= o.depth, "rows of one tap");
    assert_eq!(output.len(), rows.len() * o.columns, "as many rows");
    // The part counts rows from the first of all; it never leaves those that are here.
    let out = output.as_mut_ptr().wrapping_sub(rows.start * o.columns + o.taps[0].weights);
    team.arch.dispatch(OuterPart { o, out, rows, add });
}

/// out\[t\]\[k\]\[j\] += Σ_p in\[p + t\]\[k\] · dy\[p\]\[j\].
pub(crate) fn outer<F: Real>(team: &Team, o: &Outer<'_, F>, output: &mut [F]) {
    o.check(output.len());
    let out = Shared(output.as_mut_ptr());
    let tasks = team.tasks(2 * o.at.len() * o.columns * o.depth * o.taps.len());
    // Rows of the weight matrix, in stretches of eight: every element belongs to one task.
    let share = o.depth.div_ceil(tasks).next_multiple_of(8);
    team.run(tasks, |task| {
        let rows = (task * share).min(o.depth)..((task + 1) * share).min(o.depth);
        // SAFETY: tasks have disjoint rows of the output; bounds were checked above.
        team.arch.dispatch(OuterPart { o, out: out.get(), rows, add: true });
    });
}

struct OuterPart<'a, F> {
    o: &'a Outer<'a, F>,
    out: *mut F,
    rows: std::ops::Range<usize>,
    /// Whether the first block adds to what is there; the others always do.
    add: bool,
}

impl<F: Real> WithSimd for OuterPart<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = F::lanes::<S>();
        let examples = BLOCK.div_ceil(self.o.from.positions.len().max(1));
        let mut example = 0;
        while example < self.o.from.count {
            let block = example..(example + examples).min(self.o.from.count);
            let mut column = 0;
            while column + 2 * lanes <= self.o.columns {
                self.panel::<S, 2, true>(simd, block.clone(), column, lanes);
                column += 2 * lanes;
            }
            while column < self.o.columns {
                let width = lanes.min(self.o.columns - column);
                match width == lanes {
                    true => self.panel::<S, 1, true>(simd, block.clone(), column, width),
                    false => self.panel::<S, 1, false>(simd, block.clone(), column, width),
                }
                column += width;
            }
            example = block.end;
        }
    }
}

impl<F: Real> OuterPart<'_, F> {
    #[inline(always)]
    fn panel<S: Simd, const V: usize, const WHOLE: bool>(
        &self,
        simd: S,
        examples: std::ops::Range<usize>,
        column: usize,
        width: usize,
    ) {
        let mut row = self.rows.start;
        if S::REGISTER_COUNT >= 32 {
            while row + 8 <= self.rows.end {
                self.taps::<S, 8, V, WHOLE>(simd, examples.clone(), row, column, width);
                row += 8;
            }
        }
        while row + 4 <= self.rows.end {
            self.taps::<S, 4, V, WHOLE>(simd, examples.clone(), row, column, width);
            row += 4;
        }
        while row < self.rows.end {
            self.taps::<S, 1, V, WHOLE>(simd, examples.clone(), row, column, width);
            row += 1;
        }
    }

    #[inline(always)]
    fn taps<S: Simd, const R: usize, const V: usize, const WHOLE: bool>(
        &self,
        simd: S,
        examples: std::ops::Range<usize>,
        row: usize,
        column: usize,
        width: usize,
    ) {
        for tap in self.o.taps {
            self.tile::<S, R, V, WHOLE>(simd, examples.clone(), tap, row, column, width);
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const R: usize, const V: usize, const WHOLE: bool>(
        &self,
        simd: S,
        examples: std::ops::Range<usize>,
        tap: &Tap,
        row: usize,
        column: usize,
        width: usize,
    ) {
        let o = self.o;
        let add = self.add || examples.start > 0;
        let zero = F::splat(simd, F::ZERO);
        let mut sums = [[zero; V]; R];
        for example in examples {
            let input = (example * o.from.stride + row) as isize + tap.shift;
            let gradient = example * o.at.stride + column;
            for (&from, &at) in o.from.positions.iter().zip(o.at.positions) {
                // SAFETY: `outer` checked that every row with every shift is inside.
                unsafe {
                    let input = o.input.as_ptr().offset(input + from as isize);
                    let gradient = o.gradient.as_ptr().add(gradient + at as usize);
                    let mut b = [zero; V];
                    for (v, b) in b.iter_mut().enumerate() {
                        *b = load::<F, S, WHOLE>(simd, gradient, v, width);
                    }
                    for (r, sums) in sums.iter_mut().enumerate() {
                        let a = F::splat(simd, *input.add(r));
                        for v in 0..V {
                            sums[v] = F::mul_add(simd, a, b[v], sums[v]);
                        }
                    }
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            // SAFETY: `outer` checked the output; rows of the weights belong to one task.
            unsafe {
                let at = tap.weights + (row + r) * o.columns + column;
                let out = self.out.wrapping_add(at);
                for (v, &sum) in sums.iter().enumerate() {
                    let mut sum = sum;
                    if add {
                        sum = F::plus(simd, load::<F, S, WHOLE>(simd, out, v, width), sum);
                    }
                    store::<F, S, WHOLE>(simd, out, v, width, sum);
                }
            }
        }
    }
}
