"""Numbers as fixed point: exact where a few decimals suffice, else rounded with the largest error known."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from .digits import decimal_text
from .moment import KEPT, coarsest_unit, moment_text, units_since_epoch
from .schema import MAX_BITS, MAX_CATEGORIES, MICROSECONDS, UNITS, Column, class_key, is_hash

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


def _scaled(values: Values, decimals: int) -> Values:
    """v·10^decimals of floating-point numbers, not rounded."""
    with np.errstate(over="ignore"):
        return values * 10.0**decimals if decimals >= 0 else values / 10.0**-decimals


def _whole(values: Values, decimals: int) -> Values:
    """v·10^decimals rounded to whole numbers, as Python's where 64 bits could be exceeded."""
    if values.dtype.kind != "f":
        numbers = values.astype(object if values.dtype == np.uint64 else np.int64)
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
    """Bits and sign of a column kept with this number of decimals."""
    whole = _whole(values, decimals)
    low, high = (int(whole.min()), int(whole.max())) if whole.size else (0, 0)
    if low < 0:
        return max(max(high, 0).bit_length(), (-low - 1).bit_length()) + 1, True
    return max(1, high.bit_length()), False


def propose_column(name: str, values: Values, most_bits: int = MAX_BITS, kind: str = "number") -> Proposal:
    """The fewest decimals that keep every value exactly; failing that, as many as fit, with the largest error.

    ``most_bits`` is what the number of rows leaves for a value. A number may be missing, a target may not. Dates are
    kept in the coarsest unit that keeps them exactly.
    """
    if values.dtype.kind == "M" and kind == "number":
        return _proposed_date(name, values, most_bits)
    present, missing = without_missing(name, values, allowed=kind == "number")
    if missing.any():
        most_bits -= 1
    found = _proposed(name, present, most_bits) if present.size else Proposal(Column(name), 0.0)
    return Proposal(replace(found.column, kind=kind, missing=bool(missing.any())), found.largest_error)


def _proposed_date(name: str, values: Values, most_bits: int) -> Proposal:
    """The coarsest unit that keeps dates exactly, or the finest that fits; the error is in seconds."""
    missing = np.isnat(values)
    present, most = values[~missing], most_bits - bool(missing.any())
    exact = coarsest_unit(present)
    for unit in UNITS[UNITS.index(exact) :: -1]:
        bits, signed = _width(units_since_epoch(present, unit), 0)
        if bits <= most:
            column = Column(name, "date", bits=bits, signed=signed, missing=bool(missing.any()), unit=unit)
            return Proposal(column, _date_error(present, unit))
    raise InputError(f"column '{name}': its dates need {bits} bits and the rows leave {most}; train on fewer rows")


def _date_error(present: Values, unit: str) -> float:
    """The largest part of a date, in seconds, that a unit cuts off."""
    cut = present.astype(KEPT).astype(np.int64) % MICROSECONDS[unit]
    return float(cut.max(initial=0)) / 1e6


def _dates_inside(column: Column, values: Values, gaps: bool = False) -> tuple[Values, npt.NDArray[np.bool_]]:
    """Dates as whole units since 1970, and which are missing; with ``gaps`` they may, whatever is declared."""
    if values.dtype.kind != "M":
        raise InputError(f"column '{column.name}' does not hold dates, which is what the schema declares")
    missing: npt.NDArray[np.bool_] = np.isnat(values)
    if missing.any() and not (gaps or column.missing):
        row = int(np.flatnonzero(missing)[0]) + 1
        raise InputError(f"column '{column.name}', row {row}: a date is missing; declare 'missing = true' or fill it")
    return units_since_epoch(values[~missing], column.unit), missing


def _proposed(name: str, values: Values, most_bits: int) -> Proposal:
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


def without_missing(name: str, values: Values, allowed: bool = False) -> tuple[Values, npt.NDArray[np.bool_]]:
    """The numbers that are there, and which are not; refuses what is no finite number, with the first row (counted from
    1) at fault."""
    missing = np.zeros(len(values), bool)
    if values.dtype == object and all(value is None or isinstance(value, int | float) for value in values):
        missing = np.array([value is None or value != value for value in values], bool)
        present: Values = np.array(values[~missing].tolist() or [0.0][:0])
    else:
        if values.dtype.kind == "f":
            values = _shortest(values)
            missing = np.isnan(values)
        present = values[~missing] if missing.any() else values
    if present.dtype.kind not in "iubf":
        raise InputError(f"column '{name}' does not hold numbers")
    if missing.any() and not allowed:
        row = int(np.flatnonzero(missing)[0]) + 1
        raise InputError(
            f"column '{name}', row {row}: a value is missing; fill or drop it first, or declare 'missing = true' "
            "for an attribute"
        )
    if present.dtype.kind == "f" and not np.isfinite(present).all():
        row = int(np.flatnonzero(~missing)[np.flatnonzero(np.isinf(present))[0]]) + 1
        raise InputError(f"column '{name}', row {row}: a value is not finite; fill or drop it first")
    return present, missing


def _shortest(values: Values) -> Values:
    """Floating point of 64 bits; narrower numbers as the decimals they print as, not as what their bits stand for."""
    if values.dtype.itemsize >= 8:
        return values.astype(np.float64)
    distinct, inverse = np.unique(values, return_inverse=True)
    return np.array([float(str(value)) for value in distinct], np.float64)[inverse]


def _filled(column: Column, present: Values, missing: npt.NDArray[np.bool_], factor: int) -> npt.NDArray[np.uint64]:
    """Numbers above the column's base, missing ones at 0."""
    numbers = present.astype(np.uint64) + np.uint64(factor * column.base)
    if not missing.any():
        return numbers
    out = np.zeros(len(missing), np.uint64)
    out[~missing] = numbers
    return out


def encode(column: Column, values: Values) -> tuple[npt.NDArray[np.uint64], float]:
    """Values as whole numbers from 0 on in the column's width, categories as places; and the largest rounding error."""
    if column.kind == "category":
        return _places(column, values, unknown=None), 0.0
    if column.kind == "date":
        whole, missing = _dates_inside(column, values)
    else:
        present, missing = without_missing(column.name, values, column.missing)
        whole = _whole(present, column.decimals)
    low, high = -column.offset, (1 << column.bits) - 1 - column.offset
    if whole.size and (int(whole.min()) < low or int(whole.max()) > high):
        at_fault = np.flatnonzero((whole < low) | (whole > high))[0]
        row = int(np.flatnonzero(~missing)[at_fault]) + 1
        raise InputError(
            f"column '{column.name}', row {row}: the value does not fit the schema's {column.bits} bits "
            f"{_precision(column)}; widen the schema or check the value"
        )
    dated = column.kind == "date"
    error = _date_error(values[~missing], column.unit) if dated else _error(present, whole, column.decimals)
    return _filled(column, whole + column.offset, missing, 1), error


def _precision(column: Column) -> str:
    return f"of {column.unit}s since 1970" if column.kind == "date" else f"with {column.decimals} decimals"


def encode_doubled(column: Column, values: Values) -> npt.NDArray[np.uint64]:
    """⌊2·v·10^decimals⌋ from 0 on, for prediction; what lies outside the schema's range is moved to its end.

    Every test is 2v < t with a whole t inside the range, so neither the rounding down nor the moving changes it. A gap
    is 0, below every t, whether or not training knew gaps. Categories are not doubled; one that is not listed, or a gap
    where none were known, gets the place behind the last.
    """
    if column.kind == "category":
        return _places(column, values, unknown=column.places)
    low, high = -column.offset, (1 << column.bits) - 1 - column.offset
    if column.kind == "date":
        # A time belongs to the unit it falls into, in training as here, so that "before the 5th" is exact.
        units, missing = _dates_inside(column, values, gaps=True)
        return _filled(column, np.clip(units, low, high) * 2 - 2 * low + (units > high), missing, 2)
    present, missing = without_missing(column.name, values, allowed=True)
    if present.dtype.kind == "f":
        doubled = np.rint(2 * _scaled(present, column.decimals))
        # The product is rounded; the quotient says on which side of the half grid a value really lies.
        doubled -= _scaled(doubled / 2, -column.decimals) > present
        # 2^63 itself is not a 64-bit integer, so values far beyond it are clipped in floating point first.
        doubled = np.clip(doubled, 2.0 * low, 2.0**63 - 1024).astype(np.int64)
    elif column.decimals < 0:
        doubled = present.astype(object) * 2 // 10**-column.decimals
    else:
        whole = _whole(present, column.decimals)
        # Moved into the range before it is doubled, so that no 64-bit integer overflows.
        doubled = np.clip(whole, low, high) * 2 + (whole > high)
    inside = np.clip(doubled, 2 * low, 2 * high + 1) - 2 * low
    return _filled(column, inside, missing, 2)


def category_key(value: Any) -> str | None:
    """A category as text, whole numbers without a point; None if the value is missing. Different texts differ."""
    if isinstance(value, str):
        return value
    text = str(value)
    if value is None or text in ("nan", "NaN", "<NA>", "NaT"):
        return None
    return str(int(value)) if isinstance(value, float | np.floating) and value.is_integer() else text


def _distinct(name: str, values: Values) -> set[Any]:
    try:
        return set(values.tolist())
    except TypeError:
        raise InputError(f"column '{name}' holds neither numbers nor text; leave it out") from None


def propose_category(name: str, values: Values) -> Column:
    """All categories that occur, sorted as text."""
    found = {category_key(value) for value in _distinct(name, values)}
    missing = None in found
    if len(found) > MAX_CATEGORIES:
        raise InputError(
            f"column '{name}' has {len(found):,} different values; at most {MAX_CATEGORIES:,} categories are "
            "supported: leave it out or group its values"
        )
    return Column(
        name, "category", categories=tuple(sorted(text for text in found if text is not None)), missing=missing
    )


def _places(column: Column, values: Values, unknown: int | None) -> npt.NDArray[np.uint64]:
    """Every value's place among the column's categories; others get ``unknown`` or are refused."""
    place: dict[str | None, int] = {name: k for k, name in enumerate(column.categories)}
    if column.missing:
        place[None] = len(column.categories)
    if column.hashed and any(isinstance(value, str) and not is_hash(value) for value in set(values.tolist())):
        raise InputError(
            f"column '{column.name}': the model knows hashes of names, not names; give the key they were made with "
            "(--name-key), or a book that has all of them (--names)"
        )
    found = [place.get(category_key(value), unknown) for value in values.tolist()]
    if None in found:
        row = found.index(None) + 1
        what = "is missing" if category_key(values[row - 1]) is None else "is none of the listed categories"
        raise InputError(f"column '{column.name}', row {row}: the value {what}; widen the schema or check the value")
    return np.array(found, np.uint64)


def has_gaps(values: Values) -> bool:
    """Whether a value of any column is missing."""
    if values.dtype.kind == "M":
        return bool(np.isnat(values).any())
    if values.dtype.kind == "f":
        return bool(np.isnan(values).any())
    return values.dtype == object and any(category_key(value) is None for value in set(values.tolist()))


def is_missing_test(column: Column, threshold: int) -> bool:
    """Whether a trained threshold of a number asks if the value is missing."""
    return column.missing and threshold < 2 * column.base


def encode_finely(column: Column, values: Values, places: int) -> npt.NDArray[np.uint64]:
    """A target's values as they are kept, with binary places more, whether or not they fit the column: to be compared
    with estimates. A negative one stands for 2^64 more."""
    present, _ = without_missing(column.name, values)
    if present.dtype.kind == "f":
        whole = np.rint(_scaled(present, column.decimals) * 2.0**places)
        if not (np.abs(whole) < 2.0 ** (62 - 2)).all():
            raise InputError(f"'{column.name}': a value is too far from the trained ones to be compared with estimates")
        numbers = whole.astype(np.int64).astype(object)
    else:
        power = 10 ** abs(column.decimals)
        exact = present.astype(object) * (1 << places)
        numbers = exact * power if column.decimals >= 0 else exact // power
    numbers = numbers + (column.offset << places)
    if any(abs(number) >= 1 << 61 for number in numbers):
        raise InputError(f"'{column.name}': a value is too far from the trained ones to be compared with estimates")
    return np.array([int(number) % (1 << 64) for number in numbers], np.uint64)


def kept_squared(column: Column, text: str) -> str:
    """A decimal number in a target's squared units as one in those it is kept in; as it is where there are none."""
    if column.kind != "target":
        return text
    return decimal_text(Decimal(text).scaleb(2 * column.decimals))


def threshold_units(column: Column, threshold: int) -> float:
    """A trained threshold t of the test 2v < t in the column's own units."""
    doubled = threshold - 2 * (column.offset + column.base)
    return float(Fraction(doubled, 2) / Fraction(10) ** column.decimals)


def threshold_text(column: Column, threshold: int) -> str:
    """A trained threshold in the column's own units, every digit of it; of dates the first one on the other side."""
    doubled = threshold - 2 * (column.offset + column.base)
    if column.kind == "date":
        return moment_text(-(-doubled // 2), column.unit)
    return decimal_text(Decimal(5 * doubled).scaleb(-1 - column.decimals))


def at_most(column: Column, threshold: int) -> float:
    """The test 2v < t as v ≤ x: the largest floating-point number below the threshold, in the column's own units."""
    return float(np.nextafter(threshold_units(column, threshold), -np.inf))


def class_numbers(name: str, labels: Values, classes: Sequence[Any]) -> npt.NDArray[np.uint64]:
    """Every label's place in the list of classes."""
    place = {class_key(value): k for k, value in enumerate(classes)}
    values, inverse = np.unique(labels, return_inverse=True)
    keys = [class_key(value) for value in values.tolist()]
    if any(key not in place for key in keys):
        hidden = " (those are hashes of names: give the key, --name-key, or the books of names, --names)"
        hint = hidden if any(map(is_hash, classes)) else ""
        raise InputError(f"the label column '{name}' has a class that is not in the list of classes{hint}")
    return np.array([place[key] for key in keys], np.uint64)[inverse]
