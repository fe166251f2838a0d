"""The dataset wrapper, the loss and the recipes: every worker and every process sees the labels of its epoch."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, DistributedSampler, TensorDataset  # noqa: E402

import dissensus  # noqa: E402
from dissensus import Delivery, Votes  # noqa: E402
from dissensus.torch import Score, VotesDataset, soft_cross_entropy  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

ITEMS = 24
LOGITS = torch.randn(ITEMS, 3, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def votes():
    return Votes.from_counts(np.random.default_rng(0).integers(1, 6, (ITEMS, 3)), items=[f"i{n}" for n in range(ITEMS)])


def numbered(delivery, **options):
    return VotesDataset(TensorDataset(torch.arange(ITEMS)), delivery, **options)


def delivered(loader):
    """What came for each example."""
    return {int(x): y for xs, ys in loader for x, y in zip(xs, ys)}


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers_see_the_epoch(votes, start, persistent):
    delivery = Delivery(votes, "multipass", seed=3)
    dataset = numbered(delivery)
    loader = DataLoader(
        dataset, batch_size=4, shuffle=True, num_workers=2, persistent_workers=persistent, multiprocessing_context=start
    )
    for epoch in (0, 1, 5, 2):
        dataset.set_epoch(epoch)
        seen = delivered(loader)
        assert [int(seen[n]) for n in range(ITEMS)] == delivery.labels(epoch).tolist()
        assert dataset.epoch == epoch


def test_distributions_examples_and_ids(votes):
    soft = numbered(Delivery(votes, "soft"))
    x, target = soft[2]
    assert target.dtype == torch.float32 and torch.equal(target, torch.from_numpy(votes.targets()[2]).float())
    noisy = numbered(Delivery(votes, "soft_noise", seed=1), dtype=torch.float64)
    noisy.set_epoch(4)
    rows = torch.stack([noisy[n][1] for n in range(ITEMS)])
    assert np.array_equal(rows.numpy(), Delivery(votes, "soft_noise", seed=1).targets(4))
    labels = Delivery(votes, "majority")
    pairs = VotesDataset([(n, "old", "more") for n in range(ITEMS)], labels, with_id=True)
    pairs.set_epoch(0)
    assert pairs[1] == (1, labels.labels(0)[1], "more", "i1")
    named = VotesDataset([{"input_ids": n} for n in range(ITEMS)], labels, with_id=True)
    named.set_epoch(0)
    assert named[1] == {"input_ids": 1, "labels": labels.labels(0)[1], "id": "i1"}
    some = VotesDataset(["a", "b"], labels, ids=["i9", "i4"])
    some.set_epoch(0)
    assert [some[0], some[1]] == [("a", labels.label("i9", 0)), ("b", labels.label("i4", 0))]
    assert pickle.loads(pickle.dumps(some))[0] == some[0]


def test_wrong_use_is_refused(votes):
    delivery = Delivery(votes, "sls")
    with pytest.raises(RuntimeError, match="call set_epoch"):
        numbered(delivery)[0]
    with pytest.raises(ValueError, match="2 examples and the delivery 24 items"):
        VotesDataset([0, 1], delivery)
    with pytest.raises(ValueError, match="1 ids for 2 examples"):
        VotesDataset([0, 1], delivery, ids=["i0"])
    with pytest.raises(KeyError, match="z"):
        VotesDataset([0], delivery, ids=["z"])
    for epoch in (-1, 0.5):
        with pytest.raises(ValueError, match="epoch is"):
            numbered(delivery).set_epoch(epoch)


def _distributed(rank, port, folder, stored):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    votes, delivery = pickle.loads(stored)
    dataset = numbered(delivery)
    sampler = DistributedSampler(dataset, num_replicas=2, rank=rank, shuffle=True)
    loader = DataLoader(dataset, batch_size=4, sampler=sampler, num_workers=1, persistent_workers=True)
    seen = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        dataset.set_epoch(epoch)
        seen.append({n: int(y) for n, y in delivered(loader).items()})
    scored = None
    if hasattr(dissensus, "score"):
        # Each process has seen a half.
        score = Score(votes, metrics=["kl"], replicates=0)
        own = sorted(seen[0])
        score.update(LOGITS[own], [f"i{n}" for n in own])
        scored = score.compute()["kl"]
    torch.save((seen, scored), f"{folder}/{rank}.pt")
    torch.distributed.destroy_process_group()


def test_two_processes_with_a_distributed_sampler(votes, tmp_path):
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    delivery = Delivery(votes, "sls", seed=8)
    torch.multiprocessing.spawn(_distributed, (port, str(tmp_path), pickle.dumps((votes, delivery))), nprocs=2)
    saved = [torch.load(tmp_path / f"{rank}.pt", weights_only=False) for rank in range(2)]
    parts = [seen for seen, _ in saved]
    for epoch in range(3):
        assert not parts[0][epoch].keys() & parts[1][epoch].keys()
        seen = parts[0][epoch] | parts[1][epoch]
        assert [seen[n] for n in range(ITEMS)] == delivery.labels(epoch).tolist()
    if hasattr(dissensus, "score"):
        whole = dissensus.score(votes, LOGITS.numpy(), kind="logits", metrics=["kl"], replicates=0)["kl"]
        assert [scored for _, scored in saved] == [whole, whole]


def test_cross_entropy_of_labels_and_distributions():
    torch.manual_seed(0)
    logits = torch.randn(5, 3, requires_grad=True)
    labels = torch.tensor([0, 2, 1, 1, 0])
    expected = torch.nn.functional.cross_entropy(logits, labels)
    assert torch.equal(soft_cross_entropy(logits, labels), expected)
    assert torch.equal(soft_cross_entropy(logits, labels.to(torch.int32)), expected)
    hot = torch.nn.functional.one_hot(labels, 3).double()
    assert torch.allclose(soft_cross_entropy(logits, hot), expected)
    target = torch.tensor([[1.5, -0.25, -0.25]]).expand(5, 3)
    by_hand = -(target * logits.log_softmax(1)).sum(1)
    assert torch.allclose(soft_cross_entropy(logits, target, reduction="none"), by_hand)
    soft_cross_entropy(logits, target).backward()
    assert logits.grad is not None
    for wrong in [labels[:2], labels.float(), hot[:, :2], hot.long()]:
        with pytest.raises(ValueError, match="expected labels of shape"):
            soft_cross_entropy(logits, wrong)
    with pytest.raises(ValueError, match="logits has the shape"):
        soft_cross_entropy(logits[0], labels)


def test_score_collects_by_id(votes):
    if not hasattr(dissensus, "score"):
        pytest.skip("this build has no score")
    logits = LOGITS
    score = Score(votes, metrics=["accuracy", "kl"], replicates=0)
    with pytest.raises(ValueError, match="nothing was collected"):
        score.compute()
    order = np.random.default_rng(1).permutation(ITEMS)
    for batch in np.array_split(order, 5):
        score.update(logits[batch], [f"i{n}" for n in batch])
    # The last batch of a distributed sampler repeats examples.
    score.update(logits[order[:1]] + 9, [f"i{order[0]}"])
    expected = dissensus.score(votes, logits.numpy(), kind="logits", metrics=["accuracy", "kl"], replicates=0)
    assert score.compute()["kl"] == expected["kl"]
    score.update(logits[:1], ["z"])
    with pytest.raises(KeyError, match="z"):
        score.compute()
    score.reset()
    with pytest.raises(ValueError, match="ids; expected"):
        score.update(logits, ["i0"])


def test_recipe_plain_torch():
    import plain_torch

    for method, workers in [("multipass", 0), ("soft", 0), ("sls", 2)]:
        votes, logits = plain_torch.train(method, workers=workers)
        loss = soft_cross_entropy(logits.double(), torch.from_numpy(votes.targets()))
        assert loss < 0.95 * np.log(3), method


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.filterwarnings("ignore")
def test_recipe_lightning(workers):
    pytest.importorskip("lightning")
    import lightning_module

    delivery, model = lightning_module.train(epochs=3, workers=workers)
    for epoch in range(3):
        seen = torch.cat([target for at, target in model.seen if at == epoch])
        assert seen.tolist() == delivery.labels(epoch).tolist()


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.filterwarnings("ignore")
def test_recipe_hugging_face(workers):
    pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    import huggingface_trainer

    delivery, trainer = huggingface_trainer.train(epochs=3, workers=workers)
    for epoch in range(3):
        seen = torch.cat([target for at, target in trainer.seen if int(at) == epoch])
        expected = delivery.labels(epoch)
        assert sorted(seen.tolist()) == sorted(expected.tolist())


@pytest.mark.filterwarnings("ignore")
def test_recipe_keras(monkeypatch):
    os.environ.setdefault("KERAS_BACKEND", "torch")
    pytest.importorskip("keras")
    import keras_fit

    calls = []

    class Recorded(keras_fit.Labels):
        def __getitem__(self, index):
            batch = super().__getitem__(index)
            calls.append(batch[1])
            return batch

    monkeypatch.setattr(keras_fit, "Labels", Recorded)
    labels, losses = keras_fit.train(epochs=3)
    # Keras looks at the first batch once more to build the model.
    batches = calls[-3 * len(labels) :]
    expected = [labels.delivery.labels(epoch) for epoch in range(3)]
    assert len(losses) == 3 and np.array_equal(np.concatenate(batches), np.concatenate(expected))


def test_recipe_jax():
    pytest.importorskip("jax")
    import jax_loop

    losses = jax_loop.train(epochs=10)
    assert losses[-1] < losses[0] < np.log(3)


def test_the_guide(tmp_path):
    if not hasattr(dissensus, "compare"):
        pytest.skip("this build has no compare")
    root = Path(__file__).resolve().parents[3]
    program = tmp_path / "dissensus"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dissensus "$@"\n')
    program.chmod(0o755)
    words = [root / "scripts/run-guide.sh", program, root / "docs/guides/train-your-own-pytorch-model.md"]
    ran = subprocess.run(words, env={**os.environ, "DISSENSUS_PYTHON": sys.executable}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "the same labels" in ran.stdout and "passed, 0 failed" in ran.stdout
