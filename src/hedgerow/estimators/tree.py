"""What both estimators share: plain tables in, shares trained on, answers out."""

from __future__ import annotations

import logging
import warnings
from abc import ABC
from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils.validation import (
    _check_feature_names,
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from ..errors import InputError, MissingValueWarning, PublicationWarning, RoundingWarning
from ..extras import needs_extra
from ..models import RevealedTree
from ..models.facts import gaps_text
from ..parties import Moment
from ..tables import Schema, frame, read_schema
from ..tables.schema import check_names
from ..trees.rules import TrainingRules
from .prepare import EncodedTable, prepare
from .secret import SecretModel, train_secret

if TYPE_CHECKING:
    from ..service.remote_model import RemoteModel

Values = npt.NDArray[Any]
log = logging.getLogger("hedgerow")


class SecretTree(ABC, BaseEstimator):  # type: ignore[misc]
    """A decision tree that exists only as the shares of three parties; the base of classifier and regressor."""

    max_depth: int
    algorithm: str
    criterion: str
    schema: Any
    consortium: Any
    identity: Any
    categorical_features: Any
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_impurity_decrease: float
    verbose: int

    def _rules(self) -> TrainingRules:
        """What is to be trained: the parameters that have the names of rules."""
        names = {field.name for field in fields(TrainingRules)} & self.get_params().keys()
        return TrainingRules(**{name: getattr(self, name) for name in names}, regression=is_regressor(self))

    def _learn(self, X: Any, y: Any, sample_weight: Any, check_targets: Any) -> Self:  # noqa: N803
        """Check, encode, share and train."""
        if self.consortium is not None:
            raise InputError(
                "fit() would train on local parties with this table; with 'consortium' set, use "
                "fit_dataset(name, target) for what owners have shared there, or leave 'consortium' out"
            )
        self._forget()
        y = frame.plain_labels(y)
        if self._rules().regression and y is not None:
            frame.check_numbers(y, "the targets")
        table, labels = self._checked(X, y, fitted=False)
        check_targets(labels)
        target = getattr(y, "name", None)
        if not isinstance(target, str) or target in table.names:
            word = "target" if self._rules().regression else "class"
            choices = (word, *(f"{word}{k}" for k in range(len(table.names) + 1)))
            target = next(name for name in choices if name not in table.names)
        weights = None
        if sample_weight is not None:
            frame.check_numbers(sample_weight, "the weights")
            weights = _check_sample_weight(sample_weight, np.zeros((len(labels), 1)))
        schema = self._declared()
        if schema is not None and schema.label is not None and not hasattr(y, "name"):
            target = schema.label.name
        prepared = prepare(table, target, labels, self._rules(), schema, weights)
        self._tell(prepared, [name for name in table.categorical if name not in table.asked])
        self.model_: SecretModel | RemoteModel = train_secret(prepared, self._progress).model
        self.schema_ = prepared.facts.schema
        self.rounding_ = prepared.rounding
        return self

    def _forget(self) -> None:
        """What an earlier fit left; one that is interrupted leaves an estimator that is not fitted."""
        for name in ("model_", "schema_", "rounding_"):
            self.__dict__.pop(name, None)

    def _tell(self, prepared: EncodedTable, unasked: Sequence[str]) -> None:
        """Say what becomes public, before it does, and what was rounded."""
        for publication in prepared.publications:
            self._say(f"becomes public of {publication.line}")
        texts = [publication.line for publication in prepared.publications if publication.column in unasked]
        if texts:
            warnings.warn(
                f"names of categories become public: {'; '.join(texts)}. Name the columns in categorical_features to "
                "say that this is meant",
                PublicationWarning,
                stacklevel=4,
            )
        for category, notices in ((PublicationWarning, prepared.keys), (RoundingWarning, prepared.roundings)):
            if notices:
                warnings.warn("; ".join(notices), category, stacklevel=4)

    def _say(self, line: str) -> None:
        """To the log, and with ``verbose`` to standard output."""
        log.info("%s", line)
        if self.verbose:
            print(f"[hedgerow] {line}", flush=True)

    def _progress(self, moment: Moment) -> None:
        layer = f"layer {moment.layer + 1} of {self.max_depth}: " if moment.layer < self.max_depth else ""
        self._say(f"{layer}{moment.step} ({moment.rounds:,} rounds, {moment.sent / 1e6:.1f} MB sent by a party)")

    def _declared(self) -> Schema | None:
        """The schema, read if it is a file."""
        if self.schema is None or isinstance(self.schema, Schema):
            return self.schema
        if not isinstance(self.schema, str | Path):
            raise InputError(f"schema must be a Schema or the path of one, not {type(self.schema).__name__}")
        return read_schema(Path(self.schema))

    def fit_dataset(self, dataset: str, target: str) -> Self:
        """Train on datasets that their owners have shared with a consortium; ``a+b`` pools rows, ``a|b`` columns.

        Datasets are named ``owner/name``, or ``name`` where only one has it. Where ``min_samples_leaf`` is 1, the rules
        of the parties and owners say how many rows a leaf needs.

        Weights are those of the datasets' weight column, if they have one. Waits for the job, which all three parties
        must accept. ``predict`` and ``reveal`` then ask the parties, too.
        """
        if self.consortium is None:
            raise InputError("fit_dataset needs the parameter 'consortium': the path of a consortium.toml")
        rules = self._rules()
        with needs_extra():
            from ..service.client import Client, combination
        client = Client(Path(self.consortium), Path(self.identity) if self.identity is not None else None)
        names, combine = combination(dataset)
        job = client.train(names, target, combine=combine, **rules.public())
        client.wait(job)
        model = client.model(job)
        if model.facts.problem.regression != rules.regression:
            raise InputError(
                f"'{target}' is {'a number' if model.facts.problem.regression else 'a class'} in the dataset"
            )
        self._keep(model)
        return self

    def _keep(self, model: SecretModel | RemoteModel) -> None:
        """Take over a model trained elsewhere."""
        facts = model.facts
        self.model_, self.schema_, self.rounding_ = model, facts.schema, {}
        self.n_features_in_ = facts.problem.attributes
        if facts.attribute_names != [f"x{j}" for j in range(facts.problem.attributes)]:
            self.feature_names_in_ = np.asarray(facts.attribute_names, dtype=object)

    def _columns(self, X: Any) -> list[Values]:  # noqa: N803
        check_is_fitted(self, "model_")
        columns = self._checked(X, None, fitted=True)[0].columns
        gaps = self.model_.facts.unknown_gaps(columns)
        if gaps:
            warnings.warn(gaps_text(gaps), MissingValueWarning, stacklevel=3)
        return columns

    def _checked(self, X: Any, y: Any, fitted: bool) -> tuple[frame.PlainTable, Any]:  # noqa: N803
        """Rows as scikit-learn checks them; columns that are no numbers stand aside meanwhile."""
        given = frame.plain(X)
        if hasattr(given, "columns"):
            check_names([str(name) for name in given.columns])
            if fitted:
                _check_feature_names(self, given, reset=False)
        dimensions = frame.form(given)
        if len(dimensions) == 1:
            raise InputError("Expected 2D array, got 1D array instead: rows must be a table. Reshape your data")
        aside = self._aside(frame.as_table(given), fitted) if len(dimensions) == 2 else frame.Aside({}, [], [])
        odd = fitted and any(column.kind != "number" for column in self.schema_.attributes)
        if odd and len(dimensions) == 2 and dimensions[1] != self.n_features_in_:
            raise InputError(f"X has {dimensions[1]} features; the model expects {self.n_features_in_}")
        numbers = frame.without_aside(given, aside)
        if len(dimensions) == 2:
            frame.check_numbers(numbers)
        options: dict[str, Any] = {"dtype": "numeric", "ensure_all_finite": "allow-nan"}
        labels = None
        if fitted:
            checked = validate_data(self, numbers, reset=False, **options)
        else:
            checked, labels = validate_data(self, numbers, y, **options)
        columns = frame.own_columns(numbers, checked)
        for j, values in aside.columns.items():
            columns[j] = values
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(columns))])]
        categorical, asked = ([names[j] for j in places] for places in (aside.categories, aside.asked))
        return frame.PlainTable(names, columns, categorical, asked), labels

    def _aside(self, given: Any, fitted: bool) -> frame.Aside:
        """Which columns are no numbers: as trained, as the schema or the parameter says, or as they look."""
        if fitted:
            return (
                frame.trained_aside(given, self.schema_)
                if frame.form(given)[1] == self.n_features_in_
                else frame.Aside({}, [], [])
            )
        declared = self._declared()
        if declared is None:
            return frame.found_aside(given, self.categorical_features)
        if self.categorical_features is not None:
            raise InputError("the schema says which columns are categories; leave categorical_features out")
        return frame.declared_aside(given, declared)

    def predict(self, X: Any) -> Values:  # noqa: N803
        """Classes or estimates of rows; the parties see neither rows nor answers."""
        columns = self._columns(X)
        return self.model_.labels(columns)

    def _truth(self, y: Any, rows: int) -> Values:
        labels = column_or_1d(frame.plain_labels(y), warn=True)
        if labels.shape != (rows,):
            raise InputError(f"{rows} rows need as many labels, not {labels.shape}")
        found: Values = labels
        return found

    def reveal(self, counts: bool = False) -> RevealedTree:
        """Open the tree. ``counts`` also opens how many training rows of each class (or their sum) reached a node."""
        check_is_fitted(self, "model_")
        return self.model_.reveal(counts)

    def save(self, directory: Any) -> None:
        """Write one private directory for every party's shares."""
        check_is_fitted(self, "model_")
        if not isinstance(self.model_, SecretModel):
            raise InputError("the consortium's parties keep this model; there is nothing to save here")
        self.model_.save(Path(directory))

    @classmethod
    def load(cls, directory: Any) -> Self:
        """An estimator from what :meth:`save` or ``hedgerow train`` wrote."""
        model = SecretModel.load(Path(directory))
        problem, found = model.facts.problem, cls(model.facts.problem.height)
        if problem.regression != found._rules().regression:
            kind = "estimates a number" if problem.regression else "predicts classes"
            raise InputError(f"the model {kind}: load it with the other estimator")
        found.algorithm = model.facts.algorithm
        if not problem.regression:
            found.criterion = problem.criterion
        found.min_samples_split, found.min_samples_leaf = problem.min_samples_split, problem.min_samples_leaf
        unit = Fraction(10) ** (2 * model.facts.target_column.decimals) if problem.regression else Fraction(1)
        found.min_impurity_decrease = float(problem.least_decrease / unit)
        found.categorical_features = model.facts.schema.category_names or None
        found._keep(model)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
