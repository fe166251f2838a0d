"""Where golden files go, and how random weights are drawn."""

import json
import sys
from pathlib import Path

import numpy as np
import torch

GOLDEN = Path(__file__).resolve().parents[2] / "crates" / "embed" / "tests" / "golden"
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else GOLDEN

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
torch.set_grad_enabled(False)


def draw(seed, shape, scale=1.0):
    """Normal numbers that float32 holds."""
    values = np.random.default_rng(seed).standard_normal(shape) * scale
    return torch.from_numpy(values.astype(np.float32))


def randomize(model, seed):
    """Weights of a size that keeps signals alive; norms near 1, so that each parameter matters."""
    state = {}
    for at, (name, old) in enumerate(sorted(model.state_dict().items())):
        if not old.is_floating_point():
            continue
        if old.dim() >= 2 and "embeddings" not in name or "projection.weight" in name:
            scale, shift = 1.5 / np.prod(old.shape[1:]) ** 0.5, 0.0
        elif "norm" in name.lower() and name.endswith("weight") or "lambda" in name:
            scale, shift = 0.2, 1.0
        else:
            scale, shift = 0.5, 0.0
        state[name] = (draw(seed * 1000 + at, tuple(old.shape), scale) + shift).contiguous()
    model.load_state_dict(state, strict=False)
    return state


def lines_of(value, deep=True):
    """JSON with one line per entry, and per entry of a list of lists or objects in an entry."""
    if isinstance(value, dict) and deep:
        return "{\n" + ",\n".join(f"{json.dumps(k)}: {lines_of(v, False)}" for k, v in value.items()) + "\n}"
    if isinstance(value, list) and (deep or value and isinstance(value[0], (dict, list))):
        return "[\n" + ",\n".join(json.dumps(v) for v in value) + "\n]"
    return json.dumps(value)


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines_of(value) + "\n")
