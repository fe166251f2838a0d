"""sentence-transformers (PyTorch) on the CPU beside ours: one line of JSON a repetition.

    python bench/embed/peers.py MODEL TEXTS --threads 2 --batch 32 [--repeats 2]

sentence-transformers sorts texts by length and pads each batch to its longest.
"""

import argparse
import json
import time

import torch
from sentence_transformers import SentenceTransformer


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("texts")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    texts = json.load(open(options.texts))
    model = SentenceTransformer(options.model, device="cpu")
    encode = lambda texts: model.encode(  # noqa: E731
        texts, batch_size=options.batch, show_progress_bar=False)
    encode(texts[:32])
    for _ in range(options.repeats):
        start = time.perf_counter()
        vectors = encode(texts)
        seconds = time.perf_counter() - start
        print(json.dumps({"what": "sentence-transformers", "threads": options.threads,
                          "batch": options.batch, "texts": len(texts), "seconds": seconds,
                          "sum": float(vectors.sum(dtype="float64"))}), flush=True)


if __name__ == "__main__":
    main()
