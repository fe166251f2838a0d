"""The engine on the CPU beside PyTorch, and Burn where it is built.

    bench/run engine [--burn] [--quick]

PyTorch is timed with one thread and with two, with its default Adam and with the fused one; a ratio
is to the best thread count of each. With --burn the peer in bench/engine/burn is built (some
minutes) and timed, too.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from machine import ROOT, machine, save, version  # noqa: E402

OURS = str(ROOT / "target" / "release" / "dissensus-bench-engine")


def lines(command):
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def ours(*words):
    return lines([OURS, *map(str, words)])[0]


def torch(*words):
    return lines([sys.executable, str(HERE / "peers.py"), *map(str, words)])


def burn():
    folder = HERE / "burn"
    subprocess.run(["cargo", "build", "--release"], cwd=folder, check=True)
    return lines([str(folder / "target" / "release" / "dissensus-bench-burn")])[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--burn", action="store_true", help="build and time Burn, too")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    options = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "-p", "dissensus-bench-engine"], check=True)
    repeats, steps = (3, 3) if options.quick else (10, 8)
    cores = os.cpu_count()
    rows, details = [], []

    def row(what, unit, mine, peer, theirs, bar, faster_is_less=True):
        ratio = theirs / mine if faster_is_less else mine / theirs
        rows.append({"what": what, "unit": unit, "ours": mine, "peer": peer, "theirs": theirs,
                     "ratio": ratio, "bar": bar})
        bar = f"{bar}×" if bar else ""
        print(f"{what:44} {mine:9.4g} {unit:5} {peer:24} {theirs:9.4g} {ratio:6.2f}× {bar:>5}",
              flush=True)

    print(f"{'':44} {'ours':>9} {'':5} {'peer':24} {'':>9} {'ratio':>7} {'bar':>5}")
    for data, shape, bar in (("popquorn", "3,700×384→256→5, batch 8", 5),
                             ("chaosnli", "3,113×3072→256→3, batch 32", 3)):
        mine = [ours("mlp", data, threads, repeats) for threads in (1, cores)]
        theirs = torch("mlp", "--data", data, "--threads", 1, cores, "--repeats", repeats // 2)
        details += [*mine, *theirs]
        best = min(m["seconds"] for m in mine)
        for adam, own_bar in (("adam", bar), ("adam fused", None)):
            peer = min(t["seconds"] for t in theirs if t["optimizer"] == adam)
            row(f"MLP epoch, {shape}", "s", best, f"PyTorch, {adam}", peer, own_bar)
    mine = ours("grid", "popquorn", cores)
    theirs = torch("grid", "--threads", 1, cores)
    details += [mine, *theirs]
    for adam, own_bar in (("adam", 10), ("adam fused", None)):
        peer = min(t["seconds"] for t in theirs if t["optimizer"] == adam)
        row("216 runs of the first, both cores", "s", mine["seconds"], f"PyTorch, {adam}", peer,
            own_bar)
    mine = ours("resnet18", cores, steps)
    theirs = torch("resnet18", "--threads", cores, "--steps", steps)[0]
    contiguous = torch("resnet18", "--threads", cores, "--steps", steps, "--layout", "nchw")[0]
    details += [mine, theirs, contiguous]
    speed = mine["images_per_second"]
    what = "ResNet-18, width 64, batch 64, f32"
    row(what, "img/s", speed, "PyTorch, channels last", theirs["images_per_second"], 1, False)
    row(what, "img/s", speed, "PyTorch, NCHW", contiguous["images_per_second"], None, False)
    if options.burn:
        theirs = burn()
        details.append(theirs)
        row(what, "img/s", speed, "Burn", theirs["images_per_second"], 4, False)
    memory = ours("memory", cores, 20)
    details.append(memory)
    print(f"memory: {mine['memory_mib']} MiB at the peak of ResNet-18, width 64, batch 64; "
          f"a small one {memory['peak_mib_after_2_epochs']} MiB after 2 epochs, "
          f"{memory['peak_mib_at_the_end']} MiB after {memory['epochs']}")
    binary = str(ROOT / "target" / "release" / "dissensus")
    about = {"machine": machine(), "version": version(binary)}
    save("engine", {**about, "rows": rows, "details": details})


if __name__ == "__main__":
    main()
