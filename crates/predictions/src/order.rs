//! Whether another order of the classes fits the votes significantly better.
//!
//! Item i has the share s_ia of votes for class a and the loss L_ib = −ln p_ib in column b. The soft
//! NLL of an order π, in which class a is column π(a), is Σ_a M_aπ(a) / n with M_ab = Σ_i s_ia L_ib:
//! one K × K matrix gives that of every order, and the best one solves an assignment problem.
//!
//! Two orders are compared by a paired test over items. With d_i the difference of their losses for
//! item i, whose signs are random if neither is better, Hoeffding's inequality bounds the one-sided p
//! by exp(−(Σ d_i)² / 2 Σ d_i²). It is multiplied by K!, the number of orders that could have been
//! chosen (Bonferroni), and compared with [`LEVEL`]. The bound holds for any number of items; fewer
//! than 16 never suffice.

use dissensus_core::VoteTable;

use crate::options::Kind;

/// The corrected p below which an order is better than another.
const LEVEL: f64 = 0.001;
/// Probabilities below this count as this, so that no single item decides.
const FLOOR: f64 = 1e-4;
/// Classes for which orders are compared.
const MOST_CLASSES: usize = 256;
/// Classes for which an order is suggested: each class needs an assignment problem of its own.
const MOST_SUGGESTED: usize = 64;
/// Products of a share and a loss, at the most. Of more, evenly spaced items are looked at.
const MOST_WORK: usize = 200_000_000;

/// Two orders of classes: for each class of the votes its column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Better {
    /// The better order.
    pub(crate) order: Vec<usize>,
    /// The soft NLL of the order that was taken, and of the better one.
    pub(crate) losses: (f64, f64),
    /// The bound of the corrected p.
    pub(crate) p: f64,
}

/// The shares of votes and the losses of predictions, item by item.
pub(crate) struct Fit {
    /// The (class, share) pairs of each item.
    shares: Vec<Vec<(usize, f64)>>,
    /// Losses, item after item.
    losses: Vec<f64>,
    classes: usize,
}

impl Fit {
    /// The predictions for these items, a row each; `None` where orders are not compared: one class,
    /// or too many.
    pub(crate) fn new(
        table: &VoteTable,
        items: &[usize],
        values: &[f64],
        kind: Kind,
    ) -> Option<Self> {
        let classes = table.classes().len();
        if !(2..=MOST_CLASSES).contains(&classes) || values.len() != items.len() * classes {
            return None;
        }
        let counts = table.counts();
        let all = if counts.is_none() { table.distributions() } else { Vec::new() };
        let share = |item: usize| -> Vec<(usize, f64)> {
            let amounts: Vec<(usize, f64)> = match &counts {
                Some(counts) => counts.amounts(item).map(|(c, n)| (usize::from(c), n)).collect(),
                None => match all.get(item) {
                    Some(Some(shares)) => shares.values().iter().copied().enumerate().collect(),
                    _ => Vec::new(),
                },
            };
            let sum: f64 = amounts.iter().map(|(_, amount)| amount).sum();
            let kept =
                amounts.into_iter().filter(|(class, amount)| *amount > 0.0 && *class < classes);
            kept.map(|(class, amount)| (class, amount / sum)).collect()
        };
        let step = (items.len() * classes * classes).div_ceil(MOST_WORK).max(1);
        let (mut shares, mut losses) = (Vec::new(), Vec::new());
        for (&item, row) in items.iter().zip(values.chunks(classes)).step_by(step) {
            let of_item = share(item);
            if of_item.is_empty() {
                continue;
            }
            shares.push(of_item);
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let whole: f64 = row.iter().map(|z| (z - most).exp()).sum();
            losses.extend(row.iter().map(|&value| match kind {
                Kind::Logits => (whole.ln() + most - value).min(-FLOOR.ln()),
                Kind::Probabilities => -value.max(FLOOR).ln(),
            }));
        }
        (!shares.is_empty()).then_some(Self { shares, losses, classes })
    }

    fn rows(&self) -> impl Iterator<Item = (&Vec<(usize, f64)>, &[f64])> {
        self.shares.iter().zip(self.losses.chunks(self.classes))
    }

    /// M: for each class of the votes and each column the summed loss.
    fn matrix(&self) -> Vec<f64> {
        let k = self.classes;
        let mut matrix = vec![0.0; k * k];
        for (shares, losses) in self.rows() {
            for &(class, share) in shares {
                let row = &mut matrix[class * k..(class + 1) * k];
                row.iter_mut().zip(losses).for_each(|(cell, loss)| *cell += share * loss);
            }
        }
        matrix
    }

    /// The soft NLL of an order.
    fn loss(&self, matrix: &[f64], order: &[usize]) -> f64 {
        let sum: f64 = order.iter().enumerate().map(|(a, &b)| matrix[a * self.classes + b]).sum();
        sum / self.shares.len() as f64
    }

    /// The bound of the corrected p that the second order is no better than the first.
    fn p(&self, first: &[usize], second: &[usize]) -> f64 {
        let differences = self.rows().map(|(shares, losses)| {
            shares.iter().map(|&(a, share)| share * (losses[first[a]] - losses[second[a]])).sum()
        });
        let orders: f64 = (2..=self.classes).map(|k| (k as f64).ln()).sum();
        (bound(differences) + orders).exp().min(1.0)
    }

    /// The order that fits significantly better than the one in which the columns are given.
    pub(crate) fn better(&self) -> Option<Better> {
        let matrix = self.matrix();
        let taken: Vec<usize> = (0..self.classes).collect();
        let order = assignment(&matrix, self.classes);
        let losses = (self.loss(&matrix, &taken), self.loss(&matrix, &order));
        let p = self.p(&taken, &order);
        (order != taken && p < LEVEL).then_some(Better { order, losses, p })
    }

    /// The order that fits significantly better than every other one, item by item and not only on the
    /// average.
    pub(crate) fn certain_order(&self) -> Option<Vec<usize>> {
        let k = self.classes;
        if k > MOST_SUGGESTED {
            return None;
        }
        let matrix = self.matrix();
        let best = assignment(&matrix, k);
        // Any other order lacks one of the pairs of the best one.
        let others_are_worse = (0..k).all(|class| {
            let mut without = matrix.clone();
            without[class * k + best[class]] = f64::MAX / (4.0 * k as f64);
            self.p(&assignment(&without, k), &best) < LEVEL
        });
        (others_are_worse && assignment(&self.centred(&matrix), k) == best && self.fits(&best))
            .then_some(best)
    }

    /// M without what follows from the mean shares and the mean losses alone.
    fn centred(&self, matrix: &[f64]) -> Vec<f64> {
        let (shares, losses) = (self.mean_shares(), self.mean_losses());
        let n = self.shares.len() as f64;
        let mean = shares.iter().flat_map(|share| losses.iter().map(move |loss| n * share * loss));
        matrix.iter().zip(mean).map(|(sum, mean)| sum - mean).collect()
    }

    fn mean_shares(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.classes];
        for &(class, share) in self.shares.iter().flatten() {
            mean[class] += share / self.shares.len() as f64;
        }
        mean
    }

    fn mean_losses(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.classes];
        for losses in self.losses.chunks(self.classes) {
            let add = |(sum, loss): (&mut f64, &f64)| *sum += loss / self.shares.len() as f64;
            mean.iter_mut().zip(losses).for_each(add);
        }
        mean
    }

    /// Whether each item's own row fits it significantly better than a row of the average losses.
    fn fits(&self, order: &[usize]) -> bool {
        let mean = self.mean_losses();
        let gain = self.rows().map(|(shares, losses)| {
            shares.iter().map(|&(a, share)| share * (mean[order[a]] - losses[order[a]])).sum()
        });
        bound(gain) < LEVEL.ln()
    }

    /// Whether the rows, in the order in which they are given, belong to the items: they fit them
    /// significantly better than average rows, and better than the rows before and behind them.
    pub(crate) fn rows_fit(&self) -> bool {
        let order: Vec<usize> = (0..self.classes).collect();
        let n = self.shares.len();
        let row = |at: usize| &self.losses[at * self.classes..(at + 1) * self.classes];
        let beats = |shift: usize| {
            let gain = (0..n).map(|at| {
                let (own, other) = (row(at), row((at + shift) % n));
                self.shares[at].iter().map(|&(a, share)| share * (other[a] - own[a])).sum()
            });
            bound(gain) < LEVEL.ln()
        };
        self.fits(&order) && [1, 2, n - 1, n.saturating_sub(2)].into_iter().all(beats)
    }
}

/// The logarithm of the bound of the one-sided p that differences with random signs have so large a
/// sum: 0 where the sum is not positive.
fn bound(differences: impl Iterator<Item = f64>) -> f64 {
    let (sum, squares) = differences.fold((0.0, 0.0), |(s, q), d: f64| (s + d, q + d * d));
    if sum > 0.0 && squares > 0.0 { -sum * sum / (2.0 * squares) } else { 0.0 }
}

/// The assignment of columns to rows with the smallest sum, by the Hungarian algorithm with potentials,
/// in O(k³).
fn assignment(costs: &[f64], k: usize) -> Vec<usize> {
    // Row and column 0 are a start outside the matrix.
    let (mut u, mut v) = (vec![0.0; k + 1], vec![0.0; k + 1]);
    let (mut row_of, mut way) = (vec![0usize; k + 1], vec![0usize; k + 1]);
    for row in 1..=k {
        row_of[0] = row;
        let (mut column, mut least, mut used) = (0, vec![f64::INFINITY; k + 1], vec![false; k + 1]);
        while row_of[column] != 0 {
            used[column] = true;
            let (at, mut delta, mut next) = (row_of[column], f64::INFINITY, 0);
            for j in (1..=k).filter(|&j| !used[j]) {
                let reduced = costs[(at - 1) * k + j - 1] - u[at] - v[j];
                if reduced < least[j] {
                    (least[j], way[j]) = (reduced, column);
                }
                if least[j] < delta {
                    (delta, next) = (least[j], j);
                }
            }
            for j in 0..=k {
                match used[j] {
                    true => (u[row_of[j]], v[j]) = (u[row_of[j]] + delta, v[j] - delta),
                    false => least[j] -= delta,
                }
            }
            if next == 0 {
                // Costs that are no numbers: nothing is better than the order as it is.
                return (0..k).collect();
            }
            column = next;
        }
        while column != 0 {
            let before = way[column];
            row_of[column] = row_of[before];
            column = before;
        }
    }
    let mut order = vec![0; k];
    for (column, &row) in row_of.iter().enumerate().skip(1) {
        order[row - 1] = column - 1;
    }
    order
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use dissensus_core::{ClassOrder, ClassSet, Counts, Ids};

    use super::*;

    /// Every order of k columns.
    fn orders(k: usize) -> Vec<Vec<usize>> {
        if k == 0 {
            return vec![Vec::new()];
        }
        let longer = |shorter: Vec<usize>| {
            (0..k).map(move |at| [&shorter[..at], &[k - 1], &shorter[at..]].concat())
        };
        orders(k - 1).into_iter().flat_map(longer).collect()
    }

    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        }
    }

    #[test]
    fn the_assignment_is_the_best_of_all_orders() {
        let mut next = numbers(1);
        for k in 1..=6 {
            for _ in 0..20 {
                let costs: Vec<f64> = (0..k * k).map(|_| next() - 0.3).collect();
                let sum = |order: &[usize]| -> f64 {
                    order.iter().enumerate().map(|(a, &b)| costs[a * k + b]).sum()
                };
                let least = orders(k).iter().map(|o| sum(o)).fold(f64::INFINITY, f64::min);
                assert!((sum(&assignment(&costs, k)) - least).abs() < 1e-12);
            }
        }
    }

    /// Votes of n items on k classes, and predictions that are near to their shares.
    fn sample(n: usize, k: usize) -> (VoteTable, Vec<f64>) {
        let (mut next, mut counts, mut values) = (numbers(7), Counts::new(), Vec::new());
        for _ in 0..n {
            let favourite = (next() * k as f64) as usize % k;
            let votes = |class: usize| if class == favourite { 6 } else { 1 };
            counts.push((0..k).map(|class| (class as u16, votes(class)))).unwrap();
            let row: Vec<f64> = (0..k).map(|c| f64::from(votes(c)) * (0.5 + next())).collect();
            let sum: f64 = row.iter().sum();
            values.extend(row.iter().map(|value| value / sum));
        }
        let names = (0..k).map(|class| format!("c{class}")).collect();
        let classes = ClassSet::new(names, ClassOrder::Declared).unwrap();
        let ids = Ids::new((0..n).map(|i| format!("i{i}"))).unwrap();
        (VoteTable::from_counts(classes, ids, counts).unwrap(), values)
    }

    #[test]
    fn a_wrong_order_is_found_and_the_right_one_is_left_alone() {
        let (table, values) = sample(200, 4);
        let items: Vec<usize> = (0..200).collect();
        for order in orders(4) {
            let mixed: Vec<f64> =
                values.chunks(4).flat_map(|row| order.iter().map(|&b| row[b])).collect();
            for kind in [Kind::Probabilities, Kind::Logits] {
                let logits = |v: &f64| if kind == Kind::Logits { v.ln() + 3.0 } else { *v };
                let shown: Vec<f64> = mixed.iter().map(logits).collect();
                let fit = Fit::new(&table, &items, &shown, kind).unwrap();
                let back: Vec<usize> =
                    (0..4).map(|class| order.iter().position(|&b| b == class).unwrap()).collect();
                assert_eq!(fit.certain_order().unwrap(), back);
                match order[..] {
                    [0, 1, 2, 3] => assert_eq!(fit.better(), None),
                    _ => {
                        let better = fit.better().unwrap();
                        assert_eq!(better.order, back);
                        assert!(better.losses.1 < better.losses.0 && better.p < LEVEL);
                    }
                }
            }
        }
    }

    #[test]
    fn rows_are_in_order_or_not() {
        let (table, values) = sample(100, 3);
        let items: Vec<usize> = (0..100).collect();
        let fits = |values: &[f64]| {
            Fit::new(&table, &items, values, Kind::Probabilities).unwrap().rows_fit()
        };
        assert!(fits(&values));
        let mut shifted = values.clone();
        shifted.rotate_left(3);
        assert!(!fits(&shifted));
        assert!(!fits(&[1.0 / 3.0; 300]));
    }

    #[test]
    fn few_items_and_constant_predictions_say_nothing() {
        let (table, values) = sample(15, 2);
        let items: Vec<usize> = (0..15).collect();
        let swapped: Vec<f64> = values.chunks(2).flat_map(|row| [row[1], row[0]]).collect();
        let fit = Fit::new(&table, &items, &swapped, Kind::Probabilities).unwrap();
        assert_eq!((fit.better(), fit.certain_order()), (None, None));
        let flat = Fit::new(&table, &items, &[0.5; 30], Kind::Probabilities).unwrap();
        assert_eq!((flat.better(), flat.certain_order()), (None, None));
    }
}
