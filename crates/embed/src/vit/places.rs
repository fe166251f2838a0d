//! The vectors of an image's places, brought from the grid of training to another one.
//!
//! Bicubic as PyTorch's `interpolate(mode="bicubic", align_corners=False)` by size: Keys' cubic with
//! a = −3/4, no antialiasing, borders repeated. Which is how Hugging Face's Dinov2Model does it (the
//! original code scales by (side + 0.1)/grid instead, so its vectors differ slightly).

/// Four weights around x, for t of the way from the second to the third.
fn weights(t: f64) -> [f64; 4] {
    const A: f64 = -0.75;
    let near = |x: f64| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f64| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)]
}

/// Four places and weights for each of `new` places on a side that had `old`.
fn taps(old: usize, new: usize) -> Vec<[(usize, f64); 4]> {
    let scale = old as f64 / new as f64;
    let one = |at: usize| {
        let from = (at as f64 + 0.5) * scale - 0.5;
        let whole = from.floor();
        let weights = weights(from - whole);
        std::array::from_fn(|i| {
            let place = (whole as i64 + i as i64 - 1).clamp(0, old as i64 - 1);
            (place as usize, weights[i])
        })
    };
    (0..new).map(one).collect()
}

/// From old × old rows of `width` numbers to new × new.
pub(super) fn interpolate(grid: &[f32], old: usize, new: usize, width: usize) -> Vec<f32> {
    if old == new {
        return grid.to_vec();
    }
    let taps = taps(old, new);
    let mut out = Vec::with_capacity(new * new * width);
    for down in &taps {
        for across in &taps {
            for j in 0..width {
                let row = |y: usize| -> f64 {
                    across
                        .iter()
                        .map(|&(x, w)| w * f64::from(grid[(y * old + x) * width + j]))
                        .sum()
                };
                out.push(down.iter().map(|&(y, w)| w * row(y)).sum::<f64>() as f32);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// torch 2.15: `g = torch.arange(9.).reshape(1, 1, 3, 3) ** 2;`
    /// `F.interpolate(g, size=(2, 2), mode="bicubic", align_corners=False)`
    #[test]
    fn as_pytorch_does() {
        let grid: Vec<f32> = (0..9u8).map(|i| f32::from(i) * f32::from(i)).collect();
        let found = interpolate(&grid, 3, 2, 1);
        let wanted = [1.430_755_6, 6.522_369_4, 32.397_37, 53.180_756];
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?}");
    }
}
