"""What both estimators share: plain tables in, shares trained on, answers out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import (
    _check_feature_names,
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from ..errors import InputError
from ..models import RevealedTree
from ..service.client import Client, RemoteModel
from ..tables import Schema, read_schema
from .prepare import Wish, prepare, public_rules
from .secret import SecretModel, train_secret

Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, repr=False)
class _Plain:
    """A checked table: column names, columns, and which of them are categories."""

    names: list[str]
    columns: list[Values]
    categorical: list[str]


class SecretTree(ABC, BaseEstimator):  # type: ignore[misc]
    """A decision tree that exists only as the shares of three parties; the base of classifier and regressor."""

    max_depth: int
    algorithm: str
    schema: Any
    consortium: Any
    identity: Any
    categorical_features: Any
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_impurity_decrease: float

    @abstractmethod
    def _wish(self) -> Wish:
        """What is to be trained."""

    def _learn(self, X: Any, y: Any, sample_weight: Any, check_targets: Any) -> Self:  # noqa: N803
        """Check, encode, share and train."""
        table, labels = self._checked(X, _plain(y), fitted=False)
        check_targets(labels)
        target = getattr(y, "name", None)
        if not isinstance(target, str) or target in table.names:
            word = "target" if self._wish().regression else "class"
            choices = (word, *(f"{word}{k}" for k in range(len(table.names) + 1)))
            target = next(name for name in choices if name not in table.names)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, np.zeros((len(labels), 1)))
        schema = self._declared()
        if schema is not None and schema.label is not None and not hasattr(y, "name"):
            target = schema.label.name
        prepared = prepare(table.names, table.columns, target, labels, self._wish(), schema, weights, table.categorical)
        self.model_: SecretModel | RemoteModel = train_secret(prepared).model
        self.schema_ = prepared.facts.schema
        self.rounding_ = prepared.rounding
        return self

    def _declared(self) -> Schema | None:
        """The schema, read if it is a file."""
        if self.schema is None or isinstance(self.schema, Schema):
            return self.schema
        if not isinstance(self.schema, str | Path):
            raise InputError(f"schema must be a Schema or the path of one, not {type(self.schema).__name__}")
        return read_schema(Path(self.schema))

    def fit_dataset(self, dataset: str, target: str) -> Self:
        """Train on datasets that their owners have shared with a consortium; ``a+b`` pools rows, ``a|b`` columns.

        Weights are those of the datasets' weight column, if they have one. Waits for the job, which all three parties
        must accept. ``predict`` and ``reveal`` then ask the parties, too.
        """
        if self.consortium is None:
            raise InputError("fit_dataset needs the parameter 'consortium': the path of a consortium.toml")
        wish = self._wish()
        client = Client(Path(self.consortium), Path(self.identity) if self.identity is not None else None)
        columns = "|" in dataset
        names = dataset.split("|" if columns else "+")
        job = client.train(names, target, combine="columns" if columns else "rows", **public_rules(wish))
        client.wait(job)
        model = client.model(job)
        if model.facts.shape.regression != wish.regression:
            raise InputError(
                f"'{target}' is {'a number' if model.facts.shape.regression else 'a class'} in the dataset"
            )
        self._keep(model)
        return self

    def _keep(self, model: SecretModel | RemoteModel) -> None:
        """Take over a model trained elsewhere."""
        facts = model.facts
        self.model_, self.schema_, self.rounding_ = model, facts.schema, {}
        self.n_features_in_ = facts.shape.attributes
        if facts.attribute_names != [f"x{j}" for j in range(facts.shape.attributes)]:
            self.feature_names_in_ = np.asarray(facts.attribute_names, dtype=object)

    def _columns(self, X: Any) -> list[Values]:  # noqa: N803
        check_is_fitted(self)
        return self._checked(X, None, fitted=True)[0].columns

    def _checked(self, X: Any, y: Any, fitted: bool) -> tuple[_Plain, Any]:  # noqa: N803
        """Rows as scikit-learn checks them; columns of categories are kept as they are and stand aside meanwhile."""
        given = _plain(X)
        dimensions = _form(given)
        if len(dimensions) == 1:
            raise InputError("Expected 2D array, got 1D array instead: rows must be a table. Reshape your data")
        places = self._category_places(given, fitted) if len(dimensions) == 2 else []
        if fitted and places and dimensions[1] != self.n_features_in_:
            _check_feature_names(self, given, reset=False)
            raise InputError(f"X has {dimensions[1]} features; the model expects {self.n_features_in_}")
        numbers = given
        if places:
            if hasattr(given, "iloc"):
                numbers = given.copy()
                for j in places:
                    numbers.isetitem(j, np.zeros(len(given)))
            else:
                numbers = np.array(given, dtype=object)
                numbers[:, places] = 0
        options: dict[str, Any] = {"dtype": "numeric", "ensure_all_finite": "allow-nan"}
        labels = None
        if fitted:
            checked = validate_data(self, numbers, reset=False, **options)
        else:
            checked, labels = validate_data(self, numbers, y, **options)
        columns = _own_columns(numbers, checked)
        for j in places:
            columns[j] = _objects(given, j)
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(columns))])]
        return _Plain(names, columns, [names[j] for j in places]), labels

    def _category_places(self, given: Any, fitted: bool) -> list[int]:
        """Which columns hold categories: as trained, as the parameter or the schema says, or data frame columns of
        categories or text."""
        if fitted:
            return [j for j, column in enumerate(self.schema_.attributes) if column.kind == "category"]
        names = [str(name) for name in getattr(given, "columns", ())]
        declared = self._declared()
        if declared is not None:
            if self.categorical_features is not None:
                raise InputError("the schema says which columns are categories; leave categorical_features out")
            kinds = {column.name: column.kind for column in declared.attributes}
            names = names or [f"x{j}" for j in range(_form(given)[1])]
            return [j for j, name in enumerate(names) if kinds.get(name) == "category"]
        if self.categorical_features is not None:
            return _listed(self.categorical_features, names, _form(given)[1])
        return [j for j in range(len(names)) if hasattr(given, "iloc") and _is_category(given.iloc[:, j])]

    def predict(self, X: Any) -> Values:  # noqa: N803
        """Classes or estimates of rows; the parties see neither rows nor answers."""
        columns = self._columns(X)
        return self.model_.labels(columns)

    def _truth(self, y: Any, rows: int) -> Values:
        labels = column_or_1d(_plain(y), warn=True)
        if labels.shape != (rows,):
            raise InputError(f"{rows} rows need as many labels, not {labels.shape}")
        found: Values = labels
        return found

    def reveal(self, counts: bool = False) -> RevealedTree:
        """Open the tree. ``counts`` also opens how many training rows of each class (or their sum) reached a node."""
        check_is_fitted(self)
        return self.model_.reveal(counts)

    def save(self, directory: Any) -> None:
        """Write one private directory for every party's shares."""
        check_is_fitted(self)
        if isinstance(self.model_, RemoteModel):
            raise InputError("the consortium's parties keep this model; there is nothing to save here")
        self.model_.save(Path(directory))

    @classmethod
    def load(cls, directory: Any) -> Self:
        """An estimator from what :meth:`save` or ``hedgerow train`` wrote."""
        model = SecretModel.load(Path(directory))
        shape, found = model.facts.shape, cls(model.facts.shape.height)
        if shape.regression != found._wish().regression:
            kind = "estimates a number" if shape.regression else "predicts classes"
            raise InputError(f"the model {kind}: load it with the other estimator")
        found.algorithm = model.facts.algorithm
        found.min_samples_split, found.min_samples_leaf = shape.min_samples_split, shape.min_samples_leaf
        unit = Fraction(10) ** (2 * model.facts.target_column.decimals) if shape.regression else Fraction(1)
        found.min_impurity_decrease = float(shape.least_decrease / unit)
        found._keep(model)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _form(given: Any) -> tuple[int, ...]:
    """Rows and columns of what may be a table."""
    found: tuple[int, ...] = given.shape if hasattr(given, "shape") else np.asarray(given, dtype=object).shape
    return found


def _listed(wanted: Any, names: Sequence[str], width: int) -> list[int]:
    """Places of columns given by names, places or a mask."""
    items = wanted.tolist() if hasattr(wanted, "tolist") else list(wanted)
    if items and all(isinstance(item, bool) for item in items):
        if len(items) != width:
            raise InputError(f"categorical_features has {len(items)} entries for {width} columns")
        return [j for j, item in enumerate(items) if item]
    places = []
    for item in items:
        if isinstance(item, str) and item in names:
            places.append(list(names).index(item))
        elif isinstance(item, int) and 0 <= item < width:
            places.append(item)
        else:
            raise InputError(f"categorical_features: there is no column {item!r}")
    return sorted(set(places))


def _is_category(series: Any) -> bool:
    """Whether a data frame's column is of categories or text."""
    if str(series.dtype) in ("category", "string", "str"):
        return True
    if series.dtype != object:
        return False
    return not all(isinstance(value, int | float | np.number | Decimal) for value in series.dropna())


def _objects(given: Any, place: int) -> Values:
    """One column as plain values."""
    column = given.iloc[:, place] if hasattr(given, "iloc") else np.asarray(given, dtype=object)[:, place]
    return np.asarray(column, dtype=object)


def _own_columns(given: Any, checked: Values) -> list[Values]:
    """The checked columns; whole numbers of a data frame as they were, not as a common type made them."""
    columns = list(checked.T)
    for j, kind in enumerate(getattr(given, "dtypes", ())):
        if getattr(kind, "kind", "") in ("i", "u"):
            series = given.iloc[:, j]
            if series.hasnans:
                columns[j] = np.array(
                    [None if gap else int(v) for v, gap in zip(series, series.isna(), strict=True)], object
                )
            else:
                columns[j] = series.to_numpy(dtype=np.uint64 if kind.kind == "u" else np.int64)
    return columns


def _plain(data: Any) -> Any:
    """pyarrow tables and columns as pandas or NumPy knows them; anything else as it is."""
    module = type(data).__module__.partition(".")[0]
    if module != "pyarrow":
        return data
    return data.to_pandas()
