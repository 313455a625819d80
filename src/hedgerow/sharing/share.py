"""Replicated shares: x = x0 + x1 + x2, and party i holds (x_i, x_{i+1}).

``left`` is the summand the left neighbour holds too, ``right`` the one the right neighbour holds too; the third summand
is unknown here. Values are immutable and their ``repr`` shows a shape, never content. Linear operations are local.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .ring import Ring, Words


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ArithmeticShare:
    """One party's part of a vector over a ring."""

    left: Words
    right: Words
    ring: Ring

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        return f"ArithmeticShare({len(self)} items, 2^{self.ring.bits})"

    def __add__(self, other: ArithmeticShare) -> ArithmeticShare:
        ring = self.ring
        return ArithmeticShare(ring.add(self.left, other.left), ring.add(self.right, other.right), ring)

    def __sub__(self, other: ArithmeticShare) -> ArithmeticShare:
        ring = self.ring
        return ArithmeticShare(ring.subtract(self.left, other.left), ring.subtract(self.right, other.right), ring)

    def __neg__(self) -> ArithmeticShare:
        zero = self.ring.zeros(1)
        return ArithmeticShare(self.ring.subtract(zero, self.left), self.ring.subtract(zero, self.right), self.ring)

    def scale(self, factor: int | Words) -> ArithmeticShare:
        """Product with a public number or a public vector."""
        known = factor if isinstance(factor, np.ndarray) else self.ring.encode([factor])
        return ArithmeticShare(self.ring.multiply(self.left, known), self.ring.multiply(self.right, known), self.ring)

    def __getitem__(self, index: slice | npt.NDArray[np.integer]) -> ArithmeticShare:
        return ArithmeticShare(self.left[index], self.right[index], self.ring)

    def prefix_sum(self) -> ArithmeticShare:
        """Running sums."""
        return ArithmeticShare(self.ring.prefix_sum(self.left), self.ring.prefix_sum(self.right), self.ring)

    def narrow(self, ring: Ring) -> ArithmeticShare:
        """The same value modulo a smaller power of two: local, because the summands reduce one by one."""
        if ring.bits > self.ring.bits:
            raise ValueError(f"narrow() cannot go from {self.ring} up to {ring}; use widen()")
        if ring == self.ring:
            return self
        left, right = (x[:, 0] if self.ring.bits == 128 else x for x in (self.left, self.right))
        return ArithmeticShare(left.astype(ring.dtype), right.astype(ring.dtype), ring)

    def lifted(self, ring: Ring) -> ArithmeticShare:
        """The same summands in a ring of one word that is not narrower: the number it stands for is right only modulo
        the size of this ring."""
        return ArithmeticShare(self.left.astype(ring.dtype), self.right.astype(ring.dtype), ring)

    @staticmethod
    def concatenate(parts: Sequence[ArithmeticShare]) -> ArithmeticShare:
        """One vector out of several of the same ring."""
        left = np.concatenate([part.left for part in parts])
        right = np.concatenate([part.right for part in parts])
        return ArithmeticShare(left, right, parts[0].ring)

    @staticmethod
    def total(parts: Sequence[ArithmeticShare]) -> ArithmeticShare:
        """The item-wise sum of several vectors of the same ring."""
        found = parts[0]
        for part in parts[1:]:
            found = found + part
        return found


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BinaryShare:
    """One party's part of ``rows`` bit vectors of ``count`` items, XOR-shared, packed 64 items to a word.

    Bits past the last item of a row's last word are padding without meaning.
    """

    left: Words
    right: Words
    count: int

    def __len__(self) -> int:
        return self.count

    @property
    def rows(self) -> int:
        """How many bit vectors there are."""
        return int(self.left.shape[0])

    def __repr__(self) -> str:
        return f"BinaryShare({self.rows} rows of {self.count} bits)"

    def __xor__(self, other: BinaryShare) -> BinaryShare:
        return BinaryShare(self.left ^ other.left, self.right ^ other.right, self.count)

    def row(self, index: int) -> BinaryShare:
        """One bit vector of several."""
        return BinaryShare(self.left[index : index + 1], self.right[index : index + 1], self.count)

    @staticmethod
    def stack(parts: Sequence[BinaryShare]) -> BinaryShare:
        """Several bit vectors of the same length as rows of one share."""
        left = np.concatenate([part.left for part in parts])
        right = np.concatenate([part.right for part in parts])
        return BinaryShare(left, right, parts[0].count)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ByteShare:
    """One party's part of a vector of bytes, XOR-shared item by item: up to eight bits that move as one."""

    left: Words
    right: Words

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        return f"ByteShare({len(self)} items)"

    def __getitem__(self, index: slice | npt.NDArray[np.integer]) -> ByteShare:
        return ByteShare(self.left[index], self.right[index])


def words_for(count: int) -> int:
    """Packed words that hold ``count`` bits."""
    return (count + 63) // 64
