//! Where results come from, for people: versions, machines, dates, time.

use serde_json::Value;

use crate::Plan;
use crate::collect::{ENVIRONMENT, Gathered};

pub(super) fn lines(plan: &Plan<'_>, gathered: &Gathered, about: &Value) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            lines.push((name.to_owned(), value));
        }
    };
    let ran = || gathered.ran.values();
    line("study", plan.study().name.clone());
    line("scale", plan.study().scale.clone().unwrap_or_default());
    line("runs", format!("{} finished", ran().count()));
    for (_, name, field) in ENVIRONMENT {
        let values = gathered.environments(field);
        let several = values.len() > 1;
        let one = |(value, runs): &(&str, usize)| match several {
            true => format!("{value} ({runs} runs)"),
            false => (*value).to_owned(),
        };
        line(name, values.iter().map(one).collect::<Vec<_>>().join("; "));
    }
    let seconds: f64 = ran().map(|run| run.result.seconds).sum();
    line("first begun", ran().map(|run| run.info.created).min().map_or(String::new(), date));
    line("last ended", ran().map(|run| run.info.status.updated).max().map_or(String::new(), date));
    line("time in training", time(seconds));
    line("collected", about["collected"].as_u64().map_or(String::new(), date));
    for (key, value) in about["about"].as_object().into_iter().flatten() {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        line(&format!("collected: {key}"), text);
    }
    lines
}

/// A time of many seconds.
fn time(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, _) => format!("{seconds:.1} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// Seconds since 1970 as a date. The days of a year are counted from March, so that the leap day is
/// the last of them.
fn date(seconds: u64) -> String {
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + next;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", of_day / 3600, of_day / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python 3.11: `datetime.fromtimestamp(s, UTC)`.
    #[test]
    fn dates_and_times_are_for_people() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_767_225_599), "2025-12-31 23:59 UTC");
        assert_eq!(date(4_107_542_400), "2100-03-01 00:00 UTC");
        assert_eq!([time(4.25), time(65.0), time(7260.0)], ["4.2 s", "1 min 5 s", "2 h 1 min"]);
    }
}
