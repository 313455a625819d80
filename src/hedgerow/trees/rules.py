"""What a user may ask of a training, besides its table: one list of names and ordinary values.

Estimators' parameters, command options, requests to the service and job specifications are all made of these.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from ..errors import InputError
from ..tables.digits import decimal_text
from .problem import CRITERIA, Problem

ALGORITHMS = ("fast", "paper")
SYNONYMS = {"log_loss": "entropy"}
"""Other names of criteria: scikit-learn's logarithmic loss is the entropy."""


@dataclass(frozen=True, slots=True)
class TrainingRules:
    """A height, an algorithm, and the rules that end growth before the height does.

    The numbers of rows may be shares of all rows, as in scikit-learn: 0.1 is a tenth of them, rounded up.
    ``class_weight`` has whole or fractional weights by class, or is "balanced". ``criterion`` is "gini", "entropy" (or
    "log_loss", which is the same) or "gain_ratio".
    """

    max_depth: int = 5
    algorithm: str = "fast"
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    min_impurity_decrease: float | str = 0.0
    class_weight: Mapping[Any, Any] | str | None = None
    regression: bool = False
    criterion: str = "gini"

    def stopping(self, rows: int) -> dict[str, Any]:
        """The rules that end growth in a table of so many rows, as :class:`.problem.Problem` takes them."""
        if isinstance(self.max_depth, bool) or not isinstance(self.max_depth, int | np.integer):
            raise InputError(f"max_depth must be a whole number, not {self.max_depth!r}")
        return {
            "height": int(self.max_depth),
            "min_samples_split": max(2, _row_count("min_samples_split", self.min_samples_split, rows, 2)),
            "min_samples_leaf": _row_count("min_samples_leaf", self.min_samples_leaf, rows, 1),
            "min_impurity_decrease": _decimal_text("min_impurity_decrease", self.min_impurity_decrease),
            "criterion": self._criterion(),
        }

    def _criterion(self) -> str:
        """The criterion by its one name."""
        if self.criterion not in (*CRITERIA, *SYNONYMS):
            raise InputError(f"unknown criterion {self.criterion!r}; choose one of {', '.join((*CRITERIA, *SYNONYMS))}")
        return SYNONYMS.get(self.criterion, self.criterion)

    def public(self) -> dict[str, Any]:
        """The rules as a consortium's parties take them: whole numbers, so they need not know the table to understand
        them."""
        for name in ("min_samples_split", "min_samples_leaf"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer):
                raise InputError(f"{name} must be a number of rows for a consortium's datasets, not {value!r}")
        weights = self.class_weight or {}
        if isinstance(weights, str) or any(int(weight) != weight for weight in weights.values()):
            raise InputError(
                "class_weight must have whole numbers by class for a consortium's datasets; they are public"
            )
        return {
            "algorithm": self.algorithm,
            "max_depth": int(self.max_depth),
            "min_samples_split": int(self.min_samples_split),
            # One row is what a leaf has anyway; the consortium's rules may want more.
            "min_samples_leaf": None if self.min_samples_leaf == 1 else int(self.min_samples_leaf),
            "min_impurity_decrease": _decimal_text("min_impurity_decrease", self.min_impurity_decrease),
            "class_weight": {str(name): int(weight) for name, weight in weights.items()},
            "criterion": self._criterion(),
        }


def check_algorithm(algorithm: str, problem: Problem) -> None:
    """Refuse unknown algorithms, and what HIKC23 as written does not learn."""
    if algorithm not in ALGORITHMS:
        raise InputError(f"unknown algorithm '{algorithm}'; choose one of {', '.join(ALGORITHMS)}")
    if algorithm == "fast":
        return
    sizes = problem.rows, problem.attributes, problem.height, problem.value_bits
    if problem != Problem(*sizes, criterion=problem.criterion):
        raise InputError(
            "algorithm 'paper' learns two classes from numbers, without weights or rules; use algorithm 'fast'"
        )


def _row_count(name: str, value: Any, rows: int, least: int) -> int:
    """A number of rows, given as such or as a share of all."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputError(f"{name} must be a number of rows or a share of them, not {value!r}")
    if isinstance(value, float | np.floating):
        if not 0.0 < value <= 1.0:
            raise InputError(f"{name} as a share of the rows must be above 0 and at most 1, not {value!r}")
        return max(least, math.ceil(value * rows))
    return int(value)


def _decimal_text(name: str, value: Any) -> str:
    """A decimal number as it is written, without exponent and needless zeros."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("nan")
    if isinstance(value, bool) or not number.is_finite():
        raise InputError(f"{name} must be a number, not {value!r}")
    return decimal_text(number)
