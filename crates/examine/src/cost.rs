//! What the Hessian products of several questions take at most.
//!
//! The time of a product is measured from the second of a question on: the first also prepares the device and
//! keeps what the others share. It goes with the items and with the multiplications of the network.

use dissensus_engine::Network;

use crate::{CurvatureSettings, ExamineError, Model};

/// Less than this is not worth a line, in seconds.
const WORTH: f64 = 10.0;

/// The Hessian products that are still to come at most, and the time of those that were made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// The work of questions that were not begun.
    later: f64,
    /// Of the question at hand: products still to come, and the work of one.
    left: usize,
    each: f64,
    /// Whether its first product was made.
    begun: bool,
    /// Seconds of products after the first of their question, and their work.
    seconds: f64,
    work: f64,
    /// Seconds of all products.
    spent: f64,
    /// Whether it was said what all will take.
    said: bool,
}

/// The work of a product.
fn work(network: &Network, items: usize) -> f64 {
    network.multiplications() as f64 * items as f64
}

impl Cost {
    /// Adds a question that will be asked.
    pub fn expect(
        &mut self,
        model: &Model,
        settings: &CurvatureSettings,
    ) -> Result<(), ExamineError> {
        let items = model.chosen(settings.part.as_deref(), settings.slice, 1)?.rows.len();
        self.later += settings.most_products() as f64 * work(model.network(), items);
        Ok(())
    }

    /// A question begins.
    pub(crate) fn begin(&mut self, network: &Network, items: usize, most: usize) {
        (self.each, self.left, self.begun) = (work(network, items), most, false);
        self.later = (self.later - most as f64 * self.each).max(0.0);
    }

    /// So many products of the question are still to come at most.
    pub(crate) fn leave(&mut self, products: usize) {
        self.left = products;
    }

    /// A product was made.
    pub(crate) fn made(&mut self, seconds: f64) {
        self.spent += seconds;
        self.left = self.left.saturating_sub(1);
        if std::mem::replace(&mut self.begun, true) {
            self.seconds += seconds;
            self.work += self.each;
        }
    }

    /// The most seconds that all questions still take, once products were timed.
    pub(crate) fn at_most(&self) -> Option<f64> {
        let left = self.left as f64 * self.each + self.later;
        (self.work > 0.0).then(|| left * self.seconds / self.work)
    }

    /// What all will take, once and where it is long.
    pub(crate) fn line(&mut self) -> Option<String> {
        let all = self.spent + self.at_most()?;
        if std::mem::replace(&mut self.said, true) || all < WORTH {
            return None;
        }
        let each = self.each * self.seconds / self.work;
        Some(format!("at most {} in all, {each:.2} s per Hessian product", time(all)))
    }
}

/// Seconds for people.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        short if short < 120.0 => format!("{short:.0} s"),
        long if long < 7200.0 => format!("{:.0} min", long / 60.0),
        long => format!("{:.1} h", long / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_questions_are_counted_from_the_second_product_on() {
        // Two questions of at most 301 products, the second over half the items.
        let mut cost = Cost { later: 301.0 * 1.5, ..Cost::default() };
        (cost.each, cost.left, cost.later) = (1.0, 301, 301.0 * 0.5);
        cost.made(9.0);
        assert_eq!((cost.at_most(), cost.line()), (None, None));
        cost.made(0.2);
        let left = cost.at_most().unwrap();
        assert!((left - 0.2 * (299.0 + 150.5)).abs() < 1e-9, "{left}");
        let line = cost.line();
        assert_eq!(line.as_deref(), Some("at most 99 s in all, 0.20 s per Hessian product"));
        assert_eq!(cost.line(), None, "once");
        // A piece of work that ended early leaves fewer.
        cost.leave(100);
        assert!((cost.at_most().unwrap() - 0.2 * 250.5).abs() < 1e-9);
        assert_eq!([30.0, 600.0, 9000.0].map(time), ["30 s", "10 min", "2.5 h"]);
    }
}
