"""What a benchmark ran on, and how its commands are timed."""

import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def machine():
    model = "unknown"
    for line in open("/proc/cpuinfo") if os.path.exists("/proc/cpuinfo") else []:
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_gib": round(memory, 1),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def timed(command, repeats):
    """Seconds (best and all), the least CPU seconds, and the largest memory in MiB over repeated runs of a command."""
    seconds, memory, cpu = [], 0, float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        stderr = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(time.perf_counter() - start)
        memory = max(memory, usage.ru_maxrss / 1024)
        cpu = min(cpu, usage.ru_utime + usage.ru_stime)
        if status != 0:
            sys.exit(f"{command} failed: {stderr.decode()}")
    return {"seconds": min(seconds), "all_seconds": seconds, "cpu_seconds": cpu, "memory_mib": round(memory)}


def bench_engine(parser):
    """The option that names our benchmark's binary."""
    default = ROOT / "target/release/dissensus-bench-engine"
    parser.add_argument("--ours", type=Path, default=default, help="our benchmark's binary")


def built(binary):
    """Builds our benchmark where its binary is not there."""
    if not binary.exists():
        subprocess.run(["cargo", "build", "--release", "--locked", "-p", binary.name], check=True,
                       cwd=ROOT)
    return binary


def version(binary):
    return subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.strip()


def save(name, result):
    folder = ROOT / "results" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(result, indent=2) + "\n")
    print(f"wrote {path.relative_to(ROOT)}")
