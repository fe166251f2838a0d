"""Every verb through the command line, Rust and Python: the same bits.

Rust is the example ``parity`` of the crate ``dissensus``: the program that ``$PARITY`` names, or one that ``cargo test``
built. Where there is none, its part is skipped aloud.
"""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dissensus import Delivery, Study, Votes, ceiling, compare, compare_seeds, fit, lint, score

ROOT = Path(__file__).resolve().parents[3]
ITEMS, CLASSES, WIDTH = 120, ["no", "so", "yes"], 6
# The package as it was found here, for commands that run in another folder.
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
SCORES = ["metric", "value", "low", "high", "method", "note"]
DIFFERENCES = ["model", "metric", "baseline_value", "value", "difference", "low", "high", "d_z"]
TESTS = [
    *["metric", "mean_a", "sd_a", "mean_b", "sd_b", "mean_difference", "wilcoxon_p", "wilcoxon_p_holm"],
    *["t_p", "sign_p", "d_z", "rank_biserial"],
]
FINDINGS = ["severity", "code", "message", "count", "item", "row", "column", "remedy"]
RESULTS = ["study", "dataset", "arm", "k", "seed", "metric", "slice", "value", "run"]
# An annotator who votes twice, an item with one vote, labels that differ in case.
LONG = "item,annotator,label\na,x,cat\na,x,cat\nb,y,dog\nb,y,cow\nb,z,dog\nc,x,cat\n"
STUDY = """
    study = {name = "parity"}
    data = {votes = "FOLDER/votes.csv", inputs = "FOLDER/features.npz", votes_per_item = 3}
    delivery = {methods = ["soft", "multipass"]}
    model = {name = "mlp", hidden = 8}
    training = {epochs = 2}
    run = {seeds = 2, device = "cpu"}
"""
SPEC = """
    data = {votes = "votes.csv", inputs = "features.npz"}
    delivery = {methods = "multipass"}
    model = {name = "mlp", hidden = 8}
    training = {epochs = 4, optimizer = "adam", learning_rate = 0.01}
    run = {seeds = [5], device = "cpu", store = "store"}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parity")
    random = np.random.default_rng(0)
    counts = random.multinomial(6, [0.5, 0.3, 0.2], ITEMS)
    ids = [f"i{at:03}" for at in range(ITEMS)]
    tables = {"votes": counts, "x": random.dirichlet([1, 1, 1], ITEMS), "y": random.dirichlet([2, 1, 1], ITEMS)}
    for name, values in tables.items():
        rows = [",".join([item, *map(repr, row)]) for item, row in zip(ids, values.tolist())]
        (folder / f"{name}.csv").write_text("\n".join([",".join(["id", *CLASSES]), *rows]) + "\n")
    X = random.normal(size=(ITEMS, WIDTH)).astype(np.float32)
    np.savez(folder / "features.npz", features=X, ids=np.array(ids))
    (folder / "spec.toml").write_text(SPEC)
    (folder / "long.csv").write_text(LONG)
    (folder / "study.toml").write_text(STUDY.replace("FOLDER", folder.as_posix()))
    return folder


ENDINGS = ["csv", "parquet", "npz"]


def files_of(folder, who):
    """The bytes of the converted votes."""
    return [(folder / f"{who}.{ending}").read_bytes() for ending in ENDINGS]


def rows(frame, names):
    columns = frame.to_dict()
    return [list(row) for row in zip(*(columns[name] for name in names))]


@pytest.fixture(scope="module")
def python(folder):
    """What Python gives."""
    votes = Votes.read(folder / "votes.csv")
    files = [folder / "x.csv", folder / "y.csv"]
    loaded = np.load(folder / "features.npz")
    options = dict(metrics="all", replicates=100, seed=3, by="entropy", ceiling=5)
    scores = score(votes, files[0], **options)
    settings = dict(epochs=4, hidden=8, optimizer="adam", learning_rate=0.01, progress=False)
    model = fit(votes, loaded["features"], "multipass", items=loaded["ids"], seed=5, **settings)
    ids, _ = model.test_predictions()
    places = [loaded["ids"].tolist().index(item) for item in ids]
    labels = Delivery(votes, "multipass", seed=7)
    targets = Delivery(votes, "soft", seed=7, target="dirichlet").targets(2)
    assert scores.ceiling.to_frame().to_dict() == ceiling(
        votes, repeats=5, metrics="all", seed=3
    ).to_frame().to_dict()
    for ending in ENDINGS:
        Votes.read(folder / "long.csv").write(folder / f"python.{ending}")
    study = Study.from_file(folder / "study.toml").run(folder / "python", progress=False)
    return {
        "inspect": Votes.read(folder / "long.csv").summary(),
        "lint": rows(lint(folder / "long.csv"), FINDINGS),
        "convert": files_of(folder, "python"),
        "study": rows(study, RESULTS),
        "score": rows(scores.to_frame(), ["model", "slice", "items", *SCORES]),
        "ceiling": rows(scores.ceiling.to_frame(), ["metric", "half", "perfect"]),
        "compare": rows(compare(votes, *files, names=["x", "y"]).to_frame(), DIFFERENCES),
        "compare_seeds": rows(compare_seeds(votes, files, files[::-1]).to_frame(), TESTS),
        "labels": [[votes.classes[at] for at in labels.labels(epoch)] for epoch in [2, 3, 4]],
        "targets": targets.tolist(),
        "fit": (ids, model.logits(loaded["features"])[places].tolist(), rows(model.history, model.history.columns)),
    }


def command(folder, *arguments):
    code = "import sys, dissensus; sys.exit(dissensus.main(sys.argv[1:]))"
    shown = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=folder, env=ENVIRONMENT)
    assert shown.returncode == 0, shown.stderr
    return shown.stdout


def scores_of(told):
    return [
        [one["model"], one["slice"], one["items"], *(value(metric, field) for field in SCORES)]
        for one in told
        for metric in one["metrics"]
    ]


def ceiling_of(told):
    mean = lambda spread: None if spread is None else spread["mean"]  # noqa: E731
    return [[one["metric"], mean(one["half"]), mean(one["perfect"])] for one in told["metrics"]]


def labels_of(text):
    """The labels of a CSV table by epoch."""
    epochs: dict[str, list[str]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        epochs.setdefault(row["epoch"], []).append(row["label"])
    return list(epochs.values())


def targets_of(text):
    return [[float(row[name]) for name in CLASSES] for row in csv.DictReader(io.StringIO(text))]


# What is said of a file beside the summary of its votes.
OF_FILES = ["file", "format", "notes", "warnings"]


def results_of(text):
    kinds = {"k": int, "seed": int, "value": float}
    value = lambda name, cell: kinds.get(name, str)(cell) if cell else None  # noqa: E731
    return [[value(name, row[name]) for name in RESULTS] for row in csv.DictReader(io.StringIO(text))]


def read_rows(told, names):
    return [[one[name] for name in names] for one in told]


def value(one, name):
    """A field; in the table of scores, the note says also why there is no interval."""
    if name == "note" and one["note"] is None and "no_interval" in one:
        return f"no interval: {one['no_interval']}"
    return one[name]


@pytest.fixture(scope="module")
def program(folder):
    """What the command line gives."""
    from_votes = ["--votes", "votes.csv"]
    told = json.loads(command(
        folder, "score", *from_votes, "--predictions", "x.csv", "--metrics", "all", "--replicates", "100", "--seed", "3",
        "--by", "entropy", "--ceiling", "5", "--json",
    ))
    compared = json.loads(command(folder, "compare", *from_votes, "--predictions", "x.csv", "y.csv", "--json"))
    seeds = json.loads(command(
        folder, "compare", *from_votes, "--a", "x.csv", "y.csv", "--b", "y.csv", "x.csv", "--json"
    ))
    epochs = ["--seed", "7", "--epochs", "2..5"]
    labels = command(folder, "deliver", *from_votes, "--method", "multipass", *epochs)
    targets = command(folder, "deliver", *from_votes, "--method", "soft", "--target", "dirichlet", *epochs)
    inspected = json.loads(command(folder, "votes", "inspect", "long.csv", "--json"))
    found = json.loads(command(folder, "votes", "lint", "long.csv", "--json"))["findings"]
    for ending in ENDINGS:
        command(folder, "votes", "convert", "long.csv", f"program.{ending}")
    command(folder, "study", "run", "study.toml", "--store", "program")
    (results,) = (folder / "program").rglob("results.csv")
    command(folder, "train", "spec.toml")
    (run,) = (folder / "store" / "runs").iterdir()
    stored = np.load(run / "predictions" / "best.npz")
    history = [list(json.loads(line).values()) for line in (run / "history.jsonl").read_text().splitlines()]
    return {
        "inspect": {name: value for name, value in inspected.items() if name not in OF_FILES},
        "lint": read_rows(found, FINDINGS),
        "convert": files_of(folder, "program"),
        "study": results_of(results.read_text()),
        "score": scores_of(told["scores"]),
        "ceiling": ceiling_of(told["ceiling"]),
        "compare": read_rows(compared["differences"], DIFFERENCES),
        "compare_seeds": read_rows(seeds["tests"], TESTS),
        "labels": labels_of(labels),
        "targets": targets_of(targets),
        "fit": (stored["ids"].tolist(), stored["logits"].tolist(), history),
    }


@pytest.fixture(scope="module")
def rust(folder):
    """What the library gives to a program in Rust."""
    built = [ROOT / "target" / profile / "examples" / "parity" for profile in ["debug", "release"]]
    given = os.environ.get("PARITY")
    built = [Path(given)] if given else [path for path in built if path.exists()]
    if not built:
        pytest.skip("SKIPPED: the example parity of the crate dissensus is not built; RUST WAS NOT COMPARED")
    shown = subprocess.run([built[0], folder], capture_output=True, text=True, check=True)
    told = json.loads(shown.stdout)
    fitted = told["fit"]
    logits = np.array(fitted["logits"], dtype=np.float32).reshape(-1, len(CLASSES))
    return {
        "inspect": told["inspect"],
        "lint": read_rows(told["lint"]["findings"], FINDINGS),
        "convert": files_of(folder, "rust"),
        "study": read_rows(told["study"], RESULTS),
        "score": scores_of(told["score"]),
        "ceiling": ceiling_of(told["ceiling"]),
        "compare": read_rows(told["compare"]["differences"], DIFFERENCES),
        "compare_seeds": read_rows(told["compare_seeds"]["tests"], TESTS),
        "labels": labels_of(told["labels"]),
        "targets": targets_of(told["targets"]),
        "fit": (fitted["ids"], logits.tolist(), [list(row.values()) for row in fitted["history"]]),
    }


VERBS = ["inspect", "lint", "convert", "study", "score", "ceiling", "compare", "compare_seeds", "labels", "targets", "fit"]


@pytest.mark.parametrize("verb", VERBS)
def test_python_is_the_command_line(python, program, verb):
    assert python[verb] == program[verb]


@pytest.mark.parametrize("verb", VERBS)
def test_rust_is_the_command_line(rust, program, verb):
    assert rust[verb] == program[verb]
