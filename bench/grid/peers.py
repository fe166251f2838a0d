"""A part of a grid search in PyTorch: prints one line of JSON a way of running it.

    python bench/grid/peers.py WORK.npz POINTS.json [--ways 1x1 1x2 2x1] [--fused no yes]

The loop is what a careful user would write: data in memory, rows taken by slices of a permutation,
no loader, gradients set to none, the best weights kept. A way is PROCESSES×THREADS; two processes
take points from one list.
"""

import argparse
import copy
import json
import multiprocessing
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

HIDDEN, DROPOUT = 256, 0.1
PATIENCE, MINIMUM = 5, 1e-4


class Data:
    """Features, and the target of each arm: distributions for soft, labels for hard."""

    def __init__(self, path):
        file = np.load(path)
        tensor = {name: torch.from_numpy(file[name]) for name in file.files}
        y = {"soft": tensor["soft"], "hard": tensor["hard"]}
        self.classes = tensor["soft"].shape[1]
        self.parts = {
            part: (tensor["x"][tensor[part]], {arm: y[arm][tensor[part]] for arm in y})
            for part in ("train", "validation")
        }


def run(data, point, fused):
    """One run of the grid: its best loss on the validation part, and how many epochs it took."""
    (x, y), (vx, vy) = data.parts["train"], data.parts["validation"]
    y, vy = y[point["arm"]], vy[point["arm"]]
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(x.shape[1], HIDDEN), nn.GELU(), nn.Dropout(DROPOUT),
                          nn.Linear(HIDDEN, data.classes))
    adam = torch.optim.Adam(model.parameters(), lr=point["rate"],
                            weight_decay=point["weight_decay"], fused=fused or None)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(adam, factor=0.5)
    best, kept, bar, waited = float("inf"), None, float("inf"), 0
    for epoch in range(point["epochs"]):
        model.train()
        for rows in torch.randperm(len(x)).split(point["batch"]):
            loss = F.cross_entropy(model(x[rows]), y[rows])
            adam.zero_grad(set_to_none=True)
            loss.backward()
            adam.step()
        model.eval()
        with torch.inference_mode():
            loss = F.cross_entropy(model(vx), vy).item()
        if loss < best:
            best, kept = loss, copy.deepcopy(model.state_dict())
        bar, waited = (loss, 0) if loss <= bar - MINIMUM else (bar, waited + 1)
        if waited >= PATIENCE:
            break
        if point["schedule"] == "plateau":
            plateau.step(loss)
    assert kept is not None
    return {"loss": best, "epochs": epoch + 1}


def work(path, threads, fused, todo, done):
    """A process: takes points until there are none."""
    torch.set_num_threads(threads)
    data = Data(path)
    # The first steps are slow, and are not what is asked about.
    run(data, {"arm": "soft", "rate": 1e-4, "batch": 32, "epochs": 1, "weight_decay": 0.0,
               "schedule": "constant"}, fused)
    done.put("ready")
    while (point := todo.get()) is not None:
        start = time.perf_counter()
        found = run(data, point, fused)
        done.put({**point, **found, "seconds": time.perf_counter() - start})


def search(path, points, processes, threads, fused):
    """All points; the clock starts when every process is ready."""
    context = multiprocessing.get_context("spawn")
    todo, done = context.Queue(), context.Queue()
    workers = [context.Process(target=work, args=(path, threads, fused, todo, done))
               for _ in range(processes)]
    for worker in workers:
        worker.start()
    for _ in workers:
        assert done.get() == "ready"
    start = time.perf_counter()
    # The longest first, so that no process is left alone with one at the end.
    for point in sorted(points, key=lambda point: -point["epochs"] / point["batch"]):
        todo.put(point)
    for _ in workers:
        todo.put(None)
    found = [done.get() for _ in points]
    seconds = time.perf_counter() - start
    for worker in workers:
        worker.join()
    return seconds, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data")
    parser.add_argument("points")
    parser.add_argument("--ways", nargs="+", default=["1x1", "1x2", "2x1"])
    parser.add_argument("--fused", nargs="+", choices=("no", "yes"), default=["no", "yes"])
    options = parser.parse_args()
    points = json.load(open(options.points))
    for way in options.ways:
        for fused in options.fused:
            processes, threads = map(int, way.split("x"))
            seconds, found = search(options.data, points, processes, threads, fused == "yes")
            peer = f"torch {torch.__version__.split('+')[0]}"
            print(json.dumps({"peer": peer, "processes": processes, "threads": threads,
                              "optimizer": "adam fused" if fused == "yes" else "adam",
                              "seconds": seconds, "runs": found}), flush=True)


if __name__ == "__main__":
    main()
