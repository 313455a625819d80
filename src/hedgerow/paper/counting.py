"""The black box in the clear: ordinary integers, and exact counts of non-free operations and rounds.

Counted as in HIKC23, Section 2: Mul, EQ and LT of an item are one non-free operation each, linear operations none; all
items of a call are one round. The permutation protocols are those the paper names:

- Apply / Unapply (Falk and Ostrovsky: a Waksman network): one Mul per switch and column, 2⌈log n⌉ - 1 rounds.
- SortPerm (Laud and Willemson): a Shuffle of the keys (three networks, one per party), then n⌈log n⌉ lexicographic
  comparisons that are opened, in ⌈log n⌉ rounds of comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .box import Box, Private, Public


def ceil_log2(n: int) -> int:
    """⌈log2 n⌉, and 0 for n ≤ 1."""
    return max(0, (n - 1).bit_length())


def switches(n: int) -> int:
    """Switches of a Waksman network: the sum of ⌈log2 i⌉ for i = 1…n."""
    return sum(ceil_log2(i) for i in range(1, n + 1))


def network_rounds(n: int) -> int:
    """Depth of a Waksman network."""
    return max(0, 2 * ceil_log2(n) - 1)


def sort_rounds(n: int, keys: int) -> int:
    """Rounds of SortPerm: three networks, then levels of comparison (LT and EQ together, products, opening)."""
    return 3 * network_rounds(n) + ceil_log2(n) * (2 + 2 * (keys - 1))


@dataclass(slots=True)
class Tally:
    """Non-free operations by kind, and rounds."""

    mul: int = 0
    eq: int = 0
    lt: int = 0
    dec: int = 0
    rounds: int = 0

    @property
    def operations(self) -> int:
        """All non-free operations."""
        return self.mul + self.eq + self.lt + self.dec


class PlainVector(Private):
    """A vector the counting box can see."""

    __slots__ = ("values",)

    def __init__(self, box: CountingBox, values: npt.NDArray[Any]) -> None:
        super().__init__(box, values.shape)
        self.values = values


def _plain(x: Private | Public) -> Any:
    return x.values if isinstance(x, PlainVector) else x


class CountingBox(Box):
    """F_ABB on plain integers (Python's, so nothing overflows when ``exact``)."""

    def __init__(self) -> None:
        self.tally = Tally()

    def _vector(self, values: npt.NDArray[Any]) -> PlainVector:
        return PlainVector(self, values)

    def enc(self, values: Any) -> Private:
        """Values as they are."""
        return self._vector(np.asarray(values, dtype=object))

    def dec(self, x: Private) -> npt.NDArray[Any]:
        """The values."""
        values: npt.NDArray[Any] = _plain(x)
        return values

    def add(self, x: Private, y: Private | Public) -> Private:
        """Free."""
        return self._vector(_plain(x) + _plain(y))

    def scale(self, x: Private, factor: Public) -> Private:
        """Free."""
        return self._vector(_plain(x) * factor)

    def mul(self, x: Private, y: Private) -> Private:
        """One Mul per item, one round."""
        product = self._vector(_plain(x) * _plain(y))
        self.tally.mul += product.values.size
        self.tally.rounds += 1
        return product

    def dot(self, x: Private, y: Private) -> Private:
        """One Mul per term, one round."""
        products = self.mul(x, y)
        return self._vector(_plain(products).sum(axis=0))

    def eq(self, x: Private, y: Private | Public, bits: int) -> Private:
        """One EQ per item, one round."""
        result = self._vector((_plain(x) == _plain(y)).astype(object) * 1)
        self.tally.eq += result.values.size
        self.tally.rounds += 1
        return result

    def lt(self, x: Private, y: Private | Public, bits: int) -> Private:
        """One LT per item, one round."""
        result = self._vector((_plain(x) < _plain(y)).astype(object) * 1)
        self.tally.lt += result.values.size
        self.tally.rounds += 1
        return result

    def lt_fraction(self, x: tuple[Private, Private], y: tuple[Private, Private], bits: int) -> Private:
        """Two Muls and one LT per item, two rounds."""
        both = self.mul(self.stack([x[0], y[0]]), self.stack([y[1], x[1]]))
        return self.lt(both[0], both[1], bits)

    def apply(self, permutation: Any, columns: Sequence[Private]) -> list[Private]:
        """A network of switches per column."""
        self._count_network(columns)
        return [self._moved(permutation, column, inverse=False) for column in columns]

    def unapply(self, permutation: Any, columns: Sequence[Private]) -> list[Private]:
        """A network of switches per column."""
        self._count_network(columns)
        return [self._moved(permutation, column, inverse=True) for column in columns]

    def _count_network(self, columns: Sequence[Private], networks: int = 1) -> None:
        n = columns[0].n
        vectors = sum(_plain(column).size // n for column in columns)
        self.tally.mul += networks * vectors * switches(n)
        self.tally.rounds += networks * network_rounds(n)

    def _moved(self, permutation: npt.NDArray[Any], column: Private, inverse: bool) -> Private:
        places = np.broadcast_to(permutation, column.shape).astype(np.int64)
        if inverse:
            return self._vector(np.take_along_axis(_plain(column), places, axis=-1))
        moved = np.empty_like(_plain(column))
        np.put_along_axis(moved, places, _plain(column), axis=-1)
        return self._vector(moved)

    def sort_perm(self, keys: Sequence[Private], bits: Sequence[int]) -> Any:
        """The stable order; counted as a shuffle and n⌈log n⌉ opened comparisons."""
        n = keys[0].n
        self._count_network(keys, networks=3)
        comparisons = _plain(keys[0]).size * ceil_log2(n)
        self.tally.lt += comparisons * len(keys)
        self.tally.eq += comparisons * (len(keys) - 1)
        self.tally.mul += 2 * comparisons * (len(keys) - 1)
        self.tally.dec += comparisons
        self.tally.rounds += sort_rounds(n, len(keys)) - 3 * network_rounds(n)
        shape = np.broadcast_shapes(*(key.shape for key in keys))
        flat = [np.broadcast_to(_plain(key), shape).reshape(-1, n) for key in keys]
        places = np.empty(flat[0].shape, np.int64)
        for row in range(len(places)):
            order = sorted(range(n), key=lambda i, row=row: tuple(key[row, i] for key in flat))  # type: ignore[misc]
            places[row, order] = np.arange(n)
        return places.reshape(shape)

    def stack(self, parts: Sequence[Private]) -> Private:
        """Free."""
        return self._vector(np.stack([_plain(part) for part in parts]))

    def concatenate(self, head: Private, tail: Private) -> Private:
        """Free."""
        return self._vector(np.concatenate([_plain(head), _plain(tail)], axis=-1))

    def take(self, x: Private, index: Any) -> Private:
        """Free."""
        return self._vector(_plain(x)[index])

    def prefix_sum(self, x: Private) -> Private:
        """Free."""
        return self._vector(np.cumsum(_plain(x), axis=-1, dtype=object))
