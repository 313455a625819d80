"""Weights of rows and of classes as whole numbers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ExactnessError, InputError
from ..tables import class_key
from ..trees.criteria.bounds import MAX_MASS
from ..trees.problem import MAX_WEIGHT_BITS, Problem

Values = npt.NDArray[Any]


def kept_weights(weights: Values, rows: int, most: int | None = None) -> tuple[npt.NDArray[np.uint64], float]:
    """Weights as whole numbers from 0 on, and the largest relative error of one that is not 0.

    Whole numbers that fit are kept as they are. Fractions, and larger numbers, are scaled so that the largest becomes
    2^b - 1, for the most bits b that the number of rows leaves (or ``most``), and rounded to the nearest whole number,
    ties to the even one; those above 0 become at least 1. The arithmetic is exact.
    """
    values = np.asarray(weights)
    if values.shape != (rows,):
        raise InputError(f"{rows} rows need as many weights, not {values.shape}")
    if values.dtype.kind not in "iubf" or not np.isfinite(values).all() or (values < 0).any():
        raise InputError("weights must be numbers from 0 on")
    if not values.any():
        raise InputError("all weights are 0: there is nothing to learn from")
    most = most or most_weight_bits(rows)
    if (values == np.floor(values)).all() and (values < 1 << MAX_WEIGHT_BITS).all():
        return values.astype(np.uint64), 0.0
    exact = {value: Fraction(value) for value in set(values.tolist())}
    scale = Fraction((1 << most) - 1) / max(exact.values())
    kept = {value: max(int(part > 0), round(part * scale)) for value, part in exact.items()}
    errors = (abs(kept[value] / (part * scale) - 1) for value, part in exact.items() if part)
    return np.array([kept[value] for value in values.tolist()], np.uint64), float(max(errors))


def most_weight_bits(rows: int) -> int:
    """As many bits of a weight as fit, whatever the weights are: their number is public."""
    return max(1, min(MAX_WEIGHT_BITS, (MAX_MASS // rows + 1).bit_length() - 1))


def weight_bits(weights: npt.NDArray[np.uint64]) -> int:
    """Bits of the largest weight."""
    return int(weights.max(initial=1)).bit_length()


def with_class_weights(
    wanted: Any, classes: Sequence[Any], y: npt.NDArray[np.uint64], problem: Problem, weights: Values | None
) -> tuple[Problem, Any, float]:
    """The shape with public class weights, or, for "balanced", rows weighed in secret; and the largest relative error.

    Balanced weights would tell how many rows a class has, so they do not become public.
    """
    if wanted is None:
        return problem, weights, 0.0
    if isinstance(wanted, str):
        if wanted != "balanced":
            raise InputError(f"class_weight must be 'balanced' or weights by class, not {wanted!r}")
        mass = np.ones(len(y), np.uint64) if weights is None else weights
        counts = [int((mass[y == c] > 0).sum()) for c in range(len(classes))]
        exact = [Fraction(1, count) if count else Fraction(1) for count in counts]
        bits = most_weight_bits(problem.rows)
        factors, error = _whole_factors(exact, (1 << max(0, bits - problem.weight_bits)) - 1)
        weights = (mass * np.array(factors, np.uint64)[y.astype(np.int64)]).astype(np.uint64)
        return replace(problem, weight_bits=bits), weights, error
    if not isinstance(wanted, Mapping):
        raise InputError(f"class_weight must be 'balanced' or weights by class, not {type(wanted).__name__}")
    known = {class_key(name): _weight(weight) for name, weight in wanted.items()}
    unknown = known.keys() - {class_key(name) for name in classes}
    if len(known) < len(wanted):
        raise InputError("class_weight names a class twice")
    if unknown or any(weight <= 0 for weight in known.values()):
        raise InputError("class_weight must have a positive weight for some or all of the classes, and no others")
    largest = min((1 << MAX_WEIGHT_BITS) - 1, MAX_MASS // problem.mass_bound)
    factors, error = _whole_factors([known.get(class_key(name), Fraction(1)) for name in classes], largest)
    return replace(problem, class_weights=tuple(factors)), weights, error


def _weight(value: Any) -> Fraction:
    try:
        return Fraction(Decimal(str(value)))
    except (InvalidOperation, ValueError, OverflowError):
        raise InputError(f"a class weight must be a number, not {value!r}") from None


def _whole_factors(exact: Sequence[Fraction], largest: int) -> tuple[list[int], float]:
    """Whole numbers up to ``largest`` in the proportion of the given ones, and the largest relative error."""
    scale = Fraction(math.lcm(*(f.denominator for f in exact)), 1)
    scale /= math.gcd(*(int(f * scale) for f in exact))
    if largest < 1:
        raise ExactnessError("the rows' weights leave no room for class weights; use smaller weights or fewer rows")
    scale = min(scale, Fraction(largest) / max(exact))
    factors = [max(1, round(f * scale)) for f in exact]
    return factors, max(float(abs(factor / (f * scale) - 1)) for factor, f in zip(factors, exact, strict=True))
