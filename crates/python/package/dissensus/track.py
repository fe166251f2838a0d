"""Finished runs of a store, sent to an experiment tracker.

Runs are sent afterwards, from the files of the store: training needs no tracker and no network. Each run is sent once,
under its id, so calling a function again adds only what is new. Every function returns the ids that it has sent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from dissensus._dissensus import Run, Store

__all__ = ["mlflow", "trackio", "wandb"]

TAG = "dissensus.run"


def mlflow(
    store: Store | str | PathLike[str],
    *,
    experiment: str = "dissensus",
    uri: str | None = None,
    runs: Iterable[Run] | None = None,
) -> list[str]:
    """Sends finished runs to MLflow.

    Parameters
    ----------
    store : Store, str or os.PathLike
        The store of the runs.
    experiment : str, default "dissensus"
        The experiment; made where there is none.
    uri : str, optional
        The tracking server, or a database as in ``sqlite:///mlflow.db``; by default as MLflow is configured.
    runs : iterable of Run, optional
        Only these runs; by default all of the store.

    Returns
    -------
    list of str
        The ids of the runs that were sent; empty when MLflow had them all.
    """
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param

    client = MlflowClient(tracking_uri=uri)
    known = client.get_experiment_by_name(experiment)
    where = known.experiment_id if known else client.create_experiment(experiment)
    sent = []
    for entry in _entries(store, runs):
        complete = False
        for found in client.search_runs([where], filter_string=f"tags.`{TAG}` = '{entry.id}'"):
            if found.info.status == "FINISHED":
                complete = True
            else:
                # Sending it was interrupted.
                client.delete_run(found.info.run_id)
        if complete:
            continue
        tags = {TAG: entry.id, "dissensus.version": entry.version}
        run_id = client.create_run(where, start_time=1000 * entry.created, tags=tags, run_name=entry.name).info.run_id
        parameters = [Param(key, str(value)) for key, value in entry.config.items()]
        at = 1000 * entry.created
        metrics = [Metric(key, value, at, epoch) for epoch, row in entry.curves for key, value in row.items()]
        metrics += [Metric(key, value, at, 0) for key, value in entry.summary.items()]
        # A batch of MLflow's has at most 100 parameters and 1000 metrics.
        for part in _parts(parameters, 100):
            client.log_batch(run_id, params=part)
        for part in _parts(metrics, 1000):
            client.log_batch(run_id, metrics=part)
        client.set_terminated(run_id, "FINISHED", end_time=1000 * (entry.created + math.ceil(entry.seconds)))
        sent.append(entry.id)
    return sent


def wandb(
    store: Store | str | PathLike[str],
    *,
    project: str = "dissensus",
    entity: str | None = None,
    folder: str | PathLike[str] = ".",
    mode: str | None = None,
    runs: Iterable[Run] | None = None,
) -> list[str]:
    """Sends finished runs to Weights & Biases, or writes them for ``wandb sync``.

    Parameters
    ----------
    store : Store, str or os.PathLike
        The store of the runs.
    project : str, default "dissensus"
        The project.
    entity : str, optional
        The user or team.
    folder : str or os.PathLike, default "."
        The folder in which wandb makes its folder ``wandb``. What was sent from there is not sent again.
    mode : str, optional
        ``"offline"`` writes files only; by default as wandb is configured.
    runs : iterable of Run, optional
        Only these runs; by default all of the store.

    Returns
    -------
    list of str
        The ids of the runs that were sent; empty when all were sent before.
    """
    import wandb as client

    sent = []
    for entry in _entries(store, runs):
        if any(Path(folder, "wandb").glob(f"*run-*-{entry.id}/{_SENT}")):
            continue
        with client.init(
            project=project,
            entity=entity,
            dir=str(folder),
            mode=mode,  # type: ignore[arg-type]
            id=entry.id,
            name=entry.name,
            config={**entry.config, TAG: entry.id, "dissensus.version": entry.version},
            resume=None if mode == "offline" else "allow",
            settings=client.Settings(console="off", x_disable_stats=True, save_code=False, silent=True),
        ) as run:
            # What another machine has sent has this in its summary.
            if run.summary.get(TAG) is None:
                for epoch, row in entry.curves:
                    run.log(row, step=epoch)
                run.summary.update({**entry.summary, TAG: entry.id})
                sent.append(entry.id)
            files = Path(run.dir).parent
        (files / _SENT).touch()
    return sent


def trackio(
    store: Store | str | PathLike[str],
    *,
    project: str = "dissensus",
    runs: Iterable[Run] | None = None,
) -> list[str]:
    """Sends finished runs to Trackio, which keeps them in a local database.

    Parameters
    ----------
    store : Store, str or os.PathLike
        The store of the runs.
    project : str, default "dissensus"
        The project.
    runs : iterable of Run, optional
        Only these runs; by default all of the store.

    Returns
    -------
    list of str
        The ids of the runs that were sent; empty when Trackio had them all.
    """
    import trackio as client

    api = client.Api()
    try:
        known = list(api.runs(project))
    except ValueError:
        # There is no such project yet.
        known = []
    for run in known:
        if run.name.endswith(_SENDING):
            # Sending it was interrupted.
            run.delete()
    complete = {run.name for run in known}
    sent = []
    for entry in _entries(store, runs):
        if entry.name in complete:
            continue
        client.init(
            project=project,
            name=entry.name + _SENDING,
            config={**entry.config, TAG: entry.id, "dissensus.version": entry.version},
            embed=False,
            auto_log_gpu=False,
            auto_log_cpu=False,
        )
        for epoch, row in entry.curves:
            client.log(row, step=epoch)
        client.log(entry.summary, step=entry.curves[-1][0] if entry.curves else 0)
        client.finish()
        for run in api.runs(project):
            if run.name == entry.name + _SENDING:
                run.rename(entry.name)
        sent.append(entry.id)
    return sent


# The file that says, in a folder of wandb's, that everything of a run was sent.
_SENT = "dissensus-sent"
# The end of a name in Trackio until everything of a run was sent.
_SENDING = " (sending)"


@dataclass(frozen=True)
class _Entry:
    """What a tracker is told about a run."""

    id: str
    name: str
    version: str
    created: int
    seconds: float
    config: dict[str, Any]
    # By epoch.
    curves: list[tuple[int, dict[str, float]]]
    # Metrics of the selected and the last epoch, as in ``best.test.soft_nll``.
    summary: dict[str, float]


def _entries(store: Store | str | PathLike[str], runs: Iterable[Run] | None) -> Iterator[_Entry]:
    if not isinstance(store, Store):
        store = Store(store)
    for run in store.runs if runs is None else runs:
        result = run.result
        if result is None:
            continue
        history = run.history()
        epochs = history.pop("epoch").tolist()
        curves = {name: values.tolist() for name, values in history.items()}
        rows = [
            (epoch, {name: values[at] for name, values in curves.items() if not math.isnan(values[at])})
            for at, epoch in enumerate(epochs)
        ]
        summary: dict[str, float] = {"best_epoch": result["best_epoch"], "seconds": result["seconds"]}
        for part, metrics in result["parts"].items():
            for which in ("best", "last"):
                named = {f"{which}.{part}.{name}": value for name, value in metrics[which].items()}
                summary.update({name: value for name, value in named.items() if value is not None})
        spec = run.spec
        yield _Entry(
            id=run.id,
            name=f"{run.label} · {run.id[:8]}",
            version=str(run.about.get("version", "")),
            created=run.created,
            seconds=result["seconds"],
            config=dict(_flat({"data": spec.get("data"), **spec.get("run", {})})),
            curves=rows,
            summary=summary,
        )


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Settings by dotted keys."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(inner, f"{key}.{name}" if key else name)
    else:
        yield key, value


def _parts(values: list[Any], most: int) -> Iterator[list[Any]]:
    return (values[start : start + most] for start in range(0, len(values), most))
