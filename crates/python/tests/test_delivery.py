"""Deliveries: the same bits as the command line, as numpy's Philox, in every process."""

import itertools
import multiprocessing
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dissensus import Delivery, Votes

METHODS = [
    "soft", "soft_noise", "isotropic_noise", "shuffled_noise", "multipass", "deterministic", "sls", "sls:every=3",
    "shuffled_sls", "majority:ties=random", "label_smoothing", "mixup", "every_vote",
]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    random = np.random.default_rng(5)
    rows = [f"i{item},w{who},c{random.integers(4)}" for item in range(300) for who in random.permutation(9)[: 2 + item % 6]]
    path.write_text("item,annotator,label\n" + "\n".join(rows) + "\n")
    return path


def command(file, *arguments):
    out = file.with_suffix(".npy")
    words = ["deliver", "--votes", file, "--out", out, "--force", *arguments]
    subprocess.run([sys.executable, "-m", "dissensus", *map(str, words)], check=True, capture_output=True)
    return np.load(out)


@pytest.mark.parametrize("method", METHODS)
def test_bits_of_the_command_line(file, method):
    array = command(file, "--method", method, "--epochs", "2..7", "--seed", 11)
    delivery = Delivery(Votes.read(file), method, seed=11)
    for at, epoch in enumerate(range(2, 7)):
        if delivery.delivers == "labels":
            labels = delivery.labels(epoch)
            assert labels.dtype == np.int64 and np.array_equal(labels, array[at])
            assert np.array_equal(delivery.targets(epoch).argmax(1), array[at])
        elif delivery.delivers == "samples":
            assert np.array_equal(np.stack(delivery.samples(), 1), array)
            with pytest.raises(ValueError, match="delivers a sample per vote"):
                delivery.targets(epoch)
        else:
            rows = array[at] if delivery.delivers == "epoch_distributions" else array
            assert delivery.targets(epoch).tobytes() == rows.tobytes()
            with pytest.raises(ValueError, match="delivers distributions, not labels"):
                delivery.labels(epoch)


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (["--sparse", "3"], {"sparse": 3}),
        (["--sparse", "2:without"], {"sparse": "2:without"}),
        (["--target", "dirichlet:alpha=0.5"], {"target": "dirichlet:alpha=0.5"}),
        (["--target", "dawid_skene"], {"target": "dawid_skene"}),
        (["--target", "dirichlet", "--sparse", "4"], {"target": "dirichlet", "sparse": "4:with"}),
    ],
)
def test_targets_and_draws_of_the_command_line(file, arguments, settings):
    for method in ["soft", "sls"]:
        array = command(file, "--method", method, "--seed", 3, *arguments)
        delivery = Delivery(Votes.read(file), method, seed=3, **settings)
        found = delivery.targets(0) if method == "soft" else delivery.labels(0)[None]
        assert np.array_equal(found, array)


def documented():
    """The functions that the guide and the documentation of the labels print, run as they are printed."""
    root = Path(__file__).resolve().parents[3]
    guide = (root / "docs/guides/deliver-labels.md").read_text()
    streams = (root / "crates/labels/src/streams.rs").read_text()
    streams = "\n".join(line[4:] for line in streams.splitlines() if line.startswith("//!"))
    found = []
    for text in (guide, streams):
        functions: dict = {"np": np}
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            if "def " in block:
                exec(block, functions)
        found.append(functions)
    return found


def test_bits_of_numpys_philox(file):
    votes = Votes.read(file)
    counts, items = votes.counts(), votes.items
    guide, streams = documented()
    for name, settings, functions in [
        ("sls", {}, [guide["sls"], streams["sls"]]),
        ("sls", {"every": 5}, [guide["sls"], streams["sls"]]),
        ("multipass", {}, [streams["multipass"]]),
    ]:
        delivery = Delivery(votes, name, seed=7, **settings)
        for function, epoch in itertools.product(functions, (0, 1, 6, 13)):
            expected = [function(row, id, 7, epoch, **settings) for row, id in zip(counts[:60], items)]
            assert delivery.labels(epoch)[:60].tolist() == expected
    noise = Delivery(votes, "soft_noise", seed=7).targets(6)
    for function in [guide["soft_noise"], streams["soft_noise"]]:
        expected = [function(row, id, 7, 6) for row, id in zip(counts[:60], items)]
        assert np.allclose(noise[:60], expected, rtol=0, atol=1e-12)


def test_samples_say_who_voted(file):
    votes = Votes.read(file)
    rows, labels, annotators = Delivery(votes, "every_vote").samples()
    found = {(votes.items[i], votes.annotators[a], votes.classes[k]) for i, a, k in zip(rows, annotators, labels)}
    written = [line.split(",") for line in file.read_text().splitlines()[1:]]
    assert found == {tuple(line) for line in written} and len(rows) == len(written)
    assert np.array_equal(rows, np.sort(rows))
    for method in ["sls", "soft"]:
        with pytest.raises(ValueError, match="delivers no samples"):
            Delivery(votes, method).samples()


def test_by_id_by_row_and_by_batch(file):
    votes = Votes.read(file)
    delivery = Delivery(votes, "multipass", seed=2)
    labels = delivery.labels(4)
    assert [delivery.label(id, 4) for id in votes.items] == labels.tolist()
    assert delivery.labels(4, items=["i7", "i3"]).tolist() == [labels[7], labels[3]]
    assert delivery.row("i7") == 7 and delivery.at(7, 4) == labels[7] and delivery.at(-1, 4) == labels[-1]
    for method in ["soft", "soft_noise", "isotropic_noise", "shuffled_noise", "label_smoothing"]:
        soft = Delivery(votes, method, seed=2)
        assert np.array_equal(soft.targets(3, items=["i9", "i1"]), soft.targets(3)[[9, 1]])
        assert np.array_equal(soft.at(9, 3), soft.targets(3)[9])
    assert delivery.items == votes.items and delivery.classes == votes.classes and len(delivery) == 300
    assert "multipass, seed 2" in repr(delivery)


def test_labels_belong_to_ids_and_not_to_places(file):
    votes = Votes.read(file)
    some = ["i200", "i5", "i17"]
    for method in ["multipass", "sls", "soft_noise"]:
        all, part = Delivery(votes, method, seed=9), Delivery(votes.subset(some), method, seed=9)
        assert np.array_equal(all.targets(3, items=some), part.targets(3))


def test_pickles(file):
    votes = Votes.read(file)
    for method in METHODS:
        delivery = Delivery(votes, method, seed=4, sparse=5)
        again = pickle.loads(pickle.dumps(delivery))
        assert again.method == delivery.method
        if delivery.delivers == "samples":
            assert np.array_equal(again.samples()[:2], delivery.samples()[:2])
        else:
            assert np.array_equal(again.targets(6), delivery.targets(6))
    # Samples keep who voted.
    every = Delivery(votes, "every_vote")
    assert np.array_equal(pickle.loads(pickle.dumps(every)).samples(), every.samples())
    # Who voted is not needed.
    assert len(pickle.dumps(Delivery(votes, "sls"))) < len(pickle.dumps(votes))


def _in_child(delivery, queue):
    queue.put((delivery.labels(3), delivery.targets(3)))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_other_processes_get_the_same(file, method):
    """A forked process has none of the threads of its parent, and must not wait for them."""
    delivery = Delivery(Votes.read(file), "sls", seed=4)
    labels = delivery.labels(3)
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(delivery, queue))
    child.start()
    theirs, targets = queue.get(timeout=60)
    child.join(timeout=60)
    assert child.exitcode == 0 and np.array_equal(theirs, labels) and np.array_equal(targets.argmax(1), labels)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda v: Delivery(v, "multipas"), ValueError, 'did you mean "multipass"'),
        (lambda v: Delivery(v, "sls", every=0), ValueError, 'every is "0"; expected'),
        (lambda v: Delivery(v, "sls", evry=2), ValueError, "it has every"),
        (lambda v: Delivery(v, "sls:every=2", every=2), ValueError, "every is set twice"),
        (lambda v: Delivery(v, "soft", sparse="x"), ValueError, 'sparse is "x"; expected'),
        (lambda v: Delivery(v, "soft", target="x"), ValueError, "unknown target"),
        (lambda v: Delivery(v, "soft", seed=-1), ValueError, "seed is -1"),
        (lambda v: Delivery(v, "soft", seed=1.5), ValueError, "seed is 1.5"),
        (lambda v: Delivery(3, "soft"), TypeError, "Votes"),
        (lambda v: Delivery(v, "soft").labels(0), ValueError, r"`targets\(epoch\)` gives them"),
        (lambda v: Delivery(v, "sls").labels(-1), ValueError, "epoch is -1"),
        (lambda v: Delivery(v, "sls").labels("x"), TypeError, "epoch is 'x'"),
        (lambda v: Delivery(v, "sls").label("z", 0), KeyError, "z"),
        (lambda v: Delivery(v, "sls").labels(0, items=["a", "z"]), KeyError, "z"),
        (lambda v: Delivery(v, "sls").at(9, 0), IndexError, "no row 9"),
        (lambda v: Delivery(Votes.from_probabilities([[0.5, 0.5]]), "multipass"), ValueError, "needs vote counts"),
        (lambda v: Delivery(Votes.from_counts([[0, 0]]), "soft"), ValueError, "without votes"),
    ],
)
def test_wrong_input(call, error, words):
    with pytest.raises(error, match=words):
        call(Votes.from_arrays(["a", "a", "b"], ["x", "y", "x"]))
