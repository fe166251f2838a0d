//! Deliveries as data, for those who draw labels themselves.

/// The votes of every example one by one, and how one of them becomes the label of a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedVotes<'a> {
    /// Where the votes of each example begin, and the end of the last.
    pub starts: &'a [usize],
    /// The votes, as classes.
    pub votes: Vec<u16>,
    /// Which of them it is.
    pub drawing: Drawing<'a>,
}

/// Which of its m votes an example delivers in draw d (see [`Prepared::draw_of`]).
///
/// [`Prepared::draw_of`]: crate::Prepared::draw_of
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drawing<'a> {
    /// Vote d mod m.
    Turns,
    /// The vote at a whole number below m, each equally likely, from word d mod 4 of the block
    /// (0, key of the example, d / 4, 0) of Philox; a word that would favour some votes is replaced
    /// by the same word of block (1, …), and so on.
    Words {
        /// By example.
        keys: &'a [u64],
        /// The first word of Philox's key.
        seed: u64,
        /// The second.
        stream: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{counted, shares};
    use crate::{Delivery, Source};
    use dissensus_core::philox::block;

    /// What the documentation says, done by hand, gives what the delivery gives.
    #[test]
    fn the_labels_can_be_drawn_from_what_is_listed() {
        let rows: Vec<Vec<u32>> = (0..50).map(|i| vec![i % 3, 1 + i % 5, i % 7]).collect();
        let table = counted(&rows);
        let source = Source::new(&table).unwrap();
        for text in ["sls", "sls:every=3", "multipass", "deterministic", "shuffled_sls"] {
            let delivery: Delivery = text.parse().unwrap();
            let prepared = delivery.prepare(&source, 7).unwrap();
            let ListedVotes { starts, votes, drawing } = prepared.listed().unwrap();
            for epoch in 0..20 {
                let draw = prepared.draw_of(epoch);
                for place in 0..rows.len() {
                    let own = &votes[starts[place]..starts[place + 1]];
                    let m = own.len() as u64;
                    let at = match drawing {
                        Drawing::Turns => draw % m,
                        Drawing::Words { keys, seed, stream } => {
                            let words = block([seed, stream], [0, keys[place], draw / 4, 0]);
                            let word = words[(draw % 4) as usize];
                            ((u128::from(word) * u128::from(m)) >> 64) as u64
                        }
                    };
                    assert_eq!(prepared.label(epoch, place).unwrap(), own[at as usize], "{text}");
                }
            }
        }
    }

    #[test]
    fn what_is_not_listed_says_so() {
        let listed = |table, text: &str| {
            let delivery: Delivery = text.parse().unwrap();
            let source = Source::new(&table).unwrap();
            delivery.prepare(&source, 7).unwrap().listed().is_some()
        };
        assert!(!listed(counted(&[vec![1, 2]]), "soft"));
        assert!(!listed(counted(&[vec![1, 2]]), "majority"));
        assert!(!listed(counted(&[vec![100, 2]]), "sls"));
        assert!(!listed(shares(&[vec![0.5, 0.5]]), "sls"));
    }
}
