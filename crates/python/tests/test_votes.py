"""Votes from files, frames, arrays and counts, and what they give."""

import gzip
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import dissensus
from dissensus import Votes

CSV = "item,annotator,label\nb,ann,dog\na,ann,cat\nb,bob,cat\na,bob,cat\na,cem,dog\n"


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(CSV)
    return Votes.read(path)


def columns():
    rows = [line.split(",") for line in CSV.splitlines()[1:]]
    item, annotator, label = zip(*rows)
    return {"item": list(item), "annotator": list(annotator), "label": list(label)}


def test_reading_states_what_was_guessed(votes, tmp_path):
    assert votes.items == ["b", "a"] and votes.classes == ["cat", "dog"] and votes.annotators == ["ann", "bob", "cem"]
    assert "format: long" in votes.notes and "item column: item" in votes.notes
    assert "2 items, 2 classes, 5 votes, 3 annotators" in repr(votes) and "label column: label" in repr(votes)
    packed = tmp_path / "votes.csv.gz"
    packed.write_bytes(gzip.compress(CSV.encode()))
    assert Votes.read(packed) == votes and Votes.read(str(packed)) == votes


def test_votes_know_their_scale(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("item,annotator,label\na,ann,1\na,ben,5\nb,ann,4\nb,ben,5\n")
    names, ratings = Votes.read(path), Votes.read(path, scale="ordinal")
    assert (names.scale, ratings.scale) == ("nominal", "ordinal") and names != ratings
    assert names.digest == ratings.digest and "ratings" not in names.summary()
    assert ratings.summary()["ratings"]["mean"] == 3.75 and ratings.summary()["ratings"]["median"] == 4.5
    with pytest.raises(ValueError, match="scale is"):
        Votes.read(path, scale="interval")
    path.write_text("item,annotator,x,y\na,ann,1,1\na,ben,0,0\nb,ann,0,1\n")
    sets = Votes.read(path, one_hot=["x", "y"], scale="multilabel")
    assert (sets.scale, sets.summary()["votes"], sets.summary()["annotators"]) == ("multilabel", 3, 2)
    for stored in [ratings, sets]:
        again = pickle.loads(pickle.dumps(stored))
        assert again == stored and again.scale == stored.scale
        assert Votes.from_frame(stored) == stored
    for refused in [sets.counts, sets.entropy, sets.targets, sets.majority]:
        with pytest.raises(ValueError, match="not defined for multi-label votes"):
            refused()


def test_aggregation(tmp_path):
    """Twelve annotators who are right ever more often; the posteriors follow from what the model says of them."""
    random = np.random.default_rng(4)
    truth = random.integers(3, size=300)
    rows = [
        (f"i{item}", f"w{who:02}", truth[item] if random.random() < 0.4 + 0.05 * who else random.integers(3))
        for item in range(300)
        for who in range(12)
    ]
    item, who, label = (list(column) for column in zip(*rows))
    votes = Votes.from_arrays(item=item, annotator=who, label=label)
    found = votes.aggregate("dawid_skene")
    assert found.target == "dawid_skene:iterations=100,tolerance=0.00001" and found.converged
    assert found.iterations == len(found.log_likelihoods) and found.log_likelihood == found.log_likelihoods[-1]
    assert np.all(np.diff(found.log_likelihoods) > -1e-6)
    assert np.array_equal(found.targets, votes.targets("dawid_skene"))
    table = found.annotators.to_dict()
    assert table["annotator"] == votes.annotators and table["votes"] == [300.0] * 12
    accuracy = np.einsum("k,akk->a", found.priors, found.confusions) / found.priors.sum()
    assert np.allclose(table["accuracy"], accuracy, rtol=0, atol=1e-12)
    assert accuracy[-4:].mean() > accuracy[:4].mean() + 0.2
    assert np.allclose(found.confusions.sum(2), 1)
    log = np.log(found.priors) + sum(
        np.log(found.confusions[a, :, votes.classes.index(str(k))]) * (np.array(item) == "i0")[at]
        for at, (a, k) in enumerate(zip([votes.annotators.index(name) for name in who], label))
    )
    expected = np.exp(log - log.max()) / np.exp(log - log.max()).sum()
    assert np.allclose(found.targets[votes.items.index("i0")], expected, rtol=0, atol=1e-3)
    assert "converged after" in repr(found)
    assert not votes.aggregate(iterations=1).converged
    with pytest.raises(ValueError, match="has to know who voted"):
        Votes.from_counts([[1, 2]]).aggregate("dawid_skene")


def test_arrays_of_counts_targets_and_entropy(votes):
    counts = votes.counts()
    assert counts.dtype == np.int64 and counts.tolist() == [[1, 1], [2, 1]]
    assert votes.targets().tolist() == [[0.5, 0.5], [2 / 3, 1 / 3]]
    assert votes.targets("dirichlet", alpha=1).tolist() == [[0.5, 0.5], [0.6, 0.4]]
    assert np.array_equal(votes.targets("dirichlet:alpha=0.5"), votes.targets("dirichlet", alpha=0.5))
    assert votes.targets("dawid_skene", iterations=5).shape == (2, 2)
    plain = votes.aggregate("frequencies")
    assert np.array_equal(plain.targets, votes.targets()) and (plain.iterations, plain.converged) == (0, True)
    assert plain.annotators is plain.confusions is plain.priors is plain.log_likelihood is None
    assert votes.entropy()[0] == pytest.approx(math.log(2)) and votes.entropy(normalized=True)[0] == 1
    assert votes.majority().tolist() == [0, 0]
    drawn = {votes.majority(ties="random", seed=seed)[0] for seed in range(20)}
    assert drawn == {0, 1}
    with pytest.raises(ValueError, match='1 item with a tie for the most votes: "b"'):
        votes.majority(ties="error")


def test_the_same_summary_as_the_command_line(votes, tmp_path):
    import json

    out = subprocess.run(
        [sys.executable, "-m", "dissensus", "votes", "inspect", tmp_path / "votes.csv", "--json"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    theirs = json.loads(out)
    assert votes.summary().items() <= theirs.items()
    assert votes.digest == theirs["digest"]


def test_frames_of_every_library(votes):
    lists = columns()
    assert Votes.from_frame(lists) == votes
    assert Votes.from_arrays(lists["item"], lists["label"], lists["annotator"]) == votes
    seen = 0
    for library, make in [
        ("polars", lambda m: m.DataFrame(lists)),
        ("pandas", lambda m: m.DataFrame(lists)),
        ("pyarrow", lambda m: m.table(lists)),
        ("duckdb", lambda m: m.sql("select * from (values ('b','ann','dog'),('a','ann','cat'),('b','bob','cat'),"
                                   "('a','bob','cat'),('a','cem','dog')) as t(item, annotator, label)")),
        ("datasets", lambda m: m.Dataset.from_dict(lists)),
    ]:
        try:
            module = __import__(library)
        except ImportError:
            print(f"SKIPPED: {library} is not installed")
            continue
        read = Votes.from_frame(make(module))
        assert read == votes, library
        assert [note for note in read.notes if "label" in note] == ["label column: label"]
        seen += 1
    if not seen:
        pytest.skip("no library of data frames is installed")


def test_columns_of_every_type():
    pa = pytest.importorskip("pyarrow")
    lists = {"item": ["7", "7", "8", "9"], "label": ["1", "0", "1", None], "annotator": ["3", "4", "3", "4"]}
    expected = Votes.from_frame(lists)
    assert expected.items == ["7", "8", "9"]
    for kind in ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float32", "float64", "string", "large_string",
                 "string_view"]:
        of = getattr(pa, kind)()
        numbers = {n: [None if v is None else (v if "string" in kind else int(v)) for v in vs] for n, vs in lists.items()}
        table = pa.table({name: pa.array(values, of) for name, values in numbers.items()})
        assert Votes.from_frame(table) == expected, kind
        chunked = pa.concat_tables([table.slice(0, 1), table.slice(1, 2), table.slice(3)])
        assert Votes.from_frame(chunked) == expected, kind
        if kind != "string_view":
            encoded = pa.table({name: table[name].dictionary_encode() for name in table.column_names})
            assert Votes.from_frame(encoded) == expected, kind


def test_wide_frames_and_lists():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    wide = pd.DataFrame({"id": ["a", "b"], "rater_1": ["x", "y"], "rater_2": ["x", "x"]})
    assert Votes.from_frame(wide).counts().tolist() == [[2, 0], [1, 1]]
    several = pd.DataFrame({"item": ["a", "b"], "annotator": [1, 1], "label": [["x", "y"], ["x"]]})
    with pytest.raises(ValueError, match="multilabel"):
        Votes.from_frame(several)
    assert Votes.from_frame(several, multilabel="each").counts().tolist() == [[0.5, 0.5], [1, 0]]


def test_frames_that_need_help():
    pl = pytest.importorskip("polars")
    nobody = {"item": ["a", "b"], "annotator": [None, None], "label": ["x", "y"]}
    expected = Votes.from_arrays(nobody["item"], nobody["label"])
    assert Votes.from_frame(pl.DataFrame(nobody)) == expected
    assert Votes.from_frame(pl.LazyFrame(nobody)) == expected
    with pytest.raises(ValueError, match="no votes"):
        Votes.from_frame(pl.DataFrame({"item": [], "annotator": [], "label": []}))
    with pytest.raises(TypeError, match="a Series is one column"):
        Votes.from_frame(pl.Series([1]))
    pd = pytest.importorskip("pandas")
    mixed = pd.DataFrame({"item": [1, "b"], "annotator": ["u", "v"], "label": ["x", "y"]})
    assert Votes.from_frame(mixed).items == ["1", "b"]


def test_ordered_categories_and_class_labels_order_the_classes():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    levels = ["low", "middle", "high"]
    frame = pd.DataFrame({"item": ["a", "a"], "annotator": [1, 2], "label": ["high", "low"]})
    frame["label"] = pd.Categorical(frame["label"], levels, ordered=True)
    assert Votes.from_frame(frame).classes == levels
    frame["label"] = frame["label"].cat.as_unordered()
    assert Votes.from_frame(frame).classes == ["high", "low"]
    datasets = pytest.importorskip("datasets")
    features = datasets.Features({"item": datasets.Value("string"), "label": datasets.ClassLabel(names=levels)})
    dataset = datasets.Dataset.from_dict({"item": ["a", "a", "b"], "label": [2, 0, -1]}, features=features)
    read = Votes.from_frame(dataset)
    assert read.classes == levels and read.counts().tolist() == [[1, 0, 1], [0, 0, 0]]
    # Rows that were filtered away do not come back.
    assert Votes.from_frame(dataset.filter(lambda row: row["item"] == "a")).items == ["a"]


def test_a_type_that_is_no_label_is_refused():
    pa = pytest.importorskip("pyarrow")
    import datetime

    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]
    table = pa.table({"item": ["a", "b"], "annotator": ["x", "y"], "label": days})
    with pytest.raises(ValueError, match="Date32"):
        Votes.from_frame(table)
    for column in ["item", "annotator"]:
        table = pa.table({"item": ["a", "b"], "annotator": ["x", "y"], "label": ["u", "v"], column: days})
        with pytest.raises(ValueError, match=f'column "{column}": expected texts or numbers.*Date32'):
            Votes.from_frame(table)
    table = pa.table({"item": ["a", "b"], "annotator": ["x", "y"], "label": ["u", "v"], "when": days})
    assert len(Votes.from_frame(table)) == 2


def test_numbers_missing_values_and_weights():
    read = Votes.from_arrays(
        np.array([1, 1, 2, 2]), np.array([0.0, 1.0, np.nan, 1.0]), ["a", None, float("nan"), 4], [1, 0.5, 1, 2]
    )
    assert read.items == ["1", "2"] and read.classes == ["0", "1"] and read.annotators == ["a", "4"]
    assert read.counts().tolist() == [[1.0, 0.5], [0.0, 2.0]] and read.counts().dtype == np.float64
    assert any("missing" in note for note in read.notes)
    assert Votes.from_arrays([True, False], ["x", "x"]).items == ["true", "false"]
    assert Votes.from_arrays(np.array(["a", "b"]), [10**20, 1]).classes == ["1", str(10**20)]
    assert Votes.from_arrays(np.array([2**63], dtype=np.uint64), [1]).items == [str(2**63)]


def test_counts_and_probabilities_in():
    read = Votes.from_counts(np.array([[3, 1], [0, 0]]), items=["a", "b"], classes=["x", "y"])
    assert read.counts().tolist() == [[3, 1], [0, 0]] and np.isnan(read.entropy()[1])
    assert Votes.from_counts([[1.0, 2.0]]).items == ["0"]
    with pytest.raises(ValueError, match='1 item without votes: "b"'):
        read.targets()
    shares = Votes.from_probabilities([[0.25, 0.75]])
    assert shares.targets().tolist() == [[0.25, 0.75]]
    with pytest.raises(ValueError, match="only probabilities are known"):
        shares.counts()
    with pytest.raises(ValueError, match="only probabilities are known"):
        shares.__arrow_c_stream__()


def test_parts_draws_and_pickles(votes):
    assert votes.subset(["a"]).items == ["a"] and votes.subset(["a", "b"]).items == ["a", "b"]
    for flags in [np.array([False, True]), [False, True]]:
        assert votes.subset(flags).counts().tolist() == [[2, 1]]
    assert "a" in votes and "z" not in votes
    with pytest.raises(KeyError, match="z"):
        votes.subset(["z"])
    drawn = votes.sample(4, seed=1)
    assert drawn.counts().sum(1).tolist() == [4, 4] and drawn == votes.sample(4, seed=1)
    assert votes.sample(2, replacement=False).counts()[0].tolist() == [1, 1]
    weighted = Votes.from_arrays(["a", "a"], [0, 1], weight=[0.5, 2])
    for one in [votes, drawn, weighted, Votes.from_probabilities([[0.25, 0.75]])]:
        again = pickle.loads(pickle.dumps(one))
        assert again == one and again.notes == one.notes and again.annotators == one.annotators
        assert np.array_equal(again.targets(), one.targets())
    assert votes != drawn and votes != 3


def test_the_long_table_comes_back(votes, tmp_path):
    pl = pytest.importorskip("polars")
    unused = Votes.from_arrays(["a", "b"], ["x", None], classes=["z", "x"])
    for one in [votes, unused, Votes.from_arrays(["a", "a"], [0, 1], weight=[0.5, 2])]:
        frame = pl.DataFrame(one)
        assert frame.columns[:4] == ["item", "annotator", "label", "class"]
        again = Votes.from_frame(frame)
        assert again == one and again.classes == one.classes


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npz"])
def test_writing(votes, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    votes.write(path)
    assert np.array_equal(Votes.read(path).counts(), votes.counts())
    with pytest.raises(FileExistsError, match="force=True"):
        votes.write(path)
    votes.write(path, force=True)
    with pytest.raises(ValueError, match="ends in .csv, .parquet, .npz"):
        votes.write(tmp_path / "out.xlsx")


def test_findings_are_a_table(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("item,annotator,label\na,ann,cat\na,ann,cat\n,bob,dog\n")
    with pytest.raises(ValueError, match='row 4, column "item": the item is empty'):
        Votes.read(path)
    found = dissensus.lint(path).to_dict()
    assert found["severity"][0] == "error" and found["row"][0] == 4
    assert dissensus.lint(path).columns[:3] == ["severity", "code", "message"]
    assert "single-vote" in Votes.from_arrays(["a"], ["x"]).lint().to_dict()["code"]


def test_the_notebook_shows_the_histogram(votes):
    shown = votes._repr_html_()
    assert "<svg" in shown and "votes per item" in shown and "label column: label" in shown


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: Votes.read("nowhere.csv"), FileNotFoundError, "nowhere.csv"),
        (lambda: Votes.read("nowhere.csv", lable="x"), TypeError, '"lable"; there are format, item'),
        (lambda: Votes.read("nowhere.csv", label=3), TypeError, "label is a value of type int"),
        (lambda: Votes.read("nowhere.csv", values="x"), ValueError, "values is"),
        (lambda: Votes.from_frame(3), TypeError, "a frame of type int"),
        (lambda: Votes.from_frame({"u": ["q r s", "t u v"]}), ValueError, "no known vote format"),
        (lambda: Votes.from_frame({"item": ["a"], "label": ["x"]}, label="y"), ValueError, 'no column "y"'),
        (lambda: Votes.from_arrays([], []), ValueError, "no votes"),
        (lambda: Votes.from_arrays(["a"], ["x", "y"]), ValueError, "item has 1 values and label has 2"),
        (lambda: Votes.from_arrays("a", "b"), TypeError, "item is one text"),
        (lambda: Votes.from_arrays([[1, 2]], [1]), (TypeError, ValueError), "item"),
        (lambda: Votes.from_arrays([object()], [1]), TypeError, "item holds a value of type object"),
        (lambda: Votes.from_arrays(["a"], ["x"], weight=[-1]), ValueError, "cannot weigh -1"),
        (lambda: Votes.from_arrays(["a"], ["x"], weight=["q"]), ValueError, '"q" is not a number'),
        (lambda: Votes.from_arrays(["a"], ["x"], classes=["y"]), ValueError, 'unknown class "x"'),
        (lambda: Votes.from_arrays([None], ["x"]), ValueError, "the item is empty"),
        (lambda: Votes.from_counts([[1, -1]]), ValueError, r"counts\[0, 1\] is -1"),
        (lambda: Votes.from_counts([[0.5]]), ValueError, r"counts\[0, 0\] is 0.5"),
        (lambda: Votes.from_counts([[float("nan")]]), ValueError, "NaN"),
        (lambda: Votes.from_counts([1]), ValueError, "expected items × classes"),
        (lambda: Votes.from_counts("x"), TypeError, "expected numbers"),
        (lambda: Votes.from_counts([[1]], items=["a", "b"]), ValueError, "items has 2 names for 1"),
        (lambda: Votes.from_counts([[1], [1]], items=["a", "a"]), ValueError, '"a" twice'),
        (lambda: Votes.from_counts([[1, 1]], classes=["a", "a"]), ValueError, "named twice"),
        (lambda: Votes.from_probabilities([[0.2, 0.2]]), ValueError, "sum to 0.4"),
        (lambda: Votes.from_counts([[1, 2]]).sample(-1), ValueError, "k is -1"),
        (lambda: Votes.from_counts([[1, 2]]).sample("x"), TypeError, "k is 'x'"),
        (lambda: Votes.from_counts([[1, 2]]).sample(2**40), ValueError, "k is 1099511627776; expected"),
        (lambda: Votes.from_counts([[1, 2]]).subset([0, 0]), ValueError, '"0" twice'),
        (lambda: Votes.from_arrays(["a", "b"], ["x", "y"], weight=[1, math.nan]), ValueError, r"weight\[1\] is missing"),
        (lambda: Votes.from_arrays(["a", "b"], ["x", "y"], weight=[None, 1]), ValueError, r"weight\[0\] is missing"),
        (lambda: Votes.from_arrays(["a"], ["x"], weight=[math.inf]), ValueError, "cannot weigh inf"),
        (lambda: Votes.from_counts(np.ma.array([[1, 2]], mask=[[False, True]])), ValueError, "masked values"),
        (lambda: Votes.from_counts([[1, 2]]).sample(1, seed=-1), ValueError, "seed is -1"),
        (lambda: Votes.from_counts([[1, 2]]).targets("dirichle"), ValueError, 'did you mean "dirichlet"'),
        (lambda: Votes.from_counts([[1, 2]]).targets("dirichlet", alph=1), ValueError, "it has alpha"),
        (lambda: Votes.from_counts([[1, 2]]).targets("dawid_skene"), ValueError, "who voted"),
        (lambda: Votes.from_counts([[1, 2]]).majority(ties="x"), ValueError, "ties"),
        (lambda: Votes.from_counts([[1, 2]]).subset(np.array([True, False])), ValueError, "2 flags for 1 items"),
        (lambda: dissensus.lint("nowhere.csv"), FileNotFoundError, "nowhere.csv"),
        (lambda: Votes._restore(b"x"), ValueError, "not the votes"),
    ],
)
def test_wrong_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_masked_and_infinite_labels_are_what_they_are():
    votes = Votes.from_arrays([1, 1, 2], np.ma.array([7, 8, 9], mask=[False, True, False]))
    assert votes.counts().tolist() == [[1, 0], [0, 1]] and "missing: 1 empty vote left out" in votes.notes
    assert Votes.from_arrays([1, 2, 3], [1.0, math.inf, math.nan]).classes == ["1", "inf"]


def test_an_index_of_pandas():
    pd = pytest.importorskip("pandas")
    counts = pd.DataFrame({"cat": [3, 0], "dog": [1, 2]}, index=[5, 9])
    with pytest.raises(ValueError, match="cat"):
        Votes.from_frame(counts)  # counts or ids: nothing says so
    read = Votes.from_frame(counts, values="counts")
    assert read.classes == ["cat", "dog"] and read.items == ["0", "1"]
    votes = Votes.from_frame(counts.rename_axis("uid"), values="counts")
    assert votes.items == ["5", "9"] and votes.counts().tolist() == [[3, 1], [0, 2]]
    for ids in (["5", "9"], ["a", "b"]):
        with pytest.raises(ValueError, match="the index of the data frame has no name"):
            Votes.from_frame(counts.set_axis(ids), values="counts")
    long = pd.DataFrame({"item": ["a", "b", "b"], "label": ["x", "y", "x"]})
    assert Votes.from_frame(long[long.item == "b"]) == Votes.from_frame(long.set_index("item").loc[["b"]])
    assert Votes.from_frame(long.set_axis(["r", "s", "t"])) == Votes.from_frame(long)
    with pytest.raises(ValueError, match="two columns are named 'label'"):
        Votes.from_frame(long.set_axis(["label", "label"], axis=1))
    pa = pytest.importorskip("pyarrow")
    twice = pa.Table.from_arrays([pa.array(["a"])] * 3, names=["item", "label", "label"])
    with pytest.raises(ValueError, match='two columns are named "label"'):
        Votes.from_frame(twice)


def test_a_doubt_names_the_argument():
    with pytest.raises(ValueError, match="`label`"):
        Votes.from_frame({"item": ["a", "b"], "label": ["x", "y"], "answer": ["y", "x"]})


def test_texts_are_written_or_asked_about(tmp_path):
    source = tmp_path / "votes.csv"
    source.write_text("item,annotator,label,text\na,ann,x,one\na,bob,y,one\nb,ann,y,two\n")
    read = Votes.read(source, text="text")
    for votes in [read, pickle.loads(pickle.dumps(read)), read.subset(["a", "b"])]:
        for name in ["again.csv", "again.parquet"]:
            votes.write(tmp_path / name, force=True)
            again = Votes.read(tmp_path / name, text="text")
            assert again == votes
            again.write(tmp_path / "third.csv", force=True)
            assert "one" in (tmp_path / "third.csv").read_text()
        with pytest.raises(ValueError, match="`texts=False`"):
            votes.write(tmp_path / "counts.npz", force=True)
        votes.write(tmp_path / "counts.npz", texts=False, force=True)
