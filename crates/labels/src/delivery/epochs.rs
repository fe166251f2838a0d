//! The epochs of a run in order: four draws are made at once, because they share the work.

use std::ops::Range;

use super::Prepared;
use super::prepared::Kind;

/// The labels of some epochs, one after another.
#[derive(Debug)]
pub struct Epochs<'a> {
    prepared: &'a Prepared,
    epochs: Range<u64>,
    /// The labels of the draws in `made`, draw by draw.
    buffer: Vec<u16>,
    made: Range<u64>,
}

impl<'a> Epochs<'a> {
    pub(super) fn new(prepared: &'a Prepared, epochs: Range<u64>) -> Self {
        Self { prepared, epochs, buffer: Vec::new(), made: 0..0 }
    }

    /// The next epoch and its labels. (An iterator could not lend them.)
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<(u64, &[u16])> {
        let epoch = self.epochs.next()?;
        let draws = match &self.prepared.kind {
            Kind::Soft(_) | Kind::Varying(_) => return None,
            Kind::Fixed { labels, .. } => return Some((epoch, labels)),
            Kind::Drawn(draws) => draws,
        };
        let (draw, items) = (draws.draw_of(epoch), self.prepared.items);
        if !self.made.contains(&draw) {
            let last = self.epochs.end.saturating_sub(1).max(epoch);
            let quarter = draw / 4;
            if draws.draw_of(last) == draw || draw % 4 == 3 {
                self.buffer.resize(items.max(self.buffer.len()), 0);
                draws.fill(draw, &mut self.buffer[..items]);
                self.made = draw..draw.saturating_add(1);
            } else {
                self.buffer.resize(4 * items, 0);
                let (a, rest) = self.buffer.split_at_mut(items);
                let (b, rest) = rest.split_at_mut(items);
                let (c, d) = rest.split_at_mut(items);
                draws.fill_four(quarter, [a, b, c, d]);
                self.made = quarter * 4..(quarter * 4).saturating_add(4);
            }
        }
        let start = (draw - self.made.start) as usize * items;
        Some((epoch, &self.buffer[start..start + items]))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::counted;
    use crate::{Delivery, EpochBuffer, EpochTargets, Source};

    #[test]
    fn all_ways_to_ask_agree() {
        let rows: Vec<Vec<u32>> = (0..2500).map(|i| vec![i % 3, 1 + i % 5, i % 7]).collect();
        let table = counted(&rows);
        let source = Source::new(&table).unwrap();
        for text in ["sls", "sls:every=3", "multipass", "shuffled_sls", "majority", "mixup"] {
            let prepared = text.parse::<Delivery>().unwrap().prepare(&source, 6).unwrap();
            for range in [0..13, 5..6, 2..9, 7..9, 3..3, u64::MAX - 2..u64::MAX] {
                let mut epochs = prepared.epochs(range.clone()).unwrap();
                for t in range {
                    let mut labels = vec![0; 2500];
                    prepared.epoch(t, &mut labels).unwrap();
                    assert_eq!(epochs.next(), Some((t, &labels[..])), "{text} {t}");
                    assert_eq!(prepared.labels(t, &[2499, 0]).unwrap(), [labels[2499], labels[0]]);
                    let mut buffer = EpochBuffer::default();
                    assert_eq!(prepared.targets_at(t, &mut buffer), EpochTargets::Labels(&labels));
                }
                assert_eq!(epochs.next(), None);
            }
        }
    }
}
