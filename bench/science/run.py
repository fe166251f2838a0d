"""Delivery, metrics and Dawid–Skene beside numpy, scipy + relplot, and crowd-kit.

    bench/run science
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from machine import ROOT, machine, save, version  # noqa: E402

WORK = HERE / "work"
OURS = str(ROOT / "target" / "release" / "dissensus-bench-science")


def seconds(command):
    """Seconds printed, in groups divided by a line of words."""
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    groups = [[]]
    for line in filter(None, lines):
        try:
            groups[-1].append(float(line))
        except ValueError:
            groups.append([])
    return groups


def main():
    subprocess.run(["cargo", "build", "--release", "-p", "dissensus-bench-science"], check=True)
    if not (WORK / "votes.csv").exists():
        print("generating data")
        subprocess.run([sys.executable, str(HERE / "generate.py"), str(WORK)], check=True)
    file = lambda name: str(WORK / name)
    peer = lambda *words: seconds([sys.executable, str(HERE / "peers.py"), *words])
    ours = lambda *words: seconds([OURS, *words])
    rows = []

    def row(what, mine, theirs, bar):
        rows.append({"what": what, "ours": min(mine), "peer": min(theirs), "bar": bar,
                     "ratio": min(theirs) / min(mine), "all_ours": mine, "all_peer": theirs})

    one, eight = ours("sls", file("sls.npy"), "7")
    whole, beforehand = peer("sls", file("sls.npy"), "5")
    row("SLS, 10M × 10, one epoch; numpy", one, whole, 20)
    row("  the same; numpy's sums made beforehand", one, beforehand, None)
    row("  eight epochs, each; numpy", [s / 8 for s in eight], whole, None)
    mine = ours("metrics", file("counts.npy"), file("logits.npy"), "7")[0]
    theirs = peer("metrics", file("counts.npy"), file("logits.npy"), "3")[0]
    row("all metrics, 1M × 10; numpy, scipy, relplot", mine, theirs, 10)
    mine = ours("intervals", file("counts.npy"), file("logits.npy"), "5")[0]
    row("  with the intervals; the peer without any", mine, theirs, None)
    mine = ours("dawid-skene", file("votes.csv"), "5")[0]
    theirs = peer("dawid_skene", file("votes.csv"), "3")[0]
    row("Dawid–Skene, 500k votes, 10 iterations; crowd-kit", mine, theirs, 20)

    print(f"\n{'':52} {'ours':>9} {'peer':>9} {'ratio':>8} {'bar':>5}")
    for r in rows:
        bar = f"{r['bar']}×" if r["bar"] else ""
        print(f"{r['what']:52} {r['ours']:8.4f}s {r['peer']:8.3f}s {r['ratio']:7.1f}× {bar:>5}")
    binary = str(ROOT / "target" / "release" / "dissensus")
    save("science", {"machine": machine(), "version": version(binary), "rows": rows})


if __name__ == "__main__":
    main()
