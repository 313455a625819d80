"""What anybody may know about a model: its shape, the schema of its table, the names of its classes."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..shares import RING128
from ..tables import Column, Schema, class_numbers, encode_doubled
from ..tables.fixed import encode_finely, has_gaps
from ..tables.moment import to_dates
from ..tables.names import named
from ..trees.predict import Errors
from ..trees.problem import MEAN_PLACES, Problem
from ..trees.withhold import WITHHELD
from .confusion import ConfusionMatrix


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The public part of a model. ``classes`` are plain values: numbers, text or booleans; none if a number is
    estimated."""

    problem: Problem
    schema: Schema
    target: str
    classes: tuple[Any, ...]
    algorithm: str = "fast"
    identity: str = field(default_factory=lambda: secrets.token_hex(16))

    @property
    def attribute_names(self) -> list[str]:
        """Names of the attributes, in the order of their numbers."""
        return [column.name for column in self.schema.attributes]

    @property
    def target_column(self) -> Column:
        """How labels or targets are kept."""
        label = self.schema.label
        assert label is not None
        return label

    def estimate(self, label: int) -> float:
        """A leaf's mean, kept times 2^16, in the target's own units; NaN where it is withheld."""
        column = self.target_column
        if label == WITHHELD:
            return math.nan
        return float((Fraction(int(label), 1 << MEAN_PLACES) - column.offset) / Fraction(10) ** column.decimals)

    def labels(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Class values for class numbers, or estimates for means."""
        if self.problem.regression:
            values, inverse = np.unique(numbers, return_inverse=True)
            return np.array([self.estimate(value) for value in values], float)[inverse]
        return np.asarray(self.classes)[numbers.astype(np.int64)]

    def doubled(self, columns: Sequence[npt.NDArray[Any]]) -> list[npt.NDArray[np.uint64]]:
        """Plain rows, column by column, as prediction wants them."""
        attributes = self.schema.attributes
        if len(columns) != len(attributes):
            raise InputError(f"the model has {len(attributes)} attributes, the rows have {len(columns)}")
        found = []
        for column, values in zip(attributes, columns, strict=True):
            dated = column.kind == "date" and values.dtype.kind != "M"
            found.append(encode_doubled(column, to_dates(column.name, values) if dated else values))
        return found

    def named(self, book: Mapping[str, Mapping[str, Any]]) -> ModelFacts:
        """The same facts with the names that hashes stand for, as far as a book knows them."""
        columns = tuple(named(column, book) for column in self.schema.columns)
        schema = Schema(columns)
        label = schema.label
        classes = label.classes if label is not None and label.kind == "label" else self.classes
        return replace(self, schema=schema, classes=classes if self.target_column.hashed else self.classes)

    def unknown_gaps(self, columns: Sequence[npt.NDArray[Any]]) -> list[str]:
        """The attributes with missing values in these rows of which training knew none."""
        attributes = zip(self.schema.attributes, columns, strict=False)
        return [column.name for column, values in attributes if not column.missing and has_gaps(values)]

    def truth(self, labels: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
        """Every label's place in the list of classes, or targets as whole numbers, times 2^16."""
        if self.problem.regression:
            if len(labels) >= 1 << max(0, 93 - 2 * self.problem.target_bits):
                raise InputError(f"{len(labels):,} rows are too many for exact sums; evaluate them in parts")
            return encode_finely(self.target_column, labels, MEAN_PLACES)
        return class_numbers(self.target, labels, self.classes)

    def matrix(self, opened: npt.NDArray[Any]) -> ConfusionMatrix:
        """An opened confusion matrix ``[true, predicted]``."""
        self.need_classes()
        return ConfusionMatrix(
            opened.astype(np.int64).reshape(self.problem.classes, self.problem.classes), self.classes
        )

    def errors(self, opened: npt.NDArray[Any], rows: int) -> Errors:
        """What the opened sums of squared errors say."""
        if not self.problem.regression:
            raise InputError("the model predicts classes: ask for the confusion matrix")
        # An offset is in the truth and in the estimates, so errors and spread do not know it.
        return Errors.of_sums(
            RING128.decode_signed(opened).tolist(), rows, Fraction(10) ** -self.target_column.decimals
        )

    def need_classes(self) -> None:
        """Refuse what only a model of classes has."""
        if self.problem.regression:
            raise InputError("the model estimates a number: it has no probabilities and no confusion matrix")

    def entry(self) -> dict[str, Any]:
        """As it stands in a manifest."""
        return {
            "identity": self.identity,
            "algorithm": self.algorithm,
            "shape": asdict(self.problem),
            "target": self.target,
            "classes": list(self.classes),
            "columns": self.schema.entries(),
        }

    @staticmethod
    def of_entry(entry: Any) -> ModelFacts:
        """The inverse of :meth:`entry`; raises :class:`InputError` on anything else."""
        try:
            classes = tuple(entry["classes"])
            if not all(isinstance(value, str | int | float) for value in classes):
                raise InputError("the model's manifest contradicts itself")
            facts = ModelFacts(
                _problem_of(entry["shape"]),
                Schema.of_entries(entry["columns"]),
                str(entry["target"]),
                classes,
                str(entry["algorithm"]),
                str(entry["identity"]),
            )
        except (KeyError, TypeError) as error:
            raise InputError(f"the model's manifest is incomplete ({type(error).__name__})") from None
        problem, schema = facts.problem, facts.schema
        label = schema.label
        fits = problem.attributes == len(schema.attributes) and problem.value_bits == schema.value_bits
        fits = fits and problem.categories == schema.categories and problem.classes == len(classes)
        fits = fits and label is not None and (label.kind == "target") == problem.regression
        if not (fits and (not problem.regression or label.bits == problem.target_bits)):  # type: ignore[union-attr]
            raise InputError("the model's manifest contradicts itself")
        return facts


def gaps_text(names: Sequence[str]) -> str:
    """What happens to gaps that training did not know, in words."""
    listed = ", ".join(f"'{name}'" for name in names)
    return (
        f"values of {listed} are missing, and training knew no gaps there: a missing number takes the side of the "
        "smaller values in every test, a missing category is none of the listed ones"
    )


def _problem_of(entry: Any) -> Problem:
    """A problem from plain values; what older manifests do not say has its ordinary value."""
    plain: dict[str, Any] = {}
    for part in fields(Problem):
        value = entry[part.name] if part.default is MISSING or part.name in entry else part.default
        if part.name in ("categories", "class_weights"):
            value = tuple(value)
            whole = all(type(item) is int for item in value)
        else:
            whole = type(value) is (str if part.name in ("min_impurity_decrease", "criterion") else int)
        if not whole:
            raise InputError("the model's manifest contradicts itself")
        plain[part.name] = value
    return Problem(**plain)
