"""The arithmetic black box F_ABB of HIKC23 as an interface, so that the paper's algorithms are written once.

A :class:`Private` is a private vector ⟦x⟧. Its last axis is the vector; leading axes are parallel executions of one
protocol ("for each j in parallel"), and NumPy's broadcasting pairs them up. Linear operations are free; products,
``equals`` and ``less`` are not. A *box* implements them: :class:`hedgerow.paper.replicated.ReplicatedBox` on shares
and :class:`hedgerow.paper.counting.CountingBox` in the clear, counting as the paper counts.

Declared bounds (``bits``) never change a result; they let an implementation work on fewer bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

Public = int | npt.NDArray[Any]


class Private:
    """A private vector ⟦x⟧ stored in a box."""

    __slots__ = ("box", "shape")
    __array_ufunc__ = None

    def __init__(self, box: Box, shape: tuple[int, ...]) -> None:
        self.box = box
        self.shape = shape

    def __repr__(self) -> str:
        return f"Private{self.shape}"

    @property
    def n(self) -> int:
        """The vector's length."""
        return self.shape[-1]

    def __add__(self, other: Private | Public) -> Private:
        return self.box.add(self, other)

    def __sub__(self, other: Private | Public) -> Private:
        return self.box.add(self, other * -1)

    def __rsub__(self, other: Public) -> Private:
        return self.box.add(self * -1, other)

    def __mul__(self, other: Private | Public) -> Private:
        return self.box.mul(self, other) if isinstance(other, Private) else self.box.scale(self, other)

    __rmul__ = __mul__
    __radd__ = __add__

    def __invert__(self) -> Private:
        """¬x = 1 - x, free."""
        return 1 - self

    def __getitem__(self, index: Any) -> Private:
        """Public indexing, free."""
        return self.box.take(self, index)


class Box(ABC):
    """What F_ABB and the protocols built on it offer."""

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Name what happens inside the block, for implementations that meter by step."""
        yield

    @abstractmethod
    def enc(self, values: Any) -> Private:
        """Public values as a private vector."""

    @abstractmethod
    def dec(self, x: Private) -> npt.NDArray[Any]:
        """Open a private vector to everybody."""

    @abstractmethod
    def add(self, x: Private, y: Private | Public) -> Private:
        """x + y, free."""

    @abstractmethod
    def scale(self, x: Private, factor: Public) -> Private:
        """Public multiple, free."""

    @abstractmethod
    def mul(self, x: Private, y: Private) -> Private:
        """x × y."""

    @abstractmethod
    def dot(self, x: Private, y: Private) -> Private:
        """Sum of x × y over the first axis."""

    @abstractmethod
    def eq(self, x: Private, y: Private | Public, bits: int) -> Private:
        """The bit x = y, for values below ``2**bits``."""

    @abstractmethod
    def lt(self, x: Private, y: Private | Public, bits: int) -> Private:
        """The bit x < y, for values below ``2**bits``."""

    @abstractmethod
    def lt_fraction(self, x: tuple[Private, Private], y: tuple[Private, Private], bits: int) -> Private:
        """The bit p/q < p'/q' by cross products, in a ring that holds them; ``bits`` bound them."""

    @abstractmethod
    def apply(self, permutation: Any, columns: Sequence[Private]) -> list[Private]:
        """Items moved to the places the private permutation says."""

    @abstractmethod
    def unapply(self, permutation: Any, columns: Sequence[Private]) -> list[Private]:
        """Items fetched from the places the private permutation says."""

    @abstractmethod
    def sort_perm(self, keys: Sequence[Private], bits: Sequence[int]) -> Any:
        """The private permutation that sorts lexicographically and stably."""

    @abstractmethod
    def stack(self, parts: Sequence[Private]) -> Private:
        """Vectors of one shape along a new first axis, free."""

    @abstractmethod
    def concatenate(self, head: Private, tail: Private) -> Private:
        """Two vectors one after the other, free."""

    @abstractmethod
    def take(self, x: Private, index: Any) -> Private:
        """Public indexing, free."""

    @abstractmethod
    def prefix_sum(self, x: Private) -> Private:
        """Running sums along the vector, free."""


def private_or(x: Private, y: Private) -> Private:
    """x OR y = x + y - x × y."""
    return x + y - x * y


def if_else(c: Private, t: Private, f: Private) -> Private:
    """IfElse(c, t, f) = f + c × (t - f)."""
    return f + c * (t - f)


def if_else_many(c: Private, ts: Sequence[Private | Public], fs: Sequence[Private]) -> list[Private]:
    """IfElse(c; t1, …; f1, …), all in the same round."""
    box = c.box
    differences = box.stack([box.add(f * -1, t) for t, f in zip(ts, fs, strict=True)])
    chosen = c * differences
    return [f + chosen[k] for k, f in enumerate(fs)]


def private_max(x: Private, y: Private, bits: int) -> Private:
    """Max(x, y) = IfElse(x < y, y, x)."""
    return if_else(x.box.lt(x, y, bits), y, x)


def prefix_sum(x: Private) -> Private:
    """PrefixSum: z[i] = x[1] + … + x[i]."""
    return x.box.prefix_sum(x)


def prefix_sum_inv(x: Private) -> Private:
    """PrefixSum⁻¹: z[1] = x[1], z[i] = x[i] - x[i-1]."""
    before = np.arange(x.n) - 1
    first = (before >= 0).astype(np.int64)
    return x - x[..., np.maximum(before, 0)] * first


def prefix_sum_r(x: Private) -> Private:
    """PrefixSumR: z[i] = x[i] + … + x[n]."""
    return x.box.prefix_sum(x[..., ::-1])[..., ::-1]


def prefix_sum_r_inv(x: Private) -> Private:
    """PrefixSumR⁻¹: z[n] = x[n], z[i] = x[i] - x[i+1]."""
    return prefix_sum_inv(x[..., ::-1])[..., ::-1]


def sort(keys: Sequence[Private], bits: Sequence[int], columns: Sequence[Private]) -> list[Private]:
    """Sort(x1, …; y1, …): SortPerm, then Apply to every column."""
    box = keys[0].box
    return box.apply(box.sort_perm(keys, bits), columns)


def tabulate(x: Private, table: npt.NDArray[Any]) -> Private:
    """A public function of private numbers below the length of its table: rows of the table, each with its difference
    to the row before, are sorted in front of the numbers that ask for them; running sums tell the values."""
    box, rows, leading = x.box, len(table), x.shape[:-1]
    numbers = np.broadcast_to(np.arange(rows), (*leading, rows))
    steps = np.zeros((*leading, rows + x.n), np.int64)
    steps[..., :rows] = np.diff(table.astype(np.int64), prepend=0)
    permutation = box.sort_perm([box.concatenate(box.enc(numbers), x)], [rows.bit_length()])
    (moved,) = box.apply(permutation, [box.enc(steps)])
    (found,) = box.unapply(permutation, [prefix_sum(moved)])
    return found[..., rows:]


Score = tuple[Private, Private]


def vect_max(scores: Score, payload: Sequence[Private], bits: int) -> list[Private]:
    """VectMax along the first axis: the payload at the highest score; of equal scores the first wins.

    A tournament of log rounds; the scores are fractions compared by cross products.
    """
    box = scores[0].box
    columns = [*scores, *payload]
    while columns[0].shape[0] > 1:
        count = columns[0].shape[0]
        half = count // 2
        low = [column[0 : 2 * half : 2] for column in columns]
        high = [column[1 : 2 * half : 2] for column in columns]
        less = box.lt_fraction((low[0], low[1]), (high[0], high[1]), bits)
        winners = if_else_many(less, high, low)
        odd = count % 2
        columns = [
            box.stack([*(w[k] for k in range(half)), *([c[count - 1]] if odd else [])])
            for w, c in zip(winners, columns, strict=True)
        ]
    return [column[0] for column in columns[2:]]
