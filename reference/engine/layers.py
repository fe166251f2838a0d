"""Single layers: forward and the gradients of sum(output * probe), or of the loss itself.

Layouts are PyTorch's: images NCHW, convolutions OIHW, linear [out, in].
"""

import torch
import torch.nn.functional as F
from common import Draw, gradients, leaves, part, save, section

EPS, MOMENTUM = 1e-5, 0.1


def layer(name, order, settings, given, forward):
    """A layer whose scalar is sum(output * probe): gradients of its inputs and parameters."""

    def compute(given):
        inputs = leaves({k: v for k, v in given.items() if k in ("input", "other")})
        params = leaves(part("params", given))
        buffers = {k: v.clone() for k, v in part("buffers", given).items()}
        output = forward(inputs, params, buffers)
        found = gradients((output * given["probe"]).sum(), {**inputs, **params})
        # Only train mode moves the running statistics.
        moved = {k: v for k, v in buffers.items() if not torch.equal(v, given[f"buffers/{k}"])}
        return {"output": output, **section("grads", found), **section("buffers_after", moved)}

    save(name, order, settings, given, compute)


def linear():
    draw = Draw(101)
    given = {
        "input": draw.normal(6, 13),
        "params/weight": draw.normal(7, 13, scale=0.3),
        "params/bias": draw.normal(7, scale=0.3),
        "probe": draw.normal(6, 7),
    }
    layer("linear", "output = input weight^T + bias", {"in": 13, "out": 7}, given,
          lambda x, p, _: F.linear(x["input"], p["weight"], p["bias"]))


def convolutions():
    shapes = [  # kernel, stride, in, out, height, width
        (3, 1, 5, 7, 6, 8), (3, 1, 16, 16, 8, 8),
        (3, 2, 5, 7, 6, 8), (3, 2, 5, 7, 7, 9), (3, 2, 16, 32, 8, 8),
        (1, 1, 5, 7, 6, 8), (1, 1, 16, 32, 4, 4),
        (1, 2, 5, 7, 6, 8), (1, 2, 5, 7, 7, 9), (1, 2, 16, 32, 8, 8),
    ]
    for seed, (kernel, stride, ins, outs, height, width) in enumerate(shapes, 200):
        draw, padding, scale = Draw(seed), kernel // 2, (ins * kernel**2) ** -0.5
        output = [(side + 2 * padding - kernel) // stride + 1 for side in (height, width)]
        given = {
            "input": draw.normal(3, ins, height, width),
            "params/weight": draw.normal(outs, ins, kernel, kernel, scale=scale),
            "probe": draw.normal(3, outs, *output),
        }
        settings = {"kernel": kernel, "stride": stride, "padding": padding, "in": ins, "out": outs}
        name = f"conv{kernel}x{kernel}_s{stride}_{ins}to{outs}_{height}x{width}"
        layer(name, "output = conv2d(input, weight), no bias", settings, given,
              lambda x, p, _: F.conv2d(x["input"], p["weight"], None, stride, padding))


def batch_norm(train):
    draw = Draw(301 + train)
    given = {
        # Channels of different mean and spread, as after a convolution.
        "input": draw.normal(4, 5, 3, 6) * draw.uniform(0.3, 3, 1, 5, 1, 1)
        + draw.normal(1, 5, 1, 1, scale=2.0),
        "params/weight": draw.uniform(0.5, 1.5, 5),
        "params/bias": draw.normal(5, scale=0.5),
        "buffers/running_mean": draw.normal(5),
        "buffers/running_var": draw.uniform(0.5, 2, 5),
        "probe": draw.normal(4, 5, 3, 6),
    }
    given["input"] = given["input"].float().double()
    name = "batch_norm_train" if train else "batch_norm_eval"
    order = "running statistics normalize; none moves"
    if train:
        order = ("statistics of the batch (variance over n) normalize; running = 0.9 running +"
                 " 0.1 batch, its variance over n - 1")
    layer(name, order, {"eps": EPS, "momentum": MOMENTUM, "train": train}, given,
          lambda x, p, b: F.batch_norm(x["input"], b["running_mean"], b["running_var"], p["weight"],
                                       p["bias"], train, MOMENTUM, EPS))


def elementwise():
    draw = Draw(401)
    images = {"input": draw.normal(3, 5, 4, 6), "probe": draw.normal(3, 5, 4, 6)}
    images["input"][0, 0, 0, :3] = torch.tensor([0.0, -0.0, 1e-30])
    layer("relu", "max(input, 0); its gradient at 0 is 0", {}, images,
          lambda x, p, _: F.relu(x["input"]))
    tails = torch.tensor([[0.0, -0.0, 1e-20, -1e-20, 3, -3, 6, -6, 12, -12, 40, -40]])
    values = torch.cat([draw.normal(7, 12, scale=1.5), tails.double()])
    layer("gelu", "input * (1 + erf(input / sqrt 2)) / 2", {"approximate": "none"},
          {"input": values.float().double(), "probe": draw.normal(8, 12)},
          lambda x, p, _: F.gelu(x["input"]))
    layer("global_average_pool", "mean over height and width: NCHW to NC", {},
          {"input": draw.normal(3, 7, 4, 6), "probe": draw.normal(3, 7)},
          lambda x, p, _: x["input"].mean((2, 3)))
    layer("add", "input + other", {},
          {k: draw.normal(3, 5, 4, 6) for k in ("input", "other", "probe")},
          lambda x, p, _: x["input"] + x["other"])


def residual(downsample):
    """A basic block in train mode: the input's gradient comes through both ways."""
    draw = Draw(501 + downsample)
    ins, outs, stride = (5, 7, 2) if downsample else (5, 5, 1)
    given = {"input": draw.normal(3, ins, 6, 8)}
    convs = {"conv1": (ins, 3), "conv2": (outs, 3)}
    if downsample:
        convs["downsample"] = (ins, 1)
    for name, (channels, kernel) in convs.items():
        scale = (channels * kernel**2) ** -0.5
        given[f"params/{name}.weight"] = draw.normal(outs, channels, kernel, kernel, scale=scale)
        given[f"params/{name}.bn.weight"] = draw.uniform(0.5, 1.5, outs)
        given[f"params/{name}.bn.bias"] = draw.normal(outs, scale=0.3)
    given["probe"] = draw.normal(3, outs, 6 // stride, 8 // stride)

    def forward(x, p, _):
        def conv_bn(x, name, stride):
            weight = p[f"{name}.weight"]
            x = F.conv2d(x, weight, None, stride, weight.shape[-1] // 2)
            bn = p[f"{name}.bn.weight"], p[f"{name}.bn.bias"]
            return F.batch_norm(x, None, None, *bn, True, MOMENTUM, EPS)

        inner = conv_bn(F.relu(conv_bn(x["input"], "conv1", stride)), "conv2", 1)
        way = conv_bn(x["input"], "downsample", stride) if downsample else x["input"]
        return F.relu(inner + way)

    name = "residual_downsample" if downsample else "residual"
    way = "bn(conv1x1(x))" if downsample else "x"
    layer(name, f"relu(bn(conv2(relu(bn(conv1(x))))) + {way}), batch norm in train mode",
          {"stride": stride, "eps": EPS}, given, forward)


def cross_entropy():
    draw = Draw(601)
    extreme = torch.tensor([[200.0, 0, -200, 1], [-200, -200, -200, -200], [0, 200, 200, 0]])
    soft = torch.tensor([[0.5, 0.5, 0, 0], [0.25] * 4, [0, 0.75, 0.25, 0]])
    cases = {
        "cross_entropy_index": (draw.normal(6, 5, scale=2.0), draw.labels(5, 6)),
        "cross_entropy_distribution": (draw.normal(6, 5, scale=2.0), draw.distribution(6, 5)),
        "cross_entropy_extreme": (extreme.double(), soft.double()),
    }

    def compute(given):
        logits = leaves({"input": given["input"]})
        loss = F.cross_entropy(logits["input"], given["target"])
        return {"loss": loss.reshape(1), **section("grads", gradients(loss, logits))}

    for name, (logits, target) in cases.items():
        order = "-mean over rows of sum(target * log_softmax(input)); an index is a one-hot target"
        given = {"input": logits, "target": target}
        save(name, order, {"classes": logits.shape[1]}, given, compute)


def write():
    linear()
    convolutions()
    batch_norm(train=True)
    batch_norm(train=False)
    elementwise()
    residual(downsample=False)
    residual(downsample=True)
    cross_entropy()
