"""Shared numbers: x = x0 + x1 + x2 in a ring, and party i holds (x_i, x_{i+1}).

``left`` is the summand that the left neighbour holds too, ``right`` the one that the right neighbour holds too; this
party does not know the third. Every local move is a method here, so that nobody outside :mod:`hedgerow.shares` and
:mod:`hedgerow.schemes` reads a summand. Values are immutable, and their ``repr`` shows a shape, never content.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..kernels import permute
from .ring import Ring, Words


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Numbers:
    """One party's part of a vector over a ring."""

    left: Words
    right: Words
    ring: Ring

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        return f"Numbers({len(self)} items, {self.ring!r})"

    def map(self, change: Callable[..., Words], *others: Numbers, ring: Ring | None = None) -> Numbers:
        """The same linear change of both summands; it gets this vector's summand and those of ``others``."""
        left = change(self.left, *(other.left for other in others))
        return Numbers(left, change(self.right, *(other.right for other in others)), ring or self.ring)

    def __add__(self, other: Numbers) -> Numbers:
        return self.map(self.ring.add, other)

    def __sub__(self, other: Numbers) -> Numbers:
        return self.map(self.ring.subtract, other)

    def __neg__(self) -> Numbers:
        zero = self.ring.zeros(1)
        return self.map(lambda side: self.ring.subtract(zero, side))

    def scale(self, factor: int | Words) -> Numbers:
        """Product with a public number or a public vector."""
        known = factor if isinstance(factor, np.ndarray) else self.ring.encode([factor])
        return self.map(lambda side: self.ring.multiply(side, known))

    def __getitem__(self, index: slice | npt.NDArray[np.integer]) -> Numbers:
        return self.map(lambda side: side[index])

    def gather(self, order: Words) -> Numbers:
        """For item i the item ``order[i]``; the order must be (part of) a checked permutation."""
        if self.ring.bits == 128:
            return self[order]
        return self.map(lambda side: gathered(side, order))

    def prefix_sum(self) -> Numbers:
        """Running sums."""
        return self.map(self.ring.prefix_sum)

    def sum(self) -> Numbers:
        """The sum of all items as one item; no item if there are none."""
        return self.prefix_sum()[max(0, len(self) - 1) :]

    def spread(self, count: int) -> Numbers:
        """One item as ``count`` equal ones."""
        return self[np.zeros(count, np.int64)]

    def repeat_each(self, times: int) -> Numbers:
        """Every item ``times`` times in a row."""
        return self.map(lambda side: np.repeat(side, times, axis=0))

    def pad(self, length: int) -> Numbers:
        """Zeros appended up to ``length`` items."""
        if length == len(self):
            return self
        zeros = self.ring.zeros(length - len(self))
        return self.map(lambda side: np.concatenate([side, zeros]))

    def later(self) -> Numbers:
        """Every item one place later, 0 first."""
        zero = self.ring.zeros(min(1, len(self)))
        return self.map(lambda side: np.concatenate([zero, side[:-1]]))

    def pieces(self, stride: int, count: int | None = None) -> list[Numbers]:
        """Pieces of ``stride`` items, of each the first ``count`` ones."""
        size = stride if count is None else count
        return [self[start : start + size] for start in range(0, len(self), stride)]

    def cut_like(self, parts: Sequence[Numbers]) -> list[Numbers]:
        """Pieces as long as ``parts``, one after the other: undoes :meth:`concatenate`."""
        ends = np.cumsum([len(part) for part in parts]).tolist()
        return [self[end - len(part) : end] for part, end in zip(parts, ends, strict=True)]

    def narrow(self, ring: Ring) -> Numbers:
        """The same value modulo a smaller power of two: local, because the summands reduce one by one."""
        if ring.bits > self.ring.bits:
            raise ValueError(f"narrow() cannot go from {self.ring} up to {ring}; use widen()")
        if ring == self.ring:
            return self
        wide = self.ring.bits == 128
        return self.map(lambda side: (side[:, 0] if wide else side).astype(ring.dtype), ring=ring)

    def lifted(self, ring: Ring) -> Numbers:
        """The same summands in a ring of one word that is not narrower: the number it stands for is right only modulo
        the size of this ring."""
        return self.map(lambda side: side.astype(ring.dtype), ring=ring)

    @staticmethod
    def concatenate(parts: Sequence[Numbers]) -> Numbers:
        """One vector out of several of the same ring."""
        left = np.concatenate([part.left for part in parts])
        right = np.concatenate([part.right for part in parts])
        return Numbers(left, right, parts[0].ring)

    @staticmethod
    def total(parts: Sequence[Numbers]) -> Numbers:
        """The item-wise sum of several vectors of the same ring."""
        found = parts[0]
        for part in parts[1:]:
            found = found + part
        return found


def gathered(side: Words, order: Words) -> Words:
    """One summand's items in an order."""
    out = np.empty(len(order), side.dtype)
    permute.gather(np.ascontiguousarray(side), order, out)
    return out
