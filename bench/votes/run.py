"""A long CSV of votes to counts: ours (which also writes the .npz) beside pandas and polars.

    bench/run votes                 10 million votes
    bench/run votes --large         100 million votes besides, ours alone, with its memory
"""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from machine import ROOT, machine, save, timed, version  # noqa: E402

BINARY = str(ROOT / "target" / "release" / "dissensus")


def generated(name, votes, items):
    path = HERE / "work" / name
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        print(f"generating {votes:,} votes")
        command = [sys.executable, HERE / "generate.py", path, votes, items, 5_000, 10]
        subprocess.run(list(map(str, command)), check=True)
    return str(path)


def ours(path):
    out = str(HERE / "work" / "counts.npz")
    return [BINARY, "votes", "convert", path, out, "--force"]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--large", action="store_true")
    arguments.add_argument("--repeats", type=int, default=5)
    arguments = arguments.parse_args()
    path = generated("10m.csv", 10_000_000, 1_000_000)
    peer = lambda name: [sys.executable, str(HERE / "peers.py"), name, path]
    rows = {"dissensus": timed(ours(path), arguments.repeats)}
    for name in ["pandas", "polars", "polars_streaming", "polars_known"]:
        rows[name] = timed(peer(name), arguments.repeats)
    print(f"\n10,000,000 votes, 1,000,000 items, CSV to counts, best of {arguments.repeats}")
    print(f"{'':18} {'seconds':>8} {'MiB':>7} {'ratio to ours':>14}")
    best = rows["dissensus"]["seconds"]
    for name, row in rows.items():
        ratio = row["seconds"] / best
        print(f"{name:18} {row['seconds']:8.2f} {row['memory_mib']:7,} {ratio:13.1f}×")
    result = {"machine": machine(), "version": version(BINARY), "ten_million": rows}
    if arguments.large:
        for items in [1_000_000, 10_000_000]:
            path = generated(f"100m-{items}.csv", 100_000_000, items)
            large = timed(ours(path), 1)
            rate = 100 / large["seconds"] / (10 / best)
            print(f"100,000,000 votes, {items:,} items: {large['seconds']:.2f} s, "
                  f"{large['memory_mib']:,} MiB, {rate:.2f} of the smaller file's rate")
            result[f"hundred_million_{items}_items"] = large
    save("votes", result)


if __name__ == "__main__":
    main()
