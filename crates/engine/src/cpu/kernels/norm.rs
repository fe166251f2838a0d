//! Batch normalization, with the sum and the ReLU that may follow it in the same pass:
//! y = γ·x̂ + β (+ r), x̂ = (x − μ)·s, s = 1/√(σ² + ε), then max(y, 0).
//!
//! With the batch's own μ and σ² (over m examples and pixels), where dz is dy behind the ReLU:
//! dβ = Σ dz, dγ = Σ dz·x̂, dx = γs·(dz − dβ/m − x̂·dγ/m), dr = dz. With fixed statistics dx = γs·dz.
//!
//! Tangents, fixed: ẏ = γs·ẋ + γ̇·x̂ + β̇ (+ ṙ); dẋ = γs·dż + γ̇s·dz; dγ̇ = Σ dż·x̂ + dz·x̂̇ with
//! x̂̇ = s·ẋ; dβ̇ = Σ dż. With the batch's own: x̂̇ = s·(ẋ − mean ẋ − x̂·h), h = mean(x̂·ẋ), ṡ/s = −s·h,
//! and dẋ = (γ̇/γ − s·h)·dx + γs·(dż − mean dż − x̂̇·mean(dz·x̂) − x̂·mean(dż·x̂ + dz·x̂̇)), the first
//! term written without dividing by γ.
//!
//! Sums run over the pixels of an example, then over examples in order: the same for any threads.

use crate::cpu::frame::Frame;
use crate::cpu::team::Team;
use crate::scalar::Real;

use super::Into;

/// Added to the variance.
pub(crate) const EPSILON: f64 = 1e-5;
/// How much of a batch's statistics goes into the running ones.
const MOMENTUM: f64 = 0.1;

/// One layer: its frame, whether a ReLU follows in the same pass, and what its passes remember.
pub(crate) struct Norm<F> {
    frame: Frame,
    relu: bool,
    /// μ and s of the last forward pass, and whether they were the batch's own.
    mean: Vec<F>,
    inverse: Vec<F>,
    own: bool,
    /// Of the last tangent pass with the batch's own statistics: mean ẋ and h.
    tangent_mean: Vec<F>,
    bend: Vec<F>,
    partial: Vec<F>,
}

impl<F: Real> Norm<F> {
    pub(crate) fn new(frame: Frame, relu: bool, batch: usize) -> Self {
        let zeros = || vec![F::ZERO; frame.channels];
        Self {
            frame,
            relu,
            mean: zeros(),
            inverse: zeros(),
            own: false,
            tangent_mean: zeros(),
            bend: zeros(),
            partial: vec![F::ZERO; 4 * frame.channels * batch],
        }
    }

    /// Sums of N quantities a channel, over the pixels of all examples; `term` adds those of one
    /// stretch of pixels to the sums, given where it lies in the buffers.
    fn sums<const N: usize>(
        &mut self,
        team: &Team,
        count: usize,
        term: impl Fn(std::ops::Range<usize>, [&mut [F]; N]) + Send + Sync,
    ) -> [Vec<F>; N] {
        let (frame, channels) = (self.frame, self.frame.channels);
        let partial = &mut self.partial[..N * channels * count];
        let cost = 4 * N * count * frame.stride();
        team.stretches(partial, N * channels, cost, |example, sums| {
            sums.fill(F::ZERO);
            let mut parts = sums.chunks_exact_mut(channels);
            let mut sums: [&mut [F]; N] = std::array::from_fn(|_| parts.next().unwrap_or_default());
            for row in frame.rows() {
                let first = example * frame.stride() + row.start;
                for pixel in (0..row.len()).step_by(channels) {
                    let at = first + pixel..first + pixel + channels;
                    term(at, sums.each_mut().map(|s| &mut **s));
                }
            }
        });
        let mut totals: [Vec<F>; N] = std::array::from_fn(|_| vec![F::ZERO; channels]);
        for example in partial.chunks_exact(N * channels) {
            for (total, part) in totals.iter_mut().zip(example.chunks_exact(channels)) {
                total.iter_mut().zip(part).for_each(|(total, &part)| *total += part);
            }
        }
        totals
    }

    fn mean_over(&self, count: usize, sums: &mut [F]) {
        let share = F::ONE / F::of((count * self.frame.pixels()) as f64);
        sums.iter_mut().for_each(|sum| *sum *= share);
    }

    /// For every pixel of every example: `body(where it lies in the buffers, its part of out)`.
    fn pixels(&self, team: &Team, out: &mut [F], body: impl Fn(usize, &mut [F]) + Send + Sync) {
        let (frame, cost) = (self.frame, 8 * out.len());
        team.stretches(out, frame.stride(), cost, |example, out| {
            for row in frame.rows() {
                let first = example * frame.stride() + row.start;
                for (pixel, out) in out[row].chunks_exact_mut(frame.channels).enumerate() {
                    body(first + pixel * frame.channels, out);
                }
            }
        });
    }

    /// The forward pass. `own`: with the batch's own statistics, which then move the running ones.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn forward(
        &mut self,
        team: &Team,
        count: usize,
        own: bool,
        x: &[F],
        residual: Option<&[F]>,
        [scale, shift]: [&[F]; 2],
        statistics: &mut [F],
        y: &mut [F],
    ) {
        let channels = self.frame.channels;
        let (running_mean, running_variance) = statistics.split_at_mut(channels);
        self.own = own;
        let mut variance;
        if own {
            let [mut mean] = self.sums(team, count, |at, [sum]| {
                sum.iter_mut().zip(&x[at]).for_each(|(sum, &x)| *sum += x);
            });
            self.mean_over(count, &mut mean);
            let [squares] = self.sums(team, count, |at, [sum]| {
                for ((sum, &x), &mean) in sum.iter_mut().zip(&x[at]).zip(&mean) {
                    *sum = sum.fma(x - mean, x - mean);
                }
            });
            variance = squares;
            self.mean_over(count, &mut variance);
            let many = (count * self.frame.pixels()) as f64;
            let unbiased = F::of(if many > 1.0 { many / (many - 1.0) } else { 1.0 });
            let (keep, take) = (F::of(1.0 - MOMENTUM), F::of(MOMENTUM));
            for c in 0..channels {
                running_mean[c] = keep * running_mean[c] + take * mean[c];
                running_variance[c] = keep * running_variance[c] + take * unbiased * variance[c];
            }
            self.mean = mean;
        } else {
            self.mean.copy_from_slice(running_mean);
            variance = running_variance.to_vec();
        }
        for (inverse, variance) in self.inverse.iter_mut().zip(variance) {
            *inverse = F::ONE / (variance + F::of(EPSILON)).root();
        }
        let a: Vec<F> = scale.iter().zip(&self.inverse).map(|(&g, &s)| g * s).collect();
        let b: Vec<F> = (0..channels).map(|c| shift[c] - self.mean[c] * a[c]).collect();
        // `<=` is false for a NaN, which must stay and be seen.
        let floor = if self.relu { F::ZERO } else { F::of(f64::NEG_INFINITY) };
        let (a, b) = (&a[..], &b[..]);
        self.pixels(team, y, |at, y| {
            let x = &x[at..at + channels];
            let line = y.iter_mut().zip(x).zip(a.iter().zip(b));
            match residual {
                None => line.for_each(|((y, &x), (&a, &b))| {
                    let z = b.fma(a, x);
                    *y = if z <= floor { floor } else { z };
                }),
                Some(r) => line.zip(&r[at..at + channels]).for_each(|(((y, &x), (&a, &b)), &r)| {
                    let z = b.fma(a, x) + r;
                    *y = if z <= floor { floor } else { z };
                }),
            }
        });
    }

    /// dy behind the ReLU.
    #[inline(always)]
    fn behind(relu: bool, y: F, dy: F) -> F {
        if !relu || y > F::ZERO { dy } else { F::ZERO }
    }

    /// The backward pass: adds to dγ and dβ, fills dx, and the residual's gradient where there is
    /// one.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn backward(
        &mut self,
        team: &Team,
        count: usize,
        [x, y, dy]: [&[F]; 3],
        scale: &[F],
        [dscale, dshift]: [&mut [F]; 2],
        residual: Option<Into<'_, F>>,
        dx: Into<'_, F>,
    ) {
        let (channels, relu) = (self.frame.channels, self.relu);
        let mean = self.mean.clone();
        let [mut plain, mut along] = self.sums(team, count, |at, [plain, along]| {
            let line = x[at.clone()].iter().zip(&y[at.clone()]).zip(&dy[at]).zip(&mean);
            for ((((&x, &y), &dy), &mean), (p, a)) in line.zip(plain.iter_mut().zip(along)) {
                let dz = Self::behind(relu, y, dy);
                *p += dz;
                *a = a.fma(dz, x - mean);
            }
        });
        for c in 0..channels {
            dshift[c] += plain[c];
            dscale[c] += along[c] * self.inverse[c];
        }
        if let Some(residual) = residual {
            self.masked(team, [y, dy], residual);
        }
        // dx = a·dz − b − c·(x − μ).
        self.mean_over(count, &mut plain);
        self.mean_over(count, &mut along);
        let a: Vec<F> = scale.iter().zip(&self.inverse).map(|(&g, &s)| g * s).collect();
        let zero_if_fixed = if self.own { F::ONE } else { F::ZERO };
        let b: Vec<F> = (0..channels).map(|c| a[c] * plain[c] * zero_if_fixed).collect();
        let curve: Vec<F> = (0..channels)
            .map(|c| a[c] * along[c] * self.inverse[c] * self.inverse[c] * zero_if_fixed)
            .collect();
        let (a, b, curve, mean, add) = (&a[..], &b[..], &curve[..], &mean[..], dx.add);
        self.pixels(team, dx.out, |at, dx| {
            let (x, y, dy) = (&x[at..at + channels], &y[at..at + channels], &dy[at..at + channels]);
            let given = x.iter().zip(y).zip(dy);
            let known = a.iter().zip(b).zip(curve).zip(mean);
            for ((dx, ((&x, &y), &dy)), (((&a, &b), &curve), &mean)) in
                dx.iter_mut().zip(given).zip(known)
            {
                let dz = Self::behind(relu, y, dy);
                let value = (-b).fma(a, dz).fma(-curve, x - mean);
                *dx = if add { *dx + value } else { value };
            }
        });
    }

    /// out (+)= dy behind the ReLU.
    fn masked(&self, team: &Team, [y, dy]: [&[F]; 2], out: Into<'_, F>) {
        let (channels, relu, add) = (self.frame.channels, self.relu, out.add);
        self.pixels(team, out.out, |at, out| {
            let line = y[at..at + channels].iter().zip(&dy[at..at + channels]);
            for (out, (&y, &dy)) in out.iter_mut().zip(line) {
                let dz = Self::behind(relu, y, dy);
                *out = if add { *out + dz } else { dz };
            }
        });
    }

    /// The tangent pass: ẏ from ẋ, ṙ and the tangents of γ and β.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn tangent(
        &mut self,
        team: &Team,
        count: usize,
        [x, y, tx]: [&[F]; 3],
        residual: Option<&[F]>,
        scale: &[F],
        [tscale, tshift]: [&[F]; 2],
        ty: &mut [F],
    ) {
        let (channels, relu) = (self.frame.channels, self.relu);
        if self.own {
            self.tangent_moments(team, count, x, tx);
        } else {
            self.tangent_mean.fill(F::ZERO);
            self.bend.fill(F::ZERO);
        }
        let me = &*self;
        me.pixels(team, ty, |at, ty| {
            for c in 0..channels {
                let (hat, that) = me.hats(c, x[at + c], tx[at + c]);
                let tz = scale[c] * that + tscale[c] * hat + tshift[c];
                let tz = tz + residual.map_or(F::ZERO, |r| r[at + c]);
                ty[c] = Self::behind(relu, y[at + c], tz);
            }
        });
    }

    /// mean ẋ and h = mean(x̂·ẋ).
    fn tangent_moments(&mut self, team: &Team, count: usize, x: &[F], tx: &[F]) {
        let (mean, inverse) = (self.mean.clone(), self.inverse.clone());
        let [mut plain, mut bend] = self.sums(team, count, |at, [plain, bend]| {
            for (c, at) in at.enumerate() {
                plain[c] += tx[at];
                bend[c] += (x[at] - mean[c]) * inverse[c] * tx[at];
            }
        });
        self.mean_over(count, &mut plain);
        self.mean_over(count, &mut bend);
        (self.tangent_mean, self.bend) = (plain, bend);
    }

    /// x̂ and its tangent.
    #[inline(always)]
    fn hats(&self, c: usize, x: F, tx: F) -> (F, F) {
        let hat = (x - self.mean[c]) * self.inverse[c];
        (hat, self.inverse[c] * (tx - self.tangent_mean[c] - hat * self.bend[c]))
    }

    /// The tangent of the backward pass: adds to dγ̇ and dβ̇, fills dẋ and the residual's dṙ.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn backward_tangent(
        &mut self,
        team: &Team,
        count: usize,
        [x, y, tx]: [&[F]; 3],
        [dy, tdy]: [&[F]; 2],
        scale: &[F],
        tscale: &[F],
        [dtscale, dtshift]: [&mut [F]; 2],
        residual: Option<Into<'_, F>>,
        tdx: Into<'_, F>,
    ) {
        let (channels, relu) = (self.frame.channels, self.relu);
        // What `sums` may read while it fills its own scratch.
        let known = Self {
            frame: self.frame,
            relu,
            mean: self.mean.clone(),
            inverse: self.inverse.clone(),
            own: self.own,
            tangent_mean: self.tangent_mean.clone(),
            bend: self.bend.clone(),
            partial: Vec::new(),
        };
        let [mut plain, mut along, mut tplain, mut talong] =
            self.sums(team, count, |at, [plain, along, tplain, talong]| {
                for (c, at) in at.enumerate() {
                    let (hat, that) = known.hats(c, x[at], tx[at]);
                    let dz = Self::behind(relu, y[at], dy[at]);
                    let tdz = Self::behind(relu, y[at], tdy[at]);
                    plain[c] += dz;
                    along[c] += dz * hat;
                    tplain[c] += tdz;
                    talong[c] += tdz * hat + dz * that;
                }
            });
        for c in 0..channels {
            dtshift[c] += tplain[c];
            dtscale[c] += talong[c];
        }
        if let Some(residual) = residual {
            self.masked(team, [y, tdy], residual);
        }
        for sums in [&mut plain, &mut along, &mut tplain, &mut talong] {
            self.mean_over(count, sums);
        }
        let add = tdx.add;
        self.pixels(team, tdx.out, |at, tdx| {
            for c in 0..channels {
                let (hat, that) = known.hats(c, x[at + c], tx[at + c]);
                let dz = Self::behind(relu, y[at + c], dy[at + c]);
                let tdz = Self::behind(relu, y[at + c], tdy[at + c]);
                let s = known.inverse[c];
                let value = if known.own {
                    // d(γs)·(…) + γs·d(…), with d(γs) = γ̇s − γs·s·h.
                    let inner = dz - plain[c] - hat * along[c];
                    let tinner = tdz - tplain[c] - that * along[c] - hat * talong[c];
                    s * ((tscale[c] - scale[c] * s * known.bend[c]) * inner + scale[c] * tinner)
                } else {
                    s * (scale[c] * tdz + tscale[c] * dz)
                };
                tdx[c] = if add { tdx[c] + value } else { value };
            }
        });
    }
}
