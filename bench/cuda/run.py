"""The CUDA device beside PyTorch on the same GPU.

    python bench/cuda/run.py --ours "target/release/dissensus doctor --bench" [--quick]
    python bench/cuda/run.py --ours-lines ours.jsonl --peer-lines peers.jsonl

Ours prints lines of JSON with what (resnet18), precision (bf16, tf32), lanes, images_per_second,
step_ms and memory_mib, as peers.py explains them. Each is held against PyTorch of the same
precision and number of lanes, and against PyTorch's best of that precision with any number. Lines
that were kept can be read instead of measured. Without ours the peers are printed and nothing is
saved.
"""

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from machine import machine, save, version  # noqa: E402

KEYS = ("what", "precision", "lanes", "images_per_second", "step_ms", "memory_mib")


def parse(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def lines(command):
    # errors of the command are the user's to see; only its lines are ours to read
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    found = parse(done.stdout)
    if done.returncode != 0:
        why = "; ".join(line["error"] for line in found if "error" in line)
        sys.exit(f"{shlex.join(command)} ended with {done.returncode}: {why or 'see above'}")
    return found


def checked(found):
    """Our lines with all their keys: a join over a missing one would show a ratio of nothing."""
    for line in found:
        missing = [key for key in KEYS if key not in line]
        if missing and "error" not in line:
            sys.exit(f"expected the keys {', '.join(KEYS)} in a line of ours, but "
                     f"{json.dumps(line)} lacks {', '.join(missing)}")
    return found


def name(peer):
    lanes = f" ×{peer['lanes']}" if peer["lanes"] > 1 else ""
    casts = f", {peer['casts']}" if peer.get("casts") else ""
    return f"PyTorch {peer['way']}{lanes}{casts}"


def joined(ours, peers):
    """A row for each of ours and each peer it is held against."""
    rows = []
    for mine in ours:
        same = lambda peer: all(peer[key] == mine[key] for key in KEYS[:2])  # noqa: E731
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ours", help="our benchmark's command, in one string")
    parser.add_argument("--ours-lines", type=Path, help="a file of our lines, instead")
    parser.add_argument("--peer-lines", type=Path, help="a file of the peers' lines, instead")
    parser.add_argument("--quick", action="store_true", help="fewer epochs of the peers")
    parser.add_argument("--variants", nargs="+", help="these peers only, as peers.py names them")
    options = parser.parse_args()
    if options.ours and options.ours_lines:
        parser.error("--ours and --ours-lines name the same thing; give one")
    command = shlex.split(options.ours or "")
    ours = checked(parse(options.ours_lines.read_text()) if options.ours_lines else
                   lines(command) if command else [])
    if options.peer_lines:
        peers = parse(options.peer_lines.read_text())
    else:
        peers = lines([sys.executable, str(HERE / "peers.py"), *["--quick"][: options.quick],
                       *(["--variants", *options.variants] if options.variants else [])])
    for line in (line for line in ours + peers if "error" in line):
        print(f"failed: {line.get('variant', line.get('what', ''))}: {line['error']}")
    measured = [p for p in peers if "error" not in p]
    rows = joined([line for line in ours if "error" not in line], measured)
    if rows:
        show(rows)
        about = measured[0] if measured else {}
        gpu = {key: about.get(key) for key in ("device", "driver", "cuda", "cudnn", "torch")}
        save("cuda", {"machine": {**machine(), "gpu": gpu},
                      "version": version(command[0]) if command else None,
                      "rows": rows, "details": [*ours, *peers]})
        return
    for peer in measured:
        print(f"{name(peer):34} {peer['precision']} {peer['images_per_second']:9.4g} img/s "
              f"{peer['step_ms']:7.3f} ms a step {peer['memory_mib']:7} MiB")
    print("nothing of ours was given or came out: nothing is saved")
    sys.exit(0 if not (command or options.ours_lines) else 1)


if __name__ == "__main__":
    main()
