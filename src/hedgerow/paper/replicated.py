"""The black box on replicated shares: F_ABB over the ring 2^64, cross products in 2^128."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engine import Context
from ..oblivious.destination import bit_destinations
from ..oblivious.permutation import fetch, place
from ..oblivious.sort import sort_tables
from ..protocols import (
    Shuffle,
    ShuffleJob,
    bit_to_ring,
    dot,
    draw_shuffle,
    equal,
    less_than,
    multiply,
    public,
    reveal,
    run_shuffles,
    top_bit,
    widen,
)
from ..shares import RING32, RING64, RING128, Bits, Numbers
from .box import Box, Private, Public


class SharedVector(Private):
    """One party's part of a private vector; ``share`` is flat."""

    __slots__ = ("share",)

    def __init__(self, box: ReplicatedBox, share: Numbers, shape: tuple[int, ...]) -> None:
        super().__init__(box, shape)
        self.share = share


def share_of(x: Private | None) -> Numbers:
    """This party's share behind a private vector of a replicated box."""
    assert isinstance(x, SharedVector)
    return x.share


class ReplicatedBox(Box):
    """F_ABB as one party sees it. Every call of a non-free operation is a step of its own in the meter."""

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

    def load(self, share: Numbers, shape: tuple[int, ...]) -> Private:
        """A share that came from outside as a private vector."""
        return SharedVector(self, share, shape)

    def _paired(self, x: Private, y: Private) -> tuple[Numbers, Numbers, tuple[int, ...]]:
        """Both operands at their common shape, flat."""
        shape = np.broadcast_shapes(x.shape, y.shape)
        return self._spread(x, shape), self._spread(y, shape), shape

    def _spread(self, x: Private, shape: tuple[int, ...]) -> Numbers:
        if x.shape == shape:
            return share_of(x)
        return self._mapped(lambda side: np.broadcast_to(side, shape).copy(), x).share

    def enc(self, values: Any) -> Private:
        """Public values as a share, free."""
        array = np.asarray(values)
        return SharedVector(self, public(self.ctx, array.reshape(-1).astype(np.uint64), RING64), array.shape)

    def dec(self, x: Private) -> npt.NDArray[Any]:
        """Open to all parties; see docs/reference/threat-model.md for where the paper's algorithms do (never)."""
        return reveal(self.ctx.step("dec"), share_of(x)).reshape(x.shape)

    def add(self, x: Private, y: Private | Public) -> Private:
        """Free."""
        return self._mapped(np.add, x, self._operand(y))

    def scale(self, x: Private, factor: Public) -> Private:
        """Free."""
        known = np.asarray(factor).astype(np.int64).astype(np.uint64)
        return self._mapped(lambda side: side * known, x)

    def mul(self, x: Private, y: Private) -> Private:
        """One element per item and party, one round."""
        a, b, shape = self._paired(x, y)
        return SharedVector(self, multiply(self.ctx.step("mul"), a, b), shape)

    def dot(self, x: Private, y: Private) -> Private:
        """One element per item and party for the whole sum."""
        terms = x.shape[0]
        xs, ys = ([share_of(v[k]) for k in range(terms)] for v in (x, y))
        return SharedVector(self, dot(self.ctx.step("dot"), xs, ys), x.shape[1:])

    def _number(self, bit: Bits, shape: tuple[int, ...]) -> Private:
        return SharedVector(self, bit_to_ring(self.ctx.step("bit"), bit, RING64), shape)

    def _operand(self, y: Private | Public) -> Private:
        return y if isinstance(y, Private) else self.enc(np.asarray(y))

    def eq(self, x: Private, y: Private | Public, bits: int) -> Private:
        """Equality of ``bits`` bits, then the bit as a number."""
        a, b, shape = self._paired(x, self._operand(y))
        return self._number(equal(self.ctx.step("eq"), a, b, bits), shape)

    def lt(self, x: Private, y: Private | Public, bits: int) -> Private:
        """Comparison of ``bits`` bits, then the bit as a number."""
        a, b, shape = self._paired(x, self._operand(y))
        return self._number(less_than(self.ctx.step("lt"), a, b, bits), shape)

    def lt_fraction(self, x: tuple[Private, Private], y: tuple[Private, Private], bits: int) -> Private:
        """The sign of p·q' - p'·q: one inner product, in 2^64 where it fits and in 2^128 otherwise."""
        shape = np.broadcast_shapes(x[0].shape, y[0].shape)
        p, q, p2, q2 = (self._spread(v, shape) for v in (*x, *y))
        width = bits + 1
        if width > RING64.bits:
            n = len(p)
            wide = widen(self.ctx.step("widen"), Numbers.concatenate([p, q, p2, q2]), RING128)
            p, q, p2, q2 = (wide[k * n : (k + 1) * n] for k in range(4))
        difference = dot(self.ctx.step("cross"), [p, -p2], [q2, q])
        return self._number(top_bit(self.ctx.step("lt"), difference, width), shape)

    def _jobs(self, permutation: Sequence[Numbers], columns: Sequence[Private]) -> list[list[Numbers]]:
        """For every permutation the vectors it moves: all of them, or its own in each column."""
        n = columns[0].n
        groups: list[list[Numbers]] = [[] for _ in permutation]
        for column in columns:
            share = share_of(column)
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
            results.append(SharedVector(self, Numbers.concatenate(parts), column.shape))
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
        flat = [self._spread(key, shape) for key in keys]
        count = len(flat[0]) // n
        tables = [[key[j * n : (j + 1) * n] for key in flat] for j in range(count)]
        if list(bits) == [1]:
            return [bit_destinations(self.ctx.step("order"), table[0].narrow(RING32)) for table in tables]
        return sort_tables(self.ctx.step("sort"), tables, bits)

    def stack(self, parts: Sequence[Private]) -> Private:
        """Free."""
        shape = np.broadcast_shapes(*(part.shape for part in parts))
        share = Numbers.concatenate([self._spread(part, shape) for part in parts])
        return SharedVector(self, share, (len(parts), *shape))

    def concatenate(self, head: Private, tail: Private) -> Private:
        """Free."""
        return self._mapped(lambda a, b: np.concatenate([a, b], axis=-1), head, tail)

    def take(self, x: Private, index: Any) -> Private:
        """Free."""
        return self._mapped(lambda side: side[index], x)

    def prefix_sum(self, x: Private) -> Private:
        """Free."""
        return self._mapped(lambda side: np.cumsum(side, axis=-1, dtype=np.uint64), x)
