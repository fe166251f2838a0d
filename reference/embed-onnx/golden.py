"""What the scripts here share: where golden files go, graphs, and inputs without a generator."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import PIL
from onnx import TensorProto, helper, numpy_helper

FOLDER = Path(__file__).resolve().parents[2] / "crates" / "embed" / "tests" / "golden" / "onnx"
VERSIONS = {"onnx": "1.23.2", "onnxruntime": "1.31.1", "PIL": "13.0.0", "numpy": "2.4.6"}


def plain(value):
    # f32 as the shortest text that reads back as the same f32.
    if isinstance(value, np.ndarray) and value.dtype == np.float32:
        return [float(str(number)) for number in value.ravel()]
    return value.tolist() if isinstance(value, np.ndarray) else value.item()


def write(name, cases):
    """One case per line, so that a change shows as a change of lines."""
    for module in [onnx, onnxruntime, PIL, np]:
        assert module.__version__ == VERSIONS[module.__name__], "see requirements.txt"
    lines = ",\n".join(json.dumps(case, default=plain) for case in cases)
    (FOLDER / name).write_text("[\n" + lines + "\n]\n")
    print(f"{name}: {len(cases)} cases")


def numbers(*shape, salt=0):
    """Numbers from -2 to 2 that look mixed and are exact in f32."""
    place = np.arange(np.prod(shape, dtype=np.int64)) + 1000 * salt
    return ((place * 7919 % 257 - 128) / 64).astype(np.float32).reshape(shape)


def model(nodes, shape, stored, opset, outputs=("y",)):
    """A graph from `x` to `outputs`; node names are those of what they make."""
    for node in nodes:
        node.name = "make " + node.output[0]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in stored.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return made


def run(made, x, output="y"):
    session = onnxruntime.InferenceSession(made.SerializeToString())
    return session.run([output], {"x": x})[0]
