"""PyTorch's autograd beside our passes, on weights that our program wrote.

    python reference/geometry/golden.py FOLDER [--type float32] [--threads N] [--write]

Prints, for every quantity, max |ours - theirs| / max |theirs|, and ends with 1 above 1e-3. With
--write, theirs become the golden file of the crate's test.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from nets import Folder
from signs import signs

GOLDEN = Path(__file__).resolve().parents[2] / "crates/geometry/tests/golden/resnet18.json"
ROWS = 100  # examples in a backward pass; the mean over all is put together from them


def dot(a, b):
    return sum((x * y).sum(dtype=torch.float64).item() for x, y in zip(a, b))


def scaled(a, by):
    return [x * by for x in a]


class Hessian:
    """Of the mean soft cross-entropy over the judged examples, in evaluation mode."""

    def __init__(self, folder, net):
        self.folder, self.net = folder, net
        self.parameters = list(net.parameters())

    def product(self, v):
        x = self.folder.pictures[self.folder.judged]
        y = self.folder.targets[self.folder.judged]
        total = [torch.zeros_like(p) for p in self.parameters]
        for rows in torch.arange(len(x)).split(ROWS):
            loss = F.cross_entropy(self.net(x[rows]), y[rows], reduction="sum") / len(x)
            first = torch.autograd.grad(loss, self.parameters, create_graph=True)
            along = sum((g * d).sum() for g, d in zip(first, v))
            for sum_, part in zip(total, torch.autograd.grad(along, self.parameters)):
                sum_ += part
        return total

    def start(self, stream, probe):
        return self.folder.tensors(signs(0, stream, probe, self.folder.size(self.net)), self.net)


def power(hessian, iterations):
    v = hessian.start(b"start", 0)
    v = scaled(v, dot(v, v) ** -0.5)
    path = []
    for _ in range(iterations):
        w = hessian.product(v)
        path.append(dot(v, w))
        v = scaled(w, dot(w, w) ** -0.5)
    return path


def lanczos(hessian, steps):
    v = hessian.start(b"start", 0)
    basis, diagonal, beside = [scaled(v, dot(v, v) ** -0.5)], [], []
    for _ in range(steps):
        w = hessian.product(basis[-1])
        diagonal.append(dot(basis[-1], w))
        for _ in range(2):
            for q in basis:
                c = dot(q, w)
                w = [x - c * y for x, y in zip(w, q)]
        beside.append(dot(w, w) ** 0.5)
        basis.append(scaled(w, 1 / beside[-1]))
    matrix = np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    values = np.linalg.eigvalsh(matrix)
    return values[::-1][:3].tolist(), values[:1].tolist()


def traces(hessian, probes):
    """vᵀHv by probe, and the mean of its parts by stage: the first part of a parameter's name."""
    names = [name.split(".")[0] for name, _ in hessian.net.named_parameters()]
    stages = dict.fromkeys(p["name"].split(".")[0] for p in hessian.folder.setup["parameters"])
    samples, parts = [], {stage: 0.0 for stage in stages}
    for probe in range(probes):
        v = hessian.start(b"probe", probe)
        w = hessian.product(v)
        samples.append(dot(v, w))
        for name, a, b in zip(names, v, w):
            parts[name] += dot([a], [b]) / probes
    return samples, list(parts.values())


def features(net, x):
    """What the last layer reads, and what the pooling before it reads."""
    seen = []
    hook = net.layer4.register_forward_hook(lambda *found: seen.append(found[2]))
    logits = net(x)
    hook.remove()
    return logits, seen[0].mean((2, 3)), seen[0]


def cka(x, y):
    x, y = (v.double() - v.double().mean(0) for v in (x, y))
    size = torch.linalg.norm
    return (size(y.T @ x) ** 2 / size(x.T @ x) / size(y.T @ y)).item()


def walk(folder, recomputed):
    losses = []
    x, y = folder.pictures, folder.targets
    for alpha in np.linspace(0, 1, folder.setup["points"]):
        first, second = folder.states
        mixed = {k: ((1 - alpha) * first[k].double() + alpha * second[k].double()).float()
                 for k in first}
        net = folder.net(mixed)
        with torch.no_grad():
            if recomputed:
                for module in net.modules():
                    if isinstance(module, torch.nn.BatchNorm2d):
                        module.reset_running_stats()
                        module.momentum = None  # the plain mean over batches
                net.train()
                for batch in x[folder.training].split(folder.setup["batch"]):
                    net(batch)
                net.eval()
            losses.append(F.cross_entropy(net(x[folder.judged]), y[folder.judged]).item())
    line = np.linspace(losses[0], losses[-1], len(losses))
    return losses, max(0.0, float((np.array(losses) - line).max()))


def cams(net, x):
    """By the definition: the gradient of the predicted class's logit at the maps."""
    maps = []
    for picture in x:
        logits, _, seen = features(net, picture[None])
        gradient, = torch.autograd.grad(logits.max(), seen)
        cam = F.relu((gradient.mean((2, 3), keepdim=True) * seen).sum(1))[0].detach()
        maps.append((cam / cam.max() if cam.max() > 0 else cam).flatten())
    return torch.cat(maps).tolist()


def variance(net, x, targets):
    """From the gradients of every label, weighted by how often it is drawn."""
    found = []
    for picture, p in zip(x, targets):
        gradients = []
        for label in range(len(p)):
            loss = F.cross_entropy(net(picture[None]), torch.tensor([label]))
            parts = torch.autograd.grad(loss, list(net.fc.parameters()))
            gradients.append(torch.cat([g.flatten() for g in parts]))
        gradients = torch.stack(gradients)
        mean = p @ gradients
        found.append((p @ ((gradients - mean) ** 2).sum(1)).item())
    return found


def computed(folder):
    setup, net = folder.setup, folder.net(folder.states[0])
    hessian = Hessian(folder, net)
    path = power(hessian, setup["iterations"])
    largest, smallest = lanczos(hessian, setup["steps"])
    samples, blocks = traces(hessian, setup["probes"])
    x = folder.pictures[folder.judged]
    with torch.no_grad():
        both = [features(folder.net(state), x)[1] for state in folder.states]
    shown = slice(0, setup["shown"])
    interpolated, first = walk(folder, recomputed=False)
    recomputed, second = walk(folder, recomputed=True)
    return {"power": path, "largest": largest, "smallest": smallest, "samples": samples,
            "blocks": blocks, "cka": [cka(*both)], "interpolated": interpolated,
            "recomputed": recomputed, "barriers": [first, second], "cams": cams(net, x[shown]),
            "variance": variance(net, x[shown], folder.targets[folder.judged][shown])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--type", choices=("float64", "float32"), default="float64")
    parser.add_argument("--threads", type=int, default=1, help="0: all cores")
    parser.add_argument("--write", action="store_true", help="theirs become the golden file")
    options = parser.parse_args()
    versions = {"torch": torch.__version__.split("+")[0], "numpy": np.__version__}
    assert versions == {"torch": "2.15.0", "numpy": "2.4.6"}, "see requirements.txt"
    torch.set_num_threads(options.threads or os.cpu_count())
    folder = Folder(options.folder, getattr(torch, options.type))
    start = time.perf_counter()
    theirs, ours, worst = computed(folder), folder.setup["ours"], 0.0
    print(f"PyTorch's {options.type} took {time.perf_counter() - start:.1f} s")
    for name, values in theirs.items():
        a, b = np.array(ours[name]), np.array(values)
        off = np.abs(a - b).max() / np.abs(b).max()
        worst = max(worst, off)
        print(f"{name:14} {off:8.1e}   {np.array2string(b[:6], precision=5)}")
    if options.write:
        lines = ",\n".join(f'  "{k}": {json.dumps(v)}' for k, v in theirs.items())
        text = f'{{"versions": {json.dumps(versions)}, "type": "{options.type}", "values": {{\n{lines}\n}}}}\n'
        GOLDEN.write_text(text)
        print(f"wrote {GOLDEN.name}")
    sys.exit(0 if worst < 1e-3 else f"off by {worst:.1e}")


if __name__ == "__main__":
    main()
