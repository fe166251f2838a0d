"""PyTorch on the CPU beside the engine: prints one line of JSON a measurement.

    python bench/engine/peers.py mlp [--data popquorn] [--threads 1 2] [--repeats 5] [--compile]
    python bench/engine/peers.py grid [--data popquorn] [--threads 2] [--all]
    python bench/engine/peers.py resnet18 [--threads 2] [--layout channels_last] [--steps 5]

The loops are what a careful user would write: data in memory, rows taken by slices of a
permutation, no loader, gradients set to none. Data are random; only their shapes matter.
"""

import argparse
import itertools
import json
import resource
import time

import torch
import torch.nn.functional as F
from torch import nn

# rows, features, classes, and the batch of the published settings
DATA = {"popquorn": (3700, 384, 5, 8), "chaosnli": (3113, 3072, 3, 32)}
HIDDEN, DROPOUT = 256, 0.1


def say(what, **found):
    memory = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    peer = f"torch {torch.__version__.split('+')[0]}"
    line = {"what": what, "peer": peer, "threads": torch.get_num_threads(), **found}
    print(json.dumps({**line, "memory_mib": memory}), flush=True)


def table(rows, features, classes):
    torch.manual_seed(0)
    return torch.randn(rows, features), torch.softmax(torch.randn(rows, classes), 1)


def head(features, classes):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(features, HIDDEN), nn.GELU(), nn.Dropout(DROPOUT),
                         nn.Linear(HIDDEN, classes))


def epoch(loss_of, optimizer, x, y, batch):
    for rows in torch.randperm(len(x)).split(batch):
        loss = loss_of(x[rows], y[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


def mlp(options):
    """Seconds of an epoch of the head, best of several after a warm-up epoch."""
    rows, features, classes, batch = DATA[options.data]
    x, y = table(rows, features, classes)
    for threads, fused in itertools.product(options.threads, (False, True)):
        torch.set_num_threads(threads)
        model = head(features, classes)
        loss_of = lambda x, y: F.cross_entropy(model(x), y)  # noqa: E731
        if options.compile:
            torch.compiler.reset()
            loss_of = torch.compile(loss_of, dynamic=False)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=fused or None)
        seconds = []
        for _ in range(options.repeats + 1):
            start = time.perf_counter()
            epoch(loss_of, optimizer, x, y, batch)
            seconds.append(time.perf_counter() - start)
        warm_up, seconds = seconds[0], seconds[1:]
        say("mlp epoch", data=options.data, rows=rows, features=features, classes=classes,
            batch=batch, optimizer="adam fused" if fused else "adam", compiled=options.compile,
            seconds=min(seconds), step_ms=1000 * min(seconds) / -(-rows // batch),
            warm_up_seconds=warm_up, all_seconds=seconds)


def run(train, validation, rate, batch, epochs, decay, plateau, fused):
    """One run of the grid, every epoch of it: early stopping would make its cost depend on data."""
    torch.manual_seed(0)
    model = head(train[0].shape[1], train[1].shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=decay,
                                 fused=fused or None)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5)
    for _ in range(epochs):
        model.train()
        epoch(lambda x, y: F.cross_entropy(model(x), y), optimizer, *train, batch)
        model.eval()
        with torch.no_grad():
            loss = F.cross_entropy(model(validation[0]), validation[1])
        if plateau:
            schedule.step(loss)


def grid(options):
    """A grid search: 108 settings of two conditions, one run after another.

    Without --all six are run, batch 8, 16 and 32 without and with weight decay, for 15 epochs, the
    mean of 10, 15 and 20. Each stands for 36 runs: neither the rate, nor the schedule, nor the
    condition changes what a step costs.
    """
    rows, features, classes, _ = DATA[options.data]
    x, y = table(rows, features, classes)
    first, second = round(rows * 0.7), round(rows * 0.85)
    train, validation = (x[:first], y[:first]), (x[first:second], y[first:second])
    if options.all:
        settings = itertools.product((1e-3, 1e-4, 1e-5), (8, 16, 32), (10, 15, 20), (0, 1e-4),
                                     (False, True), ("soft", "hard"))
    else:
        settings = itertools.product((1e-4,), (8, 16, 32), (15,), (0, 1e-4), (True,), ("soft",))
    settings = list(settings)
    for threads, fused in itertools.product(options.threads, (False, True)):
        torch.set_num_threads(threads)
        run(train, validation, 1e-4, 32, 1, 0, False, fused)  # the first steps are slow
        seconds = []
        for *setting, _ in settings:
            start = time.perf_counter()
            run(train, validation, *setting, fused)
            seconds.append(time.perf_counter() - start)
        say("grid of 216 runs", data=options.data, train_rows=first, features=features,
            classes=classes, validation_rows=second - first,
            optimizer="adam fused" if fused else "adam",
            runs_timed=len(seconds), seconds=sum(seconds) * 216 / len(seconds),
            all_seconds=seconds)


class Block(nn.Module):
    def __init__(self, ins, outs, stride):
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(ins, outs, 3, stride, 1, bias=False), nn.BatchNorm2d(outs), nn.ReLU(True),
            nn.Conv2d(outs, outs, 3, 1, 1, bias=False), nn.BatchNorm2d(outs))
        self.way = nn.Identity() if stride == 1 else nn.Sequential(
            nn.Conv2d(ins, outs, 1, stride, bias=False), nn.BatchNorm2d(outs))

    def forward(self, x):
        return F.relu(self.inner(x) + self.way(x), inplace=True)


def resnet(width, classes=10):
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(True)]
    for stage in range(4):
        ins, outs = width << max(stage - 1, 0), width << stage
        layers += [Block(ins, outs, 2 if stage else 1), Block(outs, outs, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(width * 8, classes))


def resnet18(options):
    """Images a second of a training step on one fixed batch. One layout a process: memory is its
    peak."""
    layout = {"channels_last": torch.channels_last, "nchw": torch.contiguous_format}[options.layout]
    for threads in options.threads:
        torch.set_num_threads(threads)
        model = resnet(options.width).to(memory_format=layout)
        torch.manual_seed(0)
        x = torch.randn(options.batch, 3, 32, 32).to(memory_format=layout)
        y = torch.arange(options.batch) % 10
        step_of = torch.compile(model) if options.compile else model
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        seconds = []
        for _ in range(options.steps + 2):
            start = time.perf_counter()
            loss = F.cross_entropy(step_of(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            seconds.append(time.perf_counter() - start)
        seconds = seconds[2:]
        say("resnet18", width=options.width, batch=options.batch, layout=options.layout,
            compiled=options.compile, parameters=sum(p.numel() for p in model.parameters()),
            seconds=min(seconds), images_per_second=options.batch / min(seconds),
            all_seconds=seconds, loss=loss.item())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("mlp", "grid", "resnet18"))
    parser.add_argument("--data", choices=DATA, default="popquorn")
    parser.add_argument("--threads", type=int, nargs="+", default=[2])
    parser.add_argument("--repeats", type=int, default=5, help="epochs timed (mlp)")
    parser.add_argument("--compile", action="store_true", help="torch.compile (mlp, resnet18)")
    parser.add_argument("--all", action="store_true", help="run all 216 (grid)")
    parser.add_argument("--layout", choices=("channels_last", "nchw"), default="channels_last")
    parser.add_argument("--steps", type=int, default=5, help="steps timed (resnet18)")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--batch", type=int, default=64)
    options = parser.parse_args()
    {"mlp": mlp, "grid": grid, "resnet18": resnet18}[options.what](options)


if __name__ == "__main__":
    main()
