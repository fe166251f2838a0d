"""Where golden files go and how they are written: a few lines shared by the scripts here."""

import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[2] / "crates" / "labels" / "tests" / "golden"


def plain(value):
    return value.tolist() if isinstance(value, np.ndarray) else value.item()


def write(name, cases):
    """One case a line, so that a change shows as a change of lines. Floats as Python's shortest
    text that reads back as the same number."""
    assert np.__version__ == "2.4.6", "see requirements.txt"
    lines = ",\n".join(json.dumps(case, default=plain) for case in cases)
    (FOLDER / name).write_text("[\n" + lines + "\n]\n")
    print(f"{name}: {len(cases)} cases")
