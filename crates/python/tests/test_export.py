"""Runs as Hugging Face folders, votes with Croissant metadata."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from dissensus import Run, Store, Study, Votes, export

SETTINGS = {
    "data": {"dataset": "blends", "items": 60},
    "model": {"name": "smallcnn", "width": 4},
    "delivery": {"methods": ["soft"]},
    "training": {"epochs": 2},
    "run": {"seeds": 1},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("store") / "runs"
    Study.from_dict(SETTINGS).run(path, progress=False)
    return Store(path).runs[0]


@pytest.fixture()
def votes(tmp_path: Path) -> Votes:
    file = tmp_path / "few.csv"
    file.write_text("item,annotator,label\na,x,cat\na,y,dog\nb,x,cat\nb,y,cat\nc,z,dog\n")
    return Votes.read(file)


def tensors(path: Path) -> dict[str, np.ndarray]:
    """A file of safetensors, read by its definition."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    head = json.loads(content[8 : 8 + size])
    head.pop("__metadata__", None)
    data = content[8 + size :]
    return {
        name: np.frombuffer(data[slice(*about["data_offsets"])], "<f4").reshape(about["shape"])
        for name, about in head.items()
    }


def test_a_run_is_a_model_folder(run: Run, tmp_path: Path) -> None:
    folder = export.huggingface(run, tmp_path / "model")
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "config.json", "model.safetensors"]
    written, weights = tensors(folder / "model.safetensors"), run.weights()
    assert weights is not None and set(written) == set(weights)
    assert all(np.array_equal(written[name], weights[name]) for name in weights)
    config = json.loads((folder / "config.json").read_text())
    predictions = run.predictions()
    assert predictions is not None and list(config["id2label"].values()) == predictions.classes
    assert config["spec"] == run.spec and config["run"] == run.id
    card = (folder / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: dissensus\n")
    assert run.result is not None
    assert f"{run.result['parts']['evaluation']['best']['soft_nll']:.4f}" in card
    assert run.spec["data"]["votes_digest"] in card
    with pytest.raises(FileExistsError):
        export.huggingface(run, folder)
    export.huggingface(run, folder, force=True)


def test_the_card_is_one_for_the_hub(run: Run, tmp_path: Path) -> None:
    cards = pytest.importorskip("huggingface_hub")
    folder = export.huggingface(run, tmp_path / "model")
    card = cards.ModelCard.load(folder / "README.md")
    assert card.data.library_name == "dissensus" and "soft-labels" in card.data.tags


def test_foreign_votes_and_missing_weights_are_refused(run: Run, votes: Votes, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="digest"):
        export.huggingface(run, tmp_path / "model", votes=votes)
    path = run.weights_path()
    kept = path.rename(path.with_name("kept"))
    with pytest.raises(FileNotFoundError, match="weights"):
        export.huggingface(run, tmp_path / "other")
    kept.rename(path)


def test_votes_have_croissant_metadata(votes: Votes, tmp_path: Path) -> None:
    about = dict(name="pets", description="Cats and dogs.", license="CC-BY-4.0", url="https://example.org/pets")
    about |= dict(creator="Ann", citation="Ann 2026", published="2026-01-02")
    metadata = export.croissant(votes, tmp_path / "pets", **about)
    # The table is the canonical one, and reads back as the same votes.
    assert Votes.read(metadata.with_name("votes.csv")).digest == votes.digest
    content = json.loads(metadata.read_text())
    assert content["rai:annotationsPerItem"] == "1 to 2"
    with pytest.raises(FileExistsError):
        export.croissant(votes, tmp_path / "pets", **about)
    export.croissant(votes, tmp_path / "pets", force=True, **about)
    mlcroissant = pytest.importorskip("mlcroissant")
    command = [Path(sys.executable).with_name("mlcroissant"), "validate", "--jsonld", metadata]
    validated = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert validated.returncode == 0 and "warning" not in validated.stderr.lower(), validated.stderr
    dataset = mlcroissant.Dataset(jsonld=str(metadata))
    issues = dataset.metadata.ctx.issues
    assert not issues.errors and not issues.warnings, issues.report()
    records = list(dataset.records("votes"))
    labelled = [record for record in records if record["votes/label"] not in (None, b"")]
    assert [record["votes/item"] for record in labelled] == [b"a", b"a", b"b", b"b", b"c"]
    assert [record["votes/label"] for record in labelled] == [b"cat", b"dog", b"cat", b"cat", b"dog"]
