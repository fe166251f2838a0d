"""Small graphs for every operator, with what onnxruntime makes of them. Writes NAME.onnx for
each and operators.json."""

import golden
import numpy as np
from golden import numbers
from onnx import helper, numpy_helper

cases = []


def case(name, shape, *nodes, opset=13, **stored):
    made = golden.model(list(nodes), shape, stored, opset)
    x = numbers(*shape)
    y = golden.run(made, x)
    (golden.FOLDER / f"{name}.onnx").write_bytes(made.SerializeToString())
    cases.append({"name": name, "shape": list(shape), "into": list(y.shape), "y": y})


def node(operator, inputs="x", output="y", **attributes):
    return helper.make_node(operator, inputs.split(" "), [output], **attributes)


def ints(*numbers):
    return np.array(numbers, dtype=np.int64)


def w(*shape, salt=1):
    return numbers(*shape, salt=salt) / np.float32(4)


# Convolutions: dense, by group, depthwise (few, many channels), pointwise, all ways to pad.
bias = w(20, salt=2)
case("conv", (1, 3, 7, 6), node("Conv", "x w b"), w=w(20, 3, 3, 3), b=bias)
case("conv_no_bias", (2, 3, 5, 6), node("Conv", "x w", pads=[1, 2, 0, 1]), w=w(4, 3, 2, 3))
case("conv_strides", (1, 3, 9, 8), node("Conv", "x w b", strides=[2, 3], pads=[1, 1, 1, 1]), w=w(20, 3, 3, 3), b=bias)
case("conv_dilations", (1, 2, 9, 8), node("Conv", "x w", dilations=[2, 3], pads=[2, 3, 2, 3]), w=w(5, 2, 3, 2))
case("conv_same_upper", (1, 3, 8, 7), node("Conv", "x w b", auto_pad="SAME_UPPER", strides=[2, 2]), w=w(20, 3, 3, 3), b=bias)
case("conv_same_lower", (1, 3, 8, 7), node("Conv", "x w b", auto_pad="SAME_LOWER", strides=[2, 2]), w=w(20, 3, 3, 3), b=bias)
case("conv_valid", (1, 3, 8, 7), node("Conv", "x w", auto_pad="VALID"), w=w(2, 3, 5, 5))
case("conv_wide_padding", (1, 1, 3, 2), node("Conv", "x w b", pads=[4, 0, 3, 5]), w=w(2, 1, 3, 2), b=w(2))
case("conv_groups", (1, 6, 5, 5), node("Conv", "x w b", group=2, pads=[1, 1, 1, 1]), w=w(20, 3, 3, 3), b=bias)
case("conv_depthwise", (1, 83, 6, 5), node("Conv", "x w b", group=83, pads=[1, 1, 1, 1]), w=w(83, 1, 3, 3), b=w(83, salt=3))
case("conv_depthwise_strides", (2, 5, 9, 9), node("Conv", "x w", group=5, strides=[2, 2], auto_pad="SAME_UPPER"), w=w(5, 1, 5, 5))
case("conv_depthwise_dilations", (1, 4, 9, 7), node("Conv", "x w", group=4, dilations=[2, 1], pads=[2, 2, 2, 2]), w=w(4, 1, 3, 5))
case("conv_multiplier", (1, 3, 5, 5), node("Conv", "x w", group=3), w=w(6, 1, 3, 3))
case("conv_pointwise", (1, 19, 5, 7), node("Conv", "x w b"), w=w(37, 19, 1, 1), b=w(37))
case("conv_pointwise_strides", (1, 19, 5, 7), node("Conv", "x w", strides=[2, 2]), w=w(3, 19, 1, 1))
case("conv_relu", (1, 3, 5, 5), node("Conv", "x w b", "c"), node("Relu", "c"), w=w(20, 3, 3, 3), b=bias)
case("conv_clip", (1, 83, 4, 4), node("Conv", "x w", "c", group=83), node("Clip", "c low high"), w=w(83, 1, 3, 3), low=np.float32(-0.5), high=np.float32(0.25))
# Read twice: the bounds of one reader must not reach the other.
case("conv_clip_and_more", (1, 3, 4, 4), node("Conv", "x w", "c"), node("Relu", "c", "r"), node("Sub", "c r"), w=w(3, 3, 1, 1))

# Functions of one number.
case("relu", (2, 3, 4), node("Relu"))
case("clip", (2, 9), node("Clip", "x low high"), low=np.float32(-1), high=np.float32(0.5))
case("clip_low", (2, 9), node("Clip", "x low"), low=np.float32(-1))
case("clip_high", (2, 9), helper.make_node("Clip", ["x", "", "high"], ["y"]), high=np.float32(1))
case("clip_attributes", (2, 9), node("Clip", min=-1.0, max=1.5), opset=10)
case("sigmoid", (3, 7), node("Sigmoid"))
case("hard_sigmoid", (3, 7), node("HardSigmoid"))
case("hard_sigmoid_settings", (3, 7), node("HardSigmoid", alpha=0.4, beta=0.3))
case("hard_swish", (3, 7), node("Mul", "x six", "m"), node("HardSwish", "m"), opset=14, six=np.float32(3))
case("identity", (3, 2), node("Identity"))
case("softmax", (2, 3, 4), node("Softmax"))
case("softmax_axis", (2, 3, 4), node("Softmax", axis=1))
case("softmax_before_13", (2, 3, 4), node("Softmax"), opset=12)

# Functions of two numbers, with all kinds of broadcasting, in both orders of memory.
case("add", (2, 3, 4), node("Add", "x x"))
case("sub", (2, 3, 4), node("Sub", "x w"), w=w(4))
case("mul", (2, 3, 4), node("Mul", "w x"), w=w(2, 1, 4))
case("div", (2, 3, 4), node("Div", "x w"), w=np.float32(0.75))
case("broadcast_up", (3, 1), node("Add", "x w"), w=w(2, 1, 5))
conv = node("Conv", "x k", "c")
kernel = w(3, 3, 1, 1)
case("pixels_scalar", (1, 3, 2, 4), conv, node("Mul", "two c"), k=kernel, two=np.float32(2))
case("pixels_channels", (1, 3, 2, 4), conv, node("Add", "c w"), k=kernel, w=w(3, 1, 1))
case("pixels_columns", (1, 3, 2, 4), conv, node("Add", "c w"), k=kernel, w=w(4))
case("pixels_gate", (2, 3, 2, 4), conv, node("GlobalAveragePool", "c", "g"), node("Sigmoid", "g", "s"), node("Mul", "c s"), k=kernel)
case("pixels_plain", (1, 3, 2, 4), conv, node("Sub", "x c"), k=kernel)

# Batch normalization, on pixels and on rows.
stats = dict(s=w(3), t=w(3, salt=4), m=w(3, salt=5), v=np.abs(w(3, salt=6)) + 0.5)
stats = {name: array.astype(np.float32) for name, array in stats.items()}
case("batch_norm", (2, 3, 4, 2), node("BatchNormalization", "x s t m v", epsilon=0.01, momentum=0.8), **stats)
case("batch_norm_pixels", (2, 3, 4, 2), conv, node("BatchNormalization", "c s t m v"), k=kernel, **stats)
case("batch_norm_rows", (4, 3), node("BatchNormalization", "x s t m v"), **stats)

# Pools.
case("global_average_pool", (2, 5, 3, 4), node("GlobalAveragePool"))
case("average_pool", (1, 3, 6, 7), node("AveragePool", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 1, 1, 0]))
case("average_pool_padding", (1, 3, 6, 7), node("AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1))
case("average_pool_ceil", (1, 3, 6, 7), node("AveragePool", kernel_shape=[2, 3], strides=[3, 3], ceil_mode=1))
case("average_pool_same", (1, 3, 5, 7), node("AveragePool", kernel_shape=[2, 2], strides=[2, 2], auto_pad="SAME_UPPER"))
case("max_pool", (2, 3, 7, 7), node("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]))
case("max_pool_ceil", (1, 3, 6, 6), node("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1))
case("max_pool_dilations", (1, 3, 7, 7), node("MaxPool", kernel_shape=[2, 2], dilations=[3, 2]))
case("reduce_mean", (2, 3, 4, 5), node("ReduceMean", axes=[2, 3]))
case("reduce_mean_flat", (2, 3, 4), node("ReduceMean", axes=[-1, 0], keepdims=0))
case("reduce_mean_all", (2, 3, 4), node("ReduceMean"))
case("reduce_mean_input", (2, 3, 4, 5), node("ReduceMean", "x a", keepdims=0), opset=18, a=ints(2, 3))
case("reduce_mean_none", (2, 3), node("ReduceMean", noop_with_empty_axes=1), opset=18)
case("reduce_mean_pixels", (1, 3, 4, 5), conv, node("ReduceMean", "c", axes=[2, 3], keepdims=0), k=kernel)

# Shapes.
case("flatten", (2, 3, 4), node("Flatten"))
case("flatten_axis", (2, 3, 4), node("Flatten", axis=-1))
case("flatten_pixels", (1, 3, 2, 4), conv, node("Flatten", "c"), k=kernel)
case("reshape", (2, 3, 4), node("Reshape", "x s"), s=ints(0, -1, 2))
case("reshape_pixels", (1, 3, 2, 4), conv, node("Reshape", "c s"), k=kernel, s=ints(1, 3, 8))
case("transpose", (2, 3, 4), node("Transpose"))
case("transpose_pixels", (1, 3, 2, 4), conv, node("Transpose", "c", perm=[0, 2, 3, 1]), k=kernel)
case("concat", (2, 3, 4), node("Concat", "x w x", axis=1), w=w(2, 2, 4))
case("concat_pixels", (1, 3, 2, 4), conv, node("Concat", "c x", axis=1), k=kernel)
case("concat_rows", (2, 3, 2, 4), conv, node("Concat", "c x w", axis=-2), k=kernel, w=w(2, 3, 1, 4))
case("squeeze", (1, 3, 1, 2), node("Squeeze", "x a"), a=ints(2))
case("squeeze_all", (1, 3, 1, 2), node("Squeeze"))
case("squeeze_attribute", (1, 3, 1, 2), node("Squeeze", axes=[0]), opset=11)
case("unsqueeze", (3, 2), node("Unsqueeze", "x a"), a=ints(0, -1))
case("unsqueeze_attribute", (3, 2), node("Unsqueeze", axes=[1]), opset=11)

# Matrices.
case("gemm", (3, 5), node("Gemm", "x b c", transB=1), b=w(20, 5), c=w(20))
case("gemm_settings", (5, 3), node("Gemm", "x b c", transA=1, alpha=0.5, beta=2.0), b=w(5, 4), c=w(3, 1))
case("gemm_settings_stored", (3, 5), node("Gemm", "x b c", alpha=0.5, beta=2.0), b=w(5, 4), c=w(1, 4))
case("gemm_no_c", (3, 5), node("Gemm", "x b"), b=w(5, 4))
case("gemm_computed", (3, 3), node("Relu", "x", "r"), node("Gemm", "r x r"))
case("matmul", (3, 5), node("MatMul", "x b"), b=w(5, 40))
case("matmul_rows", (2, 3, 5), node("MatMul", "x b"), b=w(5, 4))
case("matmul_each", (2, 3, 3), node("MatMul", "x x"))
case("matmul_left", (3, 5), node("MatMul", "a x"), a=w(4, 3))

# Constants: as nodes, through others, and computed from one another.
tensor = numpy_helper.from_array(w(4))
case("constant", (2, 4), helper.make_node("Constant", [], ["k"], value=tensor), node("Add", "x k"))
case("constant_float", (2, 4), helper.make_node("Constant", [], ["k"], value_float=0.5), node("Mul", "x k"))
case("constant_shape", (2, 4), helper.make_node("Constant", [], ["k"], value_ints=[4, 2]), node("Identity", "k", "i"), node("Reshape", "x i"))
case("constant_weights", (1, 3, 2, 4), node("Mul", "k two", "d"), node("Transpose", "d", "t", perm=[1, 0, 2, 3]), node("Conv", "x t"), k=kernel, two=np.float32(2))

golden.write("operators.json", cases)
