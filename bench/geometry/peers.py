"""PyTorch's double backward beside our Hessian products: prints one line of JSON a variant.

    python bench/geometry/peers.py FOLDER [--cpu] [--precision f32 tf32] [--batch N]

FOLDER is what `dissensus-bench-engine geometry` wrote: a ResNet-18, images and targets. The same
30 power iterations from the same start and the same 10 trace probes as ours, over all images, in
evaluation mode. What makes PyTorch fast and changes no result is on: channels last, cudnn.benchmark
on a warm GPU, images and targets on the device, vectors that never leave it. The gradient's graph
is made anew for every product, since 2,000 images' graphs would not all fit on most GPUs.

    seconds         of all 40 products, without the start and a warm-up product
    lambda, trace   λ after the last iteration; the mean over probes
    residual        ‖Hv − λv‖ / |λ|
    memory_mib      the most that the allocator held, on a GPU; of the process, on a CPU
"""

import argparse
import importlib.util
import json
import resource
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

ROOT = Path(__file__).resolve().parents[2]


def module(*path):
    """A file of another folder: one text for both."""
    spec = importlib.util.spec_from_file_location(path[-1].replace(".", "_"), ROOT.joinpath(*path))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


SIGNS = module("reference", "geometry", "signs.py").signs
RESNET = module("bench", "engine", "peers.py").resnet


def say(**line):
    print(json.dumps(line), flush=True)


class Folder:
    """The net, the images, and our flat vectors as tensors in the net's order."""

    def __init__(self, path, device):
        self.setup = json.loads((path / "setup.json").read_text())
        data = load_file(path / "data.safetensors")
        images = (data["pixels"].float() / 255 - 0.5) / 0.25
        last = torch.channels_last
        self.x = images.permute(0, 3, 1, 2).to(device, memory_format=last)
        self.y = data["targets"].to(device)
        self.net = RESNET(self.setup["width"], 10)
        # other names, but the same order
        weights = load_file(path / "net.safetensors")
        with torch.no_grad():
            for own, given in ((self.net.parameters(), "parameters"),
                               (statistics(self.net), "statistics")):
                for tensor, name in zip(own, self.setup[given], strict=True):
                    tensor.copy_(weights[name["name"]])
        self.net = self.net.to(device, memory_format=last).eval()
        self.device = device

    def signs(self, stream, probe):
        found, at = [], 0
        flat = SIGNS(0, stream, probe, sum(p.numel() for p in self.net.parameters()))
        for own, parameter in zip(self.net.parameters(), self.setup["parameters"], strict=True):
            shape = own.shape
            part = torch.from_numpy(flat[at:at + shape.numel()]).float().to(self.device)
            at += shape.numel()
            if parameter["layout"] == "conv":
                part = part.view(*shape[2:], shape[1], shape[0]).permute(3, 2, 0, 1)
            elif parameter["layout"] == "linear":
                part = part.view(shape[1], shape[0]).T
            found.append(part.reshape(shape))
        return found


def statistics(net):
    """Running means and variances, without the counters."""
    return (b for b in net.buffers() if b.is_floating_point())


def dot(a, b):
    return sum((x * y).sum(dtype=torch.float64) for x, y in zip(a, b)).item()


def product(folder, v, batch):
    parameters = list(folder.net.parameters())
    total = None
    for rows in range(0, len(folder.x), batch):
        x, y = folder.x[rows:rows + batch], folder.y[rows:rows + batch]
        loss = F.cross_entropy(folder.net(x), y, reduction="sum") / len(folder.x)
        first = torch.autograd.grad(loss, parameters, create_graph=True)
        part = torch.autograd.grad(first, parameters, v)
        total = part if total is None else torch._foreach_add(total, part)
    return total


def run(folder, precision, batch):
    cuda = folder.device == "cuda"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.benchmark = True
    wait = torch.cuda.synchronize if cuda else lambda: None
    v = folder.signs(b"start", 0)
    v = [x * dot(v, v) ** -0.5 for x in v]
    probes = [folder.signs(b"probe", n) for n in range(folder.setup["probes"])]
    product(folder, v, batch)
    wait()
    if cuda:
        torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    for _ in range(folder.setup["iterations"]):
        w = product(folder, v, batch)
        value = dot(v, w)
        residual = sum(((x - value * y) ** 2).sum(dtype=torch.float64) for x, y in zip(w, v))
        length = dot(w, w) ** 0.5
        v = [x / length for x in w]
    wait()
    middle = time.perf_counter()
    samples = [dot(v, product(folder, v, batch)) for v in probes]
    wait()
    end = time.perf_counter()
    memory = (torch.cuda.max_memory_allocated() >> 20 if cuda
              else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    say(what="geometry", peer=f"torch {torch.__version__.split('+')[0]}", precision=precision,
        device=torch.cuda.get_device_name() if cuda else "CPU", rows=len(folder.x), batch=batch,
        products=len(samples) + folder.setup["iterations"], seconds=end - start,
        power_seconds=middle - start, trace_seconds=end - middle,
        **{"lambda": value, "trace": sum(samples) / len(samples)},
        residual=residual.item() ** 0.5 / abs(value), memory_mib=memory)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--precision", nargs="*", choices=("f32", "tf32"), default=None)
    parser.add_argument("--batch", type=int, default=None, help="images in a backward pass")
    options = parser.parse_args()
    device = "cpu" if options.cpu else "cuda"
    for precision in options.precision or (["f32"] if options.cpu else ["f32", "tf32"]):
        try:
            run(Folder(options.folder, device), precision, options.batch or (50 if options.cpu else 500))
        except Exception as error:  # one variant that fails must not lose the others
            say(what="geometry", precision=precision, error=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
