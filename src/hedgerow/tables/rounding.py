"""What fixed point changes in a column, in words."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .moment import is_gap
from .schema import Column

Values = npt.NDArray[Any]

LEAST = 1e-12
"""Rounding below this part of a column's largest value is what floating point always does; it is not reported."""
LARGEST_WHOLE = 2.0**53
"""From here on floating point has no room for every whole number."""


def rounding_notices(column: Column, values: Values, kept: npt.NDArray[np.uint64], error: float) -> list[str]:
    """What to tell the owner of a column: how much rounding changed, whether it made the column constant, and whether
    its file's type had made whole numbers equal before."""
    if column.kind == "category":
        return []
    notices = []
    unit = " seconds" if column.kind == "date" else ""
    if error > LEAST * _largest(values):
        notices.append(f"'{column.name}' was rounded; the largest error is {error:.3g}{unit}")
    if error and len(kept) > 1 and not (kept != kept[0]).any() and _differ(values):
        notices.append(f"'{column.name}' became constant by rounding: declare more decimals or bits, or leave it out")
    if values.dtype.kind == "f" and bool((np.abs(values[np.isfinite(values)]) >= LARGEST_WHOLE).any()):
        notices.append(
            f"'{column.name}' has whole numbers beyond 2^53 as floating point, which cannot tell neighbours apart; "
            "write them as whole numbers, or as text if they are ids"
        )
    return notices


def _largest(values: Values) -> float:
    """The size of the largest number; 0 where there are dates."""
    if values.dtype.kind == "O":
        values = np.array([value for value in values if not is_gap(value)], float)
    if values.dtype.kind not in "iuf":
        return 0.0
    present = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    return float(max(abs(present.min()), abs(present.max()))) if present.size else 0.0


def _differ(values: Values) -> bool:
    present = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    return len(present) > 1 and bool((present != present[0]).any())
