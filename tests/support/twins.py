"""The plaintext twin of every protocol: the same function on ordinary NumPy arrays, as plainly as it can be said."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[Any]


def multiply(x: Vector, y: Vector, bits: int) -> Vector:
    """Product modulo ``2**bits``."""
    return np.array([int(a) * int(b) % 2**bits for a, b in zip(x, y, strict=True)], dtype=object)


def dot(xs: Sequence[Vector], ys: Sequence[Vector], bits: int) -> Vector:
    """Item-wise inner product modulo ``2**bits``."""
    total = sum(multiply(x, y, bits) for x, y in zip(xs, ys, strict=True))
    return np.array([int(value) % 2**bits for value in np.atleast_1d(total)], dtype=object)


def inner_products(rows: Sequence[Vector], bits: int) -> Vector:
    """All inner products of rows with each other, modulo ``2**bits``."""
    sums = [sum(int(a) * int(b) for a, b in zip(x, y, strict=True)) for x in rows for y in rows]
    return np.array([value % 2**bits for value in sums], dtype=object)


def fraction(numerator: Vector, denominator: Vector, places: int) -> Vector:
    """⌊numerator·2^places / denominator⌋; every digit is 1 where the denominator is 0."""
    pairs = zip(numerator, denominator, strict=True)
    return np.array([(int(a) << places) // int(b) if b else 2 ** (places + 1) - 1 for a, b in pairs], dtype=object)


def less_than(x: Vector, y: Vector) -> Vector:
    """The bit x < y."""
    return np.array([int(a) < int(b) for a, b in zip(x, y, strict=True)], dtype=np.uint8)


def equal(x: Vector, y: Vector) -> Vector:
    """The bit x = y."""
    return np.array([int(a) == int(b) for a, b in zip(x, y, strict=True)], dtype=np.uint8)


def select(bit: Vector, if_one: Vector, if_zero: Vector) -> Vector:
    """``if_one`` where the bit is 1, else ``if_zero``."""
    return np.where(bit.astype(bool), if_one, if_zero)


def ring_to_bits(x: Vector, bits: int) -> Vector:
    """Rows of bits, lowest first."""
    return np.array([[int(a) >> k & 1 for a in x] for k in range(bits)], dtype=np.uint8).reshape(bits, len(x))


def apply(permutation: Vector, x: Vector) -> Vector:
    """Item i goes to place ``permutation[i]``."""
    out = np.empty_like(x)
    out[permutation.astype(np.int64)] = x
    return out


def unapply(permutation: Vector, x: Vector) -> Vector:
    """Item i comes from place ``permutation[i]``."""
    return x[permutation.astype(np.int64)]


def compose(outer: Vector, inner: Vector) -> Vector:
    """The permutation i → outer(inner(i))."""
    return unapply(inner, outer)


def invert(permutation: Vector) -> Vector:
    """The inverse permutation."""
    return apply(permutation, np.arange(len(permutation), dtype=permutation.dtype))


def sort_permutation(keys: Sequence[Vector]) -> Vector:
    """The stable permutation that sorts lexicographically, the first key weighing most."""
    order = sorted(range(len(keys[0])), key=lambda i: tuple(int(key[i]) for key in keys))
    places = np.empty(len(order), np.uint32)
    places[order] = np.arange(len(order), dtype=np.uint32)
    return places
