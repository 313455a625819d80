"""The public facts of a training run, and the checks made before anything is shared."""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ExactnessError, InputError
from ..reference.tree import TwinRules, tested_categories
from ..tables.schema import MAX_CATEGORIES, MAX_CLASSES
from .criteria.bounds import EntropyBounds, ScoreBounds
from .widths import Widths

MAX_HEIGHT = 62
MAX_VALUE_BITS = 62
MAX_TARGET_BITS = 40
MAX_WEIGHT_BITS = 16
DECIMAL = r"[0-9]{1,99}(\.[0-9]{1,99})?"
CRITERIA = ("gini", "entropy", "gain_ratio")
"""What a split of classes is judged by; numbers are estimated by the squared error whatever it says."""
MEAN_PLACES = 16
"""Binary places of a leaf's mean."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing a node can test: an attribute's number against a threshold, or whether its category is this one.

    A category's feature is the bit "another category", so that "is it less than a half" asks for the category.
    """

    attribute: int
    category: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """All that anybody may know: rows, attributes, height, the declared bits of a value, and what is to be learnt.

    ``classes`` counts the label's classes; 0 stands for a number of ``target_bits`` bits to be estimated (regression).
    ``weight_bits`` are those of a row's secret weight, 0 if every row weighs one; ``class_weights`` are public factors
    of them, one per class, or empty. ``categories`` has, per attribute, the length of its list of categories, 0 for a
    number; empty if all are numbers. The other three are the rules that end growth before the height does;
    ``min_impurity_decrease`` is a decimal number as text, so that it is exact. ``criterion`` is one of
    :data:`CRITERIA`.
    """

    rows: int
    attributes: int
    height: int
    value_bits: int
    classes: int = 2
    target_bits: int = 0
    weight_bits: int = 0
    categories: tuple[int, ...] = ()
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_impurity_decrease: str = "0"
    class_weights: tuple[int, ...] = ()
    criterion: str = "gini"

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise InputError("the table is empty: at least one row is needed")
        if self.attributes < 1:
            raise InputError("the table has no input attribute: at least one column besides the label is needed")
        if not 0 <= self.height <= MAX_HEIGHT:
            raise InputError(f"the height must be between 0 and {MAX_HEIGHT}, not {self.height}")
        if not 1 <= self.value_bits <= MAX_VALUE_BITS:
            raise InputError(f"values may have 1 to {MAX_VALUE_BITS} bits, not {self.value_bits}")
        self._check_columns()
        self._check_rules()
        if self.value_bits + max(1, (self.rows - 1).bit_length()) > 63:
            raise ExactnessError(
                f"{self.value_bits} bits per value and {self.rows} rows: a value with its row number must fit 63 bits; "
                "declare fewer bits or train on fewer rows"
            )
        self.bounds.check()

    def _check_columns(self) -> None:
        """Refuse labels, targets, weights and categories that cannot be."""
        if not (self.classes == 0 or 2 <= self.classes <= MAX_CLASSES):
            raise InputError(f"a label has 2 to {MAX_CLASSES} classes, not {self.classes}")
        if not (1 <= self.target_bits <= MAX_TARGET_BITS if self.regression else self.target_bits == 0):
            raise InputError(
                f"a target may have 1 to {MAX_TARGET_BITS} bits, not {self.target_bits}: use fewer decimals"
            )
        if not 0 <= self.weight_bits <= MAX_WEIGHT_BITS:
            raise InputError(f"weights may have up to {MAX_WEIGHT_BITS} bits, not {self.weight_bits}")
        if self.class_weights and len(self.class_weights) != self.classes:
            raise InputError(f"{self.classes} classes need as many class weights or none")
        if any(not 1 <= weight < 1 << MAX_WEIGHT_BITS for weight in self.class_weights):
            raise InputError(f"class weights are whole numbers from 1 to {(1 << MAX_WEIGHT_BITS) - 1:,}")
        if self.categories and len(self.categories) != self.attributes:
            raise InputError(f"{self.attributes} attributes need as many numbers of categories or none")
        if any(not 0 <= count <= MAX_CATEGORIES for count in self.categories):
            raise InputError(f"an attribute may have up to {MAX_CATEGORIES} categories, not {max(self.categories)}")

    def _check_rules(self) -> None:
        """Refuse rules that make no sense."""
        if self.criterion not in CRITERIA:
            raise InputError(f"unknown criterion '{self.criterion}'; choose one of {', '.join(CRITERIA)}")
        if self.regression and self.criterion != "gini":
            raise InputError(f"criterion '{self.criterion}' needs classes; a number is estimated by the squared error")
        if self.min_samples_split < 2:
            raise InputError(f"min_samples_split must be at least 2, not {self.min_samples_split}")
        if self.min_samples_leaf < 1:
            raise InputError(f"min_samples_leaf must be at least 1, not {self.min_samples_leaf}")
        if not re.fullmatch(DECIMAL, self.min_impurity_decrease):
            raise InputError("min_impurity_decrease must be a decimal number that is not negative, written in digits")

    @property
    def regression(self) -> bool:
        """Whether a number is estimated, not a class."""
        return self.classes == 0

    @property
    def row_weights(self) -> bool:
        """Whether rows have secret weights of their own."""
        return self.weight_bits > 0

    @property
    def weighted(self) -> bool:
        """Whether rows may differ in weight."""
        return self.row_weights or bool(self.class_weights)

    @property
    def heaviest(self) -> int:
        """The largest weight of a row."""
        own = (1 << self.weight_bits) - 1 if self.row_weights else 1
        return own * max(self.class_weights, default=1)

    @property
    def mass_bound(self) -> int:
        """The largest total weight."""
        return self.rows * self.heaviest

    @property
    def largest_target(self) -> int:
        """The largest number a row can contribute to a sum, per weight."""
        return (1 << self.target_bits) - 1 if self.regression else 1

    @property
    def least_decrease(self) -> Fraction:
        """``min_impurity_decrease`` as an exact fraction."""
        return Fraction(self.min_impurity_decrease)

    @property
    def checks_gain(self) -> bool:
        """Whether a split must lower the impurity by something; in regression it must always lower the error."""
        return self.regression or self.least_decrease > 0

    @property
    def needs_gain(self) -> bool:
        """Whether what a split gains matters, not only which one gains most: entropy looks up more then."""
        return self.checks_gain or self.criterion == "gain_ratio"

    @property
    def features(self) -> list[Feature]:
        """What can be tested: every number, and of every category whether it is the row's."""
        return _features(self.attributes, self.categories)

    @property
    def numeric_attributes(self) -> list[int]:
        """The attributes that are numbers."""
        return [j for j in range(self.attributes) if not (self.categories and self.categories[j])]

    @property
    def feature_bits(self) -> int:
        """Bits of a feature's number, counted from 1."""
        return len(self.features).bit_length()

    @property
    def widths(self) -> Widths:
        """The rings and bits of everything that is computed."""
        return Widths(self)

    @property
    def bounds(self) -> ScoreBounds:
        """How large scores can become."""
        return ScoreBounds(self) if self.criterion == "gini" else EntropyBounds(self)

    @property
    def twin_rules(self) -> TwinRules:
        """What the plaintext twin must know of it."""
        return TwinRules(
            self.classes,
            self.min_samples_split,
            self.min_samples_leaf,
            self.least_decrease,
            MEAN_PLACES,
            self.criterion,
        )

    def layer_length(self, layer: int) -> int:
        """The length of the vectors of a layer: min(n, 2^k)."""
        return min(self.rows, 1 << layer)


@lru_cache(maxsize=64)
def _features(attributes: int, categories: tuple[int, ...]) -> list[Feature]:
    found = []
    for attribute in range(attributes):
        count = categories[attribute] if categories else 0
        if count == 0:
            found.append(Feature(attribute))
        else:
            found += [Feature(attribute, category) for category in tested_categories(count)]
    return found


def check_table(x: Any, y: Any, height: int, value_bits: int | None = None) -> tuple[npt.NDArray[Any], Any, Problem]:
    """Check a table of attributes ``x[m, n]`` and labels ``y[n]``; returns integer arrays and the problem.

    Raises :class:`InputError` that says what to do, before any share is made.
    """
    values, labels = np.asarray(x), np.asarray(y)
    if values.ndim != 2:
        raise InputError(f"attributes must be a table (attribute by row), not an array with {values.ndim} dimensions")
    if labels.ndim != 1 or len(labels) != values.shape[1]:
        raise InputError(f"{values.shape[1]} rows of attributes need as many labels, not {labels.shape}")
    if not isinstance(height, int | np.integer):
        raise InputError(f"the height must be a whole number, not {height!r}")
    for name, array in (("attributes", values), ("labels", labels)):
        if array.dtype.kind == "f":
            if array.size and not np.isfinite(array).all():
                raise InputError(f"the {name} contain NaN or infinity: fill or drop missing values first")
            if (array != np.floor(array)).any():
                raise InputError(f"the {name} contain fractions: scale them to whole numbers first")
        elif array.dtype.kind not in "iub":
            raise InputError(f"the {name} must be whole numbers, not {array.dtype}")
    if labels.size and not np.isin(labels, (0, 1)).all():
        raise InputError("labels must be 0 or 1: encode the two classes first")
    if values.size and values.min() < 0:
        raise InputError("attribute values must not be negative: add an offset to the column first")
    largest = int(values.max()) if values.size else 0
    bits = value_bits if value_bits is not None else max(1, largest.bit_length())
    if largest >= 1 << bits:
        raise InputError(f"the largest attribute value does not fit the declared {bits} bits: declare more")
    problem = Problem(values.shape[1], values.shape[0], int(height), bits)
    return values.astype(np.uint64), labels.astype(np.uint64), problem
