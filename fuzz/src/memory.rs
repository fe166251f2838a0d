//! An allocator that counts: an input that makes a reader hold more than four times its size and a
//! constant is a crash.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What a reader may hold beside four times its input: buffers, tables of the program, and what the small
/// limits of the checks allow (4 MiB unpacked, a quarter of a million cells).
pub const CONSTANT: usize = 64 << 20;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that are held, and the most that may be.
static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Runs something that reads an input of this many bytes.
pub fn limited(bytes: usize, run: impl FnOnce()) {
    MOST.store(HELD.load(Relaxed) + 4 * bytes + CONSTANT, Relaxed);
    run();
    MOST.store(usize::MAX, Relaxed);
}

fn take(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    let most = MOST.load(Relaxed);
    if held > most {
        // What is written here must not be counted.
        MOST.store(usize::MAX, Relaxed);
        eprintln!("{bytes} bytes asked for, {held} held, where {most} are allowed");
        panic!("too much memory");
    }
}

// SAFETY: every call is passed to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.realloc(old, layout, size) }
    }
    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(old, layout) }
    }
}
