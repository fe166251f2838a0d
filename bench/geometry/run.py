"""Curvature of a ResNet-18 beside PyTorch's double backward.

    python bench/geometry/run.py [--ours target/release/dissensus-bench-engine] [--cpu] [--rows N]
        [--precisions f32 bf16x3 tf32 bf16] [--folder DIR]

30 power iterations and 10 trace probes over 2,000 images (on a CPU: 40 images and 4 + 2, which
takes a minute). Ours trains the net for a moment, writes it into the folder and times its products;
PyTorch reads it from there. λ and trace stand beside the seconds, so that a fast wrong number shows.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from machine import bench_engine, built, machine, save  # noqa: E402


def lines(command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0:
        found.append({"error": f"{command[0]} ended with {done.returncode}"})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    bench_engine(parser)
    parser.add_argument("--cpu", action="store_true", help="on the CPU, with few images")
    parser.add_argument("--rows", type=int, help="images")
    parser.add_argument("--precisions", nargs="*", default=None, help="ours, each on its own")
    parser.add_argument("--folder", type=Path, help="where the net goes; else a folder that goes away")
    parser.add_argument("--no-peer", action="store_true", help="ours alone; nothing is saved")
    options = parser.parse_args()
    built(options.ours)
    device = "cpu" if options.cpu else "cuda"
    rows = options.rows or (40 if options.cpu else 2000)
    counts = ["4", "2"] if options.cpu else ["30", "10"]
    precisions = options.precisions or (["f32"] if options.cpu else ["f32", "bf16x3", "tf32", "bf16"])
    with tempfile.TemporaryDirectory() as kept:
        folder = options.folder or Path(kept)
        ours = []
        for precision in precisions:
            ours += lines([options.ours, "geometry", device, precision, rows, *counts, folder])
        peers = [] if options.no_peer else lines(
            [sys.executable, HERE / "peers.py", folder, *["--cpu"][: options.cpu]])
    for line in ours + peers:
        if "error" in line:
            print("failed:", line["error"])
    ours, peers = ([line for line in found if "error" not in line] for found in (ours, peers))
    print(f"{'':26} {'seconds':>9} {'λ':>12} {'residual':>9} {'trace':>12} {'MiB':>7}")
    named = [("ours", line) for line in ours] + [(line["peer"], line) for line in peers]
    for who, line in named:
        print(f"{who + ', ' + line['precision']:26} {line['seconds']:9.3f} {line['lambda']:12.6g} "
              f"{line['residual']:9.1e} {line['trace']:12.6g} {line['memory_mib']:7}")
    rows_of = []
    for mine in ours:
        for peer in peers:
            ratio = peer["seconds"] / mine["seconds"]
            rows_of.append({"ours": mine["precision"], "peer": f"{peer['peer']}, {peer['precision']}",
                            "our_seconds": mine["seconds"], "their_seconds": peer["seconds"],
                            "ratio": ratio, "lambda_off": mine["lambda"] / peer["lambda"] - 1,
                            "trace_off": mine["trace"] / peer["trace"] - 1})
            print(f"ours {mine['precision']:5} {ratio:6.2f}× as fast as {peer['precision']:5}; "
                  f"λ off by {rows_of[-1]['lambda_off']:+.1e}, trace by {rows_of[-1]['trace_off']:+.1e}")
    if rows_of:
        # a run on the CPU is a check of the benchmark, and not its result
        save("geometry-cpu" if options.cpu else "geometry",
             {"machine": {**machine(), "device": peers[0]["device"]}, "rows": rows_of,
              "details": [*ours, *peers]})
    sys.exit(0 if ours and (peers or options.no_peer) else 1)


if __name__ == "__main__":
    main()
