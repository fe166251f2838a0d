//! ReLU, GELU and sums: one number at a time. A border of zeros stays zero under each, so a pass
//! takes whole buffers.

use crate::cpu::team::Team;
use crate::scalar::Real;

use super::Into;

/// Elements that one task takes.
const STRETCH: usize = 1 << 14;

/// out (+)= f(a, b, …) element by element.
fn map<F: Real, const N: usize>(
    team: &Team,
    out: Into<'_, F>,
    from: [&[F]; N],
    cost: usize,
    f: impl Fn([F; N]) -> F + Send + Sync,
) {
    let (len, add) = (out.out.len(), out.add);
    let from = from.map(|x| &x[..len]);
    team.stretches(out.out, STRETCH, cost * len, |at, out| {
        let from = from.map(|x| &x[at * STRETCH..at * STRETCH + out.len()]);
        for (place, out) in out.iter_mut().enumerate() {
            let value = f(from.map(|x| x[place]));
            *out = if add { *out + value } else { value };
        }
    });
}

/// y = max(x, 0); a NaN stays and is seen.
pub(crate) fn relu<F: Real>(team: &Team, x: &[F], y: &mut [F]) {
    map(team, Into { out: y, add: false }, [x], 8, |[x]| if x <= F::ZERO { F::ZERO } else { x });
}

/// dx (+)= dy where y > 0: the backward pass, and with tangents the tangent pass.
pub(crate) fn relu_mask<F: Real>(team: &Team, y: &[F], dy: &[F], dx: Into<'_, F>) {
    map(team, dx, [y, dy], 12, |[y, dy]| if y > F::ZERO { dy } else { F::ZERO });
}

/// y = x·Φ(x).
pub(crate) fn gelu<F: Real>(team: &Team, x: &[F], y: &mut [F]) {
    map(team, Into { out: y, add: false }, [x], 40, |[x]| x * x.normal().0);
}

/// dx (+)= dy·g′(x), g′ = Φ + x·φ: the backward pass, and with tangents the tangent pass.
pub(crate) fn gelu_slope<F: Real>(team: &Team, x: &[F], dy: &[F], dx: Into<'_, F>) {
    map(team, dx, [x, dy], 40, |[x, dy]| {
        let (below, density) = x.normal();
        dy * (below + x * density)
    });
}

/// dẋ += dy·g″(x)·ẋ, g″ = φ·(2 − x²).
pub(crate) fn gelu_bend<F: Real>(team: &Team, x: &[F], tx: &[F], dy: &[F], out: &mut [F]) {
    map(team, Into { out, add: true }, [x, tx, dy], 40, |[x, tx, dy]| {
        dy * tx * x.normal().1 * (F::of(2.0) - x * x)
    });
}

/// out (+)= a.
pub(crate) fn copy<F: Real>(team: &Team, a: &[F], out: Into<'_, F>) {
    map(team, out, [a], 8, |[a]| a);
}

/// y = a + b.
pub(crate) fn add<F: Real>(team: &Team, a: &[F], b: &[F], y: &mut [F]) {
    map(team, Into { out: y, add: false }, [a, b], 12, |[a, b]| a + b);
}

/// out (+)= a·b.
pub(crate) fn product<F: Real>(team: &Team, a: &[F], b: &[F], out: Into<'_, F>) {
    map(team, out, [a, b], 12, |[a, b]| a * b);
}
