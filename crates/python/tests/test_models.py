"""Models trained in memory: the same bits as the command line, kept in a file, refused where they cannot be."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

from dissensus import Model, Store, Votes, fit

ITEMS, WIDTH = 90, 6
# The package as it was found here, for commands that run in another folder.
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
QUICK = dict(epochs=4, hidden=8, optimizer="adam", learning_rate=0.01, progress=False)


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(ITEMS, WIDTH)).astype(np.float32)
    first = random.binomial(7, 1 / (1 + np.exp(-2 * X[:, 0])))
    ids = [f"i{at:03}" for at in range(ITEMS)]
    return Votes.from_counts(np.stack([first, 7 - first], 1), items=ids, classes=["no", "yes"]), X


def command(*arguments, folder):
    code = "import sys, dissensus; sys.exit(dissensus.main(sys.argv[1:]))"
    shown = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, cwd=folder, env=ENVIRONMENT
    )
    assert shown.returncode == 0, shown.stderr
    return shown.stdout


@pytest.mark.parametrize("method", ["soft", "multipass", "majority"])
def test_the_bits_are_those_of_the_command_line(data, tmp_path, method):
    votes, X = data
    rows = [f"{item},{no},{yes}" for item, (no, yes) in zip(votes.items, votes.counts())]
    (tmp_path / "votes.csv").write_text("\n".join(["id,no,yes", *rows]) + "\n")
    np.savez(tmp_path / "features.npz", features=X, ids=np.array(votes.items))
    (tmp_path / "spec.toml").write_text(f"""
        [data]
        votes = "votes.csv"
        inputs = "features.npz"
        [delivery]
        methods = "{method}"
        [model]
        name = "mlp"
        hidden = 8
        [training]
        epochs = 4
        optimizer = "adam"
        learning_rate = 0.01
        [run]
        seeds = [5]
        device = "cpu"
        store = "store"
    """)
    command("train", "spec.toml", folder=tmp_path)
    (run,) = (tmp_path / "store" / "runs").iterdir()
    stored = np.load(run / "predictions" / "best.npz")
    history = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]

    model = fit(votes, X, method, seed=5, **QUICK)
    places = [votes.items.index(item) for item in stored["ids"].tolist()]
    np.testing.assert_array_equal(model.logits(X)[places], stored["logits"])
    assert model.test_predictions()[0] == stored["ids"].tolist()
    shown = model.history.to_dict()
    assert {name: [row[name] for row in history] for name in history[0]} == shown
    spec = json.loads((run / "spec.json").read_text())
    assert model.spec["run"] == spec["run"]
    digests = ["votes_digest", "inputs_digest", "items"]
    assert [model.spec["data"][one] for one in digests] == [spec["data"][one] for one in digests]


def test_rows_by_id_and_threads_do_not_change_the_bits(data):
    votes, X = data
    wanted = fit(votes, X, **QUICK).predict_proba(X)
    order = np.random.default_rng(1).permutation(ITEMS)
    ids = [votes.items[at] for at in order]
    np.testing.assert_array_equal(fit(votes, X[order], items=ids, **QUICK).predict_proba(X), wanted)
    np.testing.assert_array_equal(fit(votes, X.astype(float), threads=1, **QUICK).predict_proba(X), wanted)
    assert (fit(votes, X, seed=1, **QUICK).predict_proba(X) != wanted).any()
    np.testing.assert_allclose(wanted.sum(1), 1)


def test_a_model_is_kept(data, tmp_path):
    votes, X = data
    model = fit(votes, X, **QUICK)
    model.save(tmp_path / "model.safetensors")
    for back in [Model.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))]:
        np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(back.features(X), model.features(X))
        assert (back.spec, back.classes) == (model.spec, ["no", "yes"])
        assert back.history.to_dict() == model.history.to_dict() and back.test_predictions() is None
    assert model.features(X).shape == (ITEMS, 8)
    damaged = bytearray((tmp_path / "model.safetensors").read_bytes())
    damaged[-1] ^= 1
    (tmp_path / "damaged.safetensors").write_bytes(damaged)
    with pytest.raises(ValueError, match="checksum"):
        Model.load(tmp_path / "damaged.safetensors")
    with pytest.raises(FileNotFoundError):
        Model.load(tmp_path / "nothing.safetensors")


def test_splits(data):
    votes, X = data
    three = fit(votes, X, split={"train": 0.6, "validation": 0.2, "test": 0.2}, **QUICK)
    assert sorted(set(three.result.to_dict()["part"])) == ["test", "validation"]
    given = fit(votes, X, split={"train": votes.items[:60], "test": votes.items[60:]}, **QUICK)
    assert sorted(given.test_predictions()[0]) == votes.items[60:]
    other = fit(votes, X, evaluate_on=(votes, X), **QUICK)
    assert sorted(other.test_predictions()[0]) == votes.items


def test_settings_by_name_and_by_section(data):
    votes, X = data
    plain = fit(votes, X, **QUICK)
    nested = {"training": {"epochs": 4, "optimizer": "adam"}, "training.learning_rate": 0.01, "model.hidden": 8}
    assert fit(votes, X, spec=nested, progress=False).spec == plain.spec
    assert plain.spec["run"]["training"]["epochs"] == 4


def test_images(data):
    votes, _ = data
    images = np.random.default_rng(2).integers(0, 256, (ITEMS, 8, 8, 3), dtype=np.uint8)
    model = fit(votes, images, model="smallcnn", epochs=1, progress=False)
    assert model.predict_proba(images[:5]).shape == (5, 2)
    assert fit(votes, images[..., 0], model="mlp", epochs=1, progress=False).predict_proba(images[..., 0]).shape[1] == 2


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (dict(epochs=0), ValueError, "epochs is 0; expected"),
        (dict(epoch=3), TypeError, "unexpected keyword argument"),
        (dict(patience=3), ValueError, "training.plateau.patience or selection.stop.patience"),
        (dict(momentum=0.5), ValueError, "is a setting of sgd"),
        (dict(learning_rate=float("nan")), ValueError, "learning_rate"),
        (dict(method="softt"), ValueError, "softt"),
        (dict(model="mlpp"), ValueError, "did you mean `mlp`"),
        (dict(device="tpu"), ValueError, "there is no device"),
        (dict(device="cuda:99"), RuntimeError, "CUDA"),
        (dict(store="x"), ValueError, "store is no setting"),
        (dict(seed=-1), ValueError, "seed is -1; expected a whole number from 0"),
        (dict(seed=2**63), ValueError, "seed is 9223372036854775808; expected"),
        (dict(votes_per_item=[1, 2]), ValueError, "expected one"),
        (dict(split=[0.8, 0.2]), TypeError, "split is of type list; expected a dict"),
        (dict(split={"train": 0.5, "test": [1]}), TypeError, "shares and lists of ids"),
        (dict(split={"train": 0.5, "test": 0.5}), ValueError, "expected train, evaluation"),
        (dict(split={"train": 0.5, "evaluation": 0.6}), ValueError, "split is [0.5, 0.6]; expected"),
        (dict(items=["x"]), ValueError, "1 entries for the 90 rows"),
        (dict(X=np.zeros((3, 2))), ValueError, "has 3 rows and the votes have 90 items"),
        (dict(X=np.zeros(ITEMS)), ValueError, "expected features"),
        (dict(X=np.full((ITEMS, 2), np.nan)), ValueError, "NaN"),
        (dict(X=np.full((ITEMS, 2), np.inf)), ValueError, "inf"),
        (dict(X=np.full((ITEMS, 2), "x")), TypeError, "expected numbers"),
        (dict(X=np.zeros((ITEMS, 4, 4, 3))), TypeError, "uint8"),
        (dict(X=np.zeros((ITEMS, 3, 4, 4), np.uint8)), ValueError, "1 or 3 channels"),
        (dict(X=np.zeros((ITEMS, 0))), ValueError, "X"),
        (dict(votes=np.zeros((ITEMS, 2))), TypeError, "expected Votes"),
        (dict(learning_rate=1e30, optimizer="sgd"), ValueError, "diverged"),
    ],
)
def test_what_cannot_be_trained_is_named(data, change, error, words):
    votes, X = data
    call = {"votes": votes, "X": X, **QUICK, **change}
    with pytest.raises(error) as raised:
        fit(**call)
    assert words in str(raised.value), str(raised.value)
    assert "override" not in str(raised.value)


def test_rows_of_a_frame_in_another_order_are_refused(data):
    pd = pytest.importorskip("pandas")
    votes, X = data
    frame = pd.DataFrame(X, index=votes.items)
    model = fit(votes, frame, **QUICK)
    assert np.array_equal(model.predict_proba(X), fit(votes, X, **QUICK).predict_proba(X))
    with pytest.raises(ValueError, match="in another order; give items=X.index"):
        fit(votes, frame[::-1], **QUICK)
    ordered = fit(votes, frame[::-1], items=frame.index[::-1], **QUICK)
    assert np.array_equal(model.predict_proba(X), ordered.predict_proba(X))


def test_predictions_need_the_same_inputs(data):
    votes, X = data
    model = fit(votes, X, **QUICK)
    for wrong in [X[:, :2], X[0], X[:0], np.full((2, WIDTH), np.inf)]:
        with pytest.raises(ValueError):
            model.predict_proba(wrong)


def test_progress_is_shown(data):
    votes, X = data
    seen = []
    fit(votes, X, **{**QUICK, "progress": lambda *event: seen.append(event)})
    assert [kind for kind, *_ in seen if kind != "note"][0] == "started" and ("advanced" in {kind for kind, *_ in seen})


def test_an_interrupt_stops_training(data):
    votes, X = data
    threading.Thread(target=lambda: (time.sleep(0.3), os.kill(os.getpid(), signal.SIGINT))).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fit(votes, X, **{**QUICK, "epochs": 1_000_000})
    assert time.monotonic() - started < 30
    assert fit(votes, X, **QUICK).best_epoch < 4


def test_columns_of_a_data_frame_are_matched_by_name(data, tmp_path):
    pd = pytest.importorskip("pandas")
    votes, X = data
    names = [f"x{at}" for at in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    said = []
    quick = {**QUICK, "progress": lambda kind, task, *rest: said.append((kind, task))}
    model = fit(votes, frame, **quick)
    assert ("note", f"X: {len(names)} features: {', '.join(names)}") in said
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wanted = model.predict_proba(frame)
    model.save(tmp_path / "model.safetensors")
    for model in [model, Model.load(tmp_path / "model.safetensors")]:
        with pytest.warns(UserWarning, match="matched by name"):
            np.testing.assert_array_equal(model.predict_proba(frame[names[::-1]]), wanted)
        with pytest.warns(UserWarning, match="no names of columns"):
            np.testing.assert_array_equal(model.predict_proba(X), wanted)
        with pytest.raises(ValueError, match="missing: x0; not among them: y"):
            model.predict_proba(frame.rename(columns={"x0": "y"}))
        with pytest.raises(ValueError, match="not among them: extra"):
            model.predict_proba(frame.assign(extra=1.0))
    # A model of arrays knows no names.
    plain = fit(votes, X, **QUICK)
    with pytest.warns(UserWarning, match="does not know the names"):
        np.testing.assert_array_equal(plain.predict_proba(frame), wanted)
    # The index of a data frame that was written and read again is no feature.
    frame.to_csv(tmp_path / "x.csv")
    with pytest.warns(UserWarning, match="it is no feature"):
        again = fit(votes, pd.read_csv(tmp_path / "x.csv"), **QUICK)
    assert again.predict_proba(frame).shape == wanted.shape


def test_files_are_only_replaced_by_force_and_never_in_a_store(data, tmp_path):
    votes, X = data
    model = fit(votes, X, **QUICK)
    path = tmp_path / "model.safetensors"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="force=True"):
        model.save(path)
    assert path.read_text() == "mine"
    model.save(path, force=True)
    Store(tmp_path / "store", create=True)
    with pytest.raises(ValueError, match="never written into a store"):
        model.save(tmp_path / "store" / "model.safetensors", force=True)
