"""Writes every golden file of the engine: layers, curvature, optimizers, models, schedules.

    python reference/engine/golden.py [FOLDER]

FOLDER is where they go, the folder of the engine's tests if left out; another one to compare.
"""

import curvature
import layers
import models
import optimizers
import schedules
from common import FOLDER

FOLDER.mkdir(parents=True, exist_ok=True)
for family in (layers, curvature, optimizers, models, schedules):
    family.write()

files = sorted(FOLDER.iterdir())
print(f"{len(files)} files, {sum(f.stat().st_size for f in files) / 1024:.0f} KiB in all")
