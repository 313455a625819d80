"""The public shape of a training run, and the checks made before anything is shared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ExactnessError, InputError
from ..sharing import RING32, RING64, Ring

MAX_HEIGHT = 62
MAX_VALUE_BITS = 62


@dataclass(frozen=True, slots=True)
class TreeShape:
    """All that anybody may know: rows, attributes, height and the declared bits of a value."""

    rows: int
    attributes: int
    height: int
    value_bits: int

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise InputError("the table is empty: at least one row is needed")
        if self.attributes < 1:
            raise InputError("the table has no input attribute: at least one column besides the label is needed")
        if not 0 <= self.height <= MAX_HEIGHT:
            raise InputError(f"the height must be between 0 and {MAX_HEIGHT}, not {self.height}")
        if not 1 <= self.value_bits <= MAX_VALUE_BITS:
            raise InputError(f"values may have 1 to {MAX_VALUE_BITS} bits, not {self.value_bits}")
        if self.value_bits + max(1, (self.rows - 1).bit_length()) > 63:
            raise ExactnessError(
                f"{self.value_bits} bits a value and {self.rows} rows: a value with its row number must fit 63 bits; "
                "declare fewer bits or train on fewer rows"
            )
        if self.rows**3 // 4 >= 1 << 62:
            raise ExactnessError(
                f"{self.rows} rows: score numerators up to n^3/4 would need more than 62 bits, so splits could not be "
                "exact; train on at most 2,642,245 rows"
            )

    @property
    def count_bits(self) -> int:
        """Bits of a number of rows."""
        return self.rows.bit_length()

    @property
    def value_ring(self) -> Ring:
        """The narrowest ring that compares values and thresholds, which are sums of two values."""
        return RING32 if self.value_bits + 2 <= RING32.bits else RING64

    @property
    def number_ring(self) -> Ring:
        """The narrowest ring for node numbers."""
        return RING32 if self.height < RING32.bits else RING64

    @property
    def cross_bits(self) -> int:
        """Bits of a cross product of scores p·q'.

        With q = u·w and p = w·Σu_c² + u·Σw_c² ≤ u·w·(u + w), q is at most n²/4 and p at most n³/4.
        """
        return max(1, (self.rows**3 // 4) * (self.rows**2 // 4)).bit_length()

    def layer_length(self, layer: int) -> int:
        """The length of the vectors of a layer: min(n, 2^k)."""
        return min(self.rows, 1 << layer)


def check_table(x: Any, y: Any, height: int, value_bits: int | None = None) -> tuple[npt.NDArray[Any], Any, TreeShape]:
    """Check a table of attributes ``x[m, n]`` and labels ``y[n]``; returns integer arrays and the shape.

    Raises :class:`InputError` with what to do, before any share is made.
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
    shape = TreeShape(values.shape[1], values.shape[0], int(height), bits)
    return values.astype(np.uint64), labels.astype(np.uint64), shape
