"""Rates of the schedules, from torch.optim.lr_scheduler. Writes schedules.json."""

import json

import numpy as np
import torch
from common import FOLDER, VERSIONS
from torch.optim.lr_scheduler import CosineAnnealingLR, ReduceLROnPlateau


def optimizer(rate):
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=rate)


def rate(opt):
    return float(opt.param_groups[0]["lr"])


def cosine(start, epochs, least):
    """The rate that each epoch trains with; PyTorch gives it step by step."""
    opt = optimizer(start)
    schedule, rates = CosineAnnealingLR(opt, T_max=epochs, eta_min=least), []
    for _ in range(epochs):
        rates.append(rate(opt))
        opt.step()
        schedule.step()
    return {"schedule": "cosine", "start": start, "epochs": epochs, "least": least, "rates": rates,
            "rate_at_the_end": rate(opt)}


def plateau(losses, start=0.1, factor=0.5, patience=2, threshold=1e-4):
    """The rate after each epoch's loss was seen, so the one that the next epoch trains with."""
    opt, rates = optimizer(start), []
    schedule = ReduceLROnPlateau(opt, factor=factor, patience=patience, threshold=threshold)
    for loss in losses:
        schedule.step(loss)
        rates.append(rate(opt))
    return {"schedule": "plateau", "start": start, "factor": factor, "patience": patience,
            "threshold": threshold, "threshold_mode": "rel", "losses": losses, "rates_after": rates}


def write():
    rng = np.random.default_rng(901)
    falling = 2 * 0.8 ** np.arange(12)
    # Falls, stalls, improves by less than the threshold (counts as bad), by just more, and stalls.
    noisy = np.concatenate([falling, falling[-1] + 0.01 * rng.random(5)])
    crawling = noisy.min() * (1 - 5e-5 * np.arange(1, 6))
    again = crawling.min() * 0.99 * (1 - 2e-4) ** np.arange(4)
    last = again.min() + 0.001 * rng.random(4)
    losses = np.round(np.concatenate([noisy, crawling, again, last]), 9).tolist()
    assert len(losses) == 30
    cases = [
        cosine(0.1, 20, 0.0),
        cosine(1e-3, 20, 1e-5),
        plateau(losses),
        plateau([1.0] * 30),  # the first epoch is the best, then every third reduces
    ]
    lines = ",\n".join(json.dumps(case) for case in [{"versions": VERSIONS}, *cases])
    (FOLDER / "schedules.json").write_text("[\n" + lines + "\n]\n")
    print(f"schedules.json: {len(cases)} cases")
