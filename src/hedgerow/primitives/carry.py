"""Bits of a sum that one party half knows: the core of comparison and equality.

For a shared x, the *dealer* of a block knows A = x_i + x_{i+1}; its two neighbours both know the third summand B. With
x = A + B, the dealer shares the chunk monomials of A (see :mod:`hedgerow.kernels.chunk`), the *next* party (right of
the dealer) and the *previous* one (left of it) evaluate the chunk polynomials locally and exchange masked halves, and
the stages of a :class:`.circuit.Circuit` join the chunks, three or four at a time. Every party deals one third of many
items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from ..kernels import bits as bit_kernels
from ..kernels import chunk as chunk_kernels
from ..sharing import ArithmeticShare, BinaryShare, Context, Ring, words_for
from ..sharing.ring import Words
from .circuit import NEXT, Block, Output, SharedInputs
from .cost import Cost, Thirds, few, thirds_of
from .steps import Round

_LONGEST_JOIN = 4


@dataclass(frozen=True, slots=True)
class Chunks:
    """``bits`` bits cut into ``number`` chunks: the lowest of ``lowest`` bits, the highest ``fours`` of four bits, the
    others of three; and how many of them are joined in each stage. Few items take the fewest rounds and of those the
    fewest bytes; many items pay a tenth more bytes for a round, not more."""

    bits: int
    number: int
    lowest: int
    fours: int
    carries: bool
    radices: tuple[int, ...]

    @staticmethod
    def of(bits: int, carries: bool, count: int) -> Chunks:
        """The chunks of so many bits, for comparisons (``carries``) or equalities of ``count`` items."""
        return Chunks._planned(bits, carries, few(count))

    @staticmethod
    @lru_cache(maxsize=256)
    def _planned(bits: int, carries: bool, hurry: bool) -> Chunks:
        if bits == 0:
            return Chunks(0, 0, 0, 0, carries, ())
        plans = [
            Chunks(bits, number, *_shape(bits, number), carries, radices)
            for number in range(-(-bits // 4), -(-bits // 3) + 1)
            for radices in _radices(number)
        ]
        if hurry:
            return min(plans, key=lambda plan: (len(plan.radices), plan.sent()))
        return min(plans, key=lambda plan: 1.1 ** len(plan.radices) * plan.sent())

    def sent(self) -> int:
        """Bits that all parties together send for an item."""
        joins = sum(_stage_bits(number, radix, self.carries) for number, radix in self._joins())
        return self.monomials + 2 * self.rows + joins

    def _joins(self) -> list[tuple[int, int]]:
        numbers = [self.number]
        for radix in self.radices:
            numbers.append(-(-numbers[-1] // radix))
        return list(zip(numbers, self.radices, strict=False))

    @property
    def monomials(self) -> int:
        """Monomials of all chunks."""
        if self.lowest == 4:
            return 15 * self.fours
        return (1 << self.lowest) - 1 + 7 * (self.number - 1 - self.fours) + 15 * self.fours if self.number else 0

    @property
    def rows(self) -> int:
        """Rows G and P (all but the lowest P), or P of every chunk alone."""
        return max(0, 2 * self.number - 1) if self.carries else self.number


def _shape(bits: int, number: int) -> tuple[int, int]:
    """Bits of the lowest chunk and how many chunks have four bits."""
    fours = max(0, bits - 3 * number)
    return (4 if fours == number else min(3, bits - 3 * (number - 1)), fours)


@lru_cache(maxsize=64)
def _radices(number: int) -> list[tuple[int, ...]]:
    """All ways to join so many chunks into one."""
    if number == 1:
        return [()]
    most = range(2, min(number, _LONGEST_JOIN) + 1)
    return [(radix, *rest) for radix in most for rest in _radices(-(-number // radix))]


def radices_for(number: int, radix: int) -> list[int]:
    """Groups of ``radix`` until one is left."""
    stages = 0
    while number > 1:
        number, stages = -(-number // radix), stages + 1
    return [radix] * stages


def _stage_bits(number: int, radix: int, carries: bool) -> int:
    """Bits sent to join groups of ``radix`` of ``number`` chunks: products of masks, and every result twice."""
    sizes = [radix] * (number // radix) + [number % radix] * (number % radix > 1)
    if not carries:
        return sum((1 << size) - size - 1 + 2 for size in sizes)
    generated, both = {2: 1, 3: 5, 4: 15}, {2: 2, 3: 8, 4: 22}
    return generated[sizes[0]] + 2 + sum(both[size] + 4 for size in sizes[1:])


@dataclass(frozen=True, slots=True)
class Joins:
    """Stages on rows of chunks, and what is left to add up: the carry out of the highest one, or whether all pass."""

    stages: list[list[Output]]
    last: Output


def carry_joins(g: Sequence[int], p: Sequence[int], radices: Sequence[int], fresh: int) -> Joins:
    """Joins of chunks with rows ``g`` and ``p`` (the lowest is not used); new rows are ``fresh`` and following.

    Neighbouring chunks join as G = G_2 ^ P_2·G_1 ^ P_2·P_1·G_0 and P = P_2·P_1·P_0. The last stage is left out.
    """
    stages = []
    for radix in radices[:-1]:
        stage: list[Output] = []
        joined_g, joined_p = [], []
        for low in range(0, len(g), radix):
            part_g, part_p = g[low : low + radix], p[low : low + radix]
            if len(part_g) == 1:
                joined_g.append(part_g[0])
                joined_p.append(part_p[0])
                continue
            joined_g.append(fresh + len(stage))
            stage.append(_generated(part_g, part_p))
            joined_p.append(fresh + len(stage))
            if low:
                stage.append((tuple(part_p),))
        stages.append(stage)
        fresh += len(stage)
        g, p = joined_g, joined_p
    return Joins(stages, _generated(g, p))


def _generated(g: Sequence[int], p: Sequence[int]) -> Output:
    """The carry out of neighbouring chunks, as a sum of products."""
    return tuple((g[k], *p[k + 1 :]) for k in range(len(g)))


def pass_joins(rows: Sequence[int], radices: Sequence[int], fresh: int) -> Joins:
    """Joins of rows P: the product of all of them; new rows are ``fresh`` and following. The last stage is left out."""
    stages = []
    for radix in radices[:-1]:
        parts = [tuple(rows[k : k + radix]) for k in range(0, len(rows), radix)]
        stage: list[Output] = [(part,) for part in parts if len(part) > 1]
        numbers = iter(range(fresh, fresh + len(stage)))
        rows = [next(numbers) if len(part) > 1 else part[0] for part in parts]
        stages.append(stage)
        fresh += len(stage)
    return Joins(stages, (tuple(rows),))


def slice_words(ring: Ring, words: Words, bits: int) -> Words:
    """The low ``bits`` bits of ring items as packed rows."""
    rows = np.empty((bits, words_for(len(words))), np.uint64)
    if ring.bits != 128:
        bit_kernels.slice_items(np.ascontiguousarray(words), rows)
        return rows
    bit_kernels.slice_items(np.ascontiguousarray(words[:, 0]), rows[:64])
    bit_kernels.slice_items(np.ascontiguousarray(words[:, 1]), rows[64:])
    return rows


@dataclass(frozen=True, slots=True)
class Summands:
    """Packed rows of what this party knows of each block: A of its own, B of its neighbours'."""

    mine: Words
    lefts: Words
    rights: Words


class Known(Protocol):
    """What a party knows of each block, if only after the round in which A is dealt."""

    @property
    def mine(self) -> Words:
        """Packed rows of A of its own block."""

    def opening(self) -> Round:
        """What is told in the round of the dealing."""

    def others(self, role: int) -> Words:
        """Packed rows of B of the block in which this party has the role, after that round."""


class _Complete:
    """Everything is known from the start."""

    def __init__(self, summands: Summands) -> None:
        self.mine, self._summands = summands.mine, summands

    def opening(self) -> Round:
        return Round()

    def others(self, role: int) -> Words:
        return self._summands.lefts if role == NEXT else self._summands.rights


class ChunkInputs:
    """A circuit's inputs: rows G and P of every chunk (or P alone), then the rows of x past the chunks' bits, as they
    are without a carry, then rows that are shared already."""

    def __init__(self, chunks: Chunks, known: Known, shared: BinaryShare | None = None) -> None:
        self.chunks, self.known = chunks, known
        self.extra = known.mine.shape[0] - chunks.bits
        self.dealt_rows, self.fresh_rows = chunks.monomials + self.extra, chunks.rows
        self.shared = None if shared is None else SharedInputs(shared)

    def deal(self, block: Block, mask: Words, dealt: Words) -> None:
        """Monomials of A, and A's other rows."""
        chunks, mine = self.chunks, self.known.mine
        monomials = chunks.monomials
        if chunks.number:
            chunk_kernels.mask_monomials(mine[: chunks.bits], chunks.lowest, chunks.fours, mask, dealt)
        dealt[monomials:] = mine[chunks.bits :] ^ mask[monomials:]
        self._fill(block, mask[monomials:], dealt[monomials:])

    def opening(self) -> Round:
        """What is told so that B is known afterwards."""
        return self.known.opening()

    def answer(self, block: Block, dealt: Words, out: Words) -> None:
        """The chunk polynomials in the bits of B."""
        chunks, monomials = self.chunks, self.chunks.monomials
        b = self.known.others(block.role)
        if chunks.number:
            chunk_kernels.evaluate_chunks(
                dealt,
                b[: chunks.bits],
                chunks.lowest,
                chunks.fours,
                block.constant,
                chunks.carries,
                block.masks[: chunks.rows],
                out,
            )
        self._fill(block, dealt[monomials:], b[chunks.bits :])

    def _fill(self, block: Block, masks: Words, other: Words) -> None:
        start = self.chunks.rows
        block.masks[start : start + self.extra], block.other[start : start + self.extra] = masks, other
        if self.shared is not None:
            self.shared.fill(block, start + self.extra)


def known_summands(ctx: Context, x: ArithmeticShare, bits: int, thirds: Thirds, minus: int = 0) -> Summands:
    """Slice what this party knows of each third; ``minus`` is subtracted from B."""
    own, before, after = (thirds.items(p) for p in (ctx.party, ctx.transport.left, ctx.transport.right))
    ring = x.ring
    a = ring.add(x.left[own], x.right[own])
    lefts, rights = x.right[before], x.left[after]
    if minus:
        offset = ring.encode([minus])
        lefts, rights = ring.subtract(lefts, offset), ring.subtract(rights, offset)
    return Summands(slice_words(ring, a, bits), slice_words(ring, lefts, bits), slice_words(ring, rights, bits))


def complete(ctx: Context, x: ArithmeticShare, bits: int, thirds: Thirds, minus: int = 0) -> Known:
    """:func:`known_summands` of a shared number."""
    return complete_summands(known_summands(ctx, x, bits, thirds, minus))


def complete_summands(summands: Summands) -> Known:
    """What is known from the start, as a circuit's inputs want it."""
    return _Complete(summands)


class UnsharedSum:
    """A number that is the sum of one summand a party, each known to that party alone, as products are.

    The dealer of a block takes its own summand for A and can deal at once; in the same round the other two tell each
    other theirs, whose sum is B. What they tell is masked by a share of zero of which the receiver lacks one half.
    """

    def __init__(self, ctx: Context, ring: Ring, summand: Words, bits: int, thirds: Thirds) -> None:
        own, before, after = (thirds.items(p) for p in (ctx.party, ctx.transport.left, ctx.transport.right))
        self.ring, self.bits = ring, bits
        self.mine = slice_words(ring, summand[own], bits)
        self.told = [np.ascontiguousarray(summand[block]) for block in (before, after)]
        self.heard = [np.empty_like(told) for told in self.told]

    def opening(self) -> Round:
        """Tell the other answering party this one's summand."""
        (before, after), (from_right, from_left) = self.told, self.heard
        return Round(to_right=[before], to_left=[after], from_right=[from_right], from_left=[from_left])

    def others(self, role: int) -> Words:
        """The sum of what both answering parties know."""
        side = 0 if role == NEXT else 1
        return slice_words(self.ring, self.ring.add(self.told[side], self.heard[side]), self.bits)


def unshared_cost(count: int, ring: Ring, alone: bool = False) -> Cost:
    """What :class:`UnsharedSum` adds to the cost of its circuit: bytes, no round."""
    thirds = thirds_of(count, alone)

    def sent(party: int) -> int:
        return ring.nbytes * (count - thirds.size(party))

    return Cost(0, (sent(0), sent(1), sent(2)))
