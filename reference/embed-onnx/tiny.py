"""A small image encoder with two outputs, and the vectors that onnxruntime computes for generated
images that Pillow has resized. Writes tiny.onnx and tiny.json."""

import golden
import numpy as np
from golden import numbers
from onnx import helper
from PIL import Image


def w(*shape, salt):
    return numbers(*shape, salt=salt) / np.float32(4)


def node(operator, inputs, output, **attributes):
    return helper.make_node(operator, inputs.split(" "), [output], **attributes)


nodes = [
    node("Conv", "x stem stem_bias", "c1", strides=[2, 2], auto_pad="SAME_UPPER"),
    node("Clip", "c1 zero six", "r1"),
    node("Conv", "r1 depth depth_bias", "c2", group=8, pads=[1, 1, 1, 1]),
    node("Clip", "c2 zero six", "r2"),
    node("Conv", "r2 point", "c3"),
    node("Add", "c3 r1", "sum"),
    node("GlobalAveragePool", "sum", "mean"),
    node("Flatten", "mean", "features"),
    node("Gemm", "features head head_bias", "logits", transB=1),
]
stored = {
    "stem": w(8, 3, 3, 3, salt=1), "stem_bias": w(8, salt=2),
    "depth": w(8, 1, 3, 3, salt=3), "depth_bias": w(8, salt=4),
    "point": w(8, 8, 1, 1, salt=5),
    "head": w(4, 8, salt=6), "head_bias": w(4, salt=7),
    "zero": np.float32(0), "six": np.float32(6),
}
made = golden.model(nodes, ["N", 3, 8, 8], stored, 13, outputs=("features", "logits"))
(golden.FOLDER / "tiny.onnx").write_bytes(made.SerializeToString())

cases = []
for output, size, salt in [("features", (8, 8), 0), ("features", (5, 5), 1), ("logits", (19, 19), 2)]:
    # Bytes from 0 to 255, like the numbers; Pillow's size is width and height.
    pixels = ((numbers(size[1], size[0], 3, salt=salt) + 2) * 60).astype(np.uint8)
    resized = np.asarray(Image.fromarray(pixels).resize((8, 8), Image.Resampling.BILINEAR))
    x = ((resized.astype(np.float32) - 127) / 128).transpose(2, 0, 1)[None]
    vector = golden.run(made, np.ascontiguousarray(x), output)
    cases.append({"output": output, "size": size, "pixels": pixels.ravel(), "vector": vector})
golden.write("tiny.json", cases)
