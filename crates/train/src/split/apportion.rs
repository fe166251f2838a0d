//! Whole numbers that come nearest to shares, in every stratum and in all.
//!
//! With n_s items in stratum s and weights w_j, the exact number for part j is x_sj = n_s w_j / Σw.
//! The answer has ⌊x_sj⌋ or ⌈x_sj⌉ in every cell, rows that sum to n_s, and columns that sum to
//! ⌊Σ_s x_sj⌋ or ⌈Σ_s x_sj⌉, by largest remainder. Such a table always exists: it is an integral
//! flow whose fractional one is x itself.
//!
//! Cells get their one above the floor in the order of their remainders, while their row and their
//! column lack one. With two parts that is all. With more, a row can be left for which every column
//! that lacks something is closed; it takes another, and ones are then moved along a shortest path
//! of parts from where there is one too many to where one is missing.

/// How many items of each stratum go to each part.
pub(super) fn apportion(sizes: &[usize], weights: &[u64]) -> Vec<Vec<usize>> {
    let whole: u128 = weights.iter().map(|&w| u128::from(w)).sum::<u128>().max(1);
    let exact = |size: usize| weights.iter().map(move |&w| size as u128 * u128::from(w));
    let floors = |size| exact(size).map(|x| (x / whole) as usize).collect::<Vec<_>>();
    let mut table = Table {
        floors: sizes.iter().map(|&size| floors(size)).collect(),
        remainders: sizes.iter().map(|&s| exact(s).map(|x| x % whole).collect()).collect(),
        above: vec![vec![false; weights.len()]; sizes.len()],
        lack: Vec::new(),
    };
    let totals = largest_remainder(sizes.iter().sum(), weights);
    let column = |part: usize| table.floors.iter().map(|row| row[part]).sum::<usize>();
    table.lack = totals.iter().enumerate().map(|(j, &t)| t as i64 - column(j) as i64).collect();
    table.fill(sizes);
    table.balance();
    let count = |(floor, above): (&usize, &bool)| floor + usize::from(*above);
    let row = |(floors, above): (&Vec<usize>, &Vec<bool>)| {
        floors.iter().zip(above).map(count).collect::<Vec<_>>()
    };
    table.floors.iter().zip(&table.above).map(row).collect()
}

/// One row alone: floors, and ones for the largest remainders, the first of equal ones first.
fn largest_remainder(size: usize, weights: &[u64]) -> Vec<usize> {
    let whole: u128 = weights.iter().map(|&w| u128::from(w)).sum::<u128>().max(1);
    let exact: Vec<u128> = weights.iter().map(|&w| size as u128 * u128::from(w)).collect();
    let mut counts: Vec<usize> = exact.iter().map(|x| (x / whole) as usize).collect();
    let left = size.saturating_sub(counts.iter().sum());
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&part| std::cmp::Reverse(exact[part] % whole));
    order.into_iter().take(left).for_each(|part| counts[part] += 1);
    counts
}

struct Table {
    floors: Vec<Vec<usize>>,
    remainders: Vec<Vec<u128>>,
    /// Whether a cell has one above its floor.
    above: Vec<Vec<bool>>,
    /// How many ones each part still lacks; negative where it has too many.
    lack: Vec<i64>,
}

impl Table {
    /// Whether a cell may get one. A cell that is exact stays so.
    fn open(&self, stratum: usize, part: usize) -> bool {
        !self.above[stratum][part] && self.remainders[stratum][part] > 0
    }

    /// Gives every row its ones: where they are lacking first, then wherever they may go.
    fn fill(&mut self, sizes: &[usize]) {
        let cells = (0..sizes.len()).flat_map(|s| (0..self.lack.len()).map(move |j| (s, j)));
        let mut cells: Vec<(usize, usize)> = cells.filter(|&(s, j)| self.open(s, j)).collect();
        cells.sort_by_key(|&(s, j)| std::cmp::Reverse(self.remainders[s][j]));
        let floor = |(size, row): (&usize, &Vec<usize>)| size - row.iter().sum::<usize>();
        let mut rows: Vec<usize> = sizes.iter().zip(&self.floors).map(floor).collect();
        for anywhere in [false, true] {
            for &(stratum, part) in &cells {
                let wanted = self.lack[part] > 0 || anywhere;
                if wanted && rows[stratum] > 0 && self.open(stratum, part) {
                    self.above[stratum][part] = true;
                    rows[stratum] -= 1;
                    self.lack[part] -= 1;
                }
            }
        }
    }

    /// Moves ones from parts with too many to parts that lack some.
    fn balance(&mut self) {
        while let Some(from) = self.lack.iter().position(|&lack| lack < 0) {
            let Some(path) = self.path(from) else { return };
            for &(stratum, from, to) in &path {
                self.above[stratum][from] = false;
                self.above[stratum][to] = true;
                self.lack[from] += 1;
                self.lack[to] -= 1;
            }
        }
    }

    /// A shortest path of moves (stratum, from, to) to a part that lacks one. No cell is on it
    /// twice, since parts are not.
    fn path(&self, from: usize) -> Option<Vec<(usize, usize, usize)>> {
        let parts = self.lack.len();
        let mut came: Vec<Option<(usize, usize)>> = vec![None; parts];
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(&here) = reached.get(next) {
            next += 1;
            if self.lack[here] > 0 {
                let mut path = Vec::new();
                let mut to = here;
                while let Some((stratum, from)) = came[to] {
                    path.push((stratum, from, to));
                    to = from;
                }
                return Some(path);
            }
            for to in (0..parts).filter(|&to| to != here) {
                let moves = |&s: &usize| self.above[s][here] && self.open(s, to);
                let stratum = (0..self.floors.len()).find(moves);
                if let (false, Some(stratum)) = (reached.contains(&to), stratum) {
                    came[to] = Some((stratum, here));
                    reached.push(to);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn totals_are_exact_where_classes_do_not_divide() {
        let sizes = [1003, 997, 1001, 999, 1000, 1000, 1002, 998, 1004, 996];
        let table = apportion(&sizes, &[8, 2]);
        let total = |part: usize| table.iter().map(|row| row[part]).sum::<usize>();
        assert_eq!((total(0), total(1)), (8000, 2000));
        assert_eq!(table[0], [802, 201]);
        assert_eq!(table[4], [800, 200]);
        assert_eq!(apportion(&[], &[1, 1]), Vec::<Vec<usize>>::new());
    }

    /// The third part has one too many, the first lacks one, and no stratum has cells of both: the
    /// second part hands it on.
    #[test]
    fn ones_are_moved_along_a_path() {
        let mut table = Table {
            floors: vec![vec![0; 3]; 2],
            remainders: vec![vec![5, 5, 0], vec![0, 5, 5]],
            above: vec![vec![false, true, false], vec![false, false, true]],
            lack: vec![1, 0, -1],
        };
        table.balance();
        assert_eq!(table.above, [[true, false, false], [false, true, false]]);
        assert_eq!(table.lack, [0, 0, 0]);
    }

    proptest! {
        #[test]
        fn cells_rows_and_columns_are_rounded(
            sizes in prop::collection::vec(0usize..40, 0..12),
            weights in prop::collection::vec(1u64..12, 1..5),
        ) {
            let table = apportion(&sizes, &weights);
            let whole: u64 = weights.iter().sum();
            let rounded = |count: usize, size: usize, weight: u64| {
                let exact = size as u64 * weight;
                count as u64 == exact / whole || count as u64 == exact.div_ceil(whole)
            };
            for (row, &size) in table.iter().zip(&sizes) {
                prop_assert_eq!(row.iter().sum::<usize>(), size);
                prop_assert!(row.iter().zip(&weights).all(|(&c, &w)| rounded(c, size, w)));
            }
            let totals: Vec<usize> = (0..weights.len())
                .map(|part| table.iter().map(|row| row[part]).sum()).collect();
            prop_assert_eq!(totals, largest_remainder(sizes.iter().sum(), &weights));
        }
    }
}
