"""Bits of a sum that one party half knows: the core of comparison and equality.

For a shared x, the *dealer* of a block knows A = x_i + x_{i+1}; its two neighbours both know the third summand B. With
x = A + B, the dealer shares the chunk monomials of A (see :mod:`hedgerow.kernels.chunk`), the *next* party (right of
the dealer) and the *previous* one (left of it) evaluate the chunk polynomials locally and exchange masked halves, and a
tree of AND gates joins the chunks. Every party deals one third of the items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from ..kernels import bits as bit_kernels
from ..kernels import chunk as chunk_kernels
from ..sharing import ArithmeticShare, BinaryShare, Context, Ring, words_for
from ..sharing.ring import Words
from .cost import FREE, Cost, Thirds, thirds_of
from .gate import Index, gates_cost, layer

FEW = 1 << 14
"""Up to so many items a round takes longer than the bytes that would save it; see docs/adr/0001-comparison.md."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """``bits`` bits cut into ``number`` chunks: the lowest of ``lowest`` bits, the highest ``fours`` of four bits, the
    others of three. Fours cost bytes, so there are only as many as it takes to save a level of the tree; and none where
    many items would each cost more than a tenth, and a bit, more."""

    bits: int
    number: int
    lowest: int
    fours: int

    @staticmethod
    def of(bits: int, carries: bool, count: int) -> Chunks:
        """The chunks of so many bits, for comparisons (``carries``) or equalities of ``count`` items."""
        return Chunks._planned(bits, carries, count <= FEW)

    @staticmethod
    @lru_cache(maxsize=256)
    def _planned(bits: int, carries: bool, few: bool) -> Chunks:
        threes, fewest = -(-bits // 3), -(-bits // 4)
        plain = Chunks(bits, threes, bits - 3 * (threes - 1), 0)
        if _levels(fewest) == _levels(threes):
            return plain
        number = 1 << _levels(fewest)
        fours = bits - 3 * number
        short = Chunks(bits, number, 4 if fours == number else 3, fours)
        cheap = short.sent(carries) <= max(1 + plain.sent(carries), 1.1 * plain.sent(carries))
        return short if few or cheap else plain

    def sent(self, carries: bool) -> float:
        """Bits a party sends for an item."""
        gates = sum(_carry_gates(self.number)) if carries else self.number - 1
        return (self.monomials + 2 * self.rows(carries)) / 3 + gates

    @property
    def monomials(self) -> int:
        """Monomials of all chunks."""
        if self.lowest == 4:
            return 15 * self.fours
        return (1 << self.lowest) - 1 + 7 * (self.number - 1 - self.fours) + 15 * self.fours

    def rows(self, carries: bool) -> int:
        """Rows G and P (all but the lowest P), or P of every chunk alone."""
        return max(0, 2 * self.number - 1) if carries else self.number


def _levels(number: int) -> int:
    """Levels of a binary tree that joins so many chunks."""
    return max(0, number - 1).bit_length()


def _carry_gates(number: int) -> Iterator[int]:
    """Gates of every level of the carry tree over so many chunks; see :func:`carry_plan`."""
    while number > 1:
        yield 2 * (number // 2) - 1
        number = (number + 1) // 2


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

    def exchange(self, ctx: Context, dealt: Words, dealt_rights: Words) -> Summands:
        """Pass what is dealt to the left; afterwards everything is known."""


@dataclass(frozen=True, slots=True)
class _Complete:
    """Everything is known from the start."""

    summands: Summands

    @property
    def mine(self) -> Words:
        return self.summands.mine

    def exchange(self, ctx: Context, dealt: Words, dealt_rights: Words) -> Summands:
        ctx.exchange(to_left=dealt, from_right=dealt_rights)
        return self.summands


def chunk_rows(ctx: Context, known: Known, thirds: Thirds, chunks: Chunks, carries: bool) -> BinaryShare:
    """Share rows G and P of every chunk (``carries``) or P alone. Rows past the chunks' bits are shared as they are.

    Cost: 2 rounds; see :func:`chunk_rows_cost`. Reveals: nothing beyond shapes: the previous party receives monomials
    masked by the dealer's key with the next one; the two answering parties receive each other's half masked by a key
    the receiver does not have.
    """
    bits, monomials, parts = chunks.bits, chunks.monomials, (chunks.lowest, chunks.fours)
    extra = known.mine.shape[0] - bits
    mine, lefts, rights = (thirds.width(p) for p in (ctx.party, ctx.transport.left, ctx.transport.right))
    mask = ctx.with_right((monomials + extra, mine))
    dealt_mine = np.empty_like(mask)
    chunk_kernels.mask_monomials(known.mine[:bits], *parts, mask, dealt_mine)
    dealt_mine[monomials:] = known.mine[bits:] ^ mask[monomials:]
    dealt_lefts = ctx.with_left((monomials + extra, lefts))
    dealt_rights = np.empty((monomials + extra, rights), np.uint64)
    summands = known.exchange(ctx, dealt_mine, dealt_rights)

    count = chunks.rows(carries)
    right_mine = ctx.with_right((count, mine))
    left_lefts = ctx.with_left((count, lefts))
    right_rights = ctx.with_right((count, rights))
    left_mine = ctx.with_left((count, mine))
    half_lefts, half_rights = np.empty((count, lefts), np.uint64), np.empty((count, rights), np.uint64)
    chunk_kernels.evaluate_chunks(dealt_lefts, summands.lefts[:bits], *parts, True, carries, left_lefts, half_lefts)
    chunk_kernels.evaluate_chunks(
        dealt_rights, summands.rights[:bits], *parts, False, carries, right_rights, half_rights
    )
    other_lefts, other_rights = np.empty_like(half_lefts), np.empty_like(half_rights)
    ctx.exchange(to_right=half_lefts, to_left=half_rights, from_right=other_lefts, from_left=other_rights)

    width = mine + lefts + rights
    left, right = np.empty((count + extra, width), np.uint64), np.empty((count + extra, width), np.uint64)
    own, before, after = (thirds.words(p) for p in (ctx.party, ctx.transport.left, ctx.transport.right))
    left[:count, own], right[:count, own] = left_mine, right_mine
    left[:count, before], right[:count, before] = left_lefts, half_lefts ^ other_lefts
    left[:count, after], right[:count, after] = half_rights ^ other_rights, right_rights
    left[count:, own], right[count:, own] = dealt_mine[monomials:], mask[monomials:]
    left[count:, before], right[count:, before] = dealt_lefts[monomials:], summands.lefts[bits:]
    left[count:, after], right[count:, after] = summands.rights[bits:], dealt_rights[monomials:]
    return BinaryShare(left, right, thirds.count)


def chunk_rows_cost(count: int, chunks: Chunks, extra: int, carries: bool) -> Cost:
    """Cost of :func:`chunk_rows`: the dealt monomials, then both halves of every G and P."""
    thirds = thirds_of(count)
    rows = chunks.rows(carries)
    dealt = chunks.monomials + extra

    def sent(party: int) -> int:
        neighbours = thirds.width((party - 1) % 3) + thirds.width((party + 1) % 3)
        return 8 * (dealt * thirds.width(party) + rows * neighbours)

    return Cost(2, (sent(0), sent(1), sent(2)))


@lru_cache(maxsize=256)
def carry_plan(number: int) -> tuple[Index, Index, Index, Index]:
    """One level of the carry tree over rows G_0…G_{number-1}, P_1…P_{number-1}: gates (base, x, y), rows kept.

    Neighbouring chunks join as G = G_high ^ P_high·G_low and P = P_high·P_low; an odd highest chunk is kept.
    """

    def p(chunk: int) -> int:
        return number - 1 + chunk

    half = number // 2
    base = [2 * i + 1 for i in range(half)] + [-1] * (half - 1)
    x = [p(2 * i + 1) for i in range(half)] + [p(2 * i + 1) for i in range(1, half)]
    y = [2 * i for i in range(half)] + [p(2 * i) for i in range(1, half)]
    kept = [number - 1, p(number - 1)] if number % 2 else []
    base_, x_, y_, kept_ = (np.array(v, np.int64) for v in (base, x, y, kept))
    return base_, x_, y_, kept_


def join_chunks(ctx: Context, rows: BinaryShare, number: int, most: int) -> tuple[BinaryShare, int]:
    """Rows G and P of at most ``most`` chunks, from those of :func:`chunk_rows`, and how many. One round a level."""
    while number > most:
        base, x, y, kept = carry_plan(number)
        joined = layer(ctx, rows, base, x, y)
        half = number // 2
        if len(kept):
            top = BinaryShare(rows.left[kept], rows.right[kept], rows.count)
            parts = [
                BinaryShare(joined.left[:half], joined.right[:half], rows.count),
                top.row(0),
                BinaryShare(joined.left[half:], joined.right[half:], rows.count),
                top.row(1),
            ]
            joined = BinaryShare.stack(parts)
        rows, number = joined, half + len(kept) // 2
    return rows, number


def carry_out(ctx: Context, rows: BinaryShare, number: int) -> BinaryShare:
    """The carry out of the highest chunk, from the rows G and P of :func:`chunk_rows`."""
    return join_chunks(ctx, rows, number, 1)[0].row(0)


def carry_out_cost(number: int, count: int) -> Cost:
    """Cost of :func:`carry_out` over ``number`` chunks."""
    return sum((gates_cost(gates, count) for gates in _carry_gates(number)), FREE)


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
    return _Complete(known_summands(ctx, x, bits, thirds, minus))


class UnsharedSum:
    """A number that is the sum of one summand a party, each known to that party alone, as products are.

    The dealer of a block takes its own summand for A and can deal at once; in the same round the other two tell each
    other theirs, whose sum is B. What they tell is masked by a share of zero of which the receiver lacks one half.
    """

    def __init__(self, ctx: Context, ring: Ring, summand: Words, bits: int, thirds: Thirds) -> None:
        own, before, after = (thirds.items(p) for p in (ctx.party, ctx.transport.left, ctx.transport.right))
        self.ring, self.bits = ring, bits
        self.mine = slice_words(ring, summand[own], bits)
        self.before, self.after = (np.ascontiguousarray(summand[block]) for block in (before, after))

    def exchange(self, ctx: Context, dealt: Words, dealt_rights: Words) -> Summands:
        """Pass on what is dealt, and tell the other answering party this one's summand."""
        other_before, other_after = np.empty_like(self.before), np.empty_like(self.after)
        ctx.exchange(
            to_left=[dealt, self.after],
            from_right=[dealt_rights, other_before],
            to_right=self.before,
            from_left=other_after,
        )
        lefts, rights = self.ring.add(self.before, other_before), self.ring.add(self.after, other_after)
        return Summands(self.mine, slice_words(self.ring, lefts, self.bits), slice_words(self.ring, rights, self.bits))


def unshared_cost(count: int, ring: Ring) -> Cost:
    """What :class:`UnsharedSum` adds to :func:`chunk_rows_cost`: bytes, no round."""
    thirds = thirds_of(count)

    def sent(party: int) -> int:
        return ring.nbytes * (thirds.size((party - 1) % 3) + thirds.size((party + 1) % 3))

    return Cost(0, (sent(0), sent(1), sent(2)))
