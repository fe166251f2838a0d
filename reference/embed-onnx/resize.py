"""Made pictures resized by Pillow, whole and cut from the middle. Writes resize.json."""

import golden
import numpy as np
from golden import numbers
from PIL import Image

cases = []
FILTERS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}


def case(name, shape, size, salt):
    pixels = np.clip((numbers(*shape, salt=salt) + 2) * 64, 0, 255).astype(np.uint8)
    image = Image.fromarray(pixels).resize((size[1], size[0]), FILTERS[name])
    cases.append({"filter": name, "shape": list(shape), "size": list(size), "pixels": pixels.ravel(), "resized": np.asarray(image).ravel()})


for salt, name in enumerate(FILTERS):
    case(name, (4, 4, 3), (9, 7), salt)
    case(name, (13, 17, 3), (5, 4), salt + 2)
    case(name, (6, 11), (11, 6), salt + 4)
    case(name, (7, 5), (7, 12), salt + 6)
    case(name, (1, 1), (3, 2), salt + 8)
    case(name, (40, 2), (1, 2), salt + 10)
golden.write("resize.json", cases)
