//! From rows of a data set to the buffers of a batch: normalized, moved, turned, mixed.

use crate::device::{Dataset, Shift, Targets};
use crate::scalar::Real;

use super::frame::Frame;
use super::team::Team;

/// A data set with the 256 normalized values of every channel.
pub(crate) struct Examples<F> {
    data: Dataset,
    table: Vec<F>,
}

/// One example of a batch, and what is mixed into it.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub(crate) row: u32,
    pub(crate) shift: Shift,
}

impl<F: Real> Examples<F> {
    pub(crate) fn new(data: &Dataset) -> Self {
        let mut table = Vec::new();
        if let Dataset::Images { mean, deviation, .. } = data {
            for (&mean, &deviation) in mean.iter().zip(deviation) {
                table.extend((0..256).map(|byte| {
                    F::of((f64::from(byte) / 255.0 - f64::from(mean)) / f64::from(deviation))
                }));
            }
        }
        Self { data: data.clone(), table }
    }

    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    /// Fills the buffer: example e of the batch is λ·`of(e)` + (1 − λ)·`of(partner[e])`.
    pub(crate) fn fill(
        &self,
        team: &Team,
        frame: Frame,
        count: usize,
        of: impl Fn(usize) -> Source + Send + Sync,
        mixed: Option<(F, &[u32])>,
        out: &mut [F],
    ) {
        let out = &mut out[..count * frame.stride()];
        // Most of it is waiting for memory.
        let cost = 16 * out.len();
        team.stretches(out, frame.stride(), cost, |example, out| {
            self.one(frame, of(example), F::ONE, false, out);
            if let Some((lambda, partner)) = mixed {
                for row in frame.rows() {
                    out[row].iter_mut().for_each(|value| *value *= lambda);
                }
                self.one(frame, of(partner[example] as usize), F::ONE - lambda, true, out);
            }
        });
    }

    /// out = or += weight · example.
    fn one(&self, frame: Frame, source: Source, weight: F, add: bool, out: &mut [F]) {
        let put = |out: &mut F, value: F| {
            *out = if add { out.fma(weight, value) } else { value };
        };
        match &self.data {
            Dataset::Vectors { width, values } => {
                let from = &values[source.row as usize * width..][..*width];
                for (out, &value) in out.iter_mut().zip(from) {
                    put(out, F::of(f64::from(value)));
                }
            }
            Dataset::Images { height, width, channels, pixels, .. } => {
                let size = height * width * channels;
                let from = &pixels[source.row as usize * size..][..size];
                // An image may be wanted as a plain vector, which has no border.
                let plain = frame.stride() == size;
                let place = |y: usize, x: usize| match plain {
                    true => (y * width + x) * channels,
                    false => frame.at(y, x),
                };
                for y in 0..*height {
                    let above = y as isize - isize::from(source.shift.down);
                    for x in 0..*width {
                        let left = x as isize - isize::from(source.shift.right);
                        let inside = (0..*height as isize).contains(&above)
                            && (0..*width as isize).contains(&left);
                        let column = match source.shift.flip {
                            true => *width as isize - 1 - left,
                            false => left,
                        };
                        let to = place(y, x);
                        for c in 0..*channels {
                            let byte = match inside {
                                true => {
                                    from[(above as usize * width + column as usize) * channels + c]
                                }
                                false => 0,
                            };
                            put(&mut out[to + c], self.table[c * 256 + usize::from(byte)]);
                        }
                    }
                }
            }
        }
    }
}

/// The target of every example of a batch as a row of probabilities: λ·own + (1 − λ)·partner's.
pub(crate) fn targets<F: Real>(
    from: Targets<'_>,
    classes: usize,
    count: usize,
    of: impl Fn(usize) -> usize,
    mixed: Option<(F, &[u32])>,
    out: &mut Vec<F>,
) {
    out.clear();
    out.resize(count * classes, F::ZERO);
    let add = |row: usize, weight: F, out: &mut [F]| match from {
        Targets::Classes(labels) => out[usize::from(labels[row])] += weight,
        Targets::Drawn(votes, draw) => {
            if let Some(class) = votes.class(row, draw) {
                out[usize::from(class)] += weight;
            }
        }
        Targets::Distributions(table) => {
            for (out, &p) in out.iter_mut().zip(&table[row * classes..][..classes]) {
                *out = out.fma(weight, F::of(f64::from(p)));
            }
        }
    };
    for (example, out) in out.chunks_exact_mut(classes).enumerate() {
        match mixed {
            None => add(of(example), F::ONE, out),
            Some((lambda, partner)) => {
                add(of(example), lambda, out);
                add(of(partner[example] as usize), F::ONE - lambda, out);
            }
        }
    }
}
