"""Where golden files go, how they are drawn and how they are written.

A file has what is given (`input`, `params/NAME`, ...) and what PyTorch makes of it in float64
(`output`, `grads/NAME`, ...). What is given is rounded to float32 first, so that an engine in
float32 starts from the same numbers. Two numbers a tensor in the metadata, to choose a tolerance
beside, each max |a - b| / max |b|: `float32`, how far PyTorch's own float32 comes out from its
float64; `float64`, how far its float64 moves when what is given moves in its last bits.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file

GOLDEN = Path(__file__).resolve().parents[2] / "crates" / "engine" / "tests" / "golden"
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else GOLDEN
VERSIONS = {"torch": torch.__version__.split("+")[0], "numpy": np.__version__}
assert VERSIONS == {"torch": "2.15.0", "numpy": "2.4.6"}, "see requirements.txt"

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)


class Draw:
    """Random tensors of one file: float64, each number one that float32 holds too."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def normal(self, *shape, scale=1.0):
        values = self.rng.standard_normal(shape) * scale
        return torch.from_numpy(values.astype(np.float32).astype(np.float64))

    def uniform(self, low, high, *shape):
        values = self.rng.uniform(low, high, shape)
        return torch.from_numpy(values.astype(np.float32).astype(np.float64))

    def labels(self, classes, *shape):
        return torch.from_numpy(self.rng.integers(0, classes, shape))

    def distribution(self, *shape):
        """Shares of eight votes, some of them zero; eighths sum to exactly 1."""
        shares = self.rng.dirichlet(np.ones(shape[-1]), shape[:-1])
        return torch.from_numpy(self.rng.multinomial(8, shares) / 8)


def section(name, tensors):
    """`{"weight": w}` as `{"params/weight": w}`."""
    return {f"{name}/{key}": value for key, value in tensors.items()}


def part(name, tensors):
    """The other way: those under `name/`, without it."""
    return {k[len(name) + 1:]: v for k, v in tensors.items() if k.startswith(name + "/")}


def cast(tensors, dtype):
    return {k: v.to(dtype) if v.is_floating_point() else v for k, v in tensors.items()}


def nudged(tensors):
    """Every number moved by about one unit in its last place; labels and distributions stay."""
    rng = np.random.default_rng(1)

    def nudge(v):
        return v * (1 + 2.0**-52 * torch.from_numpy(rng.integers(-1, 2, tuple(v.shape))).double())

    stay = lambda k, v: k == "target" or not v.is_floating_point()  # noqa: E731
    return {k: v if stay(k, v) else nudge(v) for k, v in tensors.items()}


def off(found, made):
    """How far each tensor came out, relative to its largest number."""

    def one(a, b):
        return (a.double() - b).abs().max().item() / (b.abs().max().item() or 1)

    return {k: float(f"{one(found[k], made[k]):.1e}") for k in made}


def save(name, order, settings, given, compute):
    """One file: what is given, and what `compute` makes of it in float64."""

    def run(given):
        return {k: v.detach() for k, v in compute(given).items()}

    made = run(given)
    assert all(v.isfinite().all() for v in made.values()), name
    case = {
        "name": name,
        "order": order,
        **settings,
        "versions": VERSIONS,
        "float32": off(run(cast(given, torch.float32)), made),
        "float64": off(run(nudged(given)), made),
    }
    arrays = {k: np.ascontiguousarray(v.numpy()) for k, v in {**given, **made}.items()}
    assert {str(a.dtype) for a in arrays.values()} <= {"float64", "int64"}, name
    path = FOLDER / f"{name}.safetensors"
    save_file(arrays, path, {"case": json.dumps(case)})
    path.chmod(0o644)
    print(f"{path.name}: {len(arrays)} tensors, {path.stat().st_size / 1024:.0f} KiB")


def gradients(loss, tensors, create_graph=False):
    """Gradients of a scalar by the names of the tensors."""
    found = torch.autograd.grad(loss, list(tensors.values()), create_graph=create_graph)
    return dict(zip(tensors, found))


def hessian_vector(loss, params, direction):
    """H v by a second backward pass through the first."""
    first = gradients(loss, params, create_graph=True)
    along = sum((first[k] * direction[k]).sum() for k in params)
    return gradients(along, params)


def leaves(tensors):
    return {k: v.clone().requires_grad_() for k, v in tensors.items()}
