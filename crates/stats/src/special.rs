//! The distribution functions behind the p values.
//!
//! Tails are computed as tails, never as 1 − the rest, so that a small p keeps its digits. Each
//! agrees with scipy to 1e-12 relative over the grids in `tests/golden`.

mod binomial;
mod normal;
mod stirling;
mod student;

pub use binomial::half_binomial_lower;
pub use normal::{normal_cdf, normal_quantile, normal_sf};
pub use student::{t_quantile_upper, t_sf};
