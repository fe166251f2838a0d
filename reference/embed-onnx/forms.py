"""Small models in the forms of common exports, and models that are no image encoders. Writes
FORM.onnx for each, and forms.json with the vectors that onnxruntime computes for one image."""

import golden
import numpy as np
from golden import numbers
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
weights = numbers(8, 3, 3, 3, salt=1) / np.float32(4)
patches = [helper.make_node("Conv", ["image", "weights"], ["map"], strides=[2, 2], auto_pad="SAME_UPPER")]
pooled = [
    helper.make_node("Erf", ["map"], ["smooth"]),
    helper.make_node("GlobalAveragePool", ["smooth"], ["mean"]),
    helper.make_node("Flatten", ["mean"], ["pooled"]),
]
identity = [helper.make_node("Identity", ["x"], ["image"])]
transpose = [helper.make_node("Transpose", ["x"], ["image"], perm=[0, 3, 1, 2])]
map_output, pooled_output = ("map", FLOAT, ["N", 8, "h", "w"]), ("pooled", FLOAT, ["N", 8])
square = ("x", FLOAT, ["N", 3, 8, 8])


def write(name, nodes, inputs, outputs, external=False):
    info = helper.make_tensor_value_info
    stored = numpy_helper.from_array(weights, "weights")
    if external:
        stored.ClearField("raw_data")
        stored.data_location = TensorProto.EXTERNAL
        stored.external_data.add(key="location", value="weights.bin")
    graph = helper.make_graph(
        nodes, "graph", [info(*port) for port in inputs], [info(*port) for port in outputs], [stored]
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (golden.FOLDER / f"{name}.onnx").write_bytes(made.SerializeToString())
    return made


pixels = ((numbers(8, 8, 3, salt=3) + 2) * 60).astype(np.uint8)
x = ((pixels.astype(np.float32) - 127) / 128)[None]
planes = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
everything = patches + pooled
cases = []


def case(form, made, x, output):
    vector = golden.run(made, x, output).ravel()
    cases.append({"form": form, "output": output, "pixels": pixels.ravel(), "vector": vector})


# A hidden state before the vector, as transformers give; images whose channels are last; any size;
# a map as the only output.
made = write("two_outputs", identity + everything, [square], [map_output, pooled_output])
case("two_outputs", made, planes, "pooled")
made = write("channels_last", transpose + everything, [("x", FLOAT, ["N", 8, 8, 3])], [pooled_output])
case("channels_last", made, x, "pooled")
made = write("any_size", identity + everything, [("x", FLOAT, ["N", 3, "H", "W"])], [pooled_output])
case("any_size", made, planes, "pooled")
made = write("only_map", identity + patches, [square], [map_output])
case("only_map", made, planes, "map")
golden.write("forms.json", cases)

# What is refused.
write("matrix", [helper.make_node("Relu", ["x"], ["pooled"])], [("x", FLOAT, [3, 5])], [("pooled", FLOAT, [3, 5])])
write("two_inputs", identity + everything, [square, ("mask", FLOAT, ["N", 8])], [pooled_output])
half = [helper.make_node("Cast", ["x"], ["image"], to=FLOAT)]
write("half", half + everything, [("x", TensorProto.FLOAT16, ["N", 3, 8, 8])], [pooled_output])
whole = [helper.make_node("ArgMax", ["pooled"], ["class"], axis=1)]
write("whole", identity + everything + whole, [square], [("class", TensorProto.INT64, ["N", 1])])
write("external", identity + everything, [square], [pooled_output], external=True)
