"""Whole models: the MLP head and ResNet-18 with a CIFAR stem, and ten steps of training each."""

import numpy as np
import torch
import torch.nn.functional as F
from common import Draw, gradients, hessian_vector, part, save, section
from curvature import check
from torch import nn
from torch.func import functional_call

SGD = {"lr": 0.05, "momentum": 0.9, "weight_decay": 5e-4}


class Block(nn.Module):
    def __init__(self, ins, outs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(ins, outs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outs)
        self.conv2 = nn.Conv2d(outs, outs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outs)
        self.downsample = nn.Identity()
        if stride != 1 or ins != outs:
            shortcut = nn.Conv2d(ins, outs, 1, stride, bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(outs))

    def forward(self, x):
        inner = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(inner + self.downsample(x))


class ResNet18(nn.Module):
    """Names as torchvision's; the stem is one 3x3 convolution without pooling."""

    def __init__(self, width, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        ins = width
        for stage in range(4):
            outs, stride = width * 2**stage, 1 if stage == 0 else 2
            setattr(self, f"layer{stage + 1}",
                    nn.Sequential(Block(ins, outs, stride), Block(outs, outs, 1)))
            ins = outs
        self.fc = nn.Linear(ins, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


def floats(buffers):
    """Buffers without `num_batches_tracked`, which a fixed momentum never uses."""
    return {k: v.detach().clone() for k, v in buffers if v.is_floating_point()}


def scaled(name, shape, values):
    """Normal numbers made a plausible parameter; a weight with one axis is a batch norm's."""
    if len(shape) > 1:
        return values * (2 / np.prod(shape[1:])) ** 0.5
    return 1 + 0.3 * values if name.endswith("weight") else 0.2 * values


def single(tensor):
    return tensor.float().double()


def loaded(model, given):
    """The model with the given state, in the given type."""
    model = model.to(given["input"].dtype)
    state = {**part("params", given), **part("buffers", given)}
    missing, extra = model.load_state_dict(state, strict=False)
    assert not extra and all("num_batches" in k for k in missing)
    return model


def trained(model, optimizer, given, steps=10):
    """Ten steps over the batches in turn: the loss of each, then parameters and buffers."""
    losses = []
    for t in range(steps):
        batch = t % len(given["input"])
        loss = F.cross_entropy(model(given["input"][batch]), given["target"][batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    params = {k: p.detach().clone() for k, p in model.named_parameters()}
    return {"losses": torch.stack(losses), **section("after", params),
            **section("buffers_after", floats(model.named_buffers()))}


def first(model, given):
    """Forward and gradients on the first batch."""
    logits = model(given["input"][0])
    loss = F.cross_entropy(logits, given["target"][0])
    found = gradients(loss, dict(model.named_parameters()))
    return {"output": logits, "loss": loss.reshape(1), **section("grads", found)}


def mlp():
    draw = Draw(1001)
    model = nn.Sequential(nn.Linear(12, 16), nn.GELU(), nn.Dropout(0), nn.Linear(16, 5))
    given = {"input": draw.normal(10, 6, 12), "target": draw.distribution(10, 6, 5)}
    for k, p in model.named_parameters():
        given[f"params/{k}"] = single(scaled(k, p.shape, draw.normal(*p.shape)))

    def compute(given):
        model_ = loaded(model, given).train()
        found = first(model_, given)
        return found | trained(model_, torch.optim.Adam(model_.parameters(), lr=1e-3), given)

    order = ("linear, gelu, dropout 0, linear, cross-entropy with a distribution; output, loss and"
             " grads on batch 0; losses and after: ten steps of Adam, one a batch")
    save("mlp", order, {"in": 12, "hidden": 16, "classes": 5, "lr": 1e-3, "betas": [0.9, 0.999],
                        "eps": 1e-8, "weight_decay": 0, "steps": 10}, given, compute)


def resnet18():
    # Of a hundred seeds the one whose ten steps stay farthest from the kink of a ReLU (3e-5), so
    # that float32 does not land on the other side of one.
    draw, width = Draw(1101), 2
    model = ResNet18(width).double()
    fresh = section("buffers", floats(model.named_buffers()))
    given = {"input": draw.normal(3, 6, 3, 16, 16), "target": draw.distribution(3, 6, 10)}
    for k, p in model.named_parameters():
        given[f"params/{k}"] = single(scaled(k, p.shape, draw.normal(*p.shape)))
        given[f"v/{k}"] = draw.normal(*p.shape)
    for k, v in part("buffers", fresh).items():
        frozen = draw.normal(*v.shape, scale=0.3) if "mean" in k else draw.uniform(0.5, 2, *v.shape)
        given[f"buffers/{k}"] = frozen

    def compute(given):
        net = loaded(model, given).eval()
        params = {k: p.detach().clone().requires_grad_() for k, p in net.named_parameters()}

        def loss_of(params):
            logits = functional_call(net, params, (given["input"][0],))
            return F.cross_entropy(logits, given["target"][0])

        direction = part("v", given)
        product = hessian_vector(loss_of(params), params, direction)
        if given["input"].dtype == torch.float64:
            check(loss_of, params, direction, product, step=1e-8)
        found = {"output_eval": net(given["input"][0]), **section("hv", product)}

        found |= first(loaded(model, given | fresh).train(), given)
        found |= section("buffers_after_1", floats(net.named_buffers()))
        net = loaded(model, given | fresh).train()
        found |= trained(net, torch.optim.SGD(net.parameters(), **SGD), given)
        return found | {"output_after": net.eval()(given["input"][0])}

    order = ("eval mode, with the running statistics in buffers: output_eval on batch 0, and hv,"
             " the Hessian of its loss times v. Train mode, from running mean 0 and variance 1:"
             " output, loss, grads and buffers_after_1 on batch 0. From the start again, ten steps"
             " over batches 0, 1, 2, 0, ...: losses, after, buffers_after; then output_after, in"
             " eval mode on batch 0")
    settings = {"width": width, "classes": 10, "eps": 1e-5, "bn_momentum": 0.1, **SGD, "steps": 10}
    save("resnet18", order, settings, given, compute)


def splitmix(stream, count):
    """Numbers in [-1, 1): the top 20 bits of SplitMix64 from `stream << 32`. Five lines in any
    language, and exact, so that a wide net needs no file for its parameters."""
    with np.errstate(over="ignore"):
        i = np.arange(1, count + 1, dtype=np.uint64)
        z = np.uint64(stream << 32) + i * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(44)).astype(np.float64) / 2**19 - 1


def resnet18_wide():
    """The same net, wide enough for every kernel: parameters by formula, gradients as sums."""
    width, batch = 16, 4
    model, draw = ResNet18(width).double(), Draw(1003)
    params, listed = {}, []
    for stream, (k, p) in enumerate(model.named_parameters(), 1):
        shape, flat = tuple(p.shape), p.dim() == 1
        unit = torch.from_numpy(splitmix(stream, p.numel()).reshape(shape))
        # Powers of two and 20 bits, so that every number is exact in float32 as well.
        scale = 0.25 if flat else 2.0 ** round(np.log2((6 / np.prod(shape[1:])) ** 0.5))
        plus = 1.0 if flat and k.endswith("weight") else 0.0
        params[k] = unit * scale + plus
        assert torch.equal(params[k], single(params[k]))
        listed.append({"name": k, "shape": shape, "scale": scale, "plus": plus})
    image = torch.from_numpy(splitmix(0, batch * 3 * 16 * 16).reshape(batch, 3, 16, 16))
    target = draw.distribution(batch, 10)
    fresh = section("buffers", floats(model.named_buffers()))

    def compute(given):
        dtype = given["target"].dtype
        full = {"input": image[None].to(dtype), "target": given["target"][None]}
        full |= section("params", {k: v.to(dtype) for k, v in params.items()})
        net = loaded(model, full | fresh).train()
        found = first(net, full)
        made = {"output": found["output"], "loss": found["loss"]}
        for k in params:
            g = found[f"grads/{k}"].double().flatten()
            along = torch.sin(0.37 * torch.arange(len(g), dtype=torch.float64) + 0.1)
            made[f"sums/{k}"] = torch.stack([g.sum(), g.norm(), (g * along).sum()])
        return made | section("buffers_after_1", floats(net.named_buffers()))

    order = ("train mode on one batch; sums/NAME: sum, l2 norm and sum(g_i sin(0.37 i + 0.1)) of"
             " the gradient, i from 0 in PyTorch's layout. Parameter number s of `parameters`, from"
             " 1, is scale * splitmix(s) + plus; the input is splitmix(0), NCHW. splitmix(s): z ="
             " (s << 32) + i * 0x9E3779B97F4A7C15 for i = 1, 2, ..., SplitMix64's finish, then"
             " (z >> 44) / 2^19 - 1")
    settings = {"width": width, "classes": 10, "eps": 1e-5, "bn_momentum": 0.1,
                "input": list(image.shape), "parameters": listed}
    save("resnet18_wide", order, settings, {"target": target}, compute)


def write():
    mlp()
    resnet18()
    resnet18_wide()
