//! The numbers that the engine computes with: f32 to train, f64 to check.
//!
//! [`Real`] has the arithmetic and, for the inner loops, the vector registers of the machine by
//! way of `pulp`, which picks the instruction set when the program runs.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use pulp::Simd;

/// f32 or f64.
pub trait Real:
    Copy
    + Default
    + Debug
    + PartialOrd
    + Send
    + Sync
    + Sum
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// A vector register of such numbers.
    type Vector<S: Simd>: Copy;

    /// The nearest number.
    fn of(value: f64) -> Self;
    /// The same number in f64.
    fn wide(self) -> f64;
    /// a·b + self, rounded once.
    fn fma(self, a: Self, b: Self) -> Self;
    /// √self.
    fn root(self) -> Self;
    /// 1 / self for a positive number that is not subnormal, to the last bit or two.
    fn inverse(self) -> Self;
    /// eˣ.
    fn exp(self) -> Self;
    /// Φ and φ, the normal distribution function and its density.
    fn normal(self) -> (Self, Self);

    /// How many numbers a register holds.
    fn lanes<S: Simd>() -> usize;
    /// The number in every lane.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;
    /// a·b + c by lane.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// a + b by lane.
    fn plus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a − b by lane.
    fn minus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// a·b by lane.
    fn times<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// The first lanes from a slice shorter than a register, 0 in the others.
    fn partial_load<S: Simd>(simd: S, from: &[Self]) -> Self::Vector<S>;
    /// The first lanes into a slice shorter than a register.
    fn partial_store<S: Simd>(simd: S, to: &mut [Self], value: Self::Vector<S>);
}

const INVERSE_ROOT_TAU: f64 = 0.398_942_280_401_432_7;

/// Both number types, with what differs between them and the registers of their own.
macro_rules! real {
    (
        $float:ident, $vectors:ident, $lanes:ident, $splat:ident, $mul_add:ident, $add:ident,
        $sub:ident, $mul:ident, $partial_load:ident, $partial_store:ident;
        $($own:tt)*
    ) => {
        impl Real for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            type Vector<S: Simd> = S::$vectors;

            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn fma(self, a: Self, b: Self) -> Self {
                a.mul_add(b, self)
            }
            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                S::$lanes
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S> {
                simd.$splat(value)
            }
            #[inline(always)]
            fn mul_add<S: Simd>(
                simd: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                simd.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn plus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn minus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                simd.$sub(a, b)
            }
            #[inline(always)]
            fn times<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                simd.$mul(a, b)
            }
            #[inline(always)]
            fn partial_load<S: Simd>(simd: S, from: &[Self]) -> Self::Vector<S> {
                simd.$partial_load(from)
            }
            #[inline(always)]
            fn partial_store<S: Simd>(simd: S, to: &mut [Self], value: Self::Vector<S>) {
                simd.$partial_store(to, value);
            }

            $($own)*
        }
    };
}

real! {
    f64, f64s, F64_LANES, splat_f64s, mul_add_f64s, add_f64s, sub_f64s, mul_f64s, partial_load_f64s,
    partial_store_f64s;

    #[inline(always)]
    fn inverse(self) -> Self {
        1.0 / self
    }

    #[inline(always)]
    fn exp(self) -> Self {
        libm::exp(self)
    }

    #[inline(always)]
    fn normal(self) -> (Self, Self) {
        let below = 0.5 * libm::erfc(-self * std::f64::consts::FRAC_1_SQRT_2);
        (below, INVERSE_ROOT_TAU * libm::exp(-0.5 * self * self))
    }
}

real! {
    f32, f32s, F32_LANES, splat_f32s, mul_add_f32s, add_f32s, sub_f32s, mul_f32s, partial_load_f32s,
    partial_store_f32s;

    /// A guess from the bits, then Newton's y ← y·(2 − x·y) three times. Division and square root
    /// share one slow unit of a core; where a loop needs both, this leaves it to the root.
    #[inline(always)]
    fn inverse(self) -> Self {
        let mut y = f32::from_bits(0x7ef3_11c7_u32.wrapping_sub(self.to_bits()));
        for _ in 0..3 {
            y = y.mul_add((-self).mul_add(y, 1.0), y);
        }
        y
    }

    /// 2ⁿ·p(r) with x = n·ln 2 + r, |r| ≤ ln 2 / 2: no branch and no table, so that a loop over it
    /// becomes vector code. Within 2 units in the last place between −87 and 88; beyond, it stays
    /// at the smallest or largest such value.
    #[inline(always)]
    fn exp(self) -> Self {
        const LN_2_HIGH: f32 = 0.693_359_4;
        const LN_2_LOW: f32 = -2.121_944_4e-4;
        let x = self.clamp(-87.0, 88.0);
        // Adding and taking away 1.5·2²³ rounds to a whole number.
        const MAGIC: f32 = 12_582_912.0;
        let n = x.mul_add(std::f32::consts::LOG2_E, MAGIC) - MAGIC;
        let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
        let mut p = 1.0 / 5040.0;
        for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
            p = r.mul_add(p, c);
        }
        // n is whole and within ±127, its bits make the power of two.
        let power = f32::from_bits(((n as i32 + 127) << 23) as u32);
        p * power
    }

    /// Abramowitz and Stegun 7.1.26 (absolute error 1.5e-7 for erf), which shares its exponential
    /// with the density.
    #[inline(always)]
    fn normal(self) -> (Self, Self) {
        let density = Real::exp(-0.5 * self * self);
        let z = self.abs() * std::f32::consts::FRAC_1_SQRT_2;
        let t = 1.0 / z.mul_add(0.327_591_1, 1.0);
        let mut p = 1.061_405_4f32;
        for c in [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6] {
            p = t.mul_add(p, c);
        }
        let tail = 0.5 * p * t * density;
        let below = if self < 0.0 { tail } else { 1.0 - tail };
        (below, INVERSE_ROOT_TAU as f32 * density)
    }
}

/// The dot product of short slices: eight sums side by side, which fit registers.
pub fn inner<F: Real>(a: &[F], b: &[F]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a.wide() * b.wide();
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a.wide() * b.wide()).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::Real;

    #[test]
    fn fast_exponentials_are_close() {
        for step in -8700..8800 {
            let x = step as f32 / 100.0;
            let (ours, exact) = (f64::from(Real::exp(x)), f64::from(x).exp());
            assert!((ours / exact - 1.0).abs() < 3e-7, "exp({x}) = {ours}, not {exact}");
        }
    }

    #[test]
    fn fast_inverses_are_close() {
        for exponent in -100..100 {
            for step in 0..1000 {
                let x = 2f32.powi(exponent) * (1.0 + step as f32 / 1000.0);
                let (ours, exact) = (f64::from(x.inverse()), 1.0 / f64::from(x));
                assert!((ours / exact - 1.0).abs() < 1.2e-7, "1/{x} = {ours}, not {exact}");
            }
        }
        assert!(f32::NAN.inverse().is_nan());
    }

    #[test]
    fn the_normal_distribution_is_close() {
        for step in -1000..1000 {
            let x = f64::from(step) / 100.0;
            let (below, density) = (x as f32).normal();
            let (exact, exact_density) = f64::from(x as f32).normal();
            assert!((below.wide() - exact).abs() < 2e-7, "Φ({x}) = {below}, not {exact}");
            assert!((density.wide() - exact_density).abs() < 2e-7);
        }
    }
}
