"""Writes a long CSV of made-up votes: task, worker, label, in random order.

    generate.py FILE VOTES ITEMS WORKERS CLASSES

In chunks, so that memory stays small however many votes are asked for. Same arguments, same bytes.
"""

import sys

import numpy as np
import polars as pl


def main(path, votes, items, workers, classes, chunk=5_000_000):
    rng = np.random.default_rng(0)
    names = pl.Series([f"class-{i}" for i in range(classes)])
    with open(path, "wb") as file:
        file.write(b"task,worker,label\n")
        for start in range(0, votes, chunk):
            n = min(chunk, votes - start)
            item = pl.Series(rng.integers(0, items, n)).cast(pl.String)
            worker = pl.Series(rng.integers(0, workers, n)).cast(pl.String)
            table = pl.DataFrame(
                {
                    "task": "task-" + item.str.zfill(8),
                    "worker": "worker-" + worker.str.zfill(4),
                    "label": names.gather(rng.integers(0, classes, n)),
                }
            )
            table.write_csv(file, include_header=False)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
