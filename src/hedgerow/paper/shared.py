"""What black boxes on shares have in common: shapes, steps, and everything linear, which is done to each summand."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engine import Context
from ..oblivious.destination import bit_destinations
from ..oblivious.permutation import fetch, place
from ..oblivious.sort import sort_tables
from ..protocols import Shuffle, ShuffleJob, draw_shuffle, run_shuffles
from ..shares import RING32, Bits, Numbers, Points, Ring
from .box import Box, Private, Public

Share = Numbers | Points


class SharedVector(Private):
    """One party's part of a private vector; ``share`` is flat."""

    __slots__ = ("share",)

    def __init__(self, box: SharedBox, share: Share, shape: tuple[int, ...]) -> None:
        super().__init__(box, shape)
        self.share = share


def share_of(x: Private | None) -> Any:
    """This party's share behind a private vector."""
    assert isinstance(x, SharedVector)
    return x.share


class SharedBox(Box):
    """F_ABB as one party sees it. Every call of a non-free operation is a step of its own in the meter."""

    ring: Ring
    """Where the vectors live."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Meter what happens inside the block under this name."""
        outer = self.ctx
        self.ctx = outer.step(name)
        try:
            yield
        finally:
            self.ctx = outer

    @abstractmethod
    def load(self, share: Numbers, shape: tuple[int, ...]) -> Private:
        """A share in 2^64 that came from outside as a private vector."""

    @abstractmethod
    def stored(self, x: Private | None) -> Numbers:
        """A private vector as a share in 2^64 that leaves the box."""

    @abstractmethod
    def _public(self, flat: npt.NDArray[Any]) -> Share:
        """Public values as a share, free."""

    @abstractmethod
    def _number(self, bit: Bits, shape: tuple[int, ...]) -> Private:
        """A shared bit as a private vector."""

    @abstractmethod
    def _keys(self, keys: Sequence[Share]) -> list[Numbers]:
        """Sort keys in 2^64."""

    def _movable(self, columns: Sequence[Private]) -> list[Numbers]:
        """Vectors in the form that shuffles move."""
        return [share_of(column) for column in columns]

    def _settled(self, moved: Numbers) -> Share:
        """What has been moved, in the box's own form."""
        return moved

    def _mapped(self, change: Callable[..., npt.NDArray[Any]], *vectors: Private) -> SharedVector:
        """The same linear change of the vectors' summands, each at its own shape."""
        shapes, shape = [x.shape for x in vectors], ()

        def flat(*sides: npt.NDArray[Any]) -> npt.NDArray[Any]:
            nonlocal shape
            changed = change(*(side.reshape(own) for side, own in zip(sides, shapes, strict=True)))
            shape = changed.shape
            return np.ascontiguousarray(changed).reshape(-1)

        first, *others = (share_of(x) for x in vectors)
        share = first.map(flat, *others)
        return SharedVector(self, share, shape)

    def _paired(self, x: Private, y: Private) -> tuple[Any, Any, tuple[int, ...]]:
        """Both operands at their common shape, flat."""
        shape = np.broadcast_shapes(x.shape, y.shape)
        return self._spread(x, shape), self._spread(y, shape), shape

    def _spread(self, x: Private, shape: tuple[int, ...]) -> Any:
        if x.shape == shape:
            return share_of(x)
        return self._mapped(lambda side: np.broadcast_to(side, shape).copy(), x).share

    def _operand(self, y: Private | Public) -> Private:
        return y if isinstance(y, Private) else self.enc(np.asarray(y))

    def enc(self, values: Any) -> Private:
        """Public values as a share, free."""
        array = np.asarray(values)
        return SharedVector(self, self._public(array.reshape(-1)), array.shape)

    def add(self, x: Private, y: Private | Public) -> Private:
        """Free."""
        return self._mapped(self.ring.add, x, self._operand(y))

    def prefix_sum(self, x: Private) -> Private:
        """Free."""
        return self._mapped(self.ring.prefix_sum, x)

    def stack(self, parts: Sequence[Private]) -> Private:
        """Free."""
        shape = np.broadcast_shapes(*(part.shape for part in parts))
        shares = [self._spread(part, shape) for part in parts]
        return SharedVector(self, type(shares[0]).concatenate(shares), (len(parts), *shape))

    def concatenate(self, head: Private, tail: Private) -> Private:
        """Free."""
        return self._mapped(lambda a, b: np.concatenate([a, b], axis=-1), head, tail)

    def take(self, x: Private, index: Any) -> Private:
        """Free."""
        return self._mapped(lambda side: side[index], x)

    def _jobs(self, permutation: Sequence[Numbers], columns: Sequence[Private]) -> list[list[Numbers]]:
        """For every permutation the vectors it moves: all of them, or its own in each column."""
        n = columns[0].n
        groups: list[list[Numbers]] = [[] for _ in permutation]
        for share in self._movable(columns):
            for row in range(len(share) // n):
                groups[row % len(permutation)].append(share[row * n : (row + 1) * n])
        return groups

    def _collect(self, groups: Sequence[Sequence[Any]], columns: Sequence[Private]) -> list[Private]:
        results = []
        taken = [0] * len(groups)
        for column in columns:
            parts = []
            for row in range(int(np.prod(column.shape[:-1], dtype=int))):
                group = row % len(groups)
                parts.append(groups[group][taken[group]])
                taken[group] += 1
            results.append(SharedVector(self, self._settled(Numbers.concatenate(parts)), column.shape))
        return list(results)

    def _shuffled(
        self, permutation: Sequence[Numbers], columns: Sequence[Sequence[Numbers]]
    ) -> tuple[list[Shuffle], list[list[Any]]]:
        shuffles = [draw_shuffle(self.ctx.step("draw"), len(p), j) for j, p in enumerate(permutation)]
        jobs = [
            ShuffleJob(shuffle, [p, *group], opened=(0,))
            for shuffle, p, group in zip(shuffles, permutation, columns, strict=True)
        ]
        return shuffles, run_shuffles(self.ctx.step("shuffle"), jobs)

    def apply(self, permutation: Any, columns: Sequence[Private]) -> list[Private]:
        """One shuffle per permutation carries all its vectors."""
        _, moved = self._shuffled(permutation, self._jobs(permutation, columns))
        placed = [[place(column, places) for column in group] for places, *group in moved]
        return self._collect(placed, columns)

    def unapply(self, permutation: Any, columns: Sequence[Private]) -> list[Private]:
        """The permutation is opened under a shuffle, the vectors fetched and moved back."""
        shuffles, opened = self._shuffled(permutation, [[] for _ in permutation])
        groups = self._jobs(permutation, columns)
        jobs = [
            ShuffleJob(shuffle, [fetch(column, places) for column in group])
            for shuffle, (places,), group in zip(shuffles, opened, groups, strict=True)
        ]
        return self._collect(run_shuffles(self.ctx.step("back"), jobs, undo=True), columns)

    def sort_perm(self, keys: Sequence[Private], bits: Sequence[int]) -> Any:
        """One bit: prefix sums and a product. More: see :mod:`hedgerow.oblivious.sort`."""
        shape = np.broadcast_shapes(*(key.shape for key in keys))
        n = shape[-1]
        flat = self._keys([self._spread(key, shape) for key in keys])
        count = len(flat[0]) // n
        tables = [[key[j * n : (j + 1) * n] for key in flat] for j in range(count)]
        if list(bits) == [1]:
            return [bit_destinations(self.ctx.step("order"), table[0].narrow(RING32)) for table in tables]
        return sort_tables(self.ctx.step("sort"), tables, bits)
