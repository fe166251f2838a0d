"""Studies and stores give what the command line gives."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import dissensus
import numpy as np
import pytest
from dissensus import Store, Study

COMMAND = [sys.executable, "-m", "dissensus"]

SETTINGS = {
    "study": {"name": "small", "title": "A small study"},
    "data": {"dataset": "blends", "items": 80},
    "model": {"name": "smallcnn", "width": 4},
    "training": {"epochs": 2},
    "run": {"seeds": 2},
    "arm": [
        {"name": "soft", "delivery": "soft"},
        {"name": "majority", "delivery": "majority"},
    ],
    "table": [{"name": "main", "title": "Main", "down": ["arm"], "metrics": ["soft_nll", "accuracy"]}],
}


@pytest.fixture(scope="module")
def study() -> Study:
    return Study.from_dict(SETTINGS)


@pytest.fixture(scope="module")
def store(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = tmp_path_factory.mktemp("store") / "runs"
    study.run(path, progress=False)
    return Store(path)


def test_results_are_those_of_the_command_line(study: Study, store: Store, tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(study.to_toml())
    arguments = ["study", "run", str(file), "--store", str(tmp_path / "runs")]
    subprocess.run([*COMMAND, *arguments], check=True, capture_output=True, timeout=300)
    written = tmp_path / "runs/studies/small/results.csv"
    # The same file, to the byte; and the same values as a table.
    assert written.read_bytes() == (store.path / "studies/small/results.csv").read_bytes()
    with written.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    table = study.results(store).to_dict()
    assert list(table) == list(rows[0])
    assert len(rows) == len(table["value"]) > 10
    assert [row["run"] for row in rows] == table["run"]
    assert [float(row["value"]) if row["value"] else None for row in rows] == table["value"]
    assert [int(row["k"]) if row["k"] else None for row in rows] == table["k"]


def test_a_file_and_a_dictionary_are_the_same_study(study: Study, tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(study.to_toml())
    read = Study.from_file(file)
    assert (read.name, read.title, read.arms) == ("small", "A small study", ["soft", "majority"])
    assert read.to_toml() == study.to_toml()
    assert "demo" == Study.builtin("demo").name
    assert Study.builtin("same-target").scales


def test_status_counts_runs(study: Study, store: Store, tmp_path: Path) -> None:
    status = study.status(store)
    assert status.is_done and status.runs["done"] == 4 and status.failed == []
    assert status.to_frame().to_dict()["done"] == [2, 2]
    assert repr(status) == "<StudyStatus: 4 of 4 runs done>"
    empty = study.status(Store(tmp_path / "empty", create=True), seeds=1)
    assert not empty.is_done and empty.runs["missing"] == 2 and empty.eta_seconds is None


def test_a_choice_of_runs(study: Study, store: Store) -> None:
    assert set(study.results(store, arms=["soft"]).to_dict()["arm"]) == {"soft"}
    assert set(study.results(store, seeds=(1, 1)).to_dict()["seed"]) == {1}
    assert len(study.results(store, votes_per_item=["all"])) == len(study.results(store))
    for wrong in [{"arms": ["sotf"]}, {"seeds": 0}, {"seeds": (3, 1)}, {"votes_per_item": ["some"]}]:
        with pytest.raises(ValueError):
            study.results(store, **wrong)


def test_settings_can_be_changed(study: Study, tmp_path: Path) -> None:
    longer = study.override_settings({"training.epochs": 1, "model.width": 8})
    assert '"training.epochs" = 1, "model.width" = 8' in longer.to_toml()
    with pytest.raises(ValueError, match="`epoch` in .training.; did you mean `epochs`"):
        study.override_settings({"training.epoch": 3})


def test_a_report_is_written(study: Study, store: Store, tmp_path: Path) -> None:
    page = study.report(store, tmp_path / "report")
    assert page == tmp_path / "report/index.html" and page.is_file()
    assert (tmp_path / "report/tables/main.md").is_file()


def test_runs_have_curves_predictions_and_weights(store: Store) -> None:
    runs = store.runs
    assert len(runs) == 4 and {run.state for run in runs} == {"finished"}
    run = store.run(runs[0].id[:10])
    assert run.id == runs[0].id and run.epoch == run.planned == 2
    assert run.spec == json.loads((run.folder / "spec.json").read_text())
    assert run.result == json.loads((run.folder / "result.json").read_text())
    assert run.result is not None and run.result["epochs"] == 2
    # The files themselves, as other programs read them.
    lines = [json.loads(line) for line in (run.folder / "history.jsonl").read_text().splitlines()]
    curves = run.history()
    assert curves["epoch"].tolist() == [0, 1]
    assert curves["loss"].tolist() == [line["loss"] for line in lines]
    assert all(len(curve) == 2 for curve in curves.values())
    predictions = run.predictions()
    assert predictions is not None
    with np.load(run.folder / "predictions/best.npz") as file:
        np.testing.assert_array_equal(predictions.logits, file["logits"])
        assert predictions.ids == file["ids"].tolist() and predictions.classes == file["classes"].tolist()
    probabilities = predictions.probabilities
    assert probabilities.dtype == np.float64 and predictions.logits.dtype == np.float32
    shifted = np.exp(predictions.logits.astype(np.float64) - predictions.logits.max(1, keepdims=True))
    np.testing.assert_allclose(probabilities, shifted / shifted.sum(1, keepdims=True), rtol=1e-12)
    weights = run.weights("last")
    assert weights is not None and sum(w.size for w in weights.values()) >= run.result["parameters"]
    with pytest.raises(ValueError, match="best"):
        run.predictions("first")  # type: ignore[arg-type]


def test_a_store_as_a_table(store: Store) -> None:
    table = store.to_frame().to_dict()
    assert table["id"] == [run.id for run in store.runs]
    assert table["seed"] == [run.spec["run"]["seed"] for run in store.runs]
    assert table["state"] == ["finished"] * 4
    assert store.studies == ["small"] and store.study().arms == ["soft", "majority"]
    assert os.fspath(store) == str(store.path)


def test_a_second_run_trains_nothing(study: Study, store: Store) -> None:
    before = {run.id: (run.folder / "status.json").stat().st_mtime_ns for run in store.runs}
    again = study.run(store, progress=False)
    assert {run.id: (run.folder / "status.json").stat().st_mtime_ns for run in store.runs} == before
    assert again.to_dict() == study.results(store).to_dict()


def test_progress_is_told(study: Study, tmp_path: Path) -> None:
    events: list[tuple[str, str, int, int | None, str]] = []
    study.run(tmp_path / "runs", seeds=1, progress=lambda *event: events.append(event))
    assert events[0][:2] == ("started", "runs")
    ends = [event for event in events if event[0] == "advanced"]
    assert ends[-1][2:4] == (2, 2) and any("epoch" in event[4] for event in ends)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent by POSIX")
def test_ctrl_c_stops_a_study_which_then_continues(study: Study, tmp_path: Path) -> None:
    long = study.override_settings({"training.epochs": 100000})
    path = tmp_path / "runs"

    def interrupt() -> None:
        for _ in range(600):
            if any(path.glob("runs/*/lock")):
                break
            time.sleep(0.1)
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        long.run(path, seeds=1, progress=False)
    assert {run.state for run in Store(path).runs} == {"interrupted"}
    assert long.status(path, seeds=1).runs["interrupted"] >= 1


def test_what_is_wrong_is_said(tmp_path: Path, study: Study, store: Store) -> None:
    with pytest.raises(FileNotFoundError, match="no-such"):
        Study.from_file(tmp_path / "no-such.toml")
    with pytest.raises(FileNotFoundError, match="no-such"):
        Store(tmp_path / "no-such")
    with pytest.raises(FileNotFoundError):
        study.status(tmp_path / "no-such")
    with pytest.raises(ValueError, match="demo"):
        Study.builtin("dmeo")
    with pytest.raises(ValueError, match="trainig"):
        Study.from_dict({"data": {"dataset": "blends"}, "trainig": {}})
    with pytest.raises(ValueError, match="data.dataset is null"):
        Study.from_dict({"data": {"dataset": None}})
    with pytest.raises(TypeError):
        Study.from_dict({"data": {"dataset": object()}})
    with pytest.raises(TypeError):
        Study.from_dict("data")  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        store.run("")
    with pytest.raises(ValueError):
        store.run("zz")
    with pytest.raises(ValueError, match="jobs"):
        study.run(store, jobs=0)
    with pytest.raises(ValueError, match="gpu9"):
        study.run(store, device="gpu9", progress=False)


def test_a_broken_run_is_a_warning(study: Study, tmp_path: Path) -> None:
    store = Store(tmp_path / "runs", create=True)
    study.run(store, seeds=1, progress=False)
    (store.runs[0].folder / "spec.json").write_text("{")
    with pytest.warns(UserWarning, match="spec.json"):
        assert len(store.runs) == 1
    with pytest.warns(UserWarning, match="spec.json"):
        assert len(store.to_frame()) == 1


def test_data_are_fetched(tmp_path: Path) -> None:
    files = dissensus.fetch("blends", cache=tmp_path / "cache", progress=False)
    assert all(file.is_file() for file in files)
    times = [file.stat().st_mtime_ns for file in files]
    assert dissensus.fetch("blends", cache=tmp_path / "cache") == files
    assert [file.stat().st_mtime_ns for file in files] == times
    with pytest.raises(ValueError, match="cifar10h"):
        dissensus.fetch("cifar10g", cache=tmp_path)
    with pytest.raises(FileNotFoundError):
        dissensus.fetch("cifar10h", from_=tmp_path / "no-such", cache=tmp_path / "cache", progress=False)
