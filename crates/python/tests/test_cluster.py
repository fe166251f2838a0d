"""Studies on several machines give what one machine gives."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from dissensus import Store, Study

COMMAND = [sys.executable, "-m", "dissensus"]

SETTINGS = {
    "study": {"name": "small"},
    "data": {"dataset": "blends", "items": 40},
    "delivery": {"methods": ["soft", "majority", "sls"]},
    "model": {"name": "mlp", "hidden": 4},
    "training": {"epochs": 1},
    "run": {"seeds": 2},
}


@pytest.fixture(scope="module")
def study() -> Study:
    return Study.from_dict(SETTINGS)


@pytest.fixture(scope="module")
def alone(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """All runs, trained by one call."""
    path = tmp_path_factory.mktemp("alone") / "runs"
    study.run(path, progress=False)
    return Store(path)


def results(store: Store | Path) -> bytes:
    return (Path(store) / "studies/small/results.csv").read_bytes()


def test_shards_are_disjoint_and_come_to_the_same_results(study: Study, alone: Store, tmp_path: Path) -> None:
    path = tmp_path / "runs"
    first = study.run(path, shard=(1, 2), progress=False)
    assert 0 < study.status(path).runs["done"] < 6
    with pytest.raises(RuntimeError, match="3 of 6 runs are not done"):
        study.finish(path, progress=False)
    second = study.run(path, shard="2/2", progress=False)
    shares = [set(table.to_dict()["run"]) for table in (first, second)]
    assert not shares[0] & shares[1] and len(shares[0] | shares[1]) == 6
    finished = study.finish(path, progress=False)
    assert finished.to_dict() == study.results(alone).to_dict()
    assert results(path) == results(alone)


@pytest.mark.parametrize("shard", [(0, 2), (3, 2), (-1, 2), "2", "1/0", ""])
def test_a_share_that_does_not_exist_is_refused(study: Study, tmp_path: Path, shard: tuple[int, int] | str) -> None:
    with pytest.raises(ValueError, match="shard is .*such as 2/8"):
        study.run(tmp_path / "runs", shard=shard)
    assert not (tmp_path / "runs").exists()


def test_a_store_and_a_bucket_are_kept_in_step(study: Study, alone: Store, tmp_path: Path) -> None:
    url = (tmp_path / "bucket").as_uri()
    planned = alone.sync(url, dry_run=True, progress=False)
    assert planned.pushed["runs"] == 6 and not (tmp_path / "bucket").exists()
    pushed = alone.sync(url, direction="push", progress=False)
    assert pushed.pushed["runs"] == 6 and pushed.pushed["bytes"] > 0 and not pushed.has_problems
    other = Store(tmp_path / "other", create=True)
    pulled = other.sync(url, progress=False)
    assert pulled.pulled["runs"] == 6 and pulled.pushed["runs"] == 0
    assert other.sync(url).same["runs"] == 6
    assert [run.id for run in other.runs] == [run.id for run in alone.runs]
    assert study.results(other).to_dict() == study.results(alone).to_dict()


def test_what_cannot_be_moved_is_said(alone: Store, tmp_path: Path) -> None:
    bucket = tmp_path / "bucket"
    alone.sync(bucket.as_uri(), progress=False)
    damaged = next(file for file in (bucket / "runs").rglob("*") if file.is_file())
    damaged.write_bytes(b"damaged")
    with pytest.warns(UserWarning):
        synced = Store(tmp_path / "other", create=True).sync(bucket.as_uri(), progress=False)
    assert synced.has_problems and len(synced.failed) == 1 and "not moved" in repr(synced)
    for wrong in ["runs", "ftp://x", "s3://", "file://x", "s3://key:secret@lab/x"]:
        with pytest.raises(ValueError, match="the address of the bucket") as raised:
            alone.sync(wrong)
        assert "secret" not in str(raised.value)
    with pytest.raises(ValueError, match="direction"):
        alone.sync(bucket.as_uri(), direction="up")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="jobs"):
        alone.sync(bucket.as_uri(), jobs=0)


def test_a_study_in_a_bucket(study: Study, alone: Store, tmp_path: Path) -> None:
    url = (tmp_path / "bucket").as_uri()
    study.run(url, local=tmp_path / "a", shard=(1, 2), progress=False)
    study.run(url, local=tmp_path / "b", shard=(2, 2), progress=False)
    assert study.status(url, local=tmp_path / "c").is_done
    study.finish(url, local=tmp_path / "d", progress=False)
    assert results(tmp_path / "d") == results(alone)
    # What is done is pulled and not trained again.
    assert {(run.folder / "about.json").read_text() for run in Store(tmp_path / "d").runs} == {
        (run.folder / "about.json").read_text() for name in "ab" for run in Store(tmp_path / name).runs
    }
    with pytest.raises(ValueError, match="local"):
        study.run(tmp_path / "a", local=tmp_path / "b")
    with pytest.raises(ValueError, match="is a bucket; expected a folder"):
        study.results(url)


def test_scripts_are_those_of_the_command_line(study: Study, tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(study.to_toml())
    asked = ["--gpus", "1", "--at-once", "2", "--program", "dissensus", "--arms", "soft,sls", "--seeds", "0-0", "--jobs", "2"]
    given = {"gpus": 1, "at_once": 2, "program": "dissensus", "arms": ["soft", "sls"], "seeds": (0, 0), "jobs": 2}
    systems = {
        "slurm": (["--time", "4:00:00", "--extra=--constraint=a100"], {"time": "4:00:00", "extra": ["--constraint=a100"]}),
        "kubernetes": (["--image", "lab/dissensus", "--claim", "runs"], {"image": "lab/dissensus", "claim": "runs"}),
        "ray": ([], {"file": str(file)}),
        "ssh": (["--hosts", "a,b"], {"hosts": ["a", "b"], "file": str(file)}),
    }
    for system, (options, keywords) in systems.items():
        store = "/data/runs" if system == "kubernetes" else str(tmp_path / "runs")
        arguments = ["study", "submit", str(file), "--on", system, "--shards", "3", "--store", store, "--dry-run"]
        done = subprocess.run([*COMMAND, *arguments, *asked, *options], check=True, capture_output=True, text=True)
        made = study.submit(store, on=system, shards=3, dry_run=True, **given, **keywords)  # type: ignore[arg-type]
        scripts = list(made.scripts.items())
        titled = "".join(f"# {name}\n{text}" if len(scripts) > 1 else text for name, text in scripts)
        assert titled == done.stdout and made.system == system
        assert made.jobs == [] and made.logs is None and bool(made.next) == (system != "slurm")
    assert not (tmp_path / "runs").exists()


def test_what_a_cluster_needs_is_said(study: Study, tmp_path: Path) -> None:
    store = tmp_path / "runs"
    for keywords, words in [
        ({"on": "lsf"}, "on is \"lsf\"; expected slurm, kubernetes, ray, ssh"),
        ({"on": "slurm", "shards": 0}, "shards is 0"),
        ({"on": "slurm", "gpus": -1}, "gpus is -1"),
        ({"on": "slurm", "warning": 0}, "warning is 0"),
        ({"on": "slurm", "account": "a\nb"}, "line break"),
        ({"on": "kubernetes"}, "image"),
        ({"on": "ssh", "file": "x.toml"}, "machines"),
        ({"on": "ray"}, "file"),
        ({"on": "ray", "file": "x.toml", "dry_run": False}, "only Slurm"),
    ]:
        settings = {"shards": 2, "program": "dissensus", "dry_run": True, **keywords}
        with pytest.raises(ValueError, match=words):
            study.submit(store, **settings)  # type: ignore[arg-type]
    other = tmp_path / "other.toml"
    other.write_text(study.override_settings({"training.epochs": 2}).to_toml())
    with pytest.raises(ValueError, match="another study"):
        study.submit(store, on="ray", shards=2, file=str(other), dry_run=True)
    with pytest.raises(FileNotFoundError):
        study.cancel(store)
    with pytest.raises(RuntimeError, match="was not submitted"):
        study.cancel(Store(store, create=True))


SLURM = {
    "sbatch": 'n=$(($(cat "$Q/next" 2>/dev/null || echo 40) + 1)); echo $n > "$Q/next"; echo $n',
    "squeue": '[ -e "$Q/next" ] && ! [ -e "$Q/gone" ] && printf "41|1|RUNNING|n1|None\\n41|2|PENDING||Priority\\n42|N/A|PENDING||Dependency\\n"; true',
    "scancel": 'echo "$@" > "$Q/gone"',
}


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are scripts of a shell")
def test_jobs_of_slurm(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, commands = tmp_path / "runs", tmp_path / "bin"
    commands.mkdir()
    for name, text in SLURM.items():
        (commands / name).write_text(f"#!/bin/sh\n{text}\n")
        (commands / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    monkeypatch.setenv("Q", str(tmp_path))
    study.run(store, shard=(1, 2), progress=False)
    made = study.submit(store, on="slurm", shards=2, program="dissensus")
    assert made.jobs == ["41", "42"] and made.logs is not None and made.logs.is_dir()
    status = study.status(store)
    assert status.cluster is not None and status.cluster["jobs"] == ["41", "42"]
    shards = [(shard["ended"], shard["runs"], shard["task"]["state"]) for shard in status.cluster["shards"]]
    assert shards == [(3, 3, "running"), (0, 3, "pending")]
    arguments = ["study", "status", str(store / "studies/small/cluster/study.toml"), "--store", str(store), "--json"]
    said = subprocess.run([*COMMAND, *arguments], check=True, capture_output=True, text=True)
    assert json.loads(said.stdout)["cluster"] == status.cluster
    with pytest.raises(RuntimeError, match=r"in the queue; `Study\.cancel`"):
        study.submit(store, on="slurm", shards=2, program="dissensus")
    assert study.cancel(store) == ["41", "42"]
    assert (tmp_path / "gone").read_text() == "41 42\n" and study.cancel(store) == []
    # The store says how far the study is, whether the queue can be asked or not.
    (commands / "squeue").write_text("#!/bin/sh\necho no controller >&2; exit 1\n")
    with pytest.warns(UserWarning, match="no controller"):
        assert study.status(store).cluster is None
