"""Scores, comparisons and reliability: equal to the command line, to scipy, and to plain formulas."""

import ast
import json
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import dissensus
from dissensus import Votes, calibration_curve, ceiling, compare, compare_seeds, metrics, reliability, score, stats

ITEMS, CLASSES = 120, 3


@pytest.fixture(scope="module")
def counts():
    return np.random.default_rng(0).multinomial(6, [0.5, 0.3, 0.2], ITEMS)


@pytest.fixture(scope="module")
def votes(counts):
    return Votes.from_counts(counts, items=[f"i{at}" for at in range(ITEMS)], classes=["no", "so", "yes"])


@pytest.fixture(scope="module")
def probs():
    return np.random.default_rng(1).dirichlet([1.0, 1.0, 1.0], ITEMS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, votes, counts, probs):
    """The same votes and predictions as files."""
    folder = tmp_path_factory.mktemp("files")
    rows = [f"i{at},{a},{b},{c}" for at, (a, b, c) in enumerate(counts)]
    (folder / "votes.csv").write_text("\n".join(["id,no,so,yes", *rows]) + "\n")
    for name, values in [("x", probs), ("y", probs[::-1])]:
        rows = [f"i{at}," + ",".join(map(repr, map(float, row))) for at, row in enumerate(values)]
        (folder / f"{name}.csv").write_text("\n".join(["id,no,so,yes", *rows]) + "\n")
    return folder


def command(*arguments):
    code = "import sys, dissensus; sys.exit(dissensus.main(sys.argv[1:]))"
    shown = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def rows(frame, *names):
    columns = frame.to_dict()
    return list(zip(*(columns[name] for name in names)))


def note(one):
    why = one.get("no_interval")
    return one["note"] or (why and f"no interval: {why}")


def test_scores_are_those_of_the_command_line(folder, votes, probs):
    options = dict(by="entropy", metrics="all", ceiling=5, replicates=100, seed=3)
    arguments = ["--by", "entropy", "--metrics", "all", "--ceiling", 5, "--replicates", 100, "--seed", 3, "--json"]
    told = command("score", "--votes", folder / "votes.csv", "--predictions", folder / "x.csv", *arguments)
    for found in [
        score(votes, probs, name="x", **options),
        score(Votes.read(folder / "votes.csv"), folder / "x.csv", **options),
        score(votes, probs[::-1], items=votes.items[::-1], name="x", **options),
        score(votes, probs[:, [2, 0, 1]], classes=["yes", "no", "so"], name="x", **options),
    ]:
        fields = ["metric", "value", "low", "high", "method", "note"]
        wanted = [
            (scores["model"], scores["slice"], scores["items"], *(one[field] for field in fields[:-1]), note(one))
            for scores in told["scores"]
            for one in scores["metrics"]
        ]
        assert rows(found.to_frame(), "model", "slice", "items", *fields) == wanted
        limits = [(one["metric"], one["half"] and one["half"]["mean"]) for one in told["ceiling"]["metrics"]]
        assert rows(found.ceiling.to_frame(), "metric", "half") == limits
        assert (found.ceiling.bias, found.ceiling.entropy) == (told["ceiling"]["bias"], told["ceiling"]["entropy"])
    direct = ceiling(votes, repeats=5, metrics="all", seed=3)
    assert direct.to_frame().to_dict() == found.ceiling.to_frame().to_dict()


def test_comparisons_are_those_of_the_command_line(folder, votes, probs):
    told = command("compare", "--votes", folder / "votes.csv", "--predictions", folder / "x.csv", folder / "y.csv", "--json")
    found = compare(votes, probs, probs[::-1], names=["x", "y"])
    fields = ["model", "metric", "baseline_value", "value", "difference", "low", "high", "d_z"]
    assert rows(found.to_frame(), *fields) == [tuple(one[f] for f in fields) for one in told["differences"]]
    assert (found.baseline, found.items) == ("x", ITEMS)
    told = command("compare", "--votes", folder / "votes.csv", "--a", folder / "x.csv", folder / "y.csv",
                   "--b", folder / "y.csv", folder / "x.csv", "--json")
    seeds = compare_seeds(votes, [probs, probs[::-1]], [probs[::-1], probs])
    fields = ["metric", "mean_a", "sd_a", "mean_b", "sd_b", "mean_difference", "wilcoxon_p", "wilcoxon_p_holm",
              "t_p", "sign_p", "d_z", "rank_biserial"]
    assert rows(seeds.to_frame(), *fields) == [tuple(one[f] for f in fields) for one in told["tests"]]
    assert (seeds.smallest_p, seeds.note) == (told["smallest_p"], told["note"])


def test_predictions_come_in_many_forms(votes, probs):
    wanted = score(votes, probs, replicates=0).to_frame().to_dict()
    forms = {"lists": probs.tolist(), "dict": dict(zip(votes.items, probs))}
    frame = {"id": votes.items, **{name: probs[:, at] for at, name in enumerate(votes.classes)}}
    for library in ["pandas", "polars", "pyarrow"]:
        module = sys.modules.get(library) or pytest.importorskip(library)
        forms[library] = (module.table if library == "pyarrow" else module.DataFrame)(frame)
    for name, form in forms.items():
        assert score(votes, form, replicates=0).to_frame().to_dict() == wanted, name


def test_data_frames_of_pandas(votes, probs):
    pd = pytest.importorskip("pandas")
    expected = score(votes, probs)["kl"]
    assert score(votes, pd.DataFrame(probs))["kl"] == expected
    named = pd.DataFrame(probs, columns=votes.classes)
    with pytest.raises(ValueError, match="have no ids"):
        score(votes, named)
    assert score(votes, named, by_position="items")["kl"] == expected
    for index in (votes.items, pd.Index(votes.items, name="uid")):
        shuffled = named.set_axis(index).sample(frac=1, random_state=0)[votes.classes[::-1]]
        assert score(votes, shuffled)["kl"] == pytest.approx(expected, abs=1e-12)
    counts = votes.counts()
    numbered = Votes.from_counts(counts, items=range(100, 100 + len(counts)), classes=votes.classes)
    frame = named.set_axis(range(100, 100 + len(counts)))
    assert score(numbered, frame[::-1])["kl"] == pytest.approx(expected, abs=1e-12)
    # Numbers are names of classes, which the votes do not have.
    with pytest.raises(ValueError, match="the order of the classes of probs is not known"):
        score(numbered, pd.DataFrame(probs, columns=[2, 1, 0]))


def test_tensors_and_sparse_matrices(votes, probs):
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="probs is a sparse matrix"):
        score(votes, sparse.csr_matrix(probs))
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(probs, requires_grad=True)
    assert score(votes, tensor)["kl"] == score(votes, probs)["kl"]
    half = tensor.to(torch.bfloat16)
    assert score(votes, half)["kl"] == score(votes, half.detach().float().numpy())["kl"]


def test_single_precision_and_logits(votes, probs):
    narrow = probs.astype(np.float32)
    assert score(votes, narrow, replicates=0)["kl"] == score(votes, narrow.astype(float), replicates=0)["kl"]
    logits = np.log(probs) + 5
    found = score(votes, logits, kind="logits", replicates=0)
    assert found["kl"] == pytest.approx(score(votes, probs, replicates=0)["kl"], rel=1e-12)


@pytest.mark.parametrize(
    ("probs", "options", "error", "words"),
    [
        ([0, 1, 1], {}, ValueError, "hard labels"),
        (np.zeros(ITEMS), {}, ValueError, "one number per item"),
        (np.eye(CLASSES)[np.zeros(ITEMS, int)], {}, ValueError, "look like hard labels"),
        (np.full((ITEMS, CLASSES), 0.5), {}, ValueError, "do not sum to 1"),
        (np.full((ITEMS, CLASSES), np.nan), {}, ValueError, "not a finite number"),
        (np.zeros((0, CLASSES)), {}, ValueError, "give the ids of the rows"),
        (np.zeros((ITEMS, 0)), {}, ValueError, "there are no predictions"),
        (np.full((ITEMS, 2), 0.5), {}, ValueError, "predicts 2 classes"),
        (np.full((5, CLASSES), 1 / 3), {}, ValueError, "has 5 rows and the votes have 120 items"),
        (np.full((5, CLASSES), 1 / 3), {"items": ["x"] * 4}, ValueError, "4 entries for the 5 rows"),
        (np.full((2, CLASSES), 1 / 3), {"items": ["x", "x"]}, ValueError, "predicted twice"),
        (np.full((2, CLASSES), 1 / 3), {"items": ["x", "y"]}, ValueError, "probs: no id is among the votes"),
        (np.full((ITEMS, CLASSES), 1 / 3), {"classes": ["no", "so", "maybe"]}, ValueError, "`class_map="),
        (np.full((ITEMS, CLASSES), 1j), {}, TypeError, "expected numbers"),
        (np.full((ITEMS, CLASSES), 1 / 3), {"metrics": "kll"}, ValueError, 'did you mean "kl"'),
        (np.full((ITEMS, CLASSES), 1 / 3), {"bins": 0}, ValueError, "from 1 to 1000"),
        (np.full((ITEMS, CLASSES), 1 / 3), {"replicates": -1}, ValueError, "replicates"),
        (np.full((ITEMS, CLASSES), 1 / 3), {"slices": 10**9, "by": "entropy"}, ValueError, "slices"),
        (np.full((ITEMS, CLASSES), 1 / 3), {"ties": "x"}, ValueError, "no rule"),
        (np.full((ITEMS, CLASSES), 1 / 3), {"kind": "x"}, ValueError, '"probabilities", "logits"'),
        ("no-such-file.csv", {}, FileNotFoundError, "no-such-file.csv"),
        (object(), {}, TypeError, "expected numbers"),
        (None, {}, TypeError, "probs"),
        (np.ma.masked_equal(np.full((ITEMS, CLASSES), 1 / 3), 1 / 3), {}, ValueError, "masked values"),
    ],
)
def test_what_cannot_be_scored_is_named(votes, probs, options, error, words):
    with pytest.raises(error) as raised:
        score(votes, probs, **options)
    assert words in str(raised.value)


def test_class_maps_and_labels(votes, counts, probs):
    mapped = score(votes, probs, classes=["n", "s", "y"], class_map={"n": "no", "s": "so", "y": "yes"}, replicates=0)
    assert mapped["kl"] == score(votes, probs, replicates=0)["kl"]
    labels = counts.argmax(1)
    by_number = score(votes, probs, labels=labels, metrics="accuracy_given", replicates=0)
    by_name = score(votes, probs, labels=[votes.classes[at] for at in labels], metrics=["accuracy_given"], replicates=0)
    assert by_number["accuracy_given"] == by_name["accuracy_given"] == (probs.argmax(1) == labels).mean()


def test_metrics_are_the_list_and_agree_with_scores(votes, counts, probs):
    found = score(votes, probs, metrics="all", replicates=0)
    assert metrics.names() == found.to_frame().to_dict()["metric"]
    assert sorted(metrics.__all__) == sorted(["explain", "names", *metrics.names()])
    stub = ast.parse(Path(metrics.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    typed = [one.target.id for one in stub.body if isinstance(one, ast.AnnAssign)]
    assert typed == metrics.names()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in metrics.names():
            metric = getattr(metrics, name)
            assert metric(votes, probs) == found[name] == metric(counts, probs), name
            assert name in metric.__name__ and "Parameters" in metric.__doc__


def test_metrics_by_their_formulas(counts, probs):
    p = counts / counts.sum(1, keepdims=True)
    nll = -(p * np.log(probs)).sum(1)
    np.testing.assert_allclose(metrics.soft_nll(counts, probs, per_item=True), nll, rtol=1e-13)
    assert metrics.soft_brier(p, probs) == pytest.approx(((p - probs) ** 2).sum(1).mean(), rel=1e-13)
    assert metrics.accuracy(counts.argmax(1), probs) == (counts.argmax(1) == probs.argmax(1)).mean()
    with pytest.raises(ValueError, match="single items"):
        metrics.ece_mass(counts, probs, per_item=True)
    with pytest.warns(UserWarning, match="infinite"):
        assert metrics.kl([[1, 1]], [[1.0, 0.0]]) == float("inf")
    with pytest.warns(UserWarning, match="no items"):
        assert metrics.accuracy(np.zeros((0, 2)), np.zeros((0, 2))) is None
    with pytest.raises(ValueError, match="expected a class below 2"):
        metrics.accuracy([0, 5], [[0.5, 0.5], [0.5, 0.5]])


def test_metrics_agree_with_scipy(counts, probs):
    scipy = pytest.importorskip("scipy")
    from scipy.spatial.distance import jensenshannon
    from scipy.special import rel_entr

    p = counts / counts.sum(1, keepdims=True)
    assert metrics.kl(counts, probs) == pytest.approx(rel_entr(p, probs).sum(1).mean(), rel=1e-12)
    assert metrics.js_distance(counts, probs) == pytest.approx(jensenshannon(p, probs, axis=1).mean(), rel=1e-12)
    hp, hq = scipy.stats.entropy(p, axis=1), scipy.stats.entropy(probs, axis=1)
    assert metrics.entropy_pearson(counts, probs) == pytest.approx(scipy.stats.pearsonr(hp, hq)[0], rel=1e-11)


def test_statistics_agree_with_scipy():
    scipy_stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(2)
    for n in [5, 12, 40]:
        x, y = random.normal(size=n), random.normal(size=n)
        for side in ["two-sided", "less", "greater"]:
            mine, theirs = stats.wilcoxon(x, y, alternative=side), scipy_stats.wilcoxon(x, y, alternative=side)
            assert mine.p == pytest.approx(theirs.pvalue, rel=1e-12) and mine.null == "exact"
            assert stats.paired_t(x, y, alternative=side).p == pytest.approx(
                scipy_stats.ttest_rel(x, y, alternative=side).pvalue, rel=1e-11
            )
            positive = int((x > y).sum())
            assert stats.sign_test(x, y, alternative=side).p == pytest.approx(
                scipy_stats.binomtest(positive, n, alternative=side).pvalue, rel=1e-12
            )
            assert stats.welch(x, y, alternative=side).p == pytest.approx(
                scipy_stats.ttest_ind(x, y, equal_var=False, alternative=side).pvalue, rel=1e-11
            )
        for mine, theirs in [(stats.spearman, scipy_stats.spearmanr), (stats.pearson, scipy_stats.pearsonr)]:
            assert mine(x, y).r == pytest.approx(theirs(x, y)[0], rel=1e-12)
            assert mine(x, y).p == pytest.approx(theirs(x, y)[1], rel=1e-10)
    p = random.random(10)
    np.testing.assert_allclose(stats.benjamini_hochberg(p), scipy_stats.false_discovery_control(p), rtol=1e-12)


def test_statistics_by_hand():
    assert stats.holm([0.01, 0.03, 0.02]) == [0.03, 0.04, 0.04]
    nothing = stats.wilcoxon([0.0, 0.0])
    assert (nothing.p, nothing.undefined) == (None, "every difference is zero")
    values = np.random.default_rng(3).normal(size=50)
    mean = stats.bootstrap_mean(values, replicates=500, seed=4)
    same = stats.bootstrap(lambda rows: values[rows].mean(), 50, replicates=500, seed=4)
    assert (mean.low, mean.high) == pytest.approx((same.low, same.high), rel=1e-12)
    assert stats.bootstrap_mean(values, replicates=500, seed=4) == mean
    with pytest.raises(ZeroDivisionError):
        stats.bootstrap(lambda rows: 1 / 0, 5)
    for wrong in [[], [1.0, np.nan], [[1.0]]]:
        with pytest.raises(ValueError):
            stats.wilcoxon(wrong)
    with pytest.raises(ValueError, match="expected"):
        stats.wilcoxon([1.0], alternative="both")


def test_reliability(votes, counts, probs):
    found = reliability(votes, probs, bins=10)
    assert found.error == metrics.ece_mass(votes, probs, bins=10)
    assert found.smooth_error == metrics.smooth_ece(votes, probs)
    assert reliability(counts, probs, against="human", binning="width").error == metrics.ece_width_human(counts, probs)
    outcome, confidence, items = calibration_curve(votes, probs, bins=10)
    assert items.sum() == ITEMS and (np.diff(confidence) > 0).all() and len(outcome) == 10
    assert found.plot()._repr_svg_().startswith("<svg") and "Reliability" in repr(found)


def test_results_are_shown_and_drawn(votes, probs, tmp_path):
    found = score(votes, probs, replicates=50)
    assert "<table" in found._repr_html_() and "soft_nll" in repr(found) and "matched by position" in found.notes[0]
    low, high = found.interval("kl")
    assert low < found["kl"] < high
    with pytest.raises(KeyError):
        found["nothing"]
    for kind in ["reliability", "entropy"]:
        figure = found.plot(kind)
        for end, magic in [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]:
            figure.save(tmp_path / f"{kind}.{end}")
            assert (tmp_path / f"{kind}.{end}").read_bytes().startswith(magic)
    with pytest.raises(ValueError, match=".svg, .png or .pdf"):
        figure.save(tmp_path / "figure.jpg")
    assert "a, over 120 common items" in repr(compare(votes, probs, probs[::-1], replicates=0))
    assert "<table" in compare(votes, probs, probs[::-1], replicates=0)._repr_html_()


def test_matplotlib_draws_where_it_is(votes, probs):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = pyplot.figure().subplots(1, 2)
    found = score(votes, probs, replicates=0)
    assert found.plot(ax=axes[0]) is axes[0] and found.plot("entropy", ax=axes[1]) is axes[1]
    assert reliability(votes, probs).plot(ax=axes[0]).get_xlabel() == "confidence of the prediction"


def test_several_files_are_one_model(tmp_path):
    from dissensus import Votes, compare, score

    votes = Votes.from_counts([[3, 1], [0, 4], [2, 2]], items=["a", "b", "c"], classes=["no", "yes"])
    first, second = [[0.8, 0.2], [0.1, 0.9], [0.5, 0.5]], [[0.6, 0.4], [0.3, 0.7], [0.7, 0.3]]
    mean = [[(x + y) / 2 for x, y in zip(a, b)] for a, b in zip(first, second)]
    wanted = score(votes, mean, metrics="kl")["kl"]
    assert score(votes, [first, second], join="seeds", metrics="kl")["kl"] == pytest.approx(wanted, abs=1e-12)
    rows = lambda seed, rows: [f"{item},{seed},{p},{q}" for item, (p, q) in zip("abc", rows)]
    seeds = tmp_path / "seeds.csv"
    seeds.write_text("\n".join(["id,seed,no,yes", *rows(1, first), *rows(2, second)]))
    assert score(votes, seeds, join="seeds", metrics="kl")["kl"] == pytest.approx(wanted, abs=1e-12)
    for at, name in enumerate(["no", "yes"]):
        lines = [f"{item},{row[at]}" for item, row in zip("abc", first)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,p", *lines]))
    files = [tmp_path / "no.csv", tmp_path / "yes.csv"]
    alone = score(votes, first, metrics="kl")["kl"]
    assert score(votes, files, join="classes", metrics="kl")["kl"] == pytest.approx(alone, abs=1e-12)
    found = compare(votes, [first, second], [second], join="seeds", metrics="kl")
    assert found.items == 3
    with pytest.raises(ValueError, match="takes a list of files"):
        score(votes, [first], join="classes")


def test_names_of_classes_and_numbers_of_answers():
    from dissensus import Votes, score

    votes = Votes.from_counts([[3, 1], [0, 4], [2, 2]], items=["a", "b", "c"], classes=["no", "yes"])
    probs = [[0.8, 0.2], [0.1, 0.9], [0.5, 0.5]]
    swapped = [row[::-1] for row in probs]
    wanted = score(votes, probs, metrics="kl")["kl"]
    assert score(votes, swapped, class_names=["yes", "no"], metrics="kl")["kl"] == wanted
    answers = [[4, 1], [1, 9], [3, 3]]
    assert score(votes, answers, kind="answers", metrics="kl")["kl"] == pytest.approx(wanted, abs=1e-12)
