//! From a value to its place on an axis, the ticks of an axis, and numbers as people read them.

/// An axis from one value to another, linear or logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) log: bool,
}

/// A place and its label.
pub(super) type Tick = (f64, String);

/// Beyond this a difference of two values would overflow; nothing that is measured comes near.
const FAR: f64 = 1e150;

impl Scale {
    pub(super) fn between(from: f64, to: f64) -> Self {
        Self { from, to, log: false }
    }

    /// All of these values with a little room on both sides; those that have no place are left out.
    pub(super) fn around(values: impl Iterator<Item = f64>, log: bool) -> Self {
        let fine = |v: &f64| v.abs() < FAR && (!log || *v > 1e-150);
        let (low, high) = values
            .filter(fine)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            return Self {
                from: if log { 1.0 } else { 0.0 },
                to: if log { 10.0 } else { 1.0 },
                log,
            };
        }
        if log {
            let factor = (high / low).powf(0.05).max(1.1);
            return Self { from: low / factor, to: high * factor, log };
        }
        let middle = f64::midpoint(low, high);
        // Values that do not differ, but for rounding, get room by their size.
        let room = match high - low {
            span if span > 1e-9 * middle.abs().max(1e-300) => 0.06 * span,
            _ if middle == 0.0 => 1.0,
            _ => 0.1 * middle.abs(),
        };
        Self { from: low - room, to: high + room, log }
    }

    /// The same scale, with this value on it.
    pub(super) fn with(self, value: f64) -> Self {
        Self { from: self.from.min(value), to: self.to.max(value), log: self.log }
    }

    /// Where a value is, from 0 to 1; a value beyond the axis is at its end.
    pub(super) fn at(self, value: f64) -> f64 {
        let turn = |v: f64| if self.log { v.max(1e-300).ln() } else { v };
        let (from, to) = (turn(self.from), turn(self.to));
        let share = (turn(value) - from) / (to - from);
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 }
    }

    /// About so many ticks at round values.
    pub(super) fn ticks(self, about: usize) -> Vec<Tick> {
        let about = about.max(2);
        let decades = if self.log { (self.to / self.from).log10() } else { 0.0 };
        if decades < 0.7 { self.even_ticks(about) } else { self.decade_ticks(decades, about) }
    }

    fn even_ticks(self, about: usize) -> Vec<Tick> {
        let raw = (self.to - self.from) / about as f64;
        let size = 10f64.powf(raw.log10().floor());
        let at = |step: f64| -> Vec<f64> {
            let first = (self.from / step - 1e-9).ceil();
            let values = (0..=2 * about).map(|i| (first + i as f64) * step);
            values.take_while(|v| *v <= self.to + 1e-9 * step).collect()
        };
        // The finest round step that is not much finer than asked for; but one tick is no scale.
        let steps = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0].map(|m| m * size);
        let fits = |step: &f64| at(*step).len() <= about + 1;
        let Some(place) = steps[1..].iter().position(fits) else { return Vec::new() };
        let step = if at(steps[place + 1]).len() < 2 { steps[place] } else { steps[place + 1] };
        let values = at(step);
        let most = values.iter().fold(0f64, |most, v| most.max(v.abs()));
        let decimals = -(step.log10() + 1e-9).floor();
        let label = |v: f64| {
            if v != 0.0 && (most >= 1e6 || step < 1e-5) {
                // As many digits as tell neighbours apart.
                let digits = (most.log10().floor() + decimals).clamp(0.0, 12.0) as usize;
                return minus(&power_of_ten(v, digits));
            }
            minus(&format!("{v:.*}", decimals.clamp(0.0, 12.0) as usize))
        };
        values.into_iter().map(|v| (v, label(v))).collect()
    }

    fn decade_ticks(self, decades: f64, about: usize) -> Vec<Tick> {
        let within = |v: &f64| *v >= self.from * 0.999 && *v <= self.to * 1.001;
        let (first, last) = (self.from.log10().floor() as i32, self.to.log10().ceil() as i32);
        let parts: &[f64] = if decades <= 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = (decades / about as f64).ceil().max(1.0) as usize;
        let powers = (first..=last).step_by(if parts.len() == 1 { every } else { 1 });
        let values = powers.flat_map(|power| parts.iter().map(move |part| (*part, power)));
        let label = |(part, power): (f64, i32)| {
            let value = part * 10f64.powi(power);
            let text = match power {
                0..=4 => format!("{value:.0}"),
                -4..0 => format!("{value:.*}", power.unsigned_abs() as usize),
                _ => power_of_ten(value, 0),
            };
            (value, text)
        };
        values.map(label).filter(|(value, _)| within(value)).collect()
    }
}

/// A number as a digit and a power of ten: 2×10⁶.
fn power_of_ten(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (number, power) = text.split_once('e').unwrap_or((&text, "0"));
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => c.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(c),
    };
    let number = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    };
    format!("{number}×10{}", power.chars().map(raised).collect::<String>())
}

/// With a true minus sign, and without one before zero.
fn minus(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text.to_owned(),
    }
}

/// A number with so many digits after the point.
pub(super) fn fixed(value: f64, digits: usize) -> String {
    minus(&format!("{value:.digits$}"))
}

/// Digits after the point that tell values on a scale apart.
pub(super) fn digits(scale: Scale) -> usize {
    let span = (scale.to - scale.from).log10().floor();
    (2.0 - span).clamp(0.0, 8.0) as usize
}

/// A number with about four digits.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 || (size < 1e-4 && size > 0.0) {
        return minus(&power_of_ten(value, 3));
    }
    let digits = match size {
        s if s >= 1000.0 => 0,
        s if s >= 100.0 => 1,
        s if s >= 10.0 => 2,
        s if s >= 1.0 || s == 0.0 => 3,
        _ => 4,
    };
    let text = format!("{value:.digits$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    minus(text)
}

/// A whole number with its thousands apart.
pub(super) fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, about: usize) -> Vec<String> {
        scale.ticks(about).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(Scale::between(0.0, 1.0), 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(
            labels(Scale::between(-0.012, 0.011), 4),
            ["−0.010", "−0.005", "0.000", "0.005", "0.010"]
        );
        assert_eq!(labels(Scale::between(3.0, 97.0), 5), ["20", "40", "60", "80"]);
        // Few are asked for, and 0.5 would give one.
        assert_eq!(labels(Scale::between(1.08, 1.93), 2), ["1.2", "1.4", "1.6", "1.8"]);
        assert_eq!(
            labels(Scale::between(0.0, 2.1e6), 4),
            ["0", "5×10⁵", "1×10⁶", "1.5×10⁶", "2×10⁶"]
        );
        let log = |from, to| Scale { from, to, log: true };
        assert_eq!(labels(log(0.9, 55.0), 5), ["1", "2", "5", "10", "20", "50"]);
        assert_eq!(labels(log(1e-6, 1.0), 4), ["1×10⁻⁶", "0.0001", "0.01", "1"]);
        assert_eq!(labels(log(40.0, 60.0), 4), ["40", "45", "50", "55", "60"]);
    }

    #[test]
    fn any_values_have_a_scale_with_finite_ticks() {
        let nan = f64::NAN;
        let cases = [
            vec![],
            vec![nan, f64::INFINITY],
            vec![0.0],
            vec![5.0, 5.0],
            vec![1e15, 1e15 + 1.0],
            vec![-1e300, 1e300],
            vec![1e-300, 2e-300],
            vec![0.1 + 0.2, 0.3],
        ];
        for values in cases {
            for log in [false, true] {
                let scale = Scale::around(values.iter().copied(), log);
                assert!(scale.from < scale.to, "{values:?} {scale:?}");
                let ticks = scale.ticks(5);
                assert!(ticks.len() < 20, "{values:?}");
                for value in ticks.iter().map(|t| t.0).chain(values.iter().copied()) {
                    assert!((0.0..=1.0).contains(&scale.at(value)));
                }
            }
        }
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(short(0.502_71), "0.5027");
        assert_eq!(short(-12.5), "−12.5");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(2_340_000.0), "2.34×10⁶");
        assert_eq!(short(100.0), "100");
        assert_eq!(fixed(-0.000_01, 3), "0.000");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }
}
