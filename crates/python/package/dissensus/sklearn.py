"""A classifier with the conventions of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from dissensus import Model, Votes, fit, metrics
from dissensus._models import check_order

__all__ = ["DissensusClassifier"]


class DissensusClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that is trained on votes, or on labels.

    Parameters
    ----------
    method : str
        How votes reach the loss, with its settings: ``"soft"``, ``"multipass"``, ``"sls:every=2"``. On labels, all
        methods are the same.
    hidden : int
        Units of the hidden layer.
    epochs, batch_size, learning_rate, weight_decay : int, int, float, float
        How it is trained, with the optimizer of the model's recipe, Adam.
    validation_fraction : float
        The share of the items that select the epoch and are not trained on. With 0, all items are trained on, and the
        epoch with the best loss on them is kept.
    random_state : int, RandomState or None
        The seed of everything random.
    device : str
        ``"cpu"`` or ``"cuda"``.
    spec : dict, optional
        Other settings of a training spec by their full names, as for :func:`dissensus.fit`.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of the columns of ``predict_proba``: the labels, the classes of votes, or numbers for
        a matrix of counts.
    model_ : dissensus.Model
        The trained model.

    Examples
    --------
    >>> import numpy as np
    >>> from dissensus import DissensusClassifier
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> counts = np.where(X[:, :1] > 0, [[1, 4]], [[4, 1]])
    >>> classifier = DissensusClassifier(random_state=0).fit(X, counts)
    >>> classifier.predict([[2.0, 0.0]]).tolist()
    [1]
    """

    def __init__(
        self,
        method: str = "soft",
        *,
        hidden: int = 64,
        epochs: int = 60,
        batch_size: int = 64,
        learning_rate: float = 0.01,
        weight_decay: float = 0.0,
        validation_fraction: float = 0.0,
        random_state: Any = None,
        device: str = "cpu",
        spec: dict[str, Any] | None = None,
    ) -> None:
        self.method = method
        self.hidden = hidden
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.device = device
        self.spec = spec

    def fit(self, X: Any, y: Any) -> DissensusClassifier:
        """Trains the model.

        Parameters
        ----------
        X : array_like
            Features, items × numbers.
        y : array_like or Votes
            A label per item; or counts of votes, items × classes; or votes, whose items are in the order of ``X``.
        """
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        X, votes, classes = self._checked(X, y)
        self.classes_: np.ndarray = classes
        settings: dict[str, Any] = {}
        if self.validation_fraction:
            settings["split"] = {"train": 1 - self.validation_fraction, "evaluation": self.validation_fraction}
        else:
            settings["evaluate_on"] = (votes, X)
        self.model_: Model = fit(
            votes,
            X,
            self.method,
            hidden=self.hidden,
            seed=int(check_random_state(self.random_state).randint(2**31)),
            device=self.device,
            progress=False,
            spec=self.spec,
            schedule="constant",
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            **settings,
        )
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes, items × classes."""
        check_is_fitted(self)
        return self.model_.predict_proba(validate_data(self, X, dtype=np.float32, reset=False), device=self.device)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each item."""
        best = self.predict_proba(X).argmax(1)
        labels: np.ndarray = self.classes_[best]
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy, for labels; the negative soft NLL, for votes: higher is better for both."""
        if not isinstance(y, Votes) and np.asarray(y).ndim != 2:
            return float(super().score(X, y, sample_weight))
        found = metrics.soft_nll(y if isinstance(y, Votes) else _counts(y), self.predict_proba(X))
        return float("nan") if found is None else -found

    def _checked(self, X: Any, y: Any) -> tuple[np.ndarray, Votes, np.ndarray]:
        """Features, votes in their order, and the classes."""
        if isinstance(y, Votes):
            check_order(y, X)
            X = validate_data(self, X, dtype=np.float32)
            return X, y, np.array(y.classes)
        labels = np.asarray(y)
        if labels.ndim == 2 and labels.shape[1] > 1:
            X = validate_data(self, X, dtype=np.float32)
            counts = _counts(labels)
            return X, Votes.from_counts(counts), np.arange(counts.shape[1])
        X, y = validate_data(self, X, column_or_1d(y, warn=True), dtype=np.float32)
        check_classification_targets(y)
        classes, numbers = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y has one class, {classes[0]!r}; a classifier needs at least two")
        return X, Votes.from_counts(np.eye(len(classes), dtype=np.int64)[numbers]), classes


def _counts(y: Any) -> np.ndarray:
    """A matrix of counts, as whole numbers where they are."""
    counts = np.asarray(y)
    if counts.dtype.kind == "f" and (counts == counts.round()).all():
        return counts.astype(np.int64)
    return counts
