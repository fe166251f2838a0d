//! What a bootstrap draws.

use dissensus_core::philox::Stream;
use serde::{Deserialize, Serialize};

use super::IntervalMethod;
use crate::{StatsError, Undefined};

/// The units of a sample, and so what is drawn with replacement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Plan {
    /// Rows that are drawn one by one: items, or seeds.
    Rows { n: usize },
    /// Groups are drawn, then rows within each drawn group: seeds that each have items of their
    /// own. Rows are numbered group after group.
    Nested {
        /// The rows of each group.
        groups: Vec<usize>,
    },
    /// A full table, of which rows and columns are drawn independently and crossed: the same items
    /// under every seed. Cell (r, c) is number r · columns + c. A. B. Owen, *The pigeonhole
    /// bootstrap* (2007), which errs on the wide side; percentile only.
    Crossed { rows: usize, columns: usize },
}

impl Plan {
    /// How many indices there are.
    pub fn rows(&self) -> usize {
        match self {
            Self::Rows { n } => *n,
            // Counts past usize are refused before anything is drawn.
            Self::Nested { groups } => groups.iter().fold(0, |sum, rows| sum.saturating_add(*rows)),
            Self::Crossed { rows, columns } => rows.saturating_mul(*columns),
        }
    }

    pub(super) fn check(&self, method: IntervalMethod) -> Result<(), StatsError> {
        let fault =
            |value: String, expected| Err(StatsError::Setting { name: "plan", value, expected });
        match self {
            Self::Rows { n: 0 } => return Err(StatsError::Empty { what: "rows" }),
            Self::Rows { .. } => {}
            Self::Nested { groups } if groups.is_empty() => {
                return Err(StatsError::Empty { what: "groups" });
            }
            Self::Nested { groups } => {
                if let Some(at) = groups.iter().position(|rows| *rows == 0) {
                    return fault(format!("groups[{at}] = 0"), "at least one row in each group");
                }
                if groups.iter().try_fold(0usize, |sum, rows| sum.checked_add(*rows)).is_none() {
                    return fault("nested".to_owned(), "a number of rows that can be counted");
                }
            }
            Self::Crossed { rows, columns } => {
                if *rows == 0 || *columns == 0 {
                    return Err(StatsError::Empty { what: "table" });
                }
                if rows.checked_mul(*columns).is_none() {
                    return fault("crossed".to_owned(), "a number of cells that can be counted");
                }
                if method == IntervalMethod::Bca {
                    // Two margins have no single jackknife to take the acceleration from.
                    return fault("crossed with BCa".to_owned(), "the percentile interval");
                }
            }
        }
        Ok(())
    }

    /// Where there are too few units for draws to differ.
    pub(super) fn too_few(&self) -> Option<Undefined> {
        (self.rows() < 2).then_some(Undefined::TooFew { n: self.rows(), needed: 2 })
    }

    /// One draw, into `rows`.
    pub(super) fn draw(&self, stream: &mut Stream, rows: &mut Vec<usize>) {
        rows.clear();
        let mut below = |n: usize| stream.below(n as u64) as usize;
        match self {
            Self::Rows { n } => rows.extend((0..*n).map(|_| below(*n))),
            Self::Nested { groups } => {
                let starts = starts(groups);
                for _ in groups {
                    let group = below(groups.len());
                    rows.extend((0..groups[group]).map(|_| starts[group] + below(groups[group])));
                }
            }
            Self::Crossed { rows: height, columns } => {
                let drawn: Vec<usize> = (0..*height).map(|_| below(*height)).collect();
                let across: Vec<usize> = (0..*columns).map(|_| below(*columns)).collect();
                let cells = |row: usize| across.iter().map(move |column| row * columns + column);
                rows.extend(drawn.into_iter().flat_map(cells));
            }
        }
    }

    /// How many units the jackknife leaves out in turn: rows, or groups.
    pub(super) fn units(&self) -> usize {
        match self {
            Self::Rows { n } => *n,
            Self::Nested { groups } => groups.len(),
            Self::Crossed { rows, .. } => *rows,
        }
    }

    /// All rows but those of one unit, into `rows`.
    pub(super) fn without(&self, unit: usize, rows: &mut Vec<usize>) {
        rows.clear();
        let out = match self {
            Self::Rows { .. } => unit..unit + 1,
            Self::Nested { groups } => {
                let start = groups[..unit].iter().sum();
                start..start + groups[unit]
            }
            Self::Crossed { columns, .. } => unit * columns..(unit + 1) * columns,
        };
        rows.extend((0..self.rows()).filter(|row| !out.contains(row)));
    }
}

fn starts(groups: &[usize]) -> Vec<usize> {
    let place = |next: &mut usize, rows: &usize| {
        let start = *next;
        *next += rows;
        Some(start)
    };
    groups.iter().scan(0, place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(plan: &Plan, place: u64) -> Vec<usize> {
        let mut rows = Vec::new();
        plan.draw(&mut Stream::new([1, 0], [place, 0, 0]), &mut rows);
        rows
    }

    #[test]
    fn draws_keep_to_their_plan() {
        let nested = Plan::Nested { groups: vec![2, 3] };
        for place in 0..50 {
            let rows = draw(&Plan::Rows { n: 4 }, place);
            assert!(rows.len() == 4 && rows.iter().all(|row| *row < 4));
            let rows = draw(&nested, place);
            // Whole groups: 2 + 2, 2 + 3, 3 + 2 or 3 + 3 rows, each from its own group.
            let first = rows.iter().filter(|row| **row < 2).count();
            assert!(matches!((first, rows.len() - first), (4, 0) | (2, 3) | (0, 6)), "{rows:?}");
            let cells = draw(&Plan::Crossed { rows: 2, columns: 3 }, place);
            let columns = |cells: &[usize]| cells.iter().map(|c| c % 3).collect::<Vec<_>>();
            assert_eq!(columns(&cells[..3]), columns(&cells[3..]));
        }
    }

    #[test]
    fn one_unit_left_out() {
        let mut rows = Vec::new();
        Plan::Rows { n: 3 }.without(1, &mut rows);
        assert_eq!(rows, [0, 2]);
        Plan::Nested { groups: vec![2, 3] }.without(1, &mut rows);
        assert_eq!(rows, [0, 1]);
        assert_eq!(Plan::Nested { groups: vec![2, 3] }.units(), 2);
    }

    #[test]
    fn senseless_plans_are_refused() {
        let check = |plan: Plan| plan.check(IntervalMethod::Bca);
        assert_eq!(check(Plan::Rows { n: 0 }), Err(StatsError::Empty { what: "rows" }));
        assert_eq!(
            check(Plan::Nested { groups: vec![] }),
            Err(StatsError::Empty { what: "groups" })
        );
        let empty = check(Plan::Nested { groups: vec![1, 0] });
        assert!(
            matches!(empty, Err(StatsError::Setting { value, .. }) if value == "groups[1] = 0")
        );
        assert!(check(Plan::Nested { groups: vec![usize::MAX, 2] }).is_err());
        assert!(check(Plan::Crossed { rows: usize::MAX, columns: 2 }).is_err());
        assert!(check(Plan::Crossed { rows: 0, columns: 2 }).is_err());
        let bca = check(Plan::Crossed { rows: 2, columns: 2 });
        assert!(matches!(bca, Err(StatsError::Setting { name: "plan", .. })));
        assert!(Plan::Crossed { rows: 2, columns: 2 }.check(IntervalMethod::Percentile).is_ok());
    }
}
