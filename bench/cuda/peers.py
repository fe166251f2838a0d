"""PyTorch on one NVIDIA GPU beside the CUDA device: prints one line of JSON a variant.

    python bench/cuda/peers.py [--quick] [--variants graph-bf16 graphs-3 …]

The recipe of the study: ResNet-18 for 32×32 images (3×3 stem, widths 64 to 512), 8,000 images
as bytes on the device, a new order every epoch, 62 batches of 128 and one of 64, random crops of
images padded by 4 and random mirroring, each image by itself, soft targets over 10 classes, SGD
with rate 0.1, momentum 0.9 and weight decay 5e-4. An epoch trains and does nothing else.

What makes PyTorch fast and changes no result is on: channels last, `cudnn.benchmark` on a GPU that
is warm, the fused SGD, batch norm without its counter of batches, order and crops drawn once an
epoch, no word to the host within one. Where the fused SGD fails, the foreach one is timed instead.

`eager` calls operation by operation. `graph` captures a whole step (gather, crop, mirroring,
passes, update) as a CUDA graph and replays it; the last batch has a graph of its own, so no image
is dropped. `graphs-N` replays the graphs of N independent runs on N streams of this process.

`tf32` is f32 throughout, with matrix units allowed to round. `bf16` keeps weights, statistics and
updates in f32 and computes convolutions in bf16, in one of two ways: `autocast` rounds each weight
and widens each gradient in kernels of their own, once a step (its cache is on); `copies` keeps the
rounded weights between steps and renews them, and widens the gradients, in a few kernels for all.

    images_per_second   of all lanes together, from the median epoch
    step_ms             a step's share of the time: seconds of an epoch / (lanes × 63), in ms
    memory_mib          the most that the allocator held while timed
    device_used_mib     what the driver says is in use, with the context and the libraries
    loss_first, _last   mean losses of the first and the last epoch; a variant must bring it down
"""

import argparse
import contextlib
import gc
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

DEVICE = "cuda"
ROWS, BATCH, CLASSES = 8000, 128, 10
SIDE, PAD = 32, 4
WIDE = SIDE + 2 * PAD
MEAN, DEVIATION = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
STARTED = time.perf_counter()
# seconds; no variant begins after the first, which leaves time for PyTorch's start and the last one
QUICK_TOTAL, QUICK_VARIANT = 115, 20

# way, precision, casts, lanes; the ones that matter most come first, should time run out
VARIANTS = {
    "graph-bf16": ("graph", "bf16", "autocast", 1),
    "graph-bf16-copies": ("graph", "bf16", "copies", 1),
    "graphs-2": ("graph", "bf16", "best", 2),
    "graphs-3": ("graph", "bf16", "best", 3),
    "graphs-4": ("graph", "bf16", "best", 4),
    "graph-tf32": ("graph", "tf32", None, 1),
    "eager-bf16": ("eager", "bf16", "autocast", 1),
    "eager-tf32": ("eager", "tf32", None, 1),
}


def engine_peers():
    """The network is that of bench/engine: one text for both."""
    path = Path(__file__).resolve().parent.parent / "engine" / "peers.py"
    spec = importlib.util.spec_from_file_location("engine_peers", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def say(**line):
    print(json.dumps(line), flush=True)


def about():
    """What the numbers were made with."""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = None
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        found = subprocess.run(query, check=True, capture_output=True, text=True, timeout=20).stdout
        driver = found.splitlines()[0].strip() if found.strip() else None
    return {"peer": f"torch {torch.__version__.split('+')[0]}", "torch": torch.__version__,
            "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
            "device": torch.cuda.get_device_name(), "driver": driver}


def tables():
    """Padded pixels, (rows · 40 · 40) × 3 bytes, and targets, rows × 10.

    Ten coarse patterns in noise: they can be learned, so that a loss that stays where it was gives
    a variant away that does not train.
    """
    seeded = torch.Generator().manual_seed(0)
    draw = partial(torch.randint, 256, generator=seeded, dtype=torch.uint8)
    patterns = draw((CLASSES, 4, 4, 3)).repeat_interleave(8, 1).repeat_interleave(8, 2)
    kinds = torch.randint(CLASSES, (ROWS,), generator=seeded)
    images = patterns[kinds] // 2 + draw((ROWS, SIDE, SIDE, 3)) // 2
    scores = torch.randn(ROWS, CLASSES, generator=seeded) + 3 * F.one_hot(kinds, CLASSES)
    padded = F.pad(images, (0, 0, PAD, PAD, PAD, PAD))
    return padded.reshape(-1, 3).to(DEVICE), torch.softmax(scores, 1).to(DEVICE)


class Lane:
    """One run: its weights, its order and crops, its stream, and a step that needs no host.

    All that changes between steps lies in buffers that stay where they are, so that a captured step
    finds them: the place in the epoch is a number on the device, which a step moves on.
    """

    def __init__(self, resnet, pixels, targets, casts, optimizer, seed):
        self.pixels, self.targets, self.casts = pixels, targets, casts
        self.random = torch.Generator(DEVICE).manual_seed(seed)
        self.stream = torch.cuda.Stream()
        numbers = partial(torch.zeros, dtype=torch.int64, device=DEVICE)
        self.order, self.corner, self.mirrored = numbers(ROWS), numbers(ROWS), numbers(ROWS)
        self.shift, self.at = numbers(2, ROWS), numbers(())
        self.loss = torch.zeros((), device=DEVICE)
        self.count = torch.arange(BATCH, device=DEVICE)
        # where the pixels of a crop lie behind its corner: as they are, and mirrored
        down, right = torch.arange(SIDE)[:, None] * WIDE, torch.arange(SIDE)
        self.grid = torch.stack([down + right, down + right.flip(0)]).view(2, -1).to(DEVICE)
        mean, deviation = torch.tensor([MEAN, DEVIATION], device=DEVICE).view(2, 1, 3, 1, 1)
        self.scale, self.offset = 1 / (255 * deviation), -mean / deviation

        self.model = resnet(64, CLASSES).to(DEVICE, memory_format=torch.channels_last).train()
        for module in self.model.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.num_batches_tracked = None
        self.rounded, self.masters = [], []
        if casts == "copies":
            kept = [m for m in self.model.modules() if isinstance(m, (nn.Conv2d, nn.Linear))]
            self.masters = [p.detach().clone() for m in kept for p in m.parameters()]
            self.rounded = [p for m in kept for p in m.to(torch.bfloat16).parameters()]
            for master in self.masters:
                master.grad = torch.zeros_like(master)
        own = [p for p in self.model.parameters() if p.dtype == torch.float32]
        # a rate on the device follows a schedule without a new capture; only fused can read it
        fused = optimizer == "fused"
        self.rate = torch.tensor(0.1, device=DEVICE) if fused else 0.1
        self.optimizer = torch.optim.SGD(self.masters + own, lr=self.rate, momentum=0.9,
                                         weight_decay=5e-4, fused=fused, foreach=not fused)
        self.steps = {}

    def draw(self):
        """Order, crops and mirroring of an epoch."""
        torch.randperm(ROWS, generator=self.random, out=self.order)
        torch.randint(0, 2 * PAD + 1, (2, ROWS), generator=self.random, out=self.shift)
        torch.randint(0, 2, (ROWS,), generator=self.random, out=self.mirrored)
        self.corner.copy_((self.order * WIDE + self.shift[0]) * WIDE + self.shift[1])
        self.at.zero_()
        self.loss.zero_()

    def batch(self, rows):
        at = self.at + self.count[:rows]
        pixels = self.pixels[self.corner[at][:, None] + self.grid[self.mirrored[at]]]
        # rows of pixels with their three bytes are channels last already
        image = pixels.view(rows, SIDE, SIDE, 3).permute(0, 3, 1, 2)
        return image.float() * self.scale + self.offset, self.targets[self.order[at]]

    def step(self, rows):
        image, target = self.batch(rows)
        if self.casts == "copies":
            image = image.bfloat16()
        with torch.autocast(DEVICE, torch.bfloat16, enabled=self.casts == "autocast"):
            logits = self.model(image)
        loss = F.cross_entropy(logits.float(), target)
        self.model.zero_grad(set_to_none=True)
        loss.backward()
        if self.rounded:
            torch._foreach_copy_([m.grad for m in self.masters], [p.grad for p in self.rounded])
        self.optimizer.step()
        if self.rounded:
            with torch.no_grad():
                torch._foreach_copy_(self.rounded, self.masters)
        self.loss.add_(loss.detach(), alpha=rows)
        self.at.add_(rows)

    def prepare(self, way, sizes):
        """Makes `steps`, by the rows of a batch: a call, or the replay of a graph."""
        if way == "eager":
            self.steps = {rows: partial(self.step, rows) for rows in sizes}
            return
        with torch.cuda.stream(self.stream):
            for rows in sizes:  # libraries choose their algorithms, momentum gets its buffers
                for _ in range(4):
                    self.draw()
                    self.step(rows)
        torch.cuda.synchronize()
        pool = None
        for rows in sizes:
            self.model.zero_grad(set_to_none=True)
            graph = torch.cuda.CUDAGraph()
            # captured on its own stream: lanes that share one share cuBLAS' workspace
            with torch.cuda.graph(graph, pool=pool, stream=self.stream):
                self.step(rows)
            pool = graph.pool()  # graphs of a lane never run at the same time
            self.steps[rows] = graph.replay


def epoch(lanes):
    """Every lane through all rows; returns seconds and the mean loss of the first lane."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for lane in lanes:
        with torch.cuda.stream(lane.stream):
            lane.draw()
    for at in range(0, ROWS, BATCH):
        for lane in lanes:
            with torch.cuda.stream(lane.stream):
                lane.steps[min(BATCH, ROWS - at)]()
    torch.cuda.synchronize()
    return time.perf_counter() - start, lanes[0].loss.item() / ROWS


def measure(name, casts, optimizer, resnet, quick):
    """One variant, as the rest of its line."""
    way, _, _, count = VARIANTS[name]
    start = time.perf_counter()
    pixels, targets = tables()
    lanes = [Lane(resnet, pixels, targets, casts, optimizer, seed) for seed in range(count)]
    torch.cuda.synchronize()
    sizes = sorted({BATCH, ROWS % BATCH or BATCH}, reverse=True)
    for lane in lanes:
        lane.prepare(way, sizes)
    warm = [epoch(lanes) for _ in range(2 if quick else 4)]
    # what the search for algorithms took is no part of training
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    timed = []
    while len(timed) < (6 if quick else 20):
        if quick and len(timed) > 2 and time.perf_counter() - start > QUICK_VARIANT:
            break
        timed.append(epoch(lanes))
    first, last = warm[0][1], timed[-1][1]
    if not last < first:
        raise RuntimeError(f"expected a loss that falls, got {first} in the first epoch and {last} "
                           "in the last: this variant does not train, its time means nothing")
    free, total = torch.cuda.mem_get_info()
    seconds = statistics.median(span for span, _ in timed)
    return {"casts": casts, "optimizer": f"sgd {optimizer}",
            "images_per_second": count * ROWS / seconds,
            "step_ms": 1000 * seconds / (count * -(-ROWS // BATCH)),
            "memory_mib": round(torch.cuda.max_memory_reserved() / 2**20),
            "device_used_mib": round((total - free) / 2**20), "epochs": len(timed),
            "all_seconds": [span for span, _ in timed], "loss_first": first, "loss_last": last,
            "prepared_and_timed_seconds": time.perf_counter() - start}


def heat(seconds=1.5):
    """Matrix products until the clocks are up: cold GPUs mislead the search for algorithms."""
    a = torch.randn(4096, 4096, device=DEVICE, dtype=torch.bfloat16)
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(20):
            a @ a
        torch.cuda.synchronize()


def healthy():
    """Whether the device still answers: some errors last as long as the process."""
    try:
        torch.cuda.synchronize()
        return torch.ones(2, device=DEVICE).sum().item() == 2
    except RuntimeError:
        return False


def run(names, quick, spent):
    """Each variant in turn. Returns the ones left over where an error took the device away."""
    base, resnet, speeds = about(), engine_peers().resnet, {}
    heat()
    for place, name in enumerate(names):
        way, precision, casts, lanes = VARIANTS[name]
        if casts == "best":
            casts = max(speeds, key=speeds.get, default="copies")
        line = {"what": "resnet18", "variant": name, "way": way, "precision": precision,
                "lanes": lanes, "batch": BATCH, "rows": ROWS, **base}
        for optimizer in ("fused", "foreach"):
            if quick and spent + time.perf_counter() - STARTED > QUICK_TOTAL:
                say(**line, error=f"left out: {QUICK_TOTAL} s of --quick are over")
                break
            try:
                found = measure(name, casts, optimizer, resnet, quick)
                say(**line, **found)
                if way == "graph" and precision == "bf16" and lanes == 1:
                    speeds[casts] = found["images_per_second"]
                break
            except Exception as error:  # noqa: BLE001 (whatever it is, the others go on)
                found = f"{type(error).__name__}: {error}"
            say(**line, casts=casts, optimizer=f"sgd {optimizer}", error=found)
            if not healthy():
                return names[place + 1:]
            gc.collect()
        gc.collect()
        torch.cuda.empty_cache()
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true",
                        help=f"fewer epochs: about {QUICK_VARIANT} s a variant at most, "
                             f"{QUICK_TOTAL} s together")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--spent", type=float, default=0.0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        say(what="resnet18", error="PyTorch sees no CUDA device; run this on a machine with one")
        sys.exit(1)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = True
    torch.set_float32_matmul_precision("high")
    left = run(options.variants, options.quick, options.spent)
    if left:  # a fresh process has a fresh device
        spent = options.spent + time.perf_counter() - STARTED
        again = [sys.executable, __file__, *["--quick"][: options.quick], "--spent", str(spent)]
        sys.exit(subprocess.run([*again, "--variants", *left]).returncode)


if __name__ == "__main__":
    main()
