//! ReLU, GELU and sums: one number at a time. A border of zeros stays zero under each, so a pass
//! takes whole buffers.

use pulp::{Simd, WithSimd};

use crate::cpu::team::Team;
use crate::scalar::Real;

use super::Into;

/// Elements that one task takes.
const STRETCH: usize = 1 << 14;

/// A function of N numbers.
trait Point<F, const N: usize>: Copy + Send + Sync {
    /// Operations, about.
    const COST: usize;
    /// The function; always inlined.
    fn at(self, from: [F; N]) -> F;
}

struct Map<'a, F, P, const N: usize> {
    point: P,
    from: [&'a [F]; N],
    out: &'a mut [F],
    add: bool,
}

impl<F: Real, P: Point<F, N>, const N: usize> WithSimd for Map<'_, F, P, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let from = self.from.map(|from| &from[..self.out.len()]);
        if self.add {
            for (place, out) in self.out.iter_mut().enumerate() {
                *out += self.point.at(from.map(|from| from[place]));
            }
        } else {
            for (place, out) in self.out.iter_mut().enumerate() {
                *out = self.point.at(from.map(|from| from[place]));
            }
        }
    }
}

/// out (+)= f(a, b, …) element by element.
fn map<F: Real, P: Point<F, N>, const N: usize>(
    team: &Team,
    point: P,
    from: [&[F]; N],
    out: Into<'_, F>,
) {
    let (cost, add) = (P::COST * out.out.len(), out.add);
    team.stretches(out.out, STRETCH, cost, |at, out| {
        let from = from.map(|from| &from[at * STRETCH..at * STRETCH + out.len()]);
        team.arch.dispatch(Map { point, from, out, add });
    });
}

/// Defines a function by its formula.
macro_rules! points {
    ($($name:ident, $cost:literal, $n:literal: |$from:pat_param| $value:expr;)*) => {$(
        #[derive(Clone, Copy)]
        struct $name;
        impl<F: Real> Point<F, $n> for $name {
            const COST: usize = $cost;
            #[inline(always)]
            fn at(self, $from: [F; $n]) -> F {
                $value
            }
        }
    )*};
}

points! {
    // A NaN stays, and is seen: `<=` is false for it.
    Relu, 8, 1: |[x]| if x <= F::ZERO { F::ZERO } else { x };
    ReluMask, 12, 2: |[y, dy]| if y > F::ZERO { dy } else { F::ZERO };
    Gelu, 40, 1: |[x]| x * x.normal().0;
    GeluSlope, 40, 2: |[x, dy]| {
        let (below, density) = x.normal();
        dy * (below + x * density)
    };
    GeluBend, 40, 3: |[x, tx, dy]| dy * tx * x.normal().1 * (F::of(2.0) - x * x);
    Copied, 8, 1: |[a]| a;
    Sum, 12, 2: |[a, b]| a + b;
    Product, 12, 2: |[a, b]| a * b;
}

/// y = max(x, 0).
pub(crate) fn relu<F: Real>(team: &Team, x: &[F], y: &mut [F]) {
    map(team, Relu, [x], Into { out: y, add: false });
}

/// dx (+)= dy where y > 0: the backward pass, and with tangents the tangent pass.
pub(crate) fn relu_mask<F: Real>(team: &Team, y: &[F], dy: &[F], dx: Into<'_, F>) {
    map(team, ReluMask, [y, dy], dx);
}

/// y = x·Φ(x).
pub(crate) fn gelu<F: Real>(team: &Team, x: &[F], y: &mut [F]) {
    map(team, Gelu, [x], Into { out: y, add: false });
}

/// dx (+)= dy·g′(x), g′ = Φ + x·φ: the backward pass, and with tangents the tangent pass.
pub(crate) fn gelu_slope<F: Real>(team: &Team, x: &[F], dy: &[F], dx: Into<'_, F>) {
    map(team, GeluSlope, [x, dy], dx);
}

/// dẋ += dy·g″(x)·ẋ, g″ = φ·(2 − x²).
pub(crate) fn gelu_bend<F: Real>(team: &Team, x: &[F], tx: &[F], dy: &[F], out: &mut [F]) {
    map(team, GeluBend, [x, tx, dy], Into { out, add: true });
}

/// out (+)= a.
pub(crate) fn copy<F: Real>(team: &Team, a: &[F], out: Into<'_, F>) {
    map(team, Copied, [a], out);
}

/// y = a + b.
pub(crate) fn add<F: Real>(team: &Team, a: &[F], b: &[F], y: &mut [F]) {
    map(team, Sum, [a, b], Into { out: y, add: false });
}

/// out (+)= a·b.
pub(crate) fn product<F: Real>(team: &Team, a: &[F], b: &[F], out: Into<'_, F>) {
    map(team, Product, [a, b], out);
}
