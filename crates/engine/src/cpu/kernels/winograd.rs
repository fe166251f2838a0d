//! 3×3 convolutions of stride 1 with 16 multiplications for four outputs instead of 36.
//!
//! Winograd's F(2×2, 3×3) (Lavin and Gray, 2016): an output tile of 2×2 pixels comes from 4×4 input
//! pixels d and a kernel g by Y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A, with
//!
//! ```text
//!      1  0 −1  0         1   0   0        1  0
//! Bᵀ = 0  1  1  0    G =  ½   ½   ½    A = 1  1
//!      0 −1  1  0         ½  −½   ½        1 −1
//!      0  1  0 −1         0   0   1        0 −1
//! ```
//!
//! Over all channels, each of the 16 places ξ of the product is a matrix product M_ξ = V_ξ·U_ξ
//! (tiles × in · in × out), which [`tile::gather`](super::tile) does. The gradient in the input is
//! the same with the kernel turned by half a turn. The gradient in the weights is the transpose of
//! the algorithm: dU_ξ = V_ξᵀ·dM_ξ with dM = A dY Aᵀ, and dW = Gᵀ dU G.
//!
//! Sums keep an order that shapes fix, as in [`tile`](super::tile). In f32 the result is about as far
//! from the exact one as two or three roundings more would make it.

#![allow(unsafe_code)]

use std::sync::Mutex;

use pulp::{Simd, WithSimd};

use crate::cpu::frame::Frame;
use crate::cpu::team::Team;
use crate::scalar::Real;

use super::Into;
use super::tile::{Gather, Outer, Rows, Shared, Tap, gather_here, outer_rows};

/// Places of a transformed tile.
const PLACES: usize = 16;
/// Tiles that are transformed together.
const BLOCK: usize = 64;
/// Channels come in multiples of this, which every machine's registers divide.
const CHANNELS: usize = 16;

/// Memory that passes use again and again.
#[derive(Default)]
pub(crate) struct Scratch<F> {
    /// Weights, turned or transposed.
    weights: Vec<F>,
    /// Weights in the 16 places.
    places: Vec<F>,
    /// Tiles in the 16 places, one for each task that is under way.
    spare: Mutex<Vec<Vec<F>>>,
}

impl<F: Real> Scratch<F> {
    pub(crate) fn new() -> Self {
        Self { weights: Vec::new(), places: Vec::new(), spare: Mutex::new(Vec::new()) }
    }

    /// The weights, and what tiles are transformed with.
    pub(crate) fn tiles(&mut self) -> (&mut Vec<F>, Tiles<'_, F>) {
        (&mut self.weights, (&mut self.places, &self.spare))
    }

    /// Room for at least `len` numbers, of any value.
    pub(crate) fn room(of: &mut Vec<F>, len: usize) -> &mut [F] {
        if of.len() < len {
            of.resize(len, F::ZERO);
        }
        &mut of[..len]
    }

    fn with_spare<R>(
        spare: &Mutex<Vec<Vec<F>>>,
        len: usize,
        work: impl FnOnce(&mut [F]) -> R,
    ) -> R {
        let taken = spare.lock().ok().and_then(|mut spare| spare.pop());
        let mut own = taken.unwrap_or_default();
        let result = work(Self::room(&mut own, len));
        if let Ok(mut spare) = spare.lock() {
            spare.push(own);
        }
        result
    }

    pub(crate) fn len(&self) -> usize {
        let spare = self.spare.lock().map_or(0, |spare| spare.iter().map(Vec::len).sum());
        self.weights.len() + self.places.len() + spare
    }
}

/// Weights in the 16 places, and memory for tiles.
pub(crate) type Tiles<'a, F> = (&'a mut Vec<F>, &'a Mutex<Vec<Vec<F>>>);

/// The tiles of a map.
pub(crate) struct Winograd {
    input: Frame,
    output: Frame,
    /// Where the tiles of an example start in the input (above and left of the first pixel) and
    /// in the output.
    from: Vec<u32>,
    to: Vec<u32>,
}

/// Whether it pays: whole tiles, whole registers, enough channels.
fn suits(frame: Frame, other: usize) -> bool {
    let even = frame.height.is_multiple_of(2) && frame.width.is_multiple_of(2);
    even && [frame.channels, other].iter().all(|c| c.is_multiple_of(CHANNELS) && *c >= 32)
}

const PLAIN: &[Tap] = &[Tap { shift: 0, weights: 0 }];

impl Winograd {
    /// For a 3×3 convolution of stride 1, where it pays.
    pub(crate) fn new(input: Frame, output: Frame) -> Option<Self> {
        if !suits(input, output.channels) {
            return None;
        }
        let tiles = || {
            (0..input.height / 2).flat_map(|y| (0..input.width / 2).map(move |x| (2 * y, 2 * x)))
        };
        let above = |frame: &Frame, (y, x)| frame.at(y, x) - frame.pitch() - frame.channels;
        Some(Self {
            from: tiles().map(|at| above(&input, at) as u32).collect(),
            to: tiles().map(|(y, x)| output.at(y, x) as u32).collect(),
            input,
            output,
        })
    }

    /// The same for the gradient in the input: from outputs to inputs.
    pub(crate) fn turned(&self) -> Option<Self> {
        Self::new(self.output, self.input)
    }

    /// Tiles of the first `count` examples, in blocks.
    fn blocks(&self, count: usize) -> usize {
        (count * self.from.len()).div_ceil(BLOCK)
    }

    /// Where the tiles of a block start: in the input and in the output.
    fn block(&self, number: usize, count: usize) -> impl Iterator<Item = (usize, usize)> {
        let each = self.from.len();
        let end = ((number + 1) * BLOCK).min(count * each);
        (number * BLOCK..end).map(move |tile| {
            let (example, at) = (tile / each, tile % each);
            let from = example * self.input.stride() + self.from[at] as usize;
            (from, example * self.output.stride() + self.to[at] as usize)
        })
    }

    /// y (+)= x∗W. The weights are \[tap\]\[in\]\[out\]; `turn` takes the taps from the last to the first.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn forward<F: Real>(
        &self,
        team: &Team,
        count: usize,
        x: &[F],
        weights: &[F],
        turn: bool,
        scratch: Tiles<'_, F>,
        y: Into<'_, F>,
    ) {
        let (inputs, outputs) = (self.input.channels, self.output.channels);
        assert!(
            x.len() >= count * self.input.stride() && y.out.len() >= count * self.output.stride()
        );
        let (places, spare) = scratch;
        let u = Scratch::room(places, PLACES * inputs * outputs);
        spread_weights(team, weights, inputs, outputs, turn, u);
        let u = &*u;
        let rows: Vec<u32> = (0..BLOCK as u32).map(|tile| tile * inputs as u32).collect();
        let columns: Vec<u32> = (0..BLOCK as u32).map(|tile| tile * outputs as u32).collect();
        let (out, add) = (Shared(y.out.as_mut_ptr()), y.add);
        let blocks = self.blocks(count);
        let work = 2 * PLACES * count * self.from.len() * inputs * outputs;
        let tasks = team.tasks(work).min(blocks).max(1);
        let share = blocks.div_ceil(tasks);
        let size = BLOCK * (inputs + outputs) * PLACES;
        team.run(tasks, |task| {
            Scratch::with_spare(spare, size, |room| {
                let (v, m) = room.split_at_mut(PLACES * BLOCK * inputs);
                for block in task * share..((task + 1) * share).min(blocks) {
                    let tiles: Vec<(usize, usize)> = self.block(block, count).collect();
                    let (pitch, channels) = (self.input.pitch(), inputs);
                    // SAFETY: tiles lie inside of the examples, whose length was checked.
                    team.arch.dispatch(Inward {
                        x: x.as_ptr(),
                        tiles: &tiles,
                        pitch,
                        first: 0,
                        channels,
                        stride: channels,
                        v: &mut *v,
                    });
                    let many = tiles.len();
                    for place in 0..PLACES {
                        let product = Gather {
                            input: &v[place * BLOCK * inputs..],
                            from: Rows { positions: &rows[..many], stride: 0, count: 1 },
                            taps: PLAIN,
                            depth: inputs,
                            weights: &u[place * inputs * outputs..],
                            columns: outputs,
                            to: Rows { positions: &columns[..many], stride: 0, count: 1 },
                            accumulate: false,
                        };
                        gather_here(team, &product, &mut m[place * BLOCK * outputs..]);
                    }
                    // SAFETY: as above; tasks have different tiles, so they write to different
                    // pixels.
                    let (pitch, channels) = (self.output.pitch(), outputs);
                    let y = out.get();
                    team.arch.dispatch(Outward { m: &*m, tiles: &tiles, pitch, channels, add, y });
                }
            });
        });
    }

    /// dW += xᵀ∗dy.
    pub(crate) fn backward_weights<F: Real>(
        &self,
        team: &Team,
        count: usize,
        x: &[F],
        dy: &[F],
        scratch: Tiles<'_, F>,
        dw: &mut [F],
    ) {
        let (inputs, outputs) = (self.input.channels, self.output.channels);
        assert!(x.len() >= count * self.input.stride() && dy.len() >= count * self.output.stride());
        let (places, spare) = scratch;
        let du = Scratch::room(places, PLACES * inputs * outputs);
        du.fill(F::ZERO);
        let columns: Vec<u32> = (0..BLOCK as u32).map(|tile| tile * outputs as u32).collect();
        let blocks = self.blocks(count);
        // Every task has rows (input channels) of its own, and goes through all tiles in order; the
        // transforms of dy are made by each.
        let work = 2 * PLACES * count * self.from.len() * inputs * outputs;
        let tasks = team.tasks(work).min(team.threads()).min(inputs / CHANNELS).max(1);
        let share = inputs.div_ceil(tasks).next_multiple_of(CHANNELS);
        let sum = Shared(du.as_mut_ptr());
        team.run(tasks, |task| {
            let own = (task * share).min(inputs)..((task + 1) * share).min(inputs);
            if own.is_empty() {
                return;
            }
            let rows: Vec<u32> = (0..BLOCK as u32).map(|tile| tile * own.len() as u32).collect();
            let size = BLOCK * (own.len() + outputs) * PLACES;
            Scratch::with_spare(spare, size, |room| {
                let (v, dm) = room.split_at_mut(PLACES * BLOCK * own.len());
                for block in 0..blocks {
                    let tiles: Vec<(usize, usize)> = self.block(block, count).collect();
                    let (pitch, channels) = (self.input.pitch(), own.len());
                    // SAFETY: tiles lie inside of the examples, whose length was checked.
                    team.arch.dispatch(Inward {
                        x: x.as_ptr(),
                        tiles: &tiles,
                        pitch,
                        first: own.start,
                        channels,
                        stride: inputs,
                        v: &mut *v,
                    });
                    let (pitch, channels) = (self.output.pitch(), outputs);
                    let dy = dy.as_ptr();
                    team.arch.dispatch(Spread { dy, tiles: &tiles, pitch, channels, dm: &mut *dm });
                    let many = tiles.len();
                    for place in 0..PLACES {
                        let product = Outer {
                            input: &v[place * BLOCK * own.len()..],
                            from: Rows { positions: &rows[..many], stride: 0, count: 1 },
                            taps: PLAIN,
                            depth: own.len(),
                            gradient: &dm[place * BLOCK * outputs..],
                            at: Rows { positions: &columns[..many], stride: 0, count: 1 },
                            columns: outputs,
                        };
                        // SAFETY: tasks have different rows of every place.
                        let to = unsafe {
                            let at = sum.get().add((place * inputs + own.start) * outputs);
                            std::slice::from_raw_parts_mut(at, own.len() * outputs)
                        };
                        outer_rows(team, &product, 0..own.len(), true, to);
                    }
                }
            });
        });
        gather_weights(team, du, inputs, outputs, dw);
    }
}

/// U = G g Gᵀ for every pair of channels.
fn spread_weights<F: Real>(
    team: &Team,
    weights: &[F],
    inputs: usize,
    outputs: usize,
    turn: bool,
    u: &mut [F],
) {
    let plane = inputs * outputs;
    assert!(
        weights.len() >= 9 * plane && u.len() >= PLACES * plane && plane.is_multiple_of(CHANNELS)
    );
    let out = Shared(u.as_mut_ptr());
    let tasks = team.tasks(20 * plane * 9);
    let share = plane.div_ceil(tasks).next_multiple_of(CHANNELS);
    team.run(tasks, |task| {
        let own = (task * share).min(plane)..((task + 1) * share).min(plane);
        // SAFETY: lengths were checked, and tasks have different stretches of every place.
        team.arch.dispatch(SpreadWeights { w: weights.as_ptr(), own, plane, turn, u: out.get() });
    });
}

/// dW += Gᵀ dU G for every pair of channels.
fn gather_weights<F: Real>(team: &Team, du: &[F], inputs: usize, outputs: usize, dw: &mut [F]) {
    let plane = inputs * outputs;
    assert!(dw.len() >= 9 * plane && du.len() >= PLACES * plane && plane.is_multiple_of(CHANNELS));
    let out = Shared(dw.as_mut_ptr());
    let tasks = team.tasks(20 * plane * 9);
    let share = plane.div_ceil(tasks).next_multiple_of(CHANNELS);
    team.run(tasks, |task| {
        let own = (task * share).min(plane)..((task + 1) * share).min(plane);
        // SAFETY: lengths were checked, and tasks have different stretches of every tap.
        team.arch.dispatch(GatherWeights { du: du.as_ptr(), own, plane, dw: out.get() });
    });
}

/// The register at `from`.
///
/// # Safety
/// A register's worth of numbers can be read there.
#[inline(always)]
unsafe fn load<F: Real, S: Simd>(from: *const F) -> F::Vector<S> {
    // SAFETY: by the caller.
    unsafe { from.cast::<F::Vector<S>>().read_unaligned() }
}

/// # Safety
/// A register's worth of numbers can be written there, and nobody else does.
#[inline(always)]
unsafe fn store<F: Real, S: Simd>(to: *mut F, value: F::Vector<S>) {
    // SAFETY: by the caller.
    unsafe { to.cast::<F::Vector<S>>().write_unaligned(value) }
}

/// Bᵀ on four numbers.
#[inline(always)]
fn inward<F: Real, S: Simd>(s: S, d: [F::Vector<S>; 4]) -> [F::Vector<S>; 4] {
    let [a, b, c, e] = d;
    [F::minus(s, a, c), F::plus(s, b, c), F::minus(s, c, b), F::minus(s, b, e)]
}

/// Aᵀ on four numbers.
#[inline(always)]
fn outward<F: Real, S: Simd>(s: S, m: [F::Vector<S>; 4]) -> [F::Vector<S>; 2] {
    let [a, b, c, e] = m;
    [F::plus(s, F::plus(s, a, b), c), F::minus(s, F::minus(s, b, c), e)]
}

/// A on two numbers.
#[inline(always)]
fn spread<F: Real, S: Simd>(s: S, y: [F::Vector<S>; 2]) -> [F::Vector<S>; 4] {
    let [a, b] = y;
    let none = F::splat(s, F::ZERO);
    [a, F::plus(s, a, b), F::minus(s, a, b), F::minus(s, none, b)]
}

/// G on three numbers.
#[inline(always)]
fn spread_kernel<F: Real, S: Simd>(
    s: S,
    half: F::Vector<S>,
    g: [F::Vector<S>; 3],
) -> [F::Vector<S>; 4] {
    let [a, b, c] = g;
    let sides = F::times(s, half, F::plus(s, a, c));
    let middle = F::times(s, half, b);
    [a, F::plus(s, sides, middle), F::minus(s, sides, middle), c]
}

/// Gᵀ on four numbers.
#[inline(always)]
fn gather_kernel<F: Real, S: Simd>(
    s: S,
    half: F::Vector<S>,
    u: [F::Vector<S>; 4],
) -> [F::Vector<S>; 3] {
    let [a, b, c, e] = u;
    let sum = F::times(s, half, F::plus(s, b, c));
    let difference = F::times(s, half, F::minus(s, b, c));
    [F::plus(s, a, sum), difference, F::plus(s, sum, e)]
}

/// \[i\]\[j\] → \[j\]\[i\].
#[inline(always)]
fn transposed<T: Copy, const R: usize, const C: usize>(m: [[T; C]; R]) -> [[T; R]; C] {
    std::array::from_fn(|j| std::array::from_fn(|i| m[i][j]))
}

/// V = Bᵀ d B of the tiles of a block: \[place\]\[tile\]\[channel\].
struct Inward<'a, F> {
    x: *const F,
    tiles: &'a [(usize, usize)],
    pitch: usize,
    /// Channels `first` and on; pixels are `stride` apart.
    first: usize,
    channels: usize,
    stride: usize,
    v: &'a mut [F],
}

impl<F: Real> WithSimd for Inward<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let (lanes, v) = (F::lanes::<S>(), self.v.as_mut_ptr());
        assert!(self.v.len() >= PLACES * BLOCK * self.channels && self.tiles.len() <= BLOCK);
        for (tile, &(from, _)) in self.tiles.iter().enumerate() {
            for c in (0..self.channels).step_by(lanes) {
                // SAFETY: the caller's tiles lie inside; lanes divide the channels.
                unsafe {
                    let at = self.x.add(from + self.first + c);
                    let d: [[F::Vector<S>; 4]; 4] = std::array::from_fn(|i| {
                        std::array::from_fn(|j| {
                            load::<F, S>(at.add(i * self.pitch + j * self.stride))
                        })
                    });
                    let rows = transposed(d).map(|column| inward::<F, S>(s, column));
                    for (i, row) in transposed(rows).into_iter().enumerate() {
                        for (j, value) in inward::<F, S>(s, row).into_iter().enumerate() {
                            let to = ((4 * i + j) * BLOCK + tile) * self.channels + c;
                            store::<F, S>(v.add(to), value);
                        }
                    }
                }
            }
        }
    }
}

/// Y (+)= Aᵀ M A of the tiles of a block.
struct Outward<'a, F> {
    m: &'a [F],
    tiles: &'a [(usize, usize)],
    pitch: usize,
    channels: usize,
    add: bool,
    y: *mut F,
}

impl<F: Real> WithSimd for Outward<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let (lanes, m) = (F::lanes::<S>(), self.m.as_ptr());
        assert!(self.m.len() >= PLACES * BLOCK * self.channels && self.tiles.len() <= BLOCK);
        for (tile, &(_, to)) in self.tiles.iter().enumerate() {
            for c in (0..self.channels).step_by(lanes) {
                // SAFETY: as in `Inward`.
                unsafe {
                    let from: [[F::Vector<S>; 4]; 4] = std::array::from_fn(|i| {
                        std::array::from_fn(|j| {
                            let place = (4 * i + j) * BLOCK + tile;
                            load::<F, S>(m.add(place * self.channels + c))
                        })
                    });
                    let rows = transposed(from).map(|column| outward::<F, S>(s, column));
                    for (i, row) in transposed(rows).into_iter().enumerate() {
                        for (j, mut value) in outward::<F, S>(s, row).into_iter().enumerate() {
                            let to = self.y.add(to + i * self.pitch + j * self.channels + c);
                            if self.add {
                                value = F::plus(s, load::<F, S>(to), value);
                            }
                            store::<F, S>(to, value);
                        }
                    }
                }
            }
        }
    }
}

/// dM = A dY Aᵀ of the tiles of a block: \[place\]\[tile\]\[channel\].
struct Spread<'a, F> {
    dy: *const F,
    tiles: &'a [(usize, usize)],
    pitch: usize,
    channels: usize,
    dm: &'a mut [F],
}

impl<F: Real> WithSimd for Spread<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let (lanes, dm) = (F::lanes::<S>(), self.dm.as_mut_ptr());
        assert!(self.dm.len() >= PLACES * BLOCK * self.channels && self.tiles.len() <= BLOCK);
        for (tile, &(_, from)) in self.tiles.iter().enumerate() {
            for c in (0..self.channels).step_by(lanes) {
                // SAFETY: as in `Inward`.
                unsafe {
                    let at = self.dy.add(from + c);
                    let y: [[F::Vector<S>; 2]; 2] = std::array::from_fn(|i| {
                        std::array::from_fn(|j| {
                            load::<F, S>(at.add(i * self.pitch + j * self.channels))
                        })
                    });
                    let rows = transposed(y).map(|column| spread::<F, S>(s, column));
                    for (i, row) in transposed(rows).into_iter().enumerate() {
                        for (j, value) in spread::<F, S>(s, row).into_iter().enumerate() {
                            let to = ((4 * i + j) * BLOCK + tile) * self.channels + c;
                            store::<F, S>(dm.add(to), value);
                        }
                    }
                }
            }
        }
    }
}

struct SpreadWeights<F> {
    w: *const F,
    own: std::ops::Range<usize>,
    plane: usize,
    turn: bool,
    u: *mut F,
}

impl<F: Real> WithSimd for SpreadWeights<F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let half = F::splat(s, F::of(0.5));
        for at in self.own.step_by(F::lanes::<S>()) {
            // SAFETY: by `spread_weights`.
            unsafe {
                let g: [[F::Vector<S>; 3]; 3] = std::array::from_fn(|i| {
                    std::array::from_fn(|j| {
                        let tap = if self.turn { 8 - (3 * i + j) } else { 3 * i + j };
                        load::<F, S>(self.w.add(tap * self.plane + at))
                    })
                });
                let rows = transposed(g).map(|column| spread_kernel::<F, S>(s, half, column));
                for (i, row) in transposed(rows).into_iter().enumerate() {
                    let row = spread_kernel::<F, S>(s, half, row);
                    for (j, value) in row.into_iter().enumerate() {
                        store::<F, S>(self.u.add((4 * i + j) * self.plane + at), value);
                    }
                }
            }
        }
    }
}

struct GatherWeights<F> {
    du: *const F,
    own: std::ops::Range<usize>,
    plane: usize,
    dw: *mut F,
}

impl<F: Real> WithSimd for GatherWeights<F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let half = F::splat(s, F::of(0.5));
        for at in self.own.step_by(F::lanes::<S>()) {
            // SAFETY: by `gather_weights`.
            unsafe {
                let u: [[F::Vector<S>; 4]; 4] = std::array::from_fn(|i| {
                    std::array::from_fn(|j| {
                        load::<F, S>(self.du.add((4 * i + j) * self.plane + at))
                    })
                });
                let rows = transposed(u).map(|column| gather_kernel::<F, S>(s, half, column));
                for (i, row) in transposed(rows).into_iter().enumerate() {
                    let row = gather_kernel::<F, S>(s, half, row);
                    for (j, value) in row.into_iter().enumerate() {
                        let to = self.dw.add((3 * i + j) * self.plane + at);
                        store::<F, S>(to, F::plus(s, load::<F, S>(to), value));
                    }
                }
            }
        }
    }
}
