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

mod loops;

use crate::cpu::frame::Frame;
use crate::cpu::team::Team;
use crate::scalar::Real;

use super::Into;
use loops::{Fixed, Given, Tangent};

/// Added to the variance.
const EPSILON: f64 = 1e-5;
/// How much of a batch's statistics goes into the running ones in training.
pub(crate) const MOMENTUM: f64 = 0.1;

/// One layer: its frame, whether a ReLU follows in the same pass, and what its passes remember.
pub(crate) struct Norm<F> {
    frame: Frame,
    relu: bool,
    /// Of the last forward pass: μ, s, and whether they were the batch's own.
    fixed: Fixed<F>,
    own: bool,
    /// Sums of every example, before they are added up.
    partial: Vec<F>,
}

impl<F: Real> Norm<F> {
    pub(crate) fn new(frame: Frame, relu: bool, batch: usize) -> Self {
        let partial = vec![F::ZERO; 4 * frame.channels * batch];
        Self { frame, relu, fixed: Fixed::new(frame.channels), own: false, partial }
    }

    /// Means of N quantities a channel over the pixels of all examples. `sum` adds up those of one
    /// example, given where it starts in the buffers: N times as many numbers as channels.
    fn sums<const N: usize>(
        partial: &mut [F],
        frame: Frame,
        team: &Team,
        count: usize,
        sum: impl Fn(usize, &mut [F]) + Send + Sync,
    ) -> [Vec<F>; N] {
        let channels = frame.channels;
        let partial = &mut partial[..N * channels * count];
        let cost = 4 * N * count * frame.stride();
        team.stretches(partial, N * channels, cost, |example, sums| {
            sums.fill(F::ZERO);
            sum(example * frame.stride(), sums);
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

    /// `body` for every example, with where it starts and its part of `out`.
    fn examples(&self, team: &Team, out: &mut [F], body: impl Fn(usize, &mut [F]) + Send + Sync) {
        let (stride, cost) = (self.frame.stride(), 8 * out.len());
        team.stretches(out, stride, cost, |example, out| body(example * stride, out));
    }

    /// The forward pass. `own`: with the batch's own statistics, of which so much goes into the
    /// running ones.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn forward(
        &mut self,
        team: &Team,
        count: usize,
        own: Option<f64>,
        x: &[F],
        residual: Option<&[F]>,
        [scale, shift]: [&[F]; 2],
        statistics: &mut [F],
        y: &mut [F],
    ) {
        let (frame, arch) = (self.frame, team.arch);
        let channels = frame.channels;
        let (running_mean, running_variance) = statistics.split_at_mut(channels);
        self.own = own.is_some();
        let variance = if let Some(momentum) = own {
            let [mut mean] = Self::sums(&mut self.partial, frame, team, count, |at, sums| {
                loops::sum(arch, frame, &x[at..at + frame.stride()], sums);
            });
            self.mean_over(count, &mut mean);
            let [mut variance] = Self::sums(&mut self.partial, frame, team, count, |at, sums| {
                loops::squares(arch, frame, &x[at..at + frame.stride()], &mean, sums);
            });
            self.mean_over(count, &mut variance);
            let many = (count * frame.pixels()) as f64;
            let unbiased = F::of(if many > 1.0 { many / (many - 1.0) } else { 1.0 });
            let (keep, take) = (F::of(1.0 - momentum), F::of(momentum));
            for c in 0..channels {
                running_mean[c] = keep * running_mean[c] + take * mean[c];
                running_variance[c] = keep * running_variance[c] + take * unbiased * variance[c];
            }
            self.fixed.mean = mean;
            variance
        } else {
            self.fixed.mean.copy_from_slice(running_mean);
            running_variance.to_vec()
        };
        for (inverse, variance) in self.fixed.inverse.iter_mut().zip(variance) {
            *inverse = F::ONE / (variance + F::of(EPSILON)).root();
        }
        // y = a·x + b.
        let a: Vec<F> = scale.iter().zip(&self.fixed.inverse).map(|(&g, &s)| g * s).collect();
        let b: Vec<F> = (0..channels).map(|c| shift[c] - self.fixed.mean[c] * a[c]).collect();
        let relu = self.relu;
        self.examples(team, y, |at, y| {
            let part = |from: &'_ [F]| at..(at + frame.stride()).min(from.len());
            let residual = residual.map_or(&[][..], |r| &r[part(r)]);
            loops::normalize(arch, frame, relu, &x[part(x)], residual, &a, &b, y);
        });
    }

    /// The backward pass: adds to dγ and dβ, fills dx, and the residual's gradient where there is
    /// one.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn backward(
        &mut self,
        team: &Team,
        count: usize,
        given: [&[F]; 3],
        scale: &[F],
        [dscale, dshift]: [&mut [F]; 2],
        residual: Option<Into<'_, F>>,
        dx: Into<'_, F>,
    ) {
        let (frame, relu, arch) = (self.frame, self.relu, team.arch);
        let [x, y, dy] = given;
        let of = |at: usize| {
            let [x, y, dy] = given.map(|from| &from[at..at + frame.stride()]);
            Given { x, y, dy }
        };
        let mean = &self.fixed.mean;
        let [mut plain, mut along] =
            Self::sums(&mut self.partial, frame, team, count, |at, sums| {
                loops::slopes(arch, frame, relu, of(at), mean, sums);
            });
        let inverse = &self.fixed.inverse;
        for c in 0..frame.channels {
            dshift[c] += plain[c];
            dscale[c] += along[c] * inverse[c];
        }
        if let Some(residual) = residual {
            self.masked(team, [x, y, dy], residual);
        }
        // dx = a·dz − b − curve·(x − μ).
        self.mean_over(count, &mut plain);
        self.mean_over(count, &mut along);
        let a: Vec<F> = scale.iter().zip(inverse).map(|(&g, &s)| g * s).collect();
        let own = if self.own { F::ONE } else { F::ZERO };
        let b: Vec<F> = a.iter().zip(&plain).map(|(&a, &plain)| own * a * plain).collect();
        let curve: Vec<F> =
            (0..frame.channels).map(|c| own * a[c] * along[c] * inverse[c] * inverse[c]).collect();
        let (add, mean) = (dx.add, &self.fixed.mean);
        self.examples(team, dx.out, |at, dx| {
            loops::back(arch, frame, relu, add, of(at), &a, &b, &curve, mean, dx);
        });
    }

    /// out (+)= dy behind the ReLU.
    fn masked(&self, team: &Team, [x, y, dy]: [&[F]; 3], out: Into<'_, F>) {
        let (frame, relu, add) = (self.frame, self.relu, out.add);
        self.examples(team, out.out, |at, out| {
            let [x, y, dy] = [x, y, dy].map(|from| &from[at..at + frame.stride()]);
            loops::behind_relu(team.arch, frame, relu, add, Given { x, y, dy }, out);
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
        let (frame, relu, arch) = (self.frame, self.relu, team.arch);
        let stride = frame.stride();
        self.fixed.tangent_mean.fill(F::ZERO);
        self.fixed.bend.fill(F::ZERO);
        if self.own {
            let fixed = &self.fixed;
            let [mut plain, mut bend] =
                Self::sums(&mut self.partial, frame, team, count, |at, sums| {
                    let (x, tx) = (&x[at..at + stride], &tx[at..at + stride]);
                    loops::tangent_moments(arch, frame, x, tx, fixed, sums);
                });
            self.mean_over(count, &mut plain);
            self.mean_over(count, &mut bend);
            (self.fixed.tangent_mean, self.fixed.bend) = (plain, bend);
        }
        let fixed = &self.fixed;
        self.examples(team, ty, |at, ty| {
            let moved = Tangent { x: &x[at..at + stride], tx: &tx[at..at + stride], fixed };
            let (y, residual) =
                (&y[at..at + stride], residual.map_or(&[][..], |r| &r[at..at + stride]));
            loops::tangent(arch, frame, relu, moved, y, residual, scale, tscale, tshift, ty);
        });
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
        let (frame, relu, arch, fixed) = (self.frame, self.relu, team.arch, &self.fixed);
        let part = |from: &'_ [F], at: usize| at..(at + frame.stride()).min(from.len());
        let moved = |at: usize| Tangent { x: &x[part(x, at)], tx: &tx[part(tx, at)], fixed };
        let given = |at: usize| (&y[part(y, at)], &dy[part(dy, at)], &tdy[part(tdy, at)]);
        let [mut plain, mut along, mut tplain, mut talong] =
            Self::sums(&mut self.partial, frame, team, count, |at, sums| {
                let (y, dy, tdy) = given(at);
                loops::tangent_slopes(arch, frame, relu, moved(at), y, dy, tdy, sums);
            });
        for c in 0..frame.channels {
            dtshift[c] += tplain[c];
            dtscale[c] += talong[c];
        }
        if let Some(residual) = residual {
            self.masked(team, [x, y, tdy], residual);
        }
        for sums in [&mut plain, &mut along, &mut tplain, &mut talong] {
            self.mean_over(count, sums);
            if !self.own {
                sums.fill(F::ZERO);
            }
        }
        let add = tdx.add;
        // With fixed statistics `bend` and all four means are 0, and what is left is their case.
        let means = [&plain[..], &along, &tplain, &talong];
        self.examples(team, tdx.out, |at, tdx| {
            let (y, dy, tdy) = given(at);
            let slopes = [y, dy, tdy];
            loops::tangent_back(
                arch,
                frame,
                relu,
                add,
                moved(at),
                slopes,
                scale,
                tscale,
                means,
                tdx,
            );
        });
    }
}
