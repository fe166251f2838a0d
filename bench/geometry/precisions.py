"""λ_max and trace of trained runs in each precision of a GPU, and their seconds.

    python bench/geometry/precisions.py RUN… [--program target/release/dissensus] [--precisions f32 bf16x3 tf32 bf16]
        [--once] [-- OPTIONS OF dissensus geometry]

Each precision is run twice and the second is timed, or `--once`. Differences are
relative to the first precision.
"""

import argparse
import json
import subprocess
import sys
import time


def ask(program, run, precision, options):
    command = [program, "geometry", run, "--device", "cuda", "--precision", precision, "--json", *options]
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}")
    found = json.loads(done.stdout)["curvatures"][0]
    top, trace = found["power"]["top"], found["traces"]["trace"]
    return {"seconds": time.perf_counter() - start, "products": found["products"],
            "lambda": top["value"], "converged": top["converged"], "trace": trace["value"]}


def main():
    own, others = sys.argv[1:], []
    if "--" in own:
        own, others = own[:own.index("--")], own[own.index("--") + 1:]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--program", default="target/release/dissensus")
    parser.add_argument("--precisions", nargs="*", default=["f32", "bf16x3", "tf32", "bf16"])
    parser.add_argument("--once", action="store_true", help="time the first run of each")
    options = parser.parse_args(own)
    print(f"{'':20} {'seconds':>8} {'products':>8} {'λ_max':>12} {'off':>9} {'trace':>12} {'off':>9}")
    for run in options.runs:
        first = None
        for precision in options.precisions:
            if not options.once:
                ask(options.program, run, precision, others)
            found = ask(options.program, run, precision, others)
            first = first or found
            off = {key: found[key] / first[key] - 1 for key in ("lambda", "trace")}
            doubt = "" if found["converged"] else " (λ_max did not converge)"
            print(f"{run[:8] + ', ' + precision:20} {found['seconds']:8.2f} {found['products']:8} "
                  f"{found['lambda']:12.6g} {off['lambda']:+9.1e} {found['trace']:12.6g} "
                  f"{off['trace']:+9.1e}{doubt}", flush=True)


if __name__ == "__main__":
    main()
