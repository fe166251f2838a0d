"""Hessian-vector products of small nets, by a second backward pass; checked by differences."""

import torch
import torch.nn.functional as F
from common import Draw, gradients, hessian_vector, leaves, part, save, section


def check(loss_of, params, direction, product, step=1e-5):
    """The gradient's central difference along v must be H v, or the golden file is wrong."""
    near = []
    for sign in (step, -step):
        moved = leaves({k: (v + sign * direction[k]).detach() for k, v in params.items()})
        near.append(gradients(loss_of(moved), moved))
    for k, exact in product.items():
        difference = (near[0][k] - near[1][k]) / (2 * step)
        assert (difference - exact).abs().max() < 1e-6 * (1 + exact.abs().max()), k


def net(name, order, settings, draw, given, forward):
    given |= {f"v/{k}": draw.normal(*v.shape) for k, v in part("params", given).items()}

    def compute(given):
        direction, params = part("v", given), leaves(part("params", given))
        buffers = part("buffers", given)

        def loss_of(params):
            return F.cross_entropy(forward(given["input"], params, buffers), given["target"])

        logits = forward(given["input"], params, buffers)
        loss = loss_of(params)
        product = hessian_vector(loss, params, direction)
        if loss.dtype == torch.float64:
            check(loss_of, params, direction, product)
        return {"output": logits, "loss": loss.reshape(1),
                **section("grads", gradients(loss_of(params), params)), **section("hv", product)}

    save(name, order, settings, given, compute)


def mlp():
    draw = Draw(701)
    given = {
        "input": draw.normal(6, 9),
        "target": draw.distribution(6, 4),
        "params/0.weight": draw.normal(11, 9, scale=0.4),
        "params/0.bias": draw.normal(11, scale=0.2),
        "params/1.weight": draw.normal(4, 11, scale=0.4),
        "params/1.bias": draw.normal(4, scale=0.2),
    }

    def forward(x, p, _):
        return F.linear(F.gelu(F.linear(x, p["0.weight"], p["0.bias"])), p["1.weight"], p["1.bias"])

    net("hvp_mlp", "linear, gelu, linear, cross-entropy with a distribution", {}, draw, given,
        forward)


def conv(train):
    draw = Draw(702 + train)
    given = {
        "input": draw.normal(4, 3, 6, 8),
        "target": draw.distribution(4, 4) if train else draw.labels(4, 4),
        "params/conv.weight": draw.normal(5, 3, 3, 3, scale=0.2),
        "params/bn.weight": draw.uniform(0.5, 1.5, 5),
        "params/bn.bias": draw.normal(5, scale=0.3),
        "params/fc.weight": draw.normal(4, 5),
        "params/fc.bias": draw.normal(4, scale=0.2),
    }
    if not train:
        given["buffers/bn.running_mean"] = draw.normal(5, scale=0.3)
        given["buffers/bn.running_var"] = draw.uniform(0.5, 2, 5)

    def forward(x, p, buffers):
        x = F.conv2d(x, p["conv.weight"], padding=1)
        mean, var = buffers.get("bn.running_mean"), buffers.get("bn.running_var")
        x = F.batch_norm(x, mean, var, p["bn.weight"], p["bn.bias"], train, 0.1, 1e-5)
        return F.linear(F.relu(x).mean((2, 3)), p["fc.weight"], p["fc.bias"])

    mode, target = ("train", "a distribution") if train else ("eval", "an index")
    order = (f"conv3x3, batch norm ({mode}), relu, global average pool, linear, cross-entropy with"
             f" {target}")
    net(f"hvp_conv_bn_{mode}", order, {"eps": 1e-5, "train": train}, draw, given, forward)


def write():
    mlp()
    conv(train=False)
    conv(train=True)
