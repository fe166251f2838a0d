//! The mean over pixels, by channel. Linear: its tangent pass is the forward pass of the tangents.

use crate::cpu::frame::Frame;
use crate::cpu::team::Team;
use crate::scalar::Real;

use super::Into;

/// y = mean over the pixels of x.
pub(crate) fn forward<F: Real>(team: &Team, frame: Frame, x: &[F], y: &mut [F]) {
    let share = F::ONE / F::of(frame.pixels() as f64);
    let channels = frame.channels;
    team.stretches(y, channels, x.len(), |example, y| {
        let x = &x[example * frame.stride()..][..frame.stride()];
        y.fill(F::ZERO);
        for row in frame.rows() {
            for pixel in x[row].chunks_exact(channels) {
                y.iter_mut().zip(pixel).for_each(|(y, &x)| *y += x);
            }
        }
        y.iter_mut().for_each(|y| *y *= share);
    });
}

/// dx (+)= dy / pixels, at every pixel.
pub(crate) fn backward<F: Real>(team: &Team, frame: Frame, dy: &[F], dx: Into<'_, F>) {
    let share = F::ONE / F::of(frame.pixels() as f64);
    let (channels, add, len) = (frame.channels, dx.add, dx.out.len());
    team.stretches(dx.out, frame.stride(), len, |example, dx| {
        let dy = &dy[example * channels..][..channels];
        for row in frame.rows() {
            for pixel in dx[row].chunks_exact_mut(channels) {
                for (dx, &dy) in pixel.iter_mut().zip(dy) {
                    *dx = if add { *dx + dy * share } else { dy * share };
                }
            }
        }
    });
}
