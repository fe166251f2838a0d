"""Optimizers alone: ten gradients are given, so that only the update is tested.

`grads/NAME` stacks the gradients of ten steps; `after/STEP/NAME` are the parameters then. The rate
of each step is in the metadata: two of the cases halve it after the fifth, which tells an update
`p -= lr * buffer` from one that keeps the rate inside its buffer.
"""

import torch
from common import Draw, part, save, section

STEPS = 10
CASES = {
    "sgd_plain": (torch.optim.SGD, {"lr": 0.1}),
    "sgd_momentum": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
    "sgd_momentum_decay": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 5e-4}),
    "sgd_halved": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 5e-4}),
    "adam": (torch.optim.Adam, {"lr": 1e-3}),
    "adam_decay": (torch.optim.Adam, {"lr": 1e-3, "weight_decay": 1e-4}),
    "adam_halved": (torch.optim.Adam, {"lr": 1e-3, "weight_decay": 1e-4}),
}
ORDER = {
    torch.optim.SGD: "g += weight_decay p; buffer = g at the first step, then momentum buffer + g;"
                     " p -= lr buffer",
    torch.optim.Adam: "g += weight_decay p; m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;"
                      " p -= lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps)",
}


def write():
    draw = Draw(801)
    given = {
        "params/a": draw.normal(4, 3),
        "params/b": draw.normal(5),
        "grads/a": draw.normal(STEPS, 4, 3),
        "grads/b": draw.normal(STEPS, 5),
    }
    # A parameter that never has a gradient, one that has it once, and very small ones.
    given["grads/b"][:, 0] = 0
    given["grads/b"][1:, 1] = 0
    given["grads/b"][:, 2] = (given["grads/b"][:, 2] * 1e-9).float().double()
    for name, (kind, settings) in CASES.items():
        rates = [settings["lr"] * (0.5 if name.endswith("halved") and t >= 5 else 1)
                 for t in range(STEPS)]

        def compute(given):
            params = {k: v.clone() for k, v in part("params", given).items()}
            optimizer, after = kind(list(params.values()), **settings, foreach=False), {}
            for t in range(STEPS):
                optimizer.param_groups[0]["lr"] = rates[t]
                for k, p in params.items():
                    p.grad = given[f"grads/{k}"][t].clone()
                optimizer.step()
                if t + 1 in (1, 2, 10):
                    after |= section(f"after/{t + 1}", {k: p.clone() for k, p in params.items()})
            return after

        full = {"momentum": 0, "weight_decay": 0} if kind is torch.optim.SGD else {
            "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0}
        save(name, ORDER[kind], {**full, **settings, "rates": rates}, given, compute)
