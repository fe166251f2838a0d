"""The classifier with scikit-learn's conventions."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import estimator_checks_generator  # noqa: E402

import dissensus  # noqa: E402
from dissensus import DissensusClassifier, Votes  # noqa: E402


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 4))
    first = random.binomial(9, 1 / (1 + np.exp(-3 * X[:, 0])))
    return X, np.stack([first, 9 - first], 1)


@pytest.mark.parametrize(
    "check", [check for _, check in estimator_checks_generator(DissensusClassifier())], ids=lambda c: c.func.__name__
)
def test_scikit_learns_own_checks(check):
    check(DissensusClassifier())


def test_counts_votes_and_labels(data):
    X, counts = data
    by_counts = DissensusClassifier(random_state=0).fit(X, counts)
    votes = Votes.from_counts(counts, classes=["no", "yes"])
    by_votes = DissensusClassifier(random_state=0).fit(X, votes)
    np.testing.assert_array_equal(by_counts.predict_proba(X), by_votes.predict_proba(X))
    assert by_votes.classes_.tolist() == ["no", "yes"] and set(by_votes.predict(X)) == {"no", "yes"}
    assert by_counts.score(X, counts) == by_votes.score(X, votes) == -dissensus.metrics.soft_nll(
        counts, by_counts.predict_proba(X)
    )
    labels = np.where(counts.argmax(1) == 0, "a", "b")
    assert DissensusClassifier(random_state=0).fit(X, labels).score(X, labels) > 0.85


def test_grid_search_and_pipelines(data):
    X, counts = data
    pipeline = make_pipeline(StandardScaler(), DissensusClassifier(epochs=5, random_state=0))
    grid = GridSearchCV(pipeline, {"dissensusclassifier__hidden": [4, 8], "dissensusclassifier__method": ["soft", "sls"]})
    assert grid.fit(X, counts).best_params_["dissensusclassifier__hidden"] in (4, 8)
    assert len(cross_val_score(pipeline, X, counts.argmax(1), cv=3)) == 3
    held_out = DissensusClassifier(validation_fraction=0.2, random_state=1, spec={"selection.metric": "kl"})
    assert held_out.fit(X, counts).model_.spec["run"]["selection"]["metric"] == "kl"
