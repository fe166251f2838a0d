//! Several jobs at once.

use std::sync::Mutex;

/// Runs `jobs` jobs in their order, up to `at_once` at a time; `work` gets the number of the worker
/// and that of the job. The results are in the order of the jobs.
pub fn parallel<R: Send>(
    jobs: usize,
    at_once: usize,
    work: impl Fn(usize, usize) -> R + Sync,
) -> Vec<R> {
    let (next, done) = (Mutex::new(0), Mutex::new(Vec::with_capacity(jobs)));
    let worker = |number: usize| {
        loop {
            let job = {
                let Ok(mut next) = next.lock() else { return };
                let job = *next;
                *next += 1;
                job
            };
            if job >= jobs {
                return;
            }
            let result = work(number, job);
            let Ok(mut done) = done.lock() else { return };
            done.push((job, result));
        }
    };
    std::thread::scope(|scope| {
        let worker = &worker;
        for number in 1..at_once.clamp(1, jobs.max(1)) {
            scope.spawn(move || worker(number));
        }
        worker(0);
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(job, _)| *job);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::parallel;

    #[test]
    fn every_job_is_done_once_and_results_keep_their_order() {
        for count in [1, 2, 7] {
            assert_eq!(
                parallel(20, count, |_, job| job * job),
                (0..20).map(|n| n * n).collect::<Vec<_>>()
            );
        }
        assert!(parallel(0, 3, |_, job| job).is_empty());
    }
}
