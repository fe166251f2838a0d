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

/// Defines functions of whole buffers by their formula for one number, and about how many operations
/// that is: out (+)= f(a, b, …).
macro_rules! points {
    ($($(#[$doc:meta])* $function:ident($($from:ident),+) = $name:ident, $n:literal, $cost:literal: $value:expr;)*) => {$(
        #[derive(Clone, Copy)]
        struct $name;
        impl<F: Real> Point<F, $n> for $name {
            const COST: usize = $cost;
            #[inline(always)]
            fn at(self, [$($from),+]: [F; $n]) -> F {
                $value
            }
        }

        $(#[$doc])*
        pub(crate) fn $function<F: Real>(team: &Team, $($from: &[F],)+ out: Into<'_, F>) {
            map(team, $name, [$($from),+], out);
        }
    )*};
}

points! {
    /// max(x, 0). A NaN stays, and is seen: `<=` is false for it.
    relu(x) = Relu, 1, 8: if x <= F::ZERO { F::ZERO } else { x };
    /// dy where y > 0: the backward pass, and with tangents the tangent pass.
    relu_mask(y, dy) = ReluMask, 2, 12: if y > F::ZERO { dy } else { F::ZERO };
    /// x·Φ(x).
    gelu(x) = Gelu, 1, 40: x * x.normal().0;
    /// dy·g′(x), g′ = Φ + x·φ: the backward pass, and with tangents the tangent pass.
    gelu_slope(x, dy) = GeluSlope, 2, 40: {
        let (below, density) = x.normal();
        dy * (below + x * density)
    };
    /// dy·g″(x)·ẋ, g″ = φ·(2 − x²): of dẋ, what is added to [`gelu_slope`] of dẏ.
    gelu_bend(x, tx, dy) = GeluBend, 3, 40: dy * tx * x.normal().1 * (F::of(2.0) - x * x);
    /// a.
    copy(a) = Copied, 1, 8: a;
    /// a + b.
    add(a, b) = Sum, 2, 12: a + b;
    /// a·b.
    product(a, b) = Product, 2, 12: a * b;
}
