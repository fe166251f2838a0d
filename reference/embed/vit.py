"""DINOv2 with random weights, by transformers in float64, pictures prepared by Pillow.

`vit/` is a tiny one. `vit_small.json` has the vector of one picture by a ViT-S/14 of the true shapes,
whose weights (88 MB) are numbers of a formula that the test knows, too.
"""

import numpy as np
import torch
from common import FOLDER, randomize, write_json
from PIL import Image
from safetensors.torch import save_file
from transformers import Dinov2Config, Dinov2Model

MEAN, SD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
TINY = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3, "mlp_ratio": 4,
        "image_size": 20, "patch_size": 4, "layer_norm_eps": 1e-6, "hidden_act": "gelu",
        "qkv_bias": True}
SMALL = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 6, "mlp_ratio": 4,
         "image_size": 518, "patch_size": 14, "layer_norm_eps": 1e-6, "hidden_act": "gelu",
         "qkv_bias": True}


def spread(count, stream):
    """Numbers from -1 to 1 that look random: a hash of their place, in 32 bits."""
    h = np.arange(count, dtype=np.uint64) * 2654435761 + np.uint64(stream) * 40503 + 12345
    h &= 0xFFFFFFFF
    h ^= h >> 15
    h = h * 2246822519 & 0xFFFFFFFF
    h ^= h >> 13
    return ((h >> 8).astype(np.float32) / np.float32(2**23) - np.float32(1))


def picture(height, width, channels, stream):
    bytes = (spread(height * width * channels, stream) + 1) * 128
    # Some structure below the noise, so that the middle of a picture differs from its border.
    at = np.arange(height * width * channels) // channels
    slope = at // width * 3 + at % width * 5
    return ((bytes.astype(np.uint32) // 2 + slope) % 256).astype(np.uint8).reshape(
        height, width, channels)


def prepared(pixels, shorter, crop):
    height, width = pixels.shape[:2]
    tall = shorter if height <= width else shorter * height // width
    wide = shorter * width // height if height <= width else shorter
    image = Image.fromarray(pixels.squeeze(2) if pixels.shape[2] == 1 else pixels)
    image = np.asarray(image.resize((wide, tall), Image.BICUBIC)).reshape(tall, wide, -1)
    top, left = (tall - crop) // 2, (wide - crop) // 2
    image = np.broadcast_to(image[top:top + crop, left:left + crop], (crop, crop, 3))
    values = (image / 255 - MEAN) / SD
    return torch.from_numpy(values.transpose(2, 0, 1)[None].copy())


def vector(model, values):
    return model(values).last_hidden_state[0, 0]


def tiny():
    folder = FOLDER / "vit"
    folder.mkdir(parents=True, exist_ok=True)
    model = Dinov2Model(Dinov2Config(**TINY)).eval()
    randomize(model, 8)
    # Under the published names, which save_pretrained goes back to.
    model.save_pretrained(folder)
    for name in folder.iterdir():
        if name.name != "model.safetensors":
            name.unlink()
    model.double()
    cases = []
    for shorter, crop in ((18, 16), (20, 20), (31, 24)):
        for at, shape in enumerate(((13, 20, 3), (30, 17, 1), (60, 64, 3), (18, 18, 3))):
            found = vector(model, prepared(picture(*shape, at), shorter, crop))
            cases.append({"shorter": shorter, "crop": crop, "shape": shape, "stream": at,
                          "vector": [round(x, 8) for x in found.tolist()]})
    write_json(folder / "config.json", {"model_type": "dinov2", **TINY})
    write_json(folder / "expected.json", cases)


def weight(name, shape, stream):
    """The formula of a parameter; the test has the same."""
    values = torch.from_numpy(spread(int(np.prod(shape)), stream)).reshape(shape)
    if len(shape) >= 2 and not name.startswith("embeddings.") or "projection.weight" in name:
        return values * np.float32((3 / np.prod(shape[1:])) ** 0.5)
    if "norm" in name and name.endswith("weight") or "lambda" in name:
        return values * np.float32(0.25) + np.float32(1)
    return values * np.float32(0.25)


def small():
    from tempfile import TemporaryDirectory

    from safetensors.torch import load_file

    config = Dinov2Config(**SMALL)
    with TemporaryDirectory() as folder:
        Dinov2Model(config).save_pretrained(folder)
        shapes = {name: tuple(v.shape) for name, v in load_file(f"{folder}/model.safetensors").items()}
        state = {name: weight(name, shape, stream).contiguous()
                 for stream, (name, shape) in enumerate(sorted(shapes.items()))}
        save_file(state, f"{folder}/model.safetensors", metadata={"format": "pt"})
        model = Dinov2Model.from_pretrained(folder).eval().double()
    found = vector(model, prepared(picture(300, 260, 3, 5), 256, 224))
    tensors = [[name, shape] for name, shape in sorted(shapes.items())]
    write_json(FOLDER / "vit_small.json", {
        "config": {"model_type": "dinov2", **SMALL}, "tensors": tensors,
        "picture": {"shape": [300, 260, 3], "stream": 5},
        "vector": [round(x, 7) for x in found.tolist()]})


def write():
    tiny()
    small()
