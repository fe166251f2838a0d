//! Labels of epochs that are asked for in order: four draws are made at once, because they share the work.

use std::ops::{Deref, Range};

use super::Prepared;
use super::prepared::Kind;
use crate::LabelError;

/// The labels of one epoch after another, with the memory for them. Any epoch may be asked for; in
/// order they are fastest.
#[derive(Debug)]
pub struct Epochs<P> {
    prepared: P,
    /// The labels of the draws in `made`, draw by draw.
    buffer: Vec<u16>,
    made: Range<u64>,
    last: Option<u64>,
}

impl<P: Deref<Target = Prepared>> Epochs<P> {
    /// The labels of this delivery, which must deliver some.
    pub fn new(prepared: P) -> Result<Self, LabelError> {
        match prepared.kind {
            Kind::Soft(_) | Kind::Varying(_) | Kind::Samples(_) => Err(prepared.not_hard()),
            _ => Ok(Self { prepared, buffer: Vec::new(), made: 0..0, last: None }),
        }
    }

    /// The labels of all examples in an epoch. Four draws of `sls` are made at once, which takes less
    /// than twice the time of one and 8 bytes per example, unless epochs are asked for out of order.
    pub fn at(&mut self, epoch: u64) -> &[u16] {
        let draws = match &self.prepared.kind {
            Kind::Soft(_) | Kind::Varying(_) | Kind::Samples(_) => return &[],
            Kind::Fixed { labels, .. } => return labels,
            Kind::Drawn(draws) => draws,
        };
        let (draw, items) = (draws.draw_of(epoch), self.prepared.items);
        let in_order = self.last.is_none_or(|last| last.checked_add(1) == Some(draw));
        if !self.made.contains(&draw) {
            let quarter = draw / 4;
            if let Some(four) = draws.four_at_once().filter(|_| in_order && draw % 4 != 3) {
                self.buffer.resize(4 * items, 0);
                let (a, rest) = self.buffer.split_at_mut(items);
                let (b, rest) = rest.split_at_mut(items);
                let (c, d) = rest.split_at_mut(items);
                four.fill_four(quarter, [a, b, c, d]);
                self.made = quarter * 4..(quarter * 4).saturating_add(4);
            } else {
                self.buffer.resize(items.max(self.buffer.len()), 0);
                draws.fill(draw, &mut self.buffer[..items]);
                self.made = draw..draw.saturating_add(1);
            }
        }
        self.last = Some(draw);
        let start = (draw - self.made.start) as usize * items;
        &self.buffer[start..start + items]
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
            let mut epochs = prepared.epochs().unwrap();
            for range in [0..13, 5..6, 2..9, 7..9, 0..1, 2..3, u64::MAX - 2..u64::MAX] {
                for t in range {
                    let mut labels = vec![0; 2500];
                    prepared.epoch(t, &mut labels).unwrap();
                    assert_eq!(epochs.at(t), labels, "{text} {t}");
                    assert_eq!(prepared.labels(t, &[2499, 0]).unwrap(), [labels[2499], labels[0]]);
                    let mut buffer = EpochBuffer::default();
                    assert_eq!(prepared.targets_at(t, &mut buffer), EpochTargets::Labels(&labels));
                }
            }
        }
    }
}
