//! What was spent, and whether there is enough left.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Cap, EndpointError};

/// What an endpoint was asked so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Requests that were sent, those that failed included.
    pub requests: u64,
    /// Tokens, as the answers state them; the most that it can be of requests whose answers do not
    /// say, or did not arrive.
    pub tokens: u64,
}

impl Spent {
    /// What the tokens cost at a price a million.
    pub fn cost(&self, price: f64) -> f64 {
        self.tokens as f64 * price / 1e6
    }
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    cap: Option<Cap>,
    spent: Mutex<Spent>,
}

impl Ledger {
    pub(super) fn new(cap: Option<Cap>) -> Self {
        Self { cap, spent: Mutex::default() }
    }

    pub(super) fn spent(&self) -> Spent {
        *self.lock()
    }

    /// Whether a request of at most so many tokens stays below the cap. They are booked at once, so
    /// that two requests at a time cannot both take the last of it; [`settle`](Self::settle) puts
    /// right what they were.
    pub(super) fn book(&self, next: u64) -> Result<(), EndpointError> {
        let mut spent = self.lock();
        if let Some(Cap { price, most }) = self.cap {
            let after = Spent { tokens: spent.tokens.saturating_add(next), ..*spent };
            if after.cost(price) > most {
                let (cost, spent) = (spent.cost(price), spent.tokens);
                return Err(EndpointError::Cap { most, price, spent, cost, next });
            }
        }
        spent.requests += 1;
        spent.tokens = spent.tokens.saturating_add(next);
        Ok(())
    }

    /// Replaces what was booked by what it was.
    pub(super) fn settle(&self, booked: u64, was: u64) {
        let mut spent = self.lock();
        spent.tokens = spent.tokens.saturating_sub(booked).saturating_add(was);
    }

    /// Two numbers cannot be left half-changed by a thread that panics.
    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_asked_beyond_the_cap() {
        // A token a unit of money.
        let ledger = Ledger::new(Some(Cap { price: 1e6, most: 10.0 }));
        ledger.book(8).unwrap();
        ledger.settle(8, 3);
        ledger.book(7).unwrap();
        let error = ledger.book(1).unwrap_err();
        assert!(matches!(error, EndpointError::Cap { spent: 10, next: 1, .. }), "{error:?}");
        assert_eq!(ledger.spent(), Spent { requests: 2, tokens: 10 });
        ledger.settle(7, 0);
        ledger.book(7).unwrap();
    }

    #[test]
    fn without_a_cap_it_is_only_counted() {
        let ledger = Ledger::new(None);
        ledger.book(u64::MAX).unwrap();
        ledger.book(u64::MAX).unwrap();
        assert_eq!(ledger.spent().requests, 2);
    }
}
