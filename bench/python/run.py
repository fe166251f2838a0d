"""The Python package beside what a user would write instead, in one process.

    bench/run python [PART ...]     parts: overhead delivery votes judging

Every row has ours and its peer, the best of some repeats that alternate, and the ratio that is wanted. The package is
the installed one, or PYTHONPATH=crates/python/package after crates/python/dev.sh --release.
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from machine import machine, save  # noqa: E402

PARTS = ["overhead", "delivery", "votes", "judging"]


def best(repeats, *calls):
    """The best seconds of each call; the calls take turns, so that a busy moment hits all of them."""
    seconds = [float("inf")] * len(calls)
    for _ in range(repeats):
        for at, call in enumerate(calls):
            start = time.perf_counter()
            call()
            seconds[at] = min(seconds[at], time.perf_counter() - start)
    return seconds


def row(what, ours, peer, against, wanted=None):
    """A row of the table: seconds of ours and of the peer, which ``against`` names."""
    return {"what": what, "ours": ours, "peer": peer, "against": against, "ratio": peer / ours, "wanted": wanted}


def duration(seconds):
    for unit, size in [("s", 1), ("ms", 1e-3), ("µs", 1e-6)]:
        if seconds >= size:
            break
    return f"{seconds / size:.3g} {unit}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("parts", nargs="*", default=PARTS)
    arguments.add_argument("--repeats", type=int, default=5)
    arguments = arguments.parse_args()
    import dissensus

    rows = []
    for part in arguments.parts:
        if not (HERE / f"{part}.py").exists():
            print(f"SKIPPED: there is no part {part}")
            continue
        print(f"{part} …", flush=True)
        rows += importlib.import_module(part).rows(arguments.repeats)
    print(f"\n{'':58} {'ours':>9} {'peer':>9} {'ratio':>8}  wanted")
    for found in rows:
        wanted = f"{found['wanted']}×" if found["wanted"] else ""
        missed = "  MISSED" if found["wanted"] and found["ratio"] < found["wanted"] else ""
        print(f"{found['what']:58} {duration(found['ours']):>9} {duration(found['peer']):>9} "
              f"{found['ratio']:7.1f}×  {wanted}{missed}  ({found['against']})")
    save("python", {"machine": machine(), "version": dissensus.__version__, "rows": rows})


if __name__ == "__main__":
    # Parts import from here.
    sys.modules["run"] = sys.modules["__main__"]
    main()
