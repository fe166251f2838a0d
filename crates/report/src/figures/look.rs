//! What an arm looks like: a colour, a marker and a dash, each different, so that a figure reads in
//! grey and to people who see few colours.
//!
//! The first colours are those of Okabe and Ito, *Color universal design* (2008), in an order in
//! which neighbours also differ in lightness; their yellow is left out, as it is too light on
//! paper, and darker ones follow.

use crate::svg::px;

/// Where a drawing goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A file of its own: white paper, the font inside.
    File,
    /// A part of the page: the page's font, and colours by variables (see [`variables`]).
    Page,
}

/// A colour by what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Text and axes.
    Ink,
    /// Text that steps back.
    Muted,
    /// Lines behind the data.
    Grid,
    /// The ground.
    Paper,
    /// The arm with this look.
    Arm(usize),
}

/// How many arms differ in every way. Those that follow have the colours again, with other markers.
pub const LOOKS: usize = 12;

const BASE: [(&str, &str, &str); 4] = [
    ("ink", "#1f1f1f", "#ececec"),
    ("muted", "#5c5c5c", "#a8a8a8"),
    ("grid", "#e3e3e3", "#3a3a3a"),
    ("paper", "#ffffff", "#16181b"),
];

/// On light ground, on dark ground.
const ARMS: [(&str, &str); LOOKS] = [
    ("#0072b2", "#4aa3df"),
    ("#e69f00", "#f0b030"),
    ("#222222", "#e8e8e8"),
    ("#009e73", "#2cc295"),
    ("#d55e00", "#f0803c"),
    ("#56b4e9", "#8ccbf2"),
    ("#cc79a7", "#e0a0c4"),
    ("#882255", "#d06090"),
    ("#999933", "#c4c45a"),
    ("#332288", "#9a8cf0"),
    ("#888888", "#9c9c9c"),
    ("#8c510a", "#c98a4b"),
];

const DASHES: [&str; 6] = ["none", "5 2", "1.5 1.5", "7 2 1.5 2", "3 1.5", "9 2 1.5 2 1.5 2"];

/// The variables that colour a figure in a page: name, value on light ground, value on dark ground.
pub fn variables() -> Vec<(String, &'static str, &'static str)> {
    let base = BASE.iter().map(|(name, light, dark)| (format!("--figure-{name}"), *light, *dark));
    let arms = ARMS.iter().enumerate();
    let arms = arms.map(|(i, (light, dark))| (format!("--figure-arm-{i}"), *light, *dark));
    base.chain(arms).collect()
}

impl Paint {
    pub(crate) fn written(self, form: Form) -> String {
        let (name, light) = match self {
            Self::Ink => (BASE[0].0.to_owned(), BASE[0].1),
            Self::Muted => (BASE[1].0.to_owned(), BASE[1].1),
            Self::Grid => (BASE[2].0.to_owned(), BASE[2].1),
            Self::Paper => (BASE[3].0.to_owned(), BASE[3].1),
            Self::Arm(look) => (format!("arm-{}", look % LOOKS), ARMS[look % LOOKS].0),
        };
        match form {
            Form::File => light.to_owned(),
            Form::Page => format!("var(--figure-{name}, {light})"),
        }
    }
}

/// The dash of an arm's line.
pub(super) fn dash(look: usize) -> &'static str {
    DASHES[look % DASHES.len()]
}

/// The marker of an arm, which moves on by some places whenever the colours begin again.
fn shape(look: usize) -> usize {
    (look + look / LOOKS * 5) % LOOKS
}

/// Whether an arm's marker is only an outline.
pub(super) fn hollow(look: usize) -> bool {
    (6..11).contains(&shape(look))
}

/// The path of an arm's marker around a place; markers of one radius have about one area.
pub(super) fn marker(look: usize, x: f64, y: f64, radius: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let mut path = String::new();
        for (i, (dx, dy)) in corners.iter().enumerate() {
            path += if i == 0 { "M" } else { "L" };
            path += &format!("{} {}", px(x + radius * dx), px(y + radius * dy));
        }
        path + "Z"
    };
    let (side, thin) = (0.88, 0.4);
    let plus = [
        (-thin, -1.2),
        (thin, -1.2),
        (thin, -thin),
        (1.2, -thin),
        (1.2, thin),
        (thin, thin),
        (thin, 1.2),
        (-thin, 1.2),
        (-thin, thin),
        (-1.2, thin),
        (-1.2, -thin),
        (-thin, -thin),
    ];
    match shape(look) {
        0 | 6 => {
            let (r, d) = (px(radius), px(2.0 * radius));
            format!("M{} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z", px(x - radius), px(y))
        }
        1 | 7 => polygon(&[(-side, -side), (side, -side), (side, side), (-side, side)]),
        2 | 8 => polygon(&[(0.0, -1.3), (1.2, 0.85), (-1.2, 0.85)]),
        3 | 9 => polygon(&[(0.0, -1.3), (1.2, 0.0), (0.0, 1.3), (-1.2, 0.0)]),
        4 | 10 => polygon(&[(0.0, 1.3), (1.2, -0.85), (-1.2, -0.85)]),
        5 => polygon(&plus),
        _ => polygon(&plus.map(|(dx, dy)| (0.707 * (dx - dy), 0.707 * (dx + dy)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_differ_in_every_way() {
        for (i, a) in ARMS.iter().enumerate() {
            for (j, b) in ARMS.iter().enumerate().skip(i + 1) {
                assert_ne!(a.0, b.0);
                let same = marker(i, 0.0, 0.0, 1.0) == marker(j, 0.0, 0.0, 1.0);
                assert!(!same || hollow(i) != hollow(j), "{i} and {j}");
            }
        }
        assert_eq!(Paint::Arm(LOOKS + 1).written(Form::File), ARMS[1].0);
        // With the colours used up, no two arms are alike for a long time.
        let looks: std::collections::HashSet<_> =
            (0..100).map(|i| (i % LOOKS, marker(i, 0.0, 0.0, 1.0), hollow(i))).collect();
        assert_eq!(looks.len(), 100);
        assert_eq!(Paint::Arm(1).written(Form::Page), "var(--figure-arm-1, #e69f00)");
    }

    /// Relative luminance, as the web's contrast rules define it.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let c = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap_or(0)) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    #[test]
    fn colours_stand_out_from_the_paper() {
        let contrast = |a: &str, b: &str| {
            let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
            a.max(b) / a.min(b)
        };
        for (light, dark) in ARMS {
            assert!(contrast(light, BASE[3].1) > 2.0, "{light}");
            assert!(contrast(dark, BASE[3].2) > 4.0, "{dark}");
        }
        for (_, light, dark) in &BASE[..2] {
            assert!(contrast(light, BASE[3].1) > 4.5 && contrast(dark, BASE[3].2) > 4.5);
        }
    }
}
