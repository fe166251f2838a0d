//! The loops of batch normalization over the pixels of one example.

use crate::cpu::frame::Frame;
use crate::scalar::Real;

use crate::cpu::kernels::vectorized::vectorized;

/// What a forward pass fixed, and the last tangent pass: by channel μ, s, mean ẋ and h.
pub(super) struct Fixed<F> {
    pub(super) mean: Vec<F>,
    pub(super) inverse: Vec<F>,
    pub(super) tangent_mean: Vec<F>,
    pub(super) bend: Vec<F>,
}

impl<F: Real> Fixed<F> {
    pub(super) fn new(channels: usize) -> Self {
        let zeros = || vec![F::ZERO; channels];
        let [mean, inverse, tangent_mean, bend] = [zeros(), zeros(), zeros(), zeros()];
        Self { mean, inverse, tangent_mean, bend }
    }
}

/// An example at the layer's input and output, and the gradient at its output.
#[derive(Clone, Copy)]
pub(super) struct Given<'a, F> {
    pub(super) x: &'a [F],
    pub(super) y: &'a [F],
    pub(super) dy: &'a [F],
}

/// An example at the layer's input with its tangent.
#[derive(Clone, Copy)]
pub(super) struct Tangent<'a, F> {
    pub(super) x: &'a [F],
    pub(super) tx: &'a [F],
    pub(super) fixed: &'a Fixed<F>,
}

impl<F: Real> Tangent<'_, F> {
    /// x̂ and its tangent.
    #[inline(always)]
    fn hats(&self, at: usize, c: usize) -> (F, F) {
        let Fixed { mean, inverse, tangent_mean, bend } = self.fixed;
        let hat = (self.x[at] - mean[c]) * inverse[c];
        (hat, inverse[c] * (self.tx[at] - tangent_mean[c] - hat * bend[c]))
    }
}

#[inline(always)]
fn behind<F: Real>(relu: bool, y: F, dy: F) -> F {
    if !relu || y > F::ZERO { dy } else { F::ZERO }
}

/// Where the pixels of an example start.
#[inline(always)]
fn pixels(frame: Frame) -> impl Iterator<Item = usize> {
    frame.rows().flat_map(move |row| row.step_by(frame.channels))
}

/// N slices of one length, one after another.
#[inline(always)]
fn parts<F, const N: usize>(sums: &mut [F], channels: usize) -> [&mut [F]; N] {
    let mut parts = sums.chunks_exact_mut(channels);
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

vectorized! {
    /// Σ x.
    fn sum(frame: Frame, x: &'a [F], sums: &'a mut [F]) {
        let n = frame.channels;
        for at in pixels(frame) {
            for (sum, &x) in sums.iter_mut().zip(&x[at..at + n]) {
                *sum += x;
            }
        }
    }

    /// Σ (x − μ)².
    fn squares(frame: Frame, x: &'a [F], mean: &'a [F], sums: &'a mut [F]) {
        let n = frame.channels;
        for at in pixels(frame) {
            for ((sum, &x), &mean) in sums.iter_mut().zip(&x[at..at + n]).zip(mean) {
                *sum = sum.fma(x - mean, x - mean);
            }
        }
    }

    /// y = a·x + b (+ r), then the ReLU. A NaN stays, and is seen.
    fn normalize(
        frame: Frame, relu: bool, x: &'a [F], residual: &'a [F], a: &'a [F], b: &'a [F],
        y: &'a mut [F],
    ) {
        let n = frame.channels;
        // `<=` is false for a NaN.
        let floor = if relu { F::ZERO } else { F::of(f64::NEG_INFINITY) };
        for at in pixels(frame) {
            let line = y[at..at + n].iter_mut().zip(&x[at..at + n]).zip(a.iter().zip(b));
            if residual.is_empty() {
                for ((y, &x), (&a, &b)) in line {
                    let z = b.fma(a, x);
                    *y = if z <= floor { floor } else { z };
                }
            } else {
                for (((y, &x), (&a, &b)), &r) in line.zip(&residual[at..at + n]) {
                    let z = b.fma(a, x) + r;
                    *y = if z <= floor { floor } else { z };
                }
            }
        }
    }

    /// Σ dz and Σ dz·(x − μ).
    fn slopes(frame: Frame, relu: bool, given: Given<'a, F>, mean: &'a [F], sums: &'a mut [F]) {
        let n = frame.channels;
        let [plain, along] = parts(sums, n);
        for at in pixels(frame) {
            let [x, y, dy] = [given.x, given.y, given.dy].map(|from| &from[at..at + n]);
            let line = x.iter().zip(y).zip(dy).zip(mean);
            for ((((&x, &y), &dy), &mean), (p, a)) in
                line.zip(plain.iter_mut().zip(along.iter_mut()))
            {
                let dz = behind(relu, y, dy);
                *p += dz;
                *a = a.fma(dz, x - mean);
            }
        }
    }

    /// dx (+)= a·dz − b − curve·(x − μ).
    fn back(
        frame: Frame, relu: bool, add: bool, given: Given<'a, F>, a: &'a [F], b: &'a [F],
        curve: &'a [F], mean: &'a [F], dx: &'a mut [F],
    ) {
        let n = frame.channels;
        for at in pixels(frame) {
            let [x, y, dy] = [given.x, given.y, given.dy].map(|from| &from[at..at + n]);
            let line = x.iter().zip(y).zip(dy).zip(a.iter().zip(b).zip(curve).zip(mean));
            for (dx, (((&x, &y), &dy), (((&a, &b), &curve), &mean))) in
                dx[at..at + n].iter_mut().zip(line)
            {
                let value = (-b).fma(a, behind(relu, y, dy)).fma(-curve, x - mean);
                *dx = if add { *dx + value } else { value };
            }
        }
    }

    /// out (+)= dz.
    fn behind_relu(frame: Frame, relu: bool, add: bool, given: Given<'a, F>, out: &'a mut [F]) {
        let n = frame.channels;
        for at in pixels(frame) {
            let line = given.y[at..at + n].iter().zip(&given.dy[at..at + n]);
            for (out, (&y, &dy)) in out[at..at + n].iter_mut().zip(line) {
                let dz = behind(relu, y, dy);
                *out = if add { *out + dz } else { dz };
            }
        }
    }

    /// Σ ẋ and Σ x̂·ẋ.
    fn tangent_moments(
        frame: Frame, x: &'a [F], tx: &'a [F], fixed: &'a Fixed<F>, sums: &'a mut [F],
    ) {
        let n = frame.channels;
        let [plain, bend] = parts(sums, n);
        for at in pixels(frame) {
            for c in 0..n {
                let hat = (x[at + c] - fixed.mean[c]) * fixed.inverse[c];
                plain[c] += tx[at + c];
                bend[c] = bend[c].fma(hat, tx[at + c]);
            }
        }
    }

    /// ẏ.
    fn tangent(
        frame: Frame, relu: bool, moved: Tangent<'a, F>, y: &'a [F], residual: &'a [F],
        scale: &'a [F], tscale: &'a [F], tshift: &'a [F], ty: &'a mut [F],
    ) {
        for at in pixels(frame) {
            for c in 0..frame.channels {
                let (hat, that) = moved.hats(at + c, c);
                let tz = scale[c] * that + tscale[c] * hat + tshift[c];
                let tz = if residual.is_empty() { tz } else { tz + residual[at + c] };
                ty[at + c] = behind(relu, y[at + c], tz);
            }
        }
    }

    /// Σ dz, Σ dz·x̂, Σ dż and Σ dż·x̂ + dz·x̂̇.
    fn tangent_slopes(
        frame: Frame, relu: bool, moved: Tangent<'a, F>, y: &'a [F], dy: &'a [F], tdy: &'a [F],
        sums: &'a mut [F],
    ) {
        let [plain, along, tplain, talong] = parts(sums, frame.channels);
        for at in pixels(frame) {
            for c in 0..frame.channels {
                let (hat, that) = moved.hats(at + c, c);
                let dz = behind(relu, y[at + c], dy[at + c]);
                let tdz = behind(relu, y[at + c], tdy[at + c]);
                plain[c] += dz;
                along[c] += dz * hat;
                tplain[c] += tdz;
                talong[c] += tdz * hat + dz * that;
            }
        }
    }

    /// dẋ (+)= s·((γ̇ − γ·s·h)·(dz − mean dz − x̂·mean(dz·x̂)) + γ·(dż − mean dż − …)).
    fn tangent_back(
        frame: Frame, relu: bool, add: bool, moved: Tangent<'a, F>, slopes: [&'a [F]; 3],
        scale: &'a [F], tscale: &'a [F], means: [&'a [F]; 4], tdx: &'a mut [F],
    ) {
        let ([y, dy, tdy], [plain, along, tplain, talong]) = (slopes, means);
        for at in pixels(frame) {
            for c in 0..frame.channels {
                let (hat, that) = moved.hats(at + c, c);
                let dz = behind(relu, y[at + c], dy[at + c]);
                let tdz = behind(relu, y[at + c], tdy[at + c]);
                let (s, h) = (moved.fixed.inverse[c], moved.fixed.bend[c]);
                let inner = dz - plain[c] - hat * along[c];
                let tinner = tdz - tplain[c] - that * along[c] - hat * talong[c];
                let value = s * ((tscale[c] - scale[c] * s * h) * inner + scale[c] * tinner);
                tdx[at + c] = if add { tdx[at + c] + value } else { value };
            }
        }
    }
}
