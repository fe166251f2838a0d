//! The largest numbers that are accepted. Beyond them a setting is a mistake, or would fill the memory
//! or run for days before anybody notices; it is refused with the range.

/// Bootstrap replicates of an interval.
pub const MAX_REPLICATES: usize = 10_000_000;
/// Threads of the host, and runs at a time.
pub const MAX_THREADS: usize = 1_024;
/// Votes that are drawn per item.
pub const MAX_VOTES_PER_ITEM: u32 = 1_000_000;
/// Seeds per arm of a study.
pub const MAX_SEEDS: u64 = 10_000;
