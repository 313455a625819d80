"""Numbers as fixed point: exact where a few decimals suffice, else rounded with the largest error known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from .schema import MAX_BITS, Column

MAX_DECIMALS = 15
ROUNDED_BITS = 52
"""Bits granted to a column that no number of decimals represents exactly, unless rows leave fewer."""

LARGEST_DECIMALS = 290

Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A column and the largest difference between a value and what is kept of it."""

    column: Column
    largest_error: float


def _wide(values: Values) -> Values:
    """Whole numbers in a type in which nothing here overflows."""
    return values.astype(object) if values.dtype == np.uint64 else values.astype(np.int64)


def _scaled(values: Values, decimals: int) -> Values:
    """v·10^decimals of floating-point numbers, not rounded."""
    with np.errstate(over="ignore"):
        return values * 10.0**decimals if decimals >= 0 else values / 10.0**-decimals


def _whole(values: Values, decimals: int) -> Values:
    """v·10^decimals rounded to whole numbers, as Python's where 64 bits could be exceeded."""
    if values.dtype.kind != "f":
        numbers = _wide(values)
        if decimals == 0:
            return numbers
        unit = 10 ** abs(decimals)
        exact: Values = numbers.astype(object)
        whole: Values = exact * unit if decimals > 0 else (exact + unit // 2) // unit
        return whole
    rounded = np.rint(_scaled(values, decimals))
    if rounded.size and not np.abs(rounded).max() < 2.0**62:
        return np.array([int(v) if np.isfinite(v) else 1 << 1100 for v in rounded], dtype=object)
    return rounded.astype(np.int64)


def _error(values: Values, whole: Values, decimals: int) -> float:
    """The largest difference between values and what is kept of them."""
    if not values.size:
        return 0.0
    if values.dtype.kind == "f":
        return float(np.abs(_scaled(whole.astype(np.float64), -decimals) - values).max())
    if decimals >= 0:
        return 0.0
    return float(max(abs(int(w) * 10**-decimals - int(v)) for w, v in zip(whole, values, strict=True)))


def _exact(values: Values, decimals: int) -> bool:
    """Whether every value is a multiple of 10^-decimals, as far as floating point can say."""
    if values.dtype.kind != "f":
        return True
    whole = np.rint(_scaled(values, decimals))
    return bool((np.abs(whole) < 2.0**53).all() and (whole / 10.0**decimals == values).all())


def _width(values: Values, decimals: int) -> tuple[int, bool]:
    """Bits and sign of a column kept with so many decimals."""
    whole = _whole(values, decimals)
    low, high = (int(whole.min()), int(whole.max())) if whole.size else (0, 0)
    if low < 0:
        return max(max(high, 0).bit_length(), (-low - 1).bit_length()) + 1, True
    return max(1, high.bit_length()), False


def propose_column(name: str, values: Values, most_bits: int = MAX_BITS) -> Proposal:
    """The fewest decimals that keep every value exactly; failing that, as many as fit, with the largest error.

    ``most_bits`` is what the number of rows leaves for a value.
    """
    check_numbers(name, values)
    for decimals in range(MAX_DECIMALS + 1):
        if _exact(values, decimals):
            bits, signed = _width(values, decimals)
            if bits <= most_bits:
                return Proposal(Column(name, "number", decimals, bits, signed), 0.0)
            break
    return _rounded(name, values, min(ROUNDED_BITS, most_bits) if values.dtype.kind == "f" else most_bits)


def _rounded(name: str, values: Values, most_bits: int) -> Proposal:
    """As many decimals as ``most_bits`` allow."""
    largest = max(abs(float(values.max())), abs(float(values.min())))
    decimals = int(np.floor((most_bits - 2) * np.log10(2.0) - np.log10(largest))) + 1
    decimals = min(decimals, LARGEST_DECIMALS if values.dtype.kind == "f" else -1)
    while True:
        bits, signed = _width(values, decimals)
        if bits <= most_bits:
            break
        decimals -= 1
    return Proposal(Column(name, "number", decimals, bits, signed), _error(values, _whole(values, decimals), decimals))


def check_numbers(name: str, values: Values) -> None:
    """Refuse what is no finite number, with the first row (counted from 1) at fault."""
    if values.dtype.kind not in "iubf":
        raise InputError(f"column '{name}' does not hold numbers")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0]) + 1
        raise InputError(f"column '{name}', row {row}: a value is missing or not finite; fill or drop it first")


def encode(column: Column, values: Values) -> tuple[npt.NDArray[np.uint64], float]:
    """Values as whole numbers from 0 on, below 2^bits, and the largest rounding error."""
    check_numbers(column.name, values)
    whole = _whole(values, column.decimals)
    low, high = -column.offset, (1 << column.bits) - 1 - column.offset
    if whole.size and (int(whole.min()) < low or int(whole.max()) > high):
        row = int(np.flatnonzero((whole < low) | (whole > high))[0]) + 1
        raise InputError(
            f"column '{column.name}', row {row}: the value does not fit the schema's {column.bits} bits with "
            f"{column.decimals} decimals; widen the schema or check the value"
        )
    return (whole + column.offset).astype(np.uint64), _error(values, whole, column.decimals)


def encode_doubled(column: Column, values: Values) -> npt.NDArray[np.uint64]:
    """⌊2·v·10^decimals⌋ from 0 on, for prediction; what lies outside the schema's range is moved to its end.

    Every test is 2v < t with a whole t inside the range, so neither the rounding down nor the moving changes it.
    """
    check_numbers(column.name, values)
    low, high = -column.offset, (1 << column.bits) - 1 - column.offset
    if values.dtype.kind == "f":
        doubled = np.rint(2 * _scaled(values, column.decimals))
        # The product is rounded; the quotient says on which side of the half grid a value really lies.
        doubled -= _scaled(doubled / 2, -column.decimals) > values
        # 2^63 itself is no 64-bit integer, so what is far beyond comes down in floating point first.
        doubled = np.clip(doubled, 2.0 * low, 2.0**63 - 1024).astype(np.int64)
    elif column.decimals < 0:
        doubled = values.astype(object) * 2 // 10**-column.decimals
    else:
        whole = _whole(values, column.decimals)
        # Moved into the range before it is doubled, so that no 64-bit integer overflows.
        doubled = np.clip(whole, low, high) * 2 + (whole > high)
    inside: npt.NDArray[np.uint64] = (np.clip(doubled, 2 * low, 2 * high + 1) - 2 * low).astype(np.uint64)
    return inside


def threshold_units(column: Column, threshold: int) -> float:
    """A trained threshold t of the test 2v < t in the column's own units."""
    doubled = threshold - 2 * column.offset
    return float(Fraction(doubled, 2) / Fraction(10) ** column.decimals)


def threshold_text(column: Column, threshold: int) -> str:
    """A trained threshold in the column's own units, every digit of it."""
    doubled = threshold - 2 * column.offset
    exact = Decimal(5 * doubled).scaleb(-1 - column.decimals)
    text = f"{exact:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def at_most(column: Column, threshold: int) -> float:
    """The test 2v < t as v ≤ x: the largest x on the half grid below the threshold, in the column's own units."""
    return threshold_units(column, threshold - 1)


def class_key(value: Any) -> str:
    """What two writings of a class have in common: ``1``, ``1.0``, ``True`` and the text "1" are the same one."""
    try:
        return f"{float(value):.17g}"
    except (TypeError, ValueError):
        return str(value)


def class_numbers(name: str, labels: Values, classes: Sequence[Any]) -> npt.NDArray[np.uint64]:
    """Every label's place in the list of classes."""
    place = {class_key(value): k for k, value in enumerate(classes)}
    values, inverse = np.unique(labels, return_inverse=True)
    keys = [class_key(value) for value in values.tolist()]
    if any(key not in place for key in keys):
        raise InputError(f"the label column '{name}' has a class that is not in the list of classes")
    return np.array([place[key] for key in keys], np.uint64)[inverse]
