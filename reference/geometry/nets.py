"""The net, what our program wrote, and our flat vectors as PyTorch's tensors.

Our vector has the parameters in the order of `setup.json`; a convolution lies as [ky][kx][in][out]
and a linear layer as [in][out], where PyTorch has [out][in][ky][kx] and [out][in].
"""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

# The net is that of the engine's references: one text for both. They read arguments of their own.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "engine"))
ARGUMENTS, sys.argv = sys.argv, sys.argv[:1]
from models import ResNet18  # noqa: E402

sys.argv = ARGUMENTS


class Folder:
    """What `--example export` wrote."""

    def __init__(self, path, dtype):
        self.setup = json.loads((path / "setup.json").read_text())
        data = load_file(path / "data.safetensors")
        mean, deviation = (torch.tensor(self.setup[k], dtype=dtype) for k in ("mean", "deviation"))
        scaled = (data["pixels"].to(dtype) / 255 - mean) / deviation
        self.pictures = scaled.permute(0, 3, 1, 2).contiguous()
        self.targets = data["targets"].to(dtype)
        split = self.setup["training"]
        self.training, self.judged = slice(0, split), slice(split, None)
        self.states = [load_file(path / f"{name}.safetensors") for name in "ab"]
        self.dtype = dtype

    def net(self, state):
        net = ResNet18(self.setup["width"], self.setup["classes"]).to(self.dtype)
        missing, extra = net.load_state_dict(state, strict=False)
        assert not extra and all("num_batches" in name for name in missing)
        return net.eval()

    def tensors(self, flat, net):
        """Our flat vector as a tensor for each of the net's parameters, in the net's order."""
        own = dict(net.named_parameters())
        found, at = {}, 0
        for parameter in self.setup["parameters"]:
            shape = own[parameter["name"]].shape
            part = torch.from_numpy(flat[at:at + shape.numel()]).to(self.dtype)
            at += shape.numel()
            if parameter["layout"] == "conv":
                outs, ins, high, wide = shape
                part = part.view(high, wide, ins, outs).permute(3, 2, 0, 1)
            elif parameter["layout"] == "linear":
                part = part.view(shape[1], shape[0]).T
            found[parameter["name"]] = part.reshape(shape).contiguous()
        assert at == len(flat)
        return [found[name] for name in own]

    def size(self, net):
        return sum(p.numel() for p in net.parameters())
