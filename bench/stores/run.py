"""A store of many finished runs: how long commands take on it, and how much memory.

    bench/run stores [--runs 10000] [--work DIR] [--keep]

The store is made by the program itself, from a study of runs that take milliseconds each. Every command
reads and checks the files of all runs, as always. There is no peer: nothing else has such a store.
"""

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from machine import ROOT, machine, save, timed, version  # noqa: E402

OURS = str(ROOT / "target" / "release" / "dissensus")
ARMS = ["soft", "sls", "multipass", "deterministic", "majority"]
VOTES = [5, 10]
STUDY = """
[study]
name = "many"
[data]
dataset = "blends"
items = 40
[model]
name = "mlp"
hidden = 4
[training]
epochs = 1
batch_size = 32
[run]
seeds = {seeds}
threads = 2
jobs = 2
{arms}
[[table]]
name = "main"
down = ["k", "arm"]
metrics = ["soft_nll", "kl", "accuracy", "ece_mass", "best_epoch"]
against = {{ arm = "soft" }}
[[figure]]
name = "points"
kind = "points"
metrics = ["soft_nll", "accuracy"]
"""
# The most seconds at 10,000 runs.
BARS = {"runs list": 1, "study status": 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--work", type=Path, default=HERE / "work")
    parser.add_argument("--keep", action="store_true", help="keep the store, and use one that was kept")
    parser.add_argument("--ours", default=OURS, help="our program")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    study, store = options.work / f"{options.runs}.toml", options.work / f"{options.runs}"
    arms = "".join(f'[[arm]]\nname = "{arm}"\ndelivery = "{arm}"\nvotes = {VOTES}\n' for arm in ARMS)
    study.write_text(STUDY.format(seeds=options.runs // len(ARMS) // len(VOTES), arms=arms))

    run = [options.ours, "study", "run", study, "--store", store]
    if not (options.keep and store.exists()):
        shutil.rmtree(store, ignore_errors=True)
        start = time.perf_counter()
        subprocess.run(list(map(str, run)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(f"the store was made in {time.perf_counter() - start:.0f} s")
    report, pack = options.work / "report", options.work / "store.pack"
    bucket, pulled = options.work / "bucket", options.work / "pulled"
    url = bucket.absolute().as_uri()
    for folder in (bucket, pulled):
        shutil.rmtree(folder, ignore_errors=True)
    commands = [
        ("runs list", ["runs", "list", "--store", store], options.repeats, None),
        ("study status", ["study", "status", study, "--store", store], options.repeats, None),
        ("report", ["report", store, "--out", report], 1, None),
        ("study run, all kept", run[1:], 1, None),
        ("study run, stages anew", run[1:], 1, store / "studies" / "many" / "stages"),
        ("pack", ["pack", store, pack], 1, None),
        ("store sync, push", ["store", "sync", store, url, "--push"], 1, None),
        ("store sync, all the same", ["store", "sync", store, url], 1, None),
        ("store sync, pull", ["store", "sync", pulled, url, "--pull"], 1, None),
    ]
    rows = []
    print(f"{f'{options.runs} runs':24} {'seconds':>10} {'CPU':>6} {'MiB':>6} {'bar':>5}")
    for what, arguments, repeats, removed in commands:
        if removed:
            shutil.rmtree(removed)
        found = timed(list(map(str, [options.ours, *arguments])), repeats)
        bar = BARS.get(what) if options.runs == 10_000 else None
        rows.append({"what": what, "unit": "s", "ours": found["seconds"], "all": found["all_seconds"],
                     "cpu_seconds": found["cpu_seconds"], "memory_mib": found["memory_mib"], "bar": bar})
        print(f"{what:24} {found['seconds']:10.2f} {found['cpu_seconds']:6.2f} {found['memory_mib']:6} "
              f"{f'{bar} s' if bar else '':>5}", flush=True)
    name = "stores" if options.runs == 10_000 else f"stores-{options.runs}"
    save(name, {"machine": machine(), "version": version(options.ours), "runs": options.runs, "rows": rows})
    for folder in (report, bucket, pulled):
        shutil.rmtree(folder, ignore_errors=True)
    pack.unlink(missing_ok=True)
    if not options.keep:
        shutil.rmtree(store)


if __name__ == "__main__":
    main()
