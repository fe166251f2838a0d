"""The CUDA device beside PyTorch on the same GPU.

    python bench/cuda/run.py [--ours target/release/dissensus-bench-engine] [--quick]
        [--variants NAMES] [--evaluation]

Training of a ResNet-18 by the study's recipe, augmentation included, as peers.py explains it: one run
alone, and several at a time. Each is held against PyTorch of the same precision and number of lanes,
and against PyTorch's best of that precision with any number. Then what evaluation of 2,000 images after
every epoch adds to an epoch (`--evaluation`: nothing but that).
"""

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from machine import bench_engine, built, machine, save, version  # noqa: E402

# Precision and lanes; one lane is a GPU opened for one run alone.
OURS = [("bf16", 1), ("bf16", 2), ("bf16", 3), ("bf16", 4), ("tf32", 1), ("tf32", 3)]
EPOCHS = 10
# Where evaluation is timed: lanes, and whether the GPU is opened for one run alone; --quick: the first.
EVALUATED, EVALUATED_EPOCHS = [(1, "alone"), (1, "shared"), (4, "shared")], 20


def lines(command):
    # errors of the command are the user's to see; only its lines are ours to read
    command = [str(part) for part in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0:
        why = "; ".join(line["error"] for line in found if "error" in line)
        sys.exit(f"{shlex.join(command)} ended with {done.returncode}: {why or 'see above'}")
    return found


def name(peer):
    lanes = f" ×{peer['lanes']}" if peer["lanes"] > 1 else ""
    casts = f", {peer['casts']}" if peer.get("casts") else ""
    return f"PyTorch {peer['way']}{lanes}{casts}"


def joined(ours, peers):
    """A row for each of ours and each peer it is held against."""
    rows = []
    for mine in ours:
        same = lambda peer: all(peer[k] == mine[k] for k in ("what", "precision"))  # noqa: E731
        alike = list(filter(same, peers))
        alike.sort(key=lambda peer: peer["images_per_second"])
        against = [(name(p), p) for p in alike if p["lanes"] == mine["lanes"]]
        against += [(f"best: {name(p)}", p) for p in alike[-1:]]
        for label, peer in against or [("no peer", None)]:
            theirs = peer and peer["images_per_second"]
            rows.append({"what": f"{mine['what']}, {mine['precision']}, lanes {mine['lanes']}",
                         "unit": "img/s", "ours": mine["images_per_second"], "peer": label,
                         "theirs": theirs, "ratio": theirs and mine["images_per_second"] / theirs,
                         "our_step_ms": mine["step_ms"], "their_step_ms": peer and peer["step_ms"],
                         "our_memory_mib": mine["memory_mib"],
                         "their_memory_mib": peer and peer["memory_mib"]})
    return rows


def show(rows):
    print(f"{'':28} {'ours':>9} {'':5} {'peer':34} {'':>9} {'ratio':>7}")
    for row in rows:
        other = f"{row['theirs']:9.4g} {row['ratio']:6.2f}×" if row["theirs"] else ""
        print(f"{row['what']:28} {row['ours']:9.4g} {row['unit']:5} {row['peer']:34} {other}")


def evaluated(binary, quick):
    """Milliseconds of an epoch without evaluation, with one after it, and with one beside the next."""
    found = []
    print(f"{'an epoch of bf16, in ms':28} {'none':>9} {'after':>9} {'beside':>9}  evaluation")
    for lanes, opened in EVALUATED[:1] if quick else EVALUATED:
        own = lines([binary, "evaluation", "bf16", lanes, EVALUATED_EPOCHS, opened])
        for by in dict.fromkeys(line["by"] for line in own):
            times = {line["evaluation"]: line["epoch_ms"] for line in own if line["by"] == by}
            cells = [f"{times[way]:9.2f}" if way in times else f"{'':9}" for way in ("none", "after", "beside")]
            print(f"{f'lanes {lanes}, {opened}, by {by}':28} {' '.join(cells)}")
        found += own
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    bench_engine(parser)
    parser.add_argument("--quick", action="store_true", help="fewer epochs of the peers")
    parser.add_argument("--variants", nargs="+", help="these peers only, as peers.py names them")
    parser.add_argument("--evaluation", action="store_true", help="time evaluation only; nothing is saved")
    options = parser.parse_args()
    built(options.ours)
    evaluations = evaluated(options.ours, options.quick)
    if options.evaluation:
        return
    ours = [line for precision, lanes in OURS
            for line in lines([options.ours, "cuda", precision, lanes, EPOCHS])]
    peers = lines([sys.executable, HERE / "peers.py", *["--quick"][: options.quick],
                   *(["--variants", *options.variants] if options.variants else [])])
    for line in (line for line in peers if "error" in line):
        print(f"failed: {line.get('variant', line.get('what', ''))}: {line['error']}")
    measured = [p for p in peers if "error" not in p]
    rows = joined(ours, measured)
    show(rows)
    about = measured[0] if measured else {}
    gpu = {key: about.get(key) for key in ("device", "driver", "cuda", "cudnn", "torch")}
    save("cuda", {"machine": {**machine(), "gpu": gpu},
                  "version": version(options.ours.with_name("dissensus")),
                  "rows": rows, "details": [*ours, *evaluations, *peers]})


if __name__ == "__main__":
    main()
