"""A tiny random BERT, by transformers in float64: `bert/`, with the vectors of some texts."""

import torch
from common import FOLDER, randomize, write_json
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

SIZES = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "max_position_embeddings": 48, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
}
TEXTS = ["", "hello world", "Naïve café, 日本語!", "un" * 20 + " a b c", "word " * 100, "[MASK] x?"]
CASES = [("gelu", "mean", True), ("gelu", "cls", False), ("gelu_new", "max", False),
         ("relu", "mean_sqrt_len_tokens", True)]


def pooled(hidden, how):
    if how == "cls":
        return hidden[0]
    if how == "max":
        return hidden.max(0).values
    return hidden.sum(0) / len(hidden) ** (0.5 if how == "mean_sqrt_len_tokens" else 1)


def write():
    folder = FOLDER / "bert"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(SIZES["max_position_embeddings"])
    sizes = {**SIZES, "vocab_size": tokenizer.get_vocab_size()}
    state, cases = None, []
    for act, how, unit in CASES:
        config = BertConfig(hidden_act=act, **sizes)
        model = BertModel(config, add_pooling_layer=False).eval()
        state = randomize(model, 7)
        model.double()
        vectors = []
        for text in TEXTS:
            ids = torch.tensor([tokenizer.encode(text).ids])
            vector = pooled(model(ids).last_hidden_state[0], how)
            vectors.append((vector / vector.norm() if unit else vector).tolist())
        cases.append({"act": act, "pooling": how, "normalize": unit, "vectors": vectors})
    save_file(state, folder / "model.safetensors")
    write_json(folder / "config.json", {"model_type": "bert", "hidden_act": "gelu", **sizes})
    rounded = [{**c, "vectors": [[round(x, 8) for x in v] for v in c["vectors"]]} for c in cases]
    write_json(folder / "expected.json", {"texts": TEXTS, "cases": rounded})
