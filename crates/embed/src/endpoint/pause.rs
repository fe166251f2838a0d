//! How long to wait before trying again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dissensus_core::philox::{Stream, stream};

/// Waits, and tells whether to go on. Tests put one here that does not wait.
pub trait Sleeper: Send + Sync {
    /// Waits so long, asks `go_on` now and then, and answers `false` as soon as that says so.
    fn sleep(&self, pause: Duration, go_on: &mut dyn FnMut() -> bool) -> bool;
}

/// Sleeps for real.
pub(super) struct Clock;

impl Sleeper for Clock {
    fn sleep(&self, pause: Duration, go_on: &mut dyn FnMut() -> bool) -> bool {
        const SLICE: Duration = Duration::from_millis(250);
        let mut left = pause;
        while !left.is_zero() {
            if !go_on() {
                return false;
            }
            let slice = left.min(SLICE);
            std::thread::sleep(slice);
            left -= slice;
        }
        go_on()
    }
}

/// Random numbers in [0, 1) that only decide pauses, never results.
#[derive(Debug)]
pub(super) struct Jitter {
    seed: u64,
}

impl Jitter {
    pub(super) fn seeded(seed: u64) -> Self {
        Self { seed }
    }

    /// Another one in every process: two that share a seed would wait in step.
    pub(super) fn by_time() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::seeded(since.as_nanos() as u64 ^ u64::from(std::process::id()) << 32)
    }

    /// The number of the n-th request.
    pub(super) fn of(&self, request: u64) -> f64 {
        Stream::new([self.seed, stream(b"wait")], [request, 0, 0]).unit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn jitter_is_replayable_and_differs_by_request() {
        let of = |seed| (0..4).map(|n| Jitter::seeded(seed).of(n)).collect::<Vec<_>>();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert!(of(1).windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn a_sleep_ends_when_told() {
        let mut asked = 0;
        let mut go_on = || {
            asked += 1;
            asked < 2
        };
        assert!(!Clock.sleep(3600 * SECOND, &mut go_on));
        assert!(Clock.sleep(Duration::from_millis(1), &mut || true));
    }
}
