"""Made-up counts, logits and votes for bench/science. `generate.py FOLDER` Same bytes each time."""

import sys
from pathlib import Path

import numpy as np


def counts(rng, n, k):
    """Between one and a few dozen votes, most of them on few classes."""
    rows = np.floor(rng.random((n, k)) ** 4 * 8)
    rows[np.arange(n), rng.integers(0, k, n)] += 3
    return rows.astype(np.uint8)


def main(folder):
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    np.save(folder / "sls.npy", counts(rng, 10_000_000, 10))
    votes = counts(rng, 1_000_000, 10)
    np.save(folder / "counts.npy", votes)
    shares = votes / votes.sum(1, keepdims=True)
    np.save(folder / "logits.npy", (rng.random(votes.shape) * 2 - 1) * 2 + 3 * shares)
    # 500,000 votes: 100,000 items, 5 votes each, 1,000 workers of different skill, 10 classes.
    items, workers, k = 100_000, 1_000, 10
    truth, skill = rng.integers(0, k, items), rng.uniform(0.3, 0.95, workers)
    with open(folder / "votes.csv", "w") as file:
        file.write("task,worker,label\n")
        task = np.repeat(np.arange(items), 5)
        worker = rng.integers(0, workers, task.size)
        right = rng.random(task.size) < skill[worker]
        label = np.where(right, truth[task], rng.integers(0, k, task.size))
        file.writelines(f"t{t},w{w},c{c}\n" for t, w, c in zip(task, worker, label))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
