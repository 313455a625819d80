"""f(k) = k·log2 k in whole numbers, as plainly as it can be said; entropy is made of it.

The logarithm has 56 binary places, found by squaring as with a slide rule; f keeps 32 of them, rounded down. So
f is off by less than 2^-31 for k below 2^24, the same on every machine.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

PLACES = 32
"""Binary places of f."""
LOGARITHM_PLACES = 56
_UNIT = 62


def logarithm(k: int) -> int:
    """⌊log2 k·2^56⌋, of which the last bit may be too low, for 1 ≤ k < 2^62."""
    exponent = k.bit_length() - 1
    mantissa, found = k << (_UNIT - exponent), exponent
    for _ in range(LOGARITHM_PLACES):
        mantissa = mantissa * mantissa >> _UNIT
        digit = mantissa >> (_UNIT + 1)
        mantissa >>= digit
        found = 2 * found + digit
    return found


@lru_cache(maxsize=1 << 20)
def k_log_k(k: int) -> int:
    """⌊k·log2 k·2^32⌋, from the logarithm above; 0 for 0."""
    return k * logarithm(k) >> (LOGARITHM_PLACES - PLACES) if k else 0


@lru_cache(maxsize=4)
def _table(size: int) -> npt.NDArray[np.int64]:
    return np.array([k_log_k(k) for k in range(size)], np.int64)


def k_log_k_of(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """f of every item."""
    largest = int(values.max(initial=0))
    if largest < 1 << 17:
        return _table(1 << largest.bit_length())[values]
    some, place = np.unique(values, return_inverse=True)
    return np.array([k_log_k(int(k)) for k in some], np.int64)[place].reshape(values.shape)
