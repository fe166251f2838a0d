"""Trackers get every finished run once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from dissensus import Run, Store, Study, track

SETTINGS = {
    "data": {"dataset": "blends", "items": 60},
    "model": {"name": "smallcnn", "width": 4},
    "delivery": {"methods": ["soft", "sls"]},
    "training": {"epochs": 3},
    "run": {"seeds": 1},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = tmp_path_factory.mktemp("store") / "runs"
    Study.from_dict(SETTINGS).run(path, progress=False)
    return Store(path)


def more(store: Store, tmp_path: Path) -> Store:
    """Another store, with one more run."""
    path = tmp_path / "more"
    settings = {**SETTINGS, "delivery": {"methods": ["soft", "sls", "majority"]}}
    Study.from_dict(settings).run(path, progress=False)
    return Store(path)


def expected(run: Run) -> float:
    assert run.result is not None
    return run.result["parts"]["evaluation"]["best"]["soft_nll"]


@pytest.fixture(scope="module")
def mlflow_server(tmp_path_factory: pytest.TempPathFactory):
    pytest.importorskip("mlflow")
    folder = tmp_path_factory.mktemp("mlflow")
    command = [sys.executable, "-m", "mlflow", "server", "--port", "51753", "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--artifacts-destination", str(folder / "files")]
    log = (folder / "log").open("w")
    server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen("http://127.0.0.1:51753/health", timeout=1)
                break
            except OSError:
                assert server.poll() is None, (folder / "log").read_text()
                time.sleep(0.5)
        yield "http://127.0.0.1:51753"
    finally:
        server.terminate()
        server.wait(30)


def test_mlflow_gets_every_run_once(store: Store, tmp_path: Path, mlflow_server: str) -> None:
    from mlflow import MlflowClient

    runs = store.runs
    assert track.mlflow(store, uri=mlflow_server) == [run.id for run in runs]
    client = MlflowClient(tracking_uri=mlflow_server)
    experiment = client.get_experiment_by_name("dissensus")
    held = client.search_runs([experiment.experiment_id])
    by_id = {run.data.tags["dissensus.run"]: run for run in held}
    assert set(by_id) == {run.id for run in runs} and len(held) == 2
    for run in runs:
        there = by_id[run.id]
        assert there.info.status == "FINISHED"
        assert there.data.params["training.epochs"] == "3" and there.data.params["model.name"] == "smallcnn"
        assert there.data.metrics["best.evaluation.soft_nll"] == expected(run)
        curve = client.get_metric_history(there.info.run_id, "loss")
        assert [(point.step, point.value) for point in curve] == list(enumerate(run.history()["loss"].tolist()))
    # Again: nothing new. A run that was sent in part is sent again as a whole.
    assert track.mlflow(store, uri=mlflow_server) == []
    assert len(client.search_runs([experiment.experiment_id])) == 2
    client.set_terminated(by_id[runs[0].id].info.run_id, "FAILED")
    assert track.mlflow(store, uri=mlflow_server) == [runs[0].id]
    assert len(client.search_runs([experiment.experiment_id])) == 2
    assert len(track.mlflow(more(store, tmp_path), uri=mlflow_server)) == 1


def test_wandb_offline_gets_every_run_once(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    folder = tmp_path / "tracked"
    folder.mkdir()
    ids = [run.id for run in store.runs]
    assert track.wandb(store, folder=folder, mode="offline") == ids
    held = sorted(path.name for path in (folder / "wandb").glob("offline-run-*"))
    assert len(held) == 2 and {name.rsplit("-", 1)[1] for name in held} == set(ids)
    for name in held:
        written = folder / "wandb" / name / f"run-{name.rsplit('-', 1)[1]}.wandb"
        # wandb writes in a process of its own.
        for _ in range(100):
            content = written.read_bytes()
            if b"best.evaluation.soft_nll" in content:
                break
            time.sleep(0.1)
        assert b"best.evaluation.soft_nll" in content and b"smallcnn" in content
    assert track.wandb(store, folder=folder, mode="offline") == []
    assert sorted(path.name for path in (folder / "wandb").glob("offline-run-*")) == held


def test_trackio_gets_every_run_once(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("trackio")
    # Trackio reads its folder when it is imported.
    code = """
import json, sys
import trackio
from dissensus import track
first, second = track.trackio(sys.argv[1]), track.trackio(sys.argv[1])
runs = [(run.name, run.config["dissensus.run"]) for run in trackio.Api().runs("dissensus")]
print("RESULT" + json.dumps([first, second, runs]))
"""
    environment = {**os.environ, "TRACKIO_DIR": str(tmp_path / "trackio")}
    command = [sys.executable, "-c", code, str(store.path)]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert shown.returncode == 0, shown.stderr
    first, second, runs = json.loads(shown.stdout.rsplit("RESULT", 1)[1])
    ids = [run.id for run in store.runs]
    assert first == ids and second == []
    assert sorted(id for _, id in runs) == sorted(ids) and not any("sending" in name for name, _ in runs)


def test_unfinished_runs_wait(tmp_path: Path) -> None:
    pytest.importorskip("mlflow")
    store = Store(tmp_path / "runs", create=True)
    assert track.mlflow(store, uri=f"sqlite:///{tmp_path}/mlflow.db") == []
