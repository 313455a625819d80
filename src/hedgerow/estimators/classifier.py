"""``hedgerow.DecisionTreeClassifier``: scikit-learn's interface, secret-shared inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..errors import InputError
from ..models import RevealedTree
from ..tables import Schema, read_schema
from .secret import SecretModel, prepare, train_secret


class DecisionTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree for two classes, trained exactly on data that is secret-shared among three parties.

    ``fit`` plays the data owner: it splits the table into shares and has three local party processes train on them.
    Afterwards the model exists only as the parties' shares; ``predict`` opens predictions and nothing else, and
    :meth:`reveal` opens the tree.

    Parameters
    ----------
    max_depth : int, default=5
        Height of the tree: public, and the only bound on its growth.
    algorithm : {"fast", "paper"}, default="fast"
        "fast" is the exact trainer of docs/fast-trainer.md, "paper" HIKC23 as written.
    schema : Schema, path or None, default=None
        Declared columns (see ``hedgerow inspect``). Without it the fewest decimals that keep a column exactly are
        found; columns that no few decimals represent are rounded, see ``rounding_``.

    Attributes
    ----------
    classes_ : ndarray
        The two classes.
    model_ : SecretModel
        A handle on the parties' shares.
    schema_ : Schema
        The columns as they were encoded.
    rounding_ : dict
        Per rounded column the largest difference between a value and what was kept of it; empty if all is exact.
    """

    def __init__(self, max_depth: int = 5, *, algorithm: str = "fast", schema: Any = None) -> None:
        self.max_depth = max_depth
        self.algorithm = algorithm
        self.schema = schema

    def fit(self, X: Any, y: Any) -> DecisionTreeClassifier:  # noqa: N803
        """Train on rows ``X`` (NumPy, pandas or pyarrow) and labels ``y``."""
        target = str(getattr(y, "name", None) or "class")
        X, y = validate_data(self, _plain(X), _plain(y), dtype="numeric")  # noqa: N806
        check_classification_targets(y)
        names = list(getattr(self, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])]))
        if target in names:
            target = "class"
        schema = self._schema()
        prepared = prepare(names, list(X.T), target, np.asarray(y), self.max_depth, schema, self.algorithm)
        self.model_ = train_secret(prepared).model
        self.classes_ = np.unique(y)
        self.schema_ = prepared.facts.schema
        self.rounding_ = prepared.rounding
        return self

    def _schema(self) -> Schema | None:
        return self.schema if self.schema is None or isinstance(self.schema, Schema) else read_schema(Path(self.schema))

    def _columns(self, X: Any) -> list[npt.NDArray[Any]]:  # noqa: N803
        check_is_fitted(self)
        return list(validate_data(self, _plain(X), dtype="numeric", reset=False).T)

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """Classes of rows; the parties see neither rows nor classes."""
        columns = self._columns(X)
        return self.model_.labels(columns)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """Shares of each class among the training rows of a row's leaf, in steps of 2^-16."""
        columns = self._columns(X)
        return self.model_.probabilities(columns)

    def confusion(self, X: Any, y: Any) -> npt.NDArray[np.int64]:  # noqa: N803
        """The confusion matrix ``[true, predicted]`` on secret rows and labels: nothing but its entries is opened."""
        columns = self._columns(X)
        labels = np.asarray(_plain(y))
        if labels.shape != (len(columns[0]),):
            raise InputError(f"{len(columns[0])} rows need as many labels, not {labels.shape}")
        return self.model_.confusion(columns, labels)

    def reveal(self, counts: bool = False) -> RevealedTree:
        """Open the tree. ``counts`` also opens how many training rows of each class reached every node."""
        check_is_fitted(self)
        return self.model_.reveal(counts)

    def save(self, directory: Any) -> None:
        """Write one private directory for every party's shares."""
        check_is_fitted(self)
        self.model_.save(Path(directory))

    @classmethod
    def load(cls, directory: Any) -> DecisionTreeClassifier:
        """An estimator from what :meth:`save` or ``hedgerow train`` wrote."""
        model = SecretModel.load(Path(directory))
        facts = model.facts
        found = cls(facts.shape.height, algorithm=facts.algorithm)
        found.model_, found.schema_, found.rounding_ = model, facts.schema, {}
        found.classes_ = np.asarray(facts.classes)
        found.n_features_in_ = facts.shape.attributes
        found.feature_names_in_ = np.asarray(facts.attribute_names, dtype=object)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _plain(data: Any) -> Any:
    """pyarrow tables and columns as pandas or NumPy knows them; anything else as it is."""
    module = type(data).__module__.partition(".")[0]
    if module != "pyarrow":
        return data
    return data.to_pandas()
