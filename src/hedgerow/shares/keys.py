"""Keys of a sort by opened comparisons: the local moves of their summands, made in place because keys are many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels import order as order_kernels
from .numbers import Numbers
from .ring import RING64, Words


class Keys:
    """One party's part of 64-bit keys in ``segments`` segments of equal length. Mutable: a sort's own copy."""

    __slots__ = ("_left", "_right")

    def __init__(self, left: Words, right: Words) -> None:
        self._left, self._right = left, right

    @staticmethod
    def of(columns: Sequence[Numbers]) -> Keys:
        """A segment for every column of 2^64."""
        return Keys(np.stack([column.left for column in columns]), np.stack([column.right for column in columns]))

    def __repr__(self) -> str:
        return f"Keys{self.shape}"

    @property
    def shape(self) -> tuple[int, int]:
        """Segments, and keys of each."""
        segments, count = self._left.shape
        return segments, count

    def first(self, size: int) -> Keys:
        """The first keys of every segment."""
        return Keys(*(np.ascontiguousarray(side[:, :size]) for side in (self._left, self._right)))

    def ordered(self, orders: Sequence[Words]) -> Keys:
        """Every segment's keys in an order of its own."""
        segments = [Numbers(*sides, RING64) for sides in zip(self._left, self._right, strict=True)]
        return Keys.of([keys.gather(order) for keys, order in zip(segments, orders, strict=True)])

    def flat(self, skip: int = 0, order: Words | None = None) -> Keys:
        """All keys from number ``skip`` of every segment on as one segment: a copy, maybe in another order."""
        keys = Numbers(self._left[:, skip:].reshape(-1), self._right[:, skip:].reshape(-1), RING64)
        taken = keys.gather(order) if order is not None else keys.map(np.copy)
        return Keys(taken.left[None], taken.right[None])

    def against(self, pivots: Keys, spacing: slice, skip: int, prefix: Words) -> Numbers:
        """Every key from number ``skip`` on minus the pivot its search has come to; see
        :func:`hedgerow.kernels.order.search_differences`."""
        sides = []
        for keys, middles in ((self._left, pivots._left), (self._right, pivots._right)):
            out = np.empty(prefix.shape, np.uint64)
            order_kernels.search_differences(keys[:, skip:], np.ascontiguousarray(middles[:, spacing]), prefix, out)
            sides.append(out.reshape(-1))
        return Numbers(sides[0], sides[1], RING64)

    def against_first(self, first: Words, end: Words) -> Numbers:
        """In every bucket ``first[b]…end[b]`` of the only segment all keys but the first, minus the first."""
        items = int((end - first).sum()) - len(first)
        return self._differences(order_kernels.pivot_differences, first, end, items)

    def in_pairs(self, first: Words, end: Words, pairs: int) -> Numbers:
        """The differences of all pairs of keys of every bucket."""
        return self._differences(order_kernels.pair_differences, first, end, pairs)

    def _differences(self, kernel: object, first: Words, end: Words, count: int) -> Numbers:
        assert callable(kernel)
        sides = np.empty(count, np.uint64), np.empty(count, np.uint64)
        kernel(self._left[0], first, end, sides[0])
        kernel(self._right[0], first, end, sides[1])
        return Numbers(*sides, RING64)

    def part(self, order: Words, first: Words, end: Words, opened: Words) -> tuple[Words, Words]:
        """Partition every bucket in place around its first key by the opened comparisons with it; ``order`` moves too.
        Returns the buckets of several keys that are left."""
        most = int((end - first).sum()) // 2
        new_first, new_end = np.empty(most, np.int64), np.empty(most, np.int64)
        count = order_kernels.pivot_partition(
            self._left[0], self._right[0], order, first, end, opened, new_first, new_end
        )
        return new_first[:count].copy(), new_end[:count].copy()
