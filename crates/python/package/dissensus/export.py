"""Runs and votes in the forms that other places expect: a Hugging Face model folder, Croissant metadata."""

from __future__ import annotations

import hashlib
import json
from os import PathLike
from pathlib import Path
from typing import Any

from dissensus._dissensus import Run, Votes, __version__, write_file

__all__ = ["croissant", "huggingface"]

# The columns of the table of a model card, where a run has them.
_METRICS = ["soft_nll", "kl", "brier_soft", "accuracy", "ece_mass"]


def huggingface(
    run: Run, out: str | PathLike[str], *, votes: Votes | None = None, force: bool = False
) -> Path:
    """Writes a finished run as a Hugging Face model folder.

    The folder has ``model.safetensors`` (the weights of the selected epoch, by the names of PyTorch's state dicts),
    ``config.json`` (classes, settings, how inputs are normalized) and ``README.md`` (a model card with the metrics and the
    facts of the votes). ``huggingface_hub.upload_folder`` takes it as it is. Name a licence in the card before that.

    Parameters
    ----------
    run : Run
        A finished run that still has its weights.
    out : str or os.PathLike
        The folder to make.
    votes : Votes, optional
        The votes that the run was trained on, for their facts in the card.
    force : bool, default False
        Write into a folder that exists.

    Returns
    -------
    pathlib.Path
        The folder.
    """
    result, predictions = run.result, run.predictions()
    if result is None or predictions is None:
        raise ValueError(f"run {run.id} is {run.state}; only a finished run is a model")
    weights = run.weights_path()
    if not weights.is_file():
        raise FileNotFoundError(f"run {run.id} has no weights any more: {weights}")
    folder = Path(out)
    if folder.exists() and not force:
        raise FileExistsError(f"{folder} exists already; `force=True` writes into it all the same")
    classes = predictions.classes
    config = {
        "model_type": "dissensus",
        "dissensus_version": run.about.get("version"),
        "num_labels": len(classes),
        "id2label": {str(at): name for at, name in enumerate(classes)},
        "label2id": {name: at for at, name in enumerate(classes)},
        "input": result["input"],
        "normalization": result["normalization"],
        "run": run.id,
        "spec": run.spec,
    }
    write_file(folder / "model.safetensors", weights.read_bytes(), force)
    write_file(folder / "config.json", _json(config).encode(), force)
    write_file(folder / "README.md", _card(run, result, classes, votes).encode(), force)
    return folder


def _card(run: Run, result: dict[str, Any], classes: list[str], votes: Votes | None) -> str:
    settings, data = run.spec["run"], run.spec["data"]
    parts = result["parts"]
    metrics = [name for name in _METRICS if any(name in part["best"] for part in parts.values())]
    rows = [["part", "items", *metrics]]
    for name, part in parts.items():
        values = [part["best"].get(metric) for metric in metrics]
        rows.append([name, str(part["items"]), *("" if value is None else f"{value:.4f}" for value in values)])
    table = "\n".join("| " + " | ".join(row) + " |" for row in [rows[0], ["---"] * len(rows[0]), *rows[1:]])
    facts = [
        f"- dataset: {data['name']}, {data['items']} items with inputs; SHA-256 of the votes `{data['votes_digest']}`",
        f"- votes per item in training: {settings['votes']}; delivery: {settings['delivery']}; target: {settings['target']}",
        f"- classes: {', '.join(classes)}",
    ]
    if votes is not None:
        if votes.digest != data["votes_digest"]:
            raise ValueError("these are not the votes of the run: their digest differs from that of its spec")
        facts += _facts(votes)
    model = settings["model"]["name"]
    return f"""---
library_name: dissensus
tags:
- dissensus
- soft-labels
- annotator-disagreement
datasets:
- {data["name"]}
---

# {data["name"]}: {model}, {result["arm"]}, seed {result["seed"]}

Trained by dissensus {run.about.get("version", "")} on how people voted. Run `{run.id}`;
epoch {result["best_epoch"] + 1} of {result["epochs"]}, selected by {result["selected_by"]}; {result["parameters"]:,}
parameters; {result["train_items"]} training items. `config.json` has all settings.

## Metrics of the selected epoch

{table}

Metrics are against the distribution of the votes; `dissensus metrics explain` defines each.

## Votes

{chr(10).join(facts)}
"""


def _facts(votes: Votes) -> list[str]:
    if votes.scale == "multilabel":
        summary = votes.summary(top=0)
        per_item, sets = summary["votes_per_item"], summary["label_sets"]
        return [
            f"- {len(votes)} items, {summary['votes']} votes ({per_item['min']} to {per_item['max']} per item)",
            f"- mean number of labels per vote {sets['mean_labels_per_vote']:.3f}",
        ]
    entropy = votes.entropy()
    voted = entropy[entropy == entropy]
    unanimous = float((voted <= 1e-12).mean()) if len(voted) else float("nan")
    counts = votes.counts().sum(axis=1)
    return [
        f"- {len(votes)} items, {counts.sum():.0f} votes ({counts.min():.0f} to {counts.max():.0f} per item)",
        f"- mean entropy of the votes {voted.mean():.3f} nats; {100 * unanimous:.1f} % of the items are unanimous",
    ]


def croissant(
    votes: Votes,
    out: str | PathLike[str],
    *,
    name: str,
    description: str,
    license: str,
    url: str,
    creator: str | None = None,
    citation: str | None = None,
    version: str = "1.0.0",
    published: str | None = None,
    force: bool = False,
) -> Path:
    """Writes votes with Croissant metadata, so that other tools and dataset search find and read them.

    The folder gets ``votes.csv`` (one row per vote) and ``metadata.json``, which describes the columns, and the annotation
    with the fields of the Croissant RAI vocabulary.

    Parameters
    ----------
    votes : Votes
        The votes.
    out : str or os.PathLike
        The folder.
    name, description, license, url : str
        What the dataset is called and is, under which licence, and its page. Croissant requires them.
    creator, citation, published : str, optional
        Who made it, how to cite it, and the date of publication.
    version : str, default "1.0.0"
        The version of the dataset.
    force : bool, default False
        Replace existing files.

    Returns
    -------
    pathlib.Path
        The metadata.
    """
    folder = Path(out)
    table, metadata = folder / "votes.csv", folder / "metadata.json"
    if metadata.exists() and not force:
        raise FileExistsError(f"{metadata} exists already; `force=True` replaces it")
    votes.write(table, force=force)
    content = table.read_bytes()
    header = content.split(b"\n", 1)[0].decode().strip().split(",")
    about: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": description,
        "license": license,
        "url": url,
        "version": version,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "votes.csv",
                "name": "votes.csv",
                "contentUrl": "votes.csv",
                "encodingFormat": "text/csv",
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "votes",
                "name": "votes",
                "description": "One row per vote.",
                "field": [_field(column) for column in header],
            }
        ],
        **_annotation(votes),
    }
    if creator:
        about["creator"] = {"@type": "sc:Person", "name": creator}
    if citation:
        about["citeAs"] = citation
    if published:
        about["datePublished"] = published
    write_file(metadata, _json(about).encode(), force)
    return metadata


_COLUMNS = {
    "item": ("sc:Text", "The item that was labelled."),
    "annotator": ("sc:Text", "Who gave the label."),
    "label": ("sc:Text", "The label that the annotator gave."),
    "class": ("sc:Integer", "The position of the label in the order of the classes, from 0."),
    "ordinal_class": ("sc:Integer", "The position of the label in the order of the grades, from 0."),
    "multilabel_class": ("sc:Integer", "The position of the label in the order of the classes, from 0."),
    "vote": ("sc:Integer", "The vote that the label is part of, from 0; a vote may be for several labels."),
    "weight": ("sc:Float", "The weight of the vote."),
    "count": ("sc:Integer", "How many such votes there are."),
    "text": ("sc:Text", "The text of the item."),
}


def _field(column: str) -> dict[str, Any]:
    kind, words = _COLUMNS.get(column, ("sc:Text", f"The column {column}."))
    return {
        "@type": "cr:Field",
        "@id": f"votes/{column}",
        "name": column,
        "description": words,
        "dataType": kind,
        "source": {"fileObject": {"@id": "votes.csv"}, "extract": {"column": column}},
    }


def _annotation(votes: Votes) -> dict[str, Any]:
    least, most = (votes.summary(top=0)["votes_per_item"][end] for end in ("min", "max"))
    per_item = f"{least}" if least == most else f"{least} to {most}"
    number = "any number" if votes.scale == "multilabel" else "one"
    annotators = len(votes.annotators)
    analysis = " ".join(fact.removeprefix("- ") + "." for fact in _facts(votes))
    return {
        "rai:dataAnnotationProtocol": f"Each item was labelled by several annotators with {number} of {len(votes.classes)} "
        f"classes: {', '.join(votes.classes)}. Every vote is kept; none is aggregated.",
        "rai:annotationsPerItem": per_item,
        "rai:annotatorDemographics": f"{annotators} annotators, by id" if annotators else "Annotators are not identified.",
        "rai:dataAnnotationAnalysis": f"{analysis} Computed by dissensus {__version__}.",
    }


_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
