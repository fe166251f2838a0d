//! Where a window of a convolution or a pool lies on a picture.
//!
//! Output o, tap t: input o·stride − before + t·dilation, or padding where that is outside.

use std::ops::Range;

use super::attributes::Attributes;

/// How a picture's edges are padded.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Padding {
    /// Top, left, bottom, right.
    Fixed([usize; 4]),
    /// As much as an output of ⌈size / stride⌉ needs; an odd one more at the end, or the start.
    Same { upper: bool },
}

/// A window of rows × columns; every pair is (rows, columns).
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) kernel: [usize; 2],
    strides: [usize; 2],
    dilations: [usize; 2],
    padding: Padding,
    /// Whether a window may end beyond the padding.
    ceil: bool,
}

/// A window on a picture of a known size, one side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    size: usize,
    pub(super) outputs: usize,
    pub(super) kernel: usize,
    stride: usize,
    dilation: usize,
    before: usize,
    after: usize,
}

impl Window {
    /// From the attributes that convolutions and pools share.
    pub(super) fn read(
        attributes: &mut Attributes<'_>,
        kernel: Option<[usize; 2]>,
    ) -> Result<Self, String> {
        let stated = attributes.pair("kernel_shape")?;
        let kernel = match (stated, kernel) {
            (Some(stated), Some(found)) if stated != found => {
                return Err(format!("kernel_shape is {stated:?} and the weights are {found:?}"));
            }
            (stated, found) => stated.or(found).ok_or("has no attribute kernel_shape")?,
        };
        let strides = attributes.pair("strides")?.unwrap_or([1, 1]);
        let dilations = attributes.pair("dilations")?.unwrap_or([1, 1]);
        for (name, pair) in
            [("kernel_shape", kernel), ("strides", strides), ("dilations", dilations)]
        {
            if pair.iter().any(|number| !(1..1 << 20).contains(number)) {
                return Err(format!("{name} is {pair:?}; numbers from 1 to 2^20 are taken"));
            }
        }
        let pads = attributes.sizes("pads")?;
        let padding = match (attributes.text("auto_pad")?.as_deref(), pads.as_deref()) {
            (Some("SAME_UPPER"), None) => Padding::Same { upper: true },
            (Some("SAME_LOWER"), None) => Padding::Same { upper: false },
            (Some("VALID"), None) | (Some("NOTSET") | None, None) => Padding::Fixed([0; 4]),
            (Some("NOTSET") | None, Some(&[top, left, bottom, right])) => {
                Padding::Fixed([top, left, bottom, right])
            }
            (auto, pads) => {
                return Err(format!(
                    "pads {pads:?} with auto_pad {auto:?}; four pads, or SAME_UPPER, SAME_LOWER \
                     or VALID without pads, are taken"
                ));
            }
        };
        let ceil = attributes.flag("ceil_mode")?.unwrap_or(false);
        Ok(Self { kernel, strides, dilations, padding, ceil })
    }

    /// One pixel at a time and no padding: what lies at an output is its input.
    pub(super) fn is_pointwise(&self) -> bool {
        let padded = matches!(self.padding, Padding::Fixed(pads) if pads != [0; 4]);
        self.kernel == [1, 1] && self.strides == [1, 1] && !padded
    }

    /// Whether padding can hide a whole window, which a pool has no number for.
    pub(super) fn may_be_empty(&self) -> bool {
        match self.padding {
            Padding::Fixed([top, left, bottom, right]) => {
                top.max(bottom) >= self.kernel[0] || left.max(right) >= self.kernel[1]
            }
            Padding::Same { .. } => false,
        }
    }

    /// On a picture of this size.
    pub(super) fn on(&self, size: [usize; 2]) -> Result<[Side; 2], String> {
        Ok([self.side(0, size[0])?, self.side(1, size[1])?])
    }

    fn side(&self, side: usize, size: usize) -> Result<Side, String> {
        let (kernel, stride) = (self.kernel[side], self.strides[side]);
        let dilation = self.dilations[side];
        // At most 2^40, by the bounds of both.
        let span = (kernel - 1) * dilation + 1;
        let (outputs, before, after) = match self.padding {
            Padding::Same { upper } => {
                let outputs = size.div_ceil(stride);
                let covered = outputs.saturating_sub(1) * stride + span;
                let pad = covered.saturating_sub(size);
                let before = if upper { pad / 2 } else { pad.div_ceil(2) };
                (outputs, before, pad - before)
            }
            Padding::Fixed(pads) => {
                let (before, after) = (pads[side], pads[side + 2]);
                let padded = before.checked_add(after).and_then(|pads| pads.checked_add(size));
                let room = padded.and_then(|padded| padded.checked_sub(span));
                let Some(room) = room.filter(|_| size > 0) else {
                    return Err(format!(
                        "a window of {span} on a side of {size} with padding {before} + {after}"
                    ));
                };
                let mut outputs = room / stride + 1;
                // A window that starts in the padding at the end would see nothing.
                if self.ceil && room % stride != 0 && outputs * stride < size + before {
                    outputs += 1;
                }
                (outputs, before, after)
            }
        };
        Ok(Side { size, outputs, kernel, stride, dilation, before, after })
    }
}

impl Side {
    /// The taps of an output that lie on the picture, and the input of the first.
    pub(super) fn taps(&self, output: usize) -> (Range<usize>, usize) {
        let start = output * self.stride;
        let first = self.before.saturating_sub(start).div_ceil(self.dilation);
        // start − before + t·dilation < size
        let room = (self.size + self.before).saturating_sub(start);
        let end = room.div_ceil(self.dilation).min(self.kernel);
        if first >= end {
            return (0..0, 0);
        }
        (first..end, start + first * self.dilation - self.before)
    }

    /// From one tap's input to the next one's.
    pub(super) fn step(&self) -> usize {
        self.dilation
    }

    /// How many taps of an output lie on the picture or its padding.
    pub(super) fn padded_taps(&self, output: usize) -> usize {
        let room = (self.before + self.size + self.after).saturating_sub(output * self.stride);
        room.div_ceil(self.dilation).min(self.kernel)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    fn side(size: usize, kernel: usize, stride: usize, padding: Padding) -> Result<Side, String> {
        let window = Window {
            kernel: [kernel; 2],
            strides: [stride; 2],
            dilations: [1, 1],
            padding,
            ceil: false,
        };
        window.side(0, size)
    }

    #[test]
    fn same_pads_more_at_the_end() {
        let upper = side(224, 3, 2, Padding::Same { upper: true }).unwrap();
        assert_eq!((upper.outputs, upper.before, upper.after), (112, 0, 1));
        assert_eq!((upper.taps(0), upper.taps(111)), ((0..3, 0), (0..2, 222)));
        let lower = side(224, 3, 2, Padding::Same { upper: false }).unwrap();
        assert_eq!((lower.before, lower.taps(0)), (1, (1..3, 0)));
    }

    #[test]
    fn windows_that_cannot_be_placed_are_refused() {
        assert!(side(2, 3, 1, Padding::Fixed([0; 4])).unwrap_err().contains("window of 3"));
        assert!(side(2, 3, 1, Padding::Fixed([usize::MAX; 4])).is_err());
        let wide = side(2, 3, 1, Padding::Fixed([9; 4])).unwrap();
        assert_eq!((wide.outputs, wide.taps(0), wide.taps(17)), (18, (0..0, 0), (0..0, 0)));
        assert_eq!(wide.taps(8), (1..3, 0));
    }
}
