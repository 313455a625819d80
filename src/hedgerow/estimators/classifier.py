"""``hedgerow.DecisionTreeClassifier``: scikit-learn's interface, secret-shared inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..errors import InputError
from ..models import RevealedTree
from ..service.client import Client, RemoteModel
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

    consortium, identity : path or None, default=None
        For :meth:`fit_dataset`: a ``consortium.toml`` and the directory of your key and certificate (by default the
        same directory).

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

    def __init__(
        self,
        max_depth: int = 5,
        *,
        algorithm: str = "fast",
        schema: Any = None,
        consortium: Any = None,
        identity: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.algorithm = algorithm
        self.schema = schema
        self.consortium = consortium
        self.identity = identity

    def fit(self, X: Any, y: Any) -> DecisionTreeClassifier:  # noqa: N803
        """Train on rows ``X`` (NumPy, pandas or pyarrow) and labels ``y``."""
        given = _plain(X)
        target = getattr(y, "name", None)
        X, y = validate_data(self, given, _plain(y), dtype="numeric")  # noqa: N806
        check_classification_targets(y)
        names = list(getattr(self, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])]))
        if not isinstance(target, str) or target in names:
            target = next(
                name for name in ("class", *(f"class{k}" for k in range(len(names) + 1))) if name not in names
            )
        columns, labels = _own_columns(given, X), np.asarray(y)
        prepared = prepare(names, columns, target, labels, self.max_depth, self._schema(), self.algorithm)
        self.model_: SecretModel | RemoteModel = train_secret(prepared).model
        self.classes_ = np.asarray(prepared.facts.classes)
        self.schema_ = prepared.facts.schema
        self.rounding_ = prepared.rounding
        return self

    def fit_dataset(self, dataset: str, target: str) -> DecisionTreeClassifier:
        """Train on datasets that their owners have shared with a consortium; ``a+b`` pools rows, ``a|b`` columns.

        Waits for the job, which all three parties must accept. ``predict`` and ``reveal`` then ask the parties, too.
        """
        if self.consortium is None:
            raise InputError("fit_dataset needs the parameter 'consortium': the path of a consortium.toml")
        client = Client(Path(self.consortium), Path(self.identity) if self.identity is not None else None)
        columns = "|" in dataset
        combine = "columns" if columns else "rows"
        job = client.train(dataset.split("|" if columns else "+"), target, self.max_depth, combine, self.algorithm)
        client.wait(job)
        self.model_ = client.model(job)
        facts = self.model_.facts
        self.classes_, self.schema_, self.rounding_ = np.asarray(facts.classes), facts.schema, {}
        self.n_features_in_ = facts.shape.attributes
        self.feature_names_in_ = np.asarray(facts.attribute_names, dtype=object)
        return self

    def _schema(self) -> Schema | None:
        return self.schema if self.schema is None or isinstance(self.schema, Schema) else read_schema(Path(self.schema))

    def _columns(self, X: Any) -> list[npt.NDArray[Any]]:  # noqa: N803
        check_is_fitted(self)
        given = _plain(X)
        return _own_columns(given, validate_data(self, given, dtype="numeric", reset=False))

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
        labels = column_or_1d(_plain(y), warn=True)
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
        if isinstance(self.model_, RemoteModel):
            raise InputError("the consortium's parties keep this model; there is nothing to save here")
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
        if facts.attribute_names != [f"x{j}" for j in range(facts.shape.attributes)]:
            found.feature_names_in_ = np.asarray(facts.attribute_names, dtype=object)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _own_columns(given: Any, checked: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """The checked columns; whole numbers of a data frame as they were, not as a common type made them."""
    columns = list(checked.T)
    for j, kind in enumerate(getattr(given, "dtypes", ())):
        if getattr(kind, "kind", "") in "iu":
            columns[j] = given.iloc[:, j].to_numpy(dtype=np.uint64 if kind.kind == "u" else np.int64)
    return columns


def _plain(data: Any) -> Any:
    """pyarrow tables and columns as pandas or NumPy knows them; anything else as it is."""
    module = type(data).__module__.partition(".")[0]
    if module != "pyarrow":
        return data
    return data.to_pandas()
