"""Shared vectors of one length, those of one ring side by side: a step on all of them is one step on each ring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .numbers import Numbers
from .ring import Ring, Words


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Part:
    """Vectors of one ring: summands by vector and item."""

    ring: Ring
    left: Words
    right: Words

    def changed(self, change: Callable[[Words], Words]) -> Part:
        """The same change of both summands."""
        return Part(self.ring, change(self.left), change(self.right))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Columns:
    """Vectors in an order of their own: ``places`` says for each its part and its place there. Wide rings are first."""

    parts: list[Part]
    places: tuple[tuple[int, int], ...]

    @staticmethod
    def of(columns: Sequence[Numbers]) -> Columns:
        """Vectors side by side."""
        return Columns.of_table([columns])

    @staticmethod
    def of_table(table: Sequence[Sequence[Numbers]]) -> Columns:
        """Every row's vectors side by side, the rows one after the other."""
        rings, count = [x.ring for x in table[0]], len(table[0][0])
        for row in table:
            if [x.ring for x in row] != rings or any(len(x) != count for x in row):
                raise ValueError(f"columns of {count} items in the same rings are needed; got {list(row)!r}")
        parts: list[Part] = []
        places: dict[int, tuple[int, int]] = {}
        for ring in sorted(set(rings), key=lambda ring: -ring.bits):
            indices = [index for index, own in enumerate(rings) if own == ring]
            places |= {index: (len(parts), place) for place, index in enumerate(indices)}
            shares = [row[index] for index in indices for row in table]
            shape = (len(indices), *ring.shape(len(table) * count))
            left, right = shares[0].left, shares[0].right
            if len(shares) > 1:
                left, right = (np.concatenate(side) for side in ([x.left for x in shares], [x.right for x in shares]))
            parts.append(Part(ring, left.reshape(shape), right.reshape(shape)))
        return Columns(parts, tuple(places[index] for index in range(len(rings))))

    def __len__(self) -> int:
        return int(self.parts[0].left.shape[1])

    def __repr__(self) -> str:
        return f"Columns({len(self.places)} of {len(self)} items)"

    @property
    def rings(self) -> list[Ring]:
        """The vectors' rings."""
        return [self.parts[part].ring for part, _ in self.places]

    def column(self, index: int) -> Numbers:
        """One vector."""
        part, place = self.places[index]
        found = self.parts[part]
        return Numbers(found.left[place], found.right[place], found.ring)

    def list(self) -> list[Numbers]:
        """All vectors."""
        return [self.column(index) for index in range(len(self.places))]

    def sums(self, terms: int) -> Columns:
        """The sums of the items of ``terms`` vectors that stand one after the other."""
        count = len(self) // terms
        if any(part.ring.bits == 128 for part in self.parts):
            total = self[:count]
            for k in range(1, terms):
                total += self[k * count : (k + 1) * count]
            return total
        return self.changed(lambda words: words.reshape(len(words), terms, count).sum(axis=1, dtype=words.dtype))

    def after(self, first: int) -> Columns:
        """The vectors from number ``first`` on."""
        dropped = [sum(part == own for own, _ in self.places[:first]) for part in range(len(self.parts))]
        parts = [
            Part(part.ring, part.left[skip:], part.right[skip:]) for part, skip in zip(self.parts, dropped, strict=True)
        ]
        kept = [k for k, part in enumerate(parts) if len(part.left)]
        places = tuple((kept.index(part), place - dropped[part]) for part, place in self.places[first:])
        return Columns([parts[k] for k in kept], places)

    def changed(self, change: Callable[[Words], Words]) -> Columns:
        """The same change of all summands, which come as one array per ring: vectors, items."""
        return Columns([part.changed(change) for part in self.parts], self.places)

    def __getitem__(self, index: slice | npt.NDArray[np.integer]) -> Columns:
        if isinstance(index, slice):
            return self.changed(lambda words: words[:, index])
        return self.changed(lambda words: words.take(index, axis=1))

    def __add__(self, other: Columns) -> Columns:
        return self._with(other, Ring.add)

    def __sub__(self, other: Columns) -> Columns:
        return self._with(other, Ring.subtract)

    def _with(self, other: Columns, operation: Callable[[Ring, Words, Words], Words]) -> Columns:
        parts = []
        for a, b in zip(self.parts, other.parts, strict=True):
            left, right = (
                operation(a.ring, _flat(a.ring, x), _flat(a.ring, y)).reshape(x.shape)
                for x, y in ((a.left, b.left), (a.right, b.right))
            )
            parts.append(Part(a.ring, left, right))
        return Columns(parts, self.places)

    @staticmethod
    def concatenate(tables: Sequence[Columns]) -> Columns:
        """The items of several, one after the other."""
        parts = [
            Part(
                same[0].ring,
                *(np.concatenate(side, axis=1) for side in ([x.left for x in same], [x.right for x in same])),
            )
            for same in zip(*(table.parts for table in tables), strict=True)
        ]
        return Columns(parts, tables[0].places)

    def padded(self, length: int, items: slice | None = None) -> Columns:
        """All items, or some, and zeros up to ``length``."""
        if items is None and length == len(self):
            return self

        def change(words: Words) -> Words:
            kept = words if items is None else words[:, items]
            out = np.zeros((words.shape[0], length, *words.shape[2:]), words.dtype)
            out[:, : kept.shape[1]] = kept
            return out

        return self.changed(change)


def _flat(ring: Ring, words: Words) -> Words:
    """Items of 2^128 of all vectors one after the other, as its arithmetic wants them."""
    return words.reshape(-1, 2) if ring.bits == 128 else words


def riffled(even: Columns, odd: Columns, count: int) -> Columns:
    """Columns of which even and odd items are given apart, cut to ``count`` items."""

    def merged(a: Words, b: Words) -> Words:
        out = np.empty((a.shape[0], count, *a.shape[2:]), a.dtype)
        out[:, 0::2] = a[:, : (count + 1) // 2]
        out[:, 1::2] = b[:, : count // 2]
        return out

    parts = [
        Part(a.ring, merged(a.left, b.left), merged(a.right, b.right))
        for a, b in zip(even.parts, odd.parts, strict=True)
    ]
    return Columns(parts, even.places)
