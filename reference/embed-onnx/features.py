"""EfficientNet-Lite0's features of the first four pictures of CIFAR-10's test set, resized by
Pillow: the first 64 numbers and the norm of each. Writes features.json.

    python features.py efficientnet-lite0.onnx test_batch.bin
"""

import sys

import golden
import numpy as np
import onnxruntime
from PIL import Image

model, batch = sys.argv[1:]
session = onnxruntime.InferenceSession(model)
rows = np.fromfile(batch, dtype=np.uint8).reshape(-1, 3073)
cases = []
for row in rows[:4]:
    image = Image.fromarray(row[1:].reshape(3, 32, 32).transpose(1, 2, 0))
    image = image.resize((224, 224), Image.Resampling.BILINEAR)
    x = ((np.asarray(image).astype(np.float32) - 127) / 128).transpose(2, 0, 1)[None]
    features = session.run(["features"], {"x": np.ascontiguousarray(x)})[0][0]
    norm = np.linalg.norm(features.astype(np.float64))
    cases.append({"norm": norm, "first": features[:64]})
golden.write("features.json", cases)
