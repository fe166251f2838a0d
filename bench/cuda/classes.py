"""Where the time of a training step goes, per class of kernels, and what the GPU's rates allow.

    python bench/cuda/classes.py [--ours target/release/dissensus-bench-engine] [--precision bf16]

Nsight Compute runs the kernels of some steps of a ResNet-18 one at a time, so the sum is that of a step
without overlap. The floor of a class is the larger of its arithmetic at the rate of a large matrix
product on this GPU and the bytes it moved at the rate of a large copy.
"""

import argparse
import csv
import io
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from machine import bench_engine, built, save, version  # noqa: E402

TIME, BYTES = "gpu__time_duration.sum", "dram__bytes.sum"
# Kernels of ours by the beginning of their names; all others are cuDNN's.
OURS = {"conv_": "convolutions, ours", "stride_": "convolutions, ours",
        "stem_": "convolutions, ours", "norm_statistics": "norm, statistics", "norm_apply": "norm, output",
        "norm_gradients": "norm, gradient sums", "norm_back": "norm, gradient",
        "sgd": "optimizer", "gather_images": "images", "subsample": "images",
        "head": "head", "pool": "head", "linear": "head", "cross_entropy": "head",
        "draw_labels": "labels", "cycle_labels": "labels",
        "next_batch": "small", "store_rows": "small", "copy_to_activations": "small",
        "accumulate": "small", "unpad": "small", "add": "small", "scatter": "small",
        "gather": "small"}
BATCH = 128
# Multiply-adds of a image's forward pass, and of its first convolution, whose input has no gradient.
MACS = 555_417_600
MACS_FIRST = 32 * 32 * 9 * 3 * 64
# Those of the 13 convolutions of stride 1 that kernels of ours do in bfloat16, each of as many; and of the three of
# stride 2 with a 1×1 convolution beside each. The first one is ours, too, and is left out here.
MACS_OURS = 13 * 32 * 32 * 9 * 64 * 64 + 3 * 16 * 16 * (9 + 1) * 64 * 128


def class_of(name):
    found = (title for start, title in OURS.items() if name.startswith(start))
    return next(found, "convolutions, cuDNN")


def rates(precision):
    """TFLOP/s of a large matrix product, GB/s of a large copy."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    kind = torch.bfloat16 if precision == "bf16" else torch.float32
    a, b = (torch.randn(8192, 8192, device="cuda").to(kind) for _ in range(2))
    big = torch.empty(1 << 31, dtype=torch.uint8, device="cuda")
    other = torch.empty_like(big)

    def seconds(work, times):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        work()
        begin.record()
        for _ in range(times):
            work()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / 1e3 / times

    product = 2 * 8192**3 / seconds(lambda: torch.mm(a, b), 20) / 1e12
    copy = 2 * big.numel() / seconds(lambda: other.copy_(big), 10) / 1e9
    return product, copy


def profile(ours, precision, skip, count):
    ncu = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
    command = [ncu, "--csv", "--clock-control", "none", "--cache-control", "none",
               "--metrics", f"{TIME},{BYTES}", "--launch-skip", skip, "--launch-count", count,
               ours, "cuda", precision, 1, 1]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    table = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if not table:
        sys.exit(f"ncu told nothing (it ended with {done.returncode}):\n{done.stdout[-2000:]}")
    launches = {}
    for row in csv.DictReader(io.StringIO("\n".join(table))):
        value = float(row["Metric Value"].replace(",", ""))
        unit = {"us": 1.0, "ns": 1e-3, "ms": 1e3, "byte": 1e-6, "Kbyte": 1e-3, "Mbyte": 1.0,
                "Gbyte": 1e3}[row["Metric Unit"]]
        at = launches.setdefault(int(row["ID"]), {"name": row["Kernel Name"].split("(")[0]})
        at[row["Metric Name"]] = value * unit
    return [launches[key] for key in sorted(launches)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    bench_engine(parser)
    parser.add_argument("--precision", default="bf16", choices=["bf16", "tf32", "f32"])
    parser.add_argument("--skip", type=int, default=1500, help="kernels of the beginning")
    parser.add_argument("--count", type=int, default=700, help="kernels to look at")
    options = parser.parse_args()
    launches = profile(built(options.ours), options.precision, options.skip, options.count)
    # Whole steps: from one count of them to another.
    ends = [at for at, one in enumerate(launches) if one["name"] == "next_batch"]
    if len(ends) < 2:
        names = sorted({one["name"] for one in launches})
        sys.exit(f"less than a step in {len(launches)} kernels: {names}")
    launches, steps = launches[ends[0] + 1: ends[-1] + 1], len(ends) - 1
    tflops, gbs = rates(options.precision)
    found = defaultdict(lambda: [0, 0.0, 0.0])
    for one in launches:
        row = found[class_of(one["name"])]
        row[0] += 1
        row[1] += one[TIME]
        row[2] += one[BYTES]
    # forward, gradient of the weights, gradient of the input
    teraflop = 2 * BATCH / 1e12
    ours = 3 * MACS_OURS if "convolutions, ours" in found else 0
    work = {"convolutions, ours": ours * teraflop,
            "convolutions, cuDNN": (3 * MACS - MACS_FIRST - ours) * teraflop}
    rows = []
    for title, (count, micros, megabytes) in sorted(found.items(), key=lambda kv: -kv[1][1]):
        floor = megabytes / steps / gbs * 1e3
        floor = max(floor, work.get(title, 0.0) / tflops * 1e6)
        rows.append({"class": title, "launches": count / steps, "us": micros / steps,
                     "dram_mb": megabytes / steps, "floor_us": floor})
    total = {"class": "all", **{key: sum(row[key] for row in rows) for key in list(rows[0])[1:]}}
    print(f"{'':28} {'launches':>8} {'µs':>8} {'DRAM MB':>8} {'floor µs':>8}")
    for row in [*rows, total]:
        print(f"{row['class']:28} {row['launches']:8.1f} {row['us']:8.1f} {row['dram_mb']:8.1f} "
              f"{row['floor_us']:8.1f}")
    print(f"{steps} steps; this GPU: {tflops:.0f} TFLOP/s, {gbs:.0f} GB/s")
    # The kernels of each class, with the microseconds and launches of a step.
    names = {title: {} for title in found}
    for one in launches:
        row = names[class_of(one["name"])].setdefault(one["name"], {"us": 0.0, "launches": 0.0})
        row["us"] += one[TIME] / steps
        row["launches"] += 1 / steps
    save(f"cuda-classes-{options.precision}",
         {"version": version(options.ours.with_name("dissensus")), "steps": steps, "tflops": tflops,
          "copy_gb_per_second": gbs, "rows": rows, "total": total, "kernels": names})


if __name__ == "__main__":
    main()
