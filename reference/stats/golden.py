"""Where golden files go and how they are written: a few lines shared by the scripts here."""

import json
from pathlib import Path

import numpy as np
import scipy

FOLDER = Path(__file__).resolve().parents[2] / "crates" / "stats" / "tests" / "golden"


def write(name, cases):
    """One case a line, so that a change shows as a change of lines. Floats as Python's shortest
    text that reads back as the same number."""
    assert (np.__version__, scipy.__version__) == ("2.4.6", "1.17.1"), "see requirements.txt"
    lines = ",\n".join(json.dumps(case, default=float) for case in cases)
    (FOLDER / name).write_text("[\n" + lines + "\n]\n")
    print(f"{name}: {len(cases)} cases")
