"""The grid search of soft and hard labels on one dataset, beside the same in PyTorch.

    bench/run grid [--dataset chaosnli] [--every 6]

Ours is a part of `dissensus study run soft-label`: 108 settings for each of the two arms, from the
command to the results, with everything that it stores. The peer trains the same heads on the same
vectors, targets and split, with the same early stopping and schedules, and nothing else; its
setting up is not timed. It runs a sixth of the settings, drawn once, unless --every 1 is given, and
its time is scaled by the steps of all. It is timed as one process with one thread and with two, and
as two processes with one thread each; with its default Adam and with the fused one.

Data are taken from the folder that DISSENSUS_MIRROR names (shared/data beside the repository if left
out), and are kept in DISSENSUS_CACHE (bench/grid/work/cache if left out).
"""

import argparse
import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from machine import ROOT, machine, save, version  # noqa: E402

WORK = HERE / "work"
OURS = str(ROOT / "target" / "release" / "dissensus")
MIRROR = Path(os.environ.get("DISSENSUS_MIRROR", ROOT.parent / "shared" / "data"))
CACHE = Path(os.environ.get("DISSENSUS_CACHE", WORK / "cache"))
FILES = {
    "popquorn": ["popquorn/politeness.csv"],
    "chaosnli": ["chaosnli/chaosNLI_snli.jsonl", "chaosnli/chaosNLI_mnli_m.jsonl"],
}
ARMS = {"soft": ("soft", "soft_nll"), "majority": ("hard", "hard_nll")}


def ours(*words, **how):
    environment = {**os.environ, "DISSENSUS_CACHE": str(CACHE)}
    return subprocess.run([OURS, *map(str, words)], check=True, capture_output=True, text=True,
                          env=environment, **how).stdout


def fetch(dataset):
    """Data, encoder and vectors, so that neither side has to make them."""
    source = ["--from", MIRROR] if MIRROR.exists() else []
    for name in (dataset, "minilm"):
        ours("data", "fetch", name, *source)
    vectors = WORK / f"{dataset}.npz"
    vectors.unlink(missing_ok=True)
    ours("embed", dataset, "--encoder", "minilm", "--out", vectors)
    return np.load(vectors)


def study(dataset, quick):
    """The built-in study with one dataset, two arms and the grid alone."""
    sections = re.split(r"\n(?=\[)", ours("study", "show", "soft-label", "--resolved"))

    def keep(section):
        head = section.split("\n", 1)[0]
        name = re.search(r'^name = "(.*)"$', section, re.MULTILINE)
        if head in ("[[dataset]]", "[[arm]]"):
            return name[1] in (dataset, "soft", "hard")
        return head in ("[study]", "[grid]") or re.match(r"\[(data|split|model|training|selection|run)\b", head)

    text = "\n".join(filter(keep, sections))
    if quick:
        text = re.sub(r'("training.(?:learning_rate|epochs)" = )\[([^,]*),.*', r"\1[\2]", text)
    path = WORK / f"{dataset}.toml"
    path.write_text(text)
    return path


def split(ids, majority, test):
    """The split of seed 0, as the documentation of the crate `train` gives it in numpy: items of a
    class in the order of a word of Philox, cut by the shares. It is held to the items that our runs
    were tested on; of the others one item per class may be on the other side."""

    def word(name):
        key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
        below = ((key << 64) - 1) % 2**256
        counter = np.array([below >> 64 * i & (2**64 - 1) for i in range(4)], dtype=np.uint64)
        stream = np.array([0, int.from_bytes(b"split", "big")], dtype=np.uint64)
        return int(np.random.Philox(key=stream, counter=counter).random_raw())

    words = np.array([word(name) for name in ids], dtype=np.uint64)
    tested = np.array([name in test for name in ids])
    train, validation = [], []
    for label in np.unique(majority):
        places = np.flatnonzero(majority == label)
        places = places[np.argsort(words[places])]
        first, last = round(0.7 * len(places)), len(places) - tested[places].sum()
        assert tested[places[last:]].all(), "the split is not the one that our runs have"
        train.append(places[:first])
        validation.append(places[first:last])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(validation))


def targets(dataset, ids):
    """The distributions of the votes, in the order of the ids."""
    rows = {}
    for file in FILES[dataset]:
        table = csv.reader(ours("deliver", "--votes", MIRROR / file, "--method", "soft").splitlines())
        next(table)
        rows.update({name: shares for name, *shares in table})
    return np.array([rows[name] for name in ids], dtype=np.float32)


def our_runs(store):
    """Settings and results of every run in a store."""
    found = []
    for folder in (store / "runs").iterdir():
        spec = json.loads((folder / "spec.json").read_text())["run"]
        result = json.loads((folder / "result.json").read_text())
        training, (arm, metric) = spec["training"], ARMS[spec["delivery"].split(":")[0]]
        found.append({
            "arm": arm, "rate": training["rate"], "batch": training["batch"],
            "epochs": training["epochs"], "schedule": training["schedule"]["name"],
            "weight_decay": training["optimizer"]["weight_decay"],
            "loss": result["parts"]["validation"]["best"][metric],
            "trained": result["epochs"], "seconds": result["seconds"], "folder": folder,
        })
    return sorted(found, key=lambda run: [run[key] for key in KEYS])


KEYS = ("arm", "rate", "batch", "epochs", "weight_decay", "schedule")


def chosen(runs, every):
    """Every n-th setting, drawn so that all values of all axes come up."""
    order = np.random.default_rng(0).permutation(len(runs))
    return [runs[i] for i in sorted(order[: -(-len(runs) // every)])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dataset", choices=FILES, default="popquorn")
    parser.add_argument("--every", type=int, default=6, help="the peer runs one in so many settings")
    parser.add_argument("--quick", action="store_true",
                        help="a ninth of the grid, to see that all works; nothing is saved")
    options = parser.parse_args()
    WORK.mkdir(exist_ok=True)
    vectors = fetch(options.dataset)
    file, store = study(options.dataset, options.quick), WORK / "store"
    shutil.rmtree(store, ignore_errors=True)
    start = time.perf_counter()
    ours("study", "run", file, "--store", store, "--seeds", 1)
    mine = time.perf_counter() - start
    runs = our_runs(store)

    ids = [str(name) for name in vectors["ids"]]
    soft = targets(options.dataset, ids)
    hard = soft.argmax(1)
    test = set(map(str, np.load(runs[0]["folder"] / "predictions" / "best.npz")["ids"]))
    train, validation = split(ids, hard, test)
    values = next(vectors[name] for name in vectors.files if vectors[name].ndim == 2)
    np.savez(WORK / "data.npz", x=values.astype(np.float32), soft=soft, hard=hard, train=train,
             validation=validation)
    part = chosen(runs, options.every)
    points = [{key: run[key] for key in KEYS} for run in part]
    (WORK / "points.json").write_text(json.dumps(points))
    command = [sys.executable, str(HERE / "peers.py"), WORK / "data.npz", WORK / "points.json"]
    found = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    peers = [json.loads(line) for line in found.stdout.splitlines() if line.startswith("{")]
    report(options, mine, runs, part, peers, len(train))


def steps(runs, key, rows):
    return sum(run[key] * -(-rows // run["batch"]) for run in runs)


def report(options, mine, runs, part, peers, rows):
    # Which settings are drawn must not matter: the peer's time is scaled by the steps of the runs.
    scale = steps(runs, "trained", rows) / steps(part, "trained", rows)
    print(f"{options.dataset}: {len(runs)} runs, {steps(runs, 'trained', rows):,} steps; the peer ran "
          f"{len(part)} of them, its time is scaled by {scale:.2f}")
    print(f"{'':44} {'ours':>9} {'peer':>9} {'ratio':>8} {'bar':>5}")
    results = []
    for peer in peers:
        theirs = peer["seconds"] * scale
        way = f"{peer['processes']} process{'es' if peer['processes'] > 1 else ''}"
        way += f", {peer['threads']} thread{'s' if peer['threads'] > 1 else ''}"
        results.append({"what": f"grid of {len(runs)} runs, {options.dataset}", "unit": "s", "ours": mine,
                        "peer": f"PyTorch, {peer['optimizer']}, {way}", "theirs": theirs,
                        "ratio": theirs / mine, "bar": None})
    # The bar is to one run after another, as such programs are written, in its best form.
    alone = [row for row in results if "1 process," in row["peer"]]
    min(alone, key=lambda row: row["theirs"])["bar"] = 10
    for row in results:
        bar = f"{row['bar']}×" if row["bar"] else ""
        print(f"{row['peer']:44} {row['ours']:8.1f}s {row['theirs']:8.1f}s {row['ratio']:7.2f}× {bar:>5}")

    agreement = {}
    for arm in ("soft", "hard"):
        own = [run["loss"] for run in part if run["arm"] == arm]
        other = [run["loss"] for run in peers[0]["runs"] if run["arm"] == arm]
        agreement[arm] = {"ours": float(np.mean(own)), "theirs": float(np.mean(other))}
        ratio = agreement[arm]["theirs"] / agreement[arm]["ours"] - 1
        print(f"mean best validation loss, {arm}, same {len(own)} runs: ours {np.mean(own):.4f}, "
              f"theirs {np.mean(other):.4f} ({100 * ratio:+.2f} %)")
        assert abs(ratio) < 0.02, "the two do not train the same"
    if options.quick:
        return
    details = [{**run, "folder": run["folder"].name} for run in runs]
    about = {"machine": machine(), "version": version(OURS)}
    name = "grid" if options.dataset == "popquorn" else f"grid-{options.dataset}"
    save(name, {**about, "dataset": options.dataset, "scale": scale, "rows": results,
                "agreement": agreement, "ours": details, "peers": peers})


if __name__ == "__main__":
    main()
