//! How the work of a norm is cut into blocks and threads.

use super::kernels::Geometry;

/// Blocks that share the sums of a batch norm: one for each processor of a large GPU. A fixed
/// number, so that results do not depend on the GPU's.
pub(super) const BLOCKS: usize = 132;

/// Threads of a block that sums, and groups of eight channels that it takes at most: THREADS and
/// WIDEST of kernels/norm.cu.
const THREADS: usize = 512;
const GROUPS: usize = 16;

/// Rows of a thread that applies a norm: EACH of kernels/norm.cu. Backward it is EACH_BACK, as many as
/// are 8 bytes of activations.
pub(super) const APPLY_ROWS: usize = 4;

/// How sums are cut: the rows of a block, then grid and block sizes.
pub(super) struct Cut {
    pub(super) share: usize,
    grid: (u32, u32),
    block: (u32, u32),
}

impl Cut {
    pub(super) fn geometry(&self) -> Geometry {
        (self.grid, self.block)
    }
}

/// Blocks that sum a norm: each a stretch of rows by up to 128 channels.
pub(super) fn sums(rows: usize, channels: usize) -> Cut {
    let groups = (channels / 8).next_power_of_two().clamp(1, GROUPS);
    let (lines, columns) = (THREADS / groups, channels.div_ceil(groups * 8));
    let share = rows.div_ceil((BLOCKS / columns).max(1)).next_multiple_of(lines);
    let blocks = rows.div_ceil(share);
    Cut { share, grid: (blocks as u32, columns as u32), block: (groups as u32, lines as u32) }
}

/// Blocks that go over a norm's rows once, `each` rows per thread: BLOCK of kernels/norm.cu, which is smaller in
/// bfloat16, so that it fits beside convolutions of ours. `act`: bytes of an activation.
pub(super) fn over(rows: usize, channels: usize, each: usize, act: usize) -> Geometry {
    let groups = (channels / 8).next_power_of_two().clamp(1, 64);
    let threads = if act == 2 { 128 } else { 256 };
    let (lines, columns) = (threads / groups, channels.div_ceil(groups * 8));
    ((rows.div_ceil(lines * each) as u32, columns as u32), (groups as u32, lines as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row and channel falls to one block, and the places of all blocks have room.
    #[test]
    fn work_is_cut_whole() {
        for (rows, channels) in [
            (131_072, 64),
            (32_768, 128),
            (8_192, 256),
            (2_048, 512),
            (49, 8),
            (1, 24),
            (300, 2048),
        ] {
            let Cut { share, grid, block } = sums(rows, channels);
            assert_eq!((block.0 * block.1) as usize, THREADS);
            assert!(share % block.1 as usize == 0 && share * grid.0 as usize >= rows);
            assert!(share * (grid.0 as usize - 1) < rows);
            assert!((grid.1 * block.0 * 8) as usize >= channels && block.0 as usize <= GROUPS);
            let places = (grid.0 * grid.1 * block.0 * 8) as usize;
            let columns = channels.next_power_of_two().max(128);
            assert!(places <= (BLOCKS + 1) * columns, "{rows} {channels}");
            for (each, act) in [(APPLY_ROWS, 2), (APPLY_ROWS, 4), (4, 2), (2, 4)] {
                let (grid, block) = over(rows, channels, each, act);
                assert_eq!(block.0 * block.1, if act == 2 { 128 } else { 256 });
                assert!((grid.0 * block.1) as usize * each >= rows);
                assert!((grid.1 * block.0 * 8) as usize >= channels);
            }
        }
    }
}
