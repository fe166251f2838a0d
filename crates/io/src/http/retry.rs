//! Whether and when to try again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Whether a status says that another attempt may succeed: a timeout, too many requests, or a
/// server that is busy or broken.
pub fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502..=504 | 520..=599)
}

/// Pauses that double with each failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The pause after the first failure.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
}

impl Backoff {
    /// The pause after the `failed`-th failure (from 1): `first` · 2^(failed − 1), at most
    /// `longest`. Up to half of it is left out: all of it is kept at a jitter of 1, half at 0. With
    /// random jitter, clients that failed together do not come back together.
    pub fn pause(&self, failed: u32, jitter: f64) -> Duration {
        let doubled = self
            .first
            .saturating_mul(1u32.checked_shl(failed.saturating_sub(1)).unwrap_or(u32::MAX));
        doubled.min(self.longest).mul_f64(0.5 + 0.5 * jitter.clamp(0.0, 1.0))
    }
}

/// What a `Retry-After` asks for: seconds, or a date as in `Wed, 21 Oct 2015 07:28:00 GMT`.
pub fn parse_retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = UNIX_EPOCH + Duration::from_secs(http_date(text)?);
    Some(at.duration_since(now).unwrap_or_default())
}

/// Seconds since 1970 of a date in the form that HTTP prescribes.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut words = text.split_once(", ")?.1.split(' ');
    let mut next = || words.next();
    let day: u64 = next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = MONTHS.find(next()?).filter(|at| at % 3 == 0)? as u64 / 3 + 1;
    let year: u64 = next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let clock: Option<Vec<u64>> = next()?.split(':').map(|part| part.parse().ok()).collect();
    let [hours, minutes, seconds] = clock?[..] else { return None };
    (next()? == "GMT" && hours < 24 && minutes < 60 && seconds < 61).then_some(())?;
    // Days since 1970 of the proleptic Gregorian calendar, whose years begin in March here.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some((days.checked_sub(719_468)? * 24 + hours) * 3600 + minutes * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn pauses_double_up_to_the_longest() {
        let backoff = Backoff { first: SECOND, longest: 60 * SECOND };
        let pause = |failed, jitter| backoff.pause(failed, jitter);
        assert_eq!((pause(1, 0.0), pause(1, 1.0)), (SECOND / 2, SECOND));
        assert_eq!((pause(2, 1.0), pause(5, 1.0)), (2 * SECOND, 16 * SECOND));
        assert_eq!((pause(7, 1.0), pause(100, 1.0)), (60 * SECOND, 60 * SECOND));
    }

    /// `date -u -d '2015-10-21 07:28:00' +%s` and so on.
    #[test]
    fn dates_are_seconds() {
        assert_eq!(http_date("Wed, 21 Oct 2015 07:28:00 GMT"), Some(1_445_412_480));
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(http_date("Thu, 29 Feb 2024 23:59:59 GMT"), Some(1_709_251_199));
        for bad in ["", "soon", "Wed, 21 Oct 2015", "Wed, 21 anF 2015 07:28:00 GMT"] {
            assert_eq!(http_date(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_a_server_asks_for() {
        let now = UNIX_EPOCH + Duration::from_secs(1_445_412_470);
        assert_eq!(parse_retry_after(" 7 ", now), Some(7 * SECOND));
        assert_eq!(parse_retry_after("0.5", now), Some(SECOND / 2));
        assert_eq!(parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT", now), Some(10 * SECOND));
        assert_eq!(parse_retry_after("Wed, 21 Oct 2015 07:00:00 GMT", now), Some(Duration::ZERO));
        for bad in ["-1", "NaN", "inf", "later"] {
            assert_eq!(parse_retry_after(bad, now), None, "{bad}");
        }
    }
}
