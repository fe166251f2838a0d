#!/usr/bin/env python3
"""Writes the labels of the CIFAR-10 training images as votes, one per image: cifar10-labels.csv.

    scripts/cifar10-labels.py FOLDER     FOLDER has data_batch_1.bin to data_batch_5.bin

The ids are those of the images of the dataset cifar10n.
"""

import pathlib
import sys

CLASSES = "airplane automobile bird cat deer dog frog horse ship truck".split()

folder = pathlib.Path(sys.argv[1])
with open("cifar10-labels.csv", "w") as out:
    out.write("item,label\n")
    for batch in range(5):
        data = (folder / f"data_batch_{batch + 1}.bin").read_bytes()
        for row in range(10_000):
            out.write(f"{batch * 10_000 + row},{CLASSES[data[row * 3073]]}\n")
