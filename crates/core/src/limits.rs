//! The largest numbers that are accepted. Beyond them a setting is a mistake, or would fill the memory
//! or run for days before anybody notices; it is refused with the range.

/// Bootstrap replicates of an interval.
pub const MAX_REPLICATES: usize = 10_000_000;
/// Threads of the host, and runs at a time.
pub const MAX_THREADS: usize = 1_024;
/// Votes that are drawn per item.
pub const MAX_VOTES_PER_ITEM: u32 = 1_000_000;
/// Cells of an array with a column per class that is written: 8 GiB as 64-bit numbers, which is the most that
/// is read.
pub const MAX_DENSE_CELLS: u64 = 1 << 30;
/// Votes that counts are written out as.
pub const MAX_VOTES_WRITTEN: u64 = 1 << 28;
/// Parameters of a network: 8 GiB as 32-bit numbers, and training needs several times as much.
pub const MAX_PARAMETERS: usize = 1 << 31;
/// Seeds per arm of a study.
pub const MAX_SEEDS: u64 = 10_000;

/// Whether the system gives this much memory: it is asked for, and given back unused. What is computed with
/// large arrays asks first, since an allocation that fails ends the program.
pub fn is_available(bytes: u64) -> bool {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn more_than_any_machine_has_is_not_available() {
        assert!(super::is_available(1 << 20));
        assert!(!super::is_available(1 << 50));
        assert!(!super::is_available(u64::MAX));
    }
}
