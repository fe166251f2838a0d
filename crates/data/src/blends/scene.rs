//! What an item shows: two glyphs, how strong each is, and what is hidden.
//!
//! With a the stronger glyph of share m and b the weaker of share 1 − m, the image is
//!
//! ```text
//! background + contrast · (m·A + (1−m)·B),  covered by the patch, plus noise
//! ```
//!
//! and the evidence for class k is what is visible of either glyph, as far as k would look alike,
//!
//! ```text
//! e(k) = m · v_a · s_ak + (1−m) · v_b · s_bk
//! ```
//!
//! where v is the share of a glyph's ink that is not hidden and s_gk is the fourth power of the
//! cosine between the visible ink of g and that of k drawn in the same pose; s_gg = 1. Where the
//! patch hides what tells two glyphs apart, both get evidence.

use super::draws::{Use, bell, between, stream};
use super::glyphs::{CLASSES, GLYPHS};
use super::image::{PIXELS, Patch, Plane, Pose, byte};

/// The two glyphs of an item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// Class of the stronger glyph.
    pub major: u16,
    /// Class of the weaker glyph; another one.
    pub minor: u16,
    /// Share of the stronger glyph, from ½ to 1.
    pub share: f64,
}

/// Everything about an item's image but its noise.
pub(super) struct Scene {
    pub(super) blend: Blend,
    poses: [Pose; 2],
    patch: Patch,
    background: f64,
    contrast: f64,
}

impl Scene {
    /// The scene of an item. Every setting changes only its own part of it.
    pub(super) fn draw(seed: u64, item: usize, ambiguity: f64, occlusion: f64) -> Self {
        let stream = &mut stream(seed, Use::Scene, [item, 0]);
        let major = stream.below(CLASSES as u64) as u16;
        let other = stream.below(CLASSES as u64 - 1) as u16;
        let minor = if other < major { other } else { other + 1 };
        let share = 1.0 - 0.5 * tilt(stream.unit(), ambiguity);
        let poses = [Pose::draw(stream), Pose::draw(stream)];
        let background = between(stream, 0.1, 0.25);
        let contrast = between(stream, 0.5, 0.75);
        let patch = Patch::draw(stream, occlusion);
        Self { blend: Blend { major, minor, share }, poses, patch, background, contrast }
    }

    fn glyphs(&self) -> [(usize, f64, &Pose); 2] {
        let Blend { major, minor, share } = self.blend;
        [(major as usize, share, &self.poses[0]), (minor as usize, 1.0 - share, &self.poses[1])]
    }

    /// The pixels, with noise of this standard deviation (1 is the way from black to white).
    pub(super) fn pixels(&self, seed: u64, item: usize, noise: f64) -> [u8; PIXELS] {
        let [(a, share_a, pose_a), (b, share_b, pose_b)] = self.glyphs();
        let (ink_a, ink_b) = (pose_a.ink(&GLYPHS[a]), pose_b.ink(&GLYPHS[b]));
        let stream = &mut stream(seed, Use::Noise, [item, 0]);
        std::array::from_fn(|pixel| {
            let ink = share_a * ink_a[pixel] + share_b * ink_b[pixel];
            let shown = if self.patch.hides(pixel) {
                self.patch.grey
            } else {
                self.background + self.contrast * ink
            };
            byte(shown + noise * bell(stream))
        })
    }

    /// The evidence for every class.
    pub(super) fn evidence(&self) -> [f64; CLASSES] {
        let mut evidence = [0.0; CLASSES];
        for (own, share, pose) in self.glyphs() {
            let drawn = pose.ink(&GLYPHS[own]);
            let seen = self.visible(drawn);
            let ink = dot(&seen, &seen);
            if ink == 0.0 {
                continue;
            }
            let strength = share * seen.iter().sum::<f64>() / drawn.iter().sum::<f64>();
            for (class, glyph) in GLYPHS.iter().enumerate() {
                let alike = if class == own {
                    1.0
                } else {
                    let other = self.visible(pose.ink(glyph));
                    let cross = dot(&seen, &other);
                    let squared =
                        cross * cross / (ink * dot(&other, &other)).max(f64::MIN_POSITIVE);
                    squared * squared
                };
                evidence[class] += strength * alike;
            }
        }
        evidence
    }

    fn visible(&self, mut ink: Plane) -> Plane {
        (0..PIXELS).filter(|&p| self.patch.hides(p)).for_each(|p| ink[p] = 0.0);
        ink
    }
}

/// Moves an even draw u towards 0 or 1: its odds times a/(1−a). Rises with a for every u; a = ½
/// leaves it alone.
fn tilt(u: f64, a: f64) -> f64 {
    // A draw is never 1 but can be 0, which has no odds to multiply.
    let u = u.max(f64::EPSILON);
    a * u / (a * u + (1.0 - a) * (1.0 - u))
}

fn dot(a: &Plane, b: &Plane) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tilt_keeps_to_its_range() {
        for u in [0.0, 0.3, 1.0 - f64::EPSILON / 2.0] {
            assert_eq!((tilt(u, 0.0), tilt(u, 1.0)), (0.0, 1.0));
            assert!(tilt(u, 0.2) < tilt(u, 0.6));
            assert!((tilt(u, 0.5) - u).abs() <= f64::EPSILON);
        }
    }

    #[test]
    fn evidence_is_for_what_is_shown() {
        for item in 0..50 {
            let scene = Scene::draw(3, item, 0.5, 0.0);
            let Blend { major, minor, share } = scene.blend;
            assert!(major != minor && (0.5..=1.0).contains(&share));
            let evidence = scene.evidence();
            assert!(evidence[major as usize] >= share);
            assert!(evidence[minor as usize] >= 1.0 - share);
            assert!(evidence.iter().all(|e| (0.0..=1.0 + 1e-12).contains(e)), "{evidence:?}");
        }
    }

    /// A patch can hide everything; then there is no evidence, and no NaN either.
    #[test]
    fn hidden_glyphs_give_no_evidence() {
        let least = (0..600)
            .map(|item| Scene::draw(5, item, 0.5, 1.0).evidence())
            .map(|e| e.iter().sum::<f64>())
            .fold(f64::INFINITY, |least, sum| if sum.is_nan() { sum } else { least.min(sum) });
        assert!((0.0..0.05).contains(&least), "{least}");
    }
}
