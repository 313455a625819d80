"""Products of a shared bit and shared numbers, and choosing between numbers, straight from packed bits.

A bit b = c ^ d where the dealer of a block knows c and its neighbours both know d; a number x = A + B where the dealer
knows A and the neighbours both know B. Then ``b·x = (1 - 2d)·(cA + c·B) + d·x``: the dealer shares c and cA, the
neighbours do the rest locally and exchange masked halves. No separate conversion of b is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..kernels import ring as ring_kernels
from ..kernels import word128
from ..sharing import RING32, ArithmeticShare, BinaryShare, Context, Ring, words_for
from ..sharing.ring import Words
from .cost import Cost, Thirds, thirds_of


@dataclass(frozen=True, slots=True)
class _Group:
    """The columns of one ring: their places in a row of the table and their summands, by term and column."""

    ring: Ring
    columns: list[int]
    left: Words
    right: Words

    @staticmethod
    def all(table: Sequence[Sequence[ArithmeticShare]]) -> list[_Group]:
        """The columns of a table by ring, wide rings first, so that packets are aligned."""
        rings = [x.ring for x in table[0]]
        return [_Group.of(ring, table) for ring in sorted(set(rings), key=lambda ring: -ring.bits)]

    @staticmethod
    def of(ring: Ring, table: Sequence[Sequence[ArithmeticShare]]) -> _Group:
        """The columns of one ring."""
        columns = [index for index, x in enumerate(table[0]) if x.ring == ring]
        shares = [row[index] for row in table for index in columns]
        shape = (len(table), len(columns), *ring.shape(len(shares[0])))
        left, right = shares[0].left, shares[0].right
        if len(shares) > 1:
            left, right = (np.concatenate(side) for side in ([x.left for x in shares], [x.right for x in shares]))
        return _Group(ring, columns, left.reshape(shape), right.reshape(shape))

    def both(self, block: slice) -> tuple[Words, Words]:
        """Left and right summands of a block."""
        return np.ascontiguousarray(self.left[:, :, block]), np.ascontiguousarray(self.right[:, :, block])


def _dealt_bytes(terms: int, rings: Sequence[Ring]) -> int:
    """Bytes dealt for an item: per term the bit once in every ring that occurs, and one product a column."""
    return terms * (sum(ring.nbytes for ring in set(rings)) + sum(ring.nbytes for ring in rings))


def _kernels(ring: Ring) -> tuple[Any, Any]:
    """What deals and what answers in a ring."""
    if ring.bits == 128:
        return word128.deal_table_words, word128.answer_table_words
    return ring_kernels.deal_table, ring_kernels.answer_table


def _cut(buffer: Words, groups: Sequence[_Group], terms: int, extra: int, size: int) -> list[Words]:
    """A packet's tables, one a group: ``terms`` rows (none if 0) of its columns and ``extra`` more, ``size`` items."""
    tables, start = [], 0
    for group in groups:
        rows = len(group.columns) + extra
        stop = start + max(1, terms) * rows * size * group.ring.nbytes
        shape = (terms, rows) if terms else (rows,)
        tables.append(buffer[start:stop].view(group.ring.dtype).reshape(*shape, *group.ring.shape(size)))
        start = stop
    return tables


class _Bits(Protocol):
    """The bits of a selection, a packed row a term: what the dealer of a block knows of them and what the others do."""

    def own(self) -> tuple[Words, Words]:
        """Two summands whose sum this party deals, in its own block."""

    def exchange(self, ctx: Context, dealt: Words, incoming: Words) -> None:
        """The round of the dealing."""

    def known(self) -> tuple[Words, Words]:
        """After it, what both answering parties know, in the block of the left neighbour and in that of the right."""


class _SharedBits:
    """Bits that are shared."""

    def __init__(self, ctx: Context, bits: Sequence[BinaryShare], thirds: Thirds) -> None:
        self.bits = bits[0] if len(bits) == 1 else BinaryShare.stack(bits)
        self.blocks = [thirds.words(p) for p in (ctx.party, ctx.transport.left, ctx.transport.right)]

    def own(self) -> tuple[Words, Words]:
        block = self.blocks[0]
        return np.ascontiguousarray(self.bits.left[:, block]), np.ascontiguousarray(self.bits.right[:, block])

    def exchange(self, ctx: Context, dealt: Words, incoming: Words) -> None:
        ctx.exchange(to_left=dealt, from_right=incoming)

    def known(self) -> tuple[Words, Words]:
        _, before, after = self.blocks
        return np.ascontiguousarray(self.bits.right[:, before]), np.ascontiguousarray(self.bits.left[:, after])


class _UnsharedBit:
    """One bit that is the sum of one summand a party, each known to that party alone, as gates are before they are
    shared. The dealer of a block takes its own summand and deals at once; in the same round the other two tell each
    other theirs. Words that wait for a round may go along to the left."""

    def __init__(self, ctx: Context, summand: Words, thirds: Thirds, passing: Words) -> None:
        own, before, after = (thirds.words(p) for p in (ctx.party, ctx.transport.left, ctx.transport.right))
        self.mine, self.before, self.after = (
            np.ascontiguousarray(summand[None, block]) for block in (own, before, after)
        )
        self.passing, self.passed = passing, np.empty_like(passing)

    def own(self) -> tuple[Words, Words]:
        return self.mine, np.zeros_like(self.mine)

    def exchange(self, ctx: Context, dealt: Words, incoming: Words) -> None:
        other_before, other_after = np.empty_like(self.before), np.empty_like(self.after)
        ctx.exchange(
            to_left=[self.passing, self.after, dealt],
            from_right=[self.passed, other_before, incoming],
            to_right=self.before,
            from_left=other_after,
        )
        self.before, self.after = self.before ^ other_before, self.after ^ other_after

    def known(self) -> tuple[Words, Words]:
        return self.before, self.after


def select_sum(
    ctx: Context, bits: Sequence[BinaryShare], table: Sequence[Sequence[ArithmeticShare]]
) -> list[ArithmeticShare]:
    """For every column p, the sum over the terms t of ``bits[t] * table[t][p]``; rings may be mixed.

    Paper: our own. Cost: :func:`select_sum_cost`. Reveals: nothing beyond shapes: what is dealt is masked by the
    dealer's key with the next party, the exchanged halves by keys the receiver does not have.
    """
    count = bits[0].count
    if len(bits) != len(table) or any((bit.rows, bit.count) != (1, count) for bit in bits):
        raise ValueError(f"{len(table)} terms need as many bits, one row of {count} each; got {list(bits)!r}")
    return _select_sum(ctx, _SharedBits(ctx, bits, thirds_of(count)), count, table)


def multiply_unshared(
    ctx: Context, summand: Words, xs: Sequence[ArithmeticShare], passing: Words
) -> tuple[list[ArithmeticShare], Words]:
    """``bit * x`` for every x, where the bit is given by this party's packed summands of it, masked by a share of zero.

    ``passing`` goes to the left in the first round, and what came from the right is returned too; it may be another
    masking of the same gates, never the same one. Paper: our own. Cost: :func:`multiply_unshared_cost`: a gate and a
    product in two rounds. Reveals: nothing beyond shapes: per block every answering party receives one summand, of
    which it lacks half of the mask.
    """
    count = len(xs[0])
    if summand.shape != (words_for(count),):
        raise ValueError(f"{count} items need {words_for(count)} packed words, not an array of shape {summand.shape}")
    bit = _UnsharedBit(ctx, summand, thirds_of(count), passing)
    return _select_sum(ctx, bit, count, [xs]), bit.passed


def multiply_unshared_cost(count: int, rings: Sequence[Ring], passing: int) -> Cost:
    """Cost of :func:`multiply_unshared`; ``passing`` counts words."""
    thirds = thirds_of(count)

    def told(party: int) -> int:
        return 8 * (thirds.width((party - 1) % 3) + thirds.width((party + 1) % 3) + passing)

    return multiply_bit_cost(count, rings) + Cost(0, (told(0), told(1), told(2)))


def _select_sum(
    ctx: Context, bits: _Bits, count: int, table: Sequence[Sequence[ArithmeticShare]]
) -> list[ArithmeticShare]:
    rings = [x.ring for x in table[0]]
    for row in table:
        if [x.ring for x in row] != rings or any(len(x) != count for x in row):
            raise ValueError(f"columns of {count} items in the same rings are needed; got {list(row)!r}")
    groups, terms = _Group.all(table), len(table)
    thirds = thirds_of(count)
    own, before, after = (ctx.party, ctx.transport.left, ctx.transport.right)
    size, block = {p: thirds.size(p) for p in range(3)}, {p: thirds.items(p) for p in range(3)}
    dealt_bytes, answer_bytes = _dealt_bytes(terms, rings), sum(ring.nbytes for ring in rings)

    def dealt_tables(buffer: Words, party: int) -> list[Words]:
        return _cut(buffer, groups, terms, 1, size[party])

    def answer_tables(buffer: Words, party: int) -> list[Words]:
        return _cut(buffer, groups, 0, 0, size[party])

    own_left, own_right = bits.own()
    dealt = np.empty(dealt_bytes * size[own], np.uint8)
    masks = dealt_tables(ctx.with_right(dealt.nbytes, np.uint8), own)
    for group, mask, out in zip(groups, masks, dealt_tables(dealt, own), strict=True):
        _kernels(group.ring)[0](own_left, own_right, *group.both(block[own]), mask, out)
    dealt_before = dealt_tables(ctx.with_left(dealt_bytes * size[before], np.uint8), before)
    incoming = np.empty(dealt_bytes * size[after], np.uint8)
    bits.exchange(ctx, dealt, incoming)
    dealt_after = dealt_tables(incoming, after)

    right_own = answer_tables(ctx.with_right(answer_bytes * size[own], np.uint8), own)
    left_before = answer_tables(ctx.with_left(answer_bytes * size[before], np.uint8), before)
    right_after = answer_tables(ctx.with_right(answer_bytes * size[after], np.uint8), after)
    left_own = answer_tables(ctx.with_left(answer_bytes * size[own], np.uint8), own)
    to_right, to_left = (np.empty(answer_bytes * size[p], np.uint8) for p in (before, after))
    half_before, half_after = answer_tables(to_right, before), answer_tables(to_left, after)
    known_before, known_after = bits.known()
    for g, group in enumerate(groups):
        answer = _kernels(group.ring)[1]
        near, common = group.both(block[before])
        answer(dealt_before[g], known_before, common, near, True, left_before[g], half_before[g])
        common, near = group.both(block[after])
        answer(dealt_after[g], known_after, common, near, False, right_after[g], half_after[g])
    from_right, from_left = np.empty_like(to_right), np.empty_like(to_left)
    ctx.exchange(to_right=to_right, to_left=to_left, from_right=from_right, from_left=from_left)

    other_before, other_after = answer_tables(from_right, before), answer_tables(from_left, after)
    results: list[ArithmeticShare] = [table[0][0]] * len(rings)
    for g, group in enumerate(groups):
        ring = group.ring
        left, right = np.empty_like(group.left[0]), np.empty_like(group.left[0])
        left[:, block[own]], right[:, block[own]] = left_own[g], right_own[g]
        left[:, block[before]], right[:, block[after]] = left_before[g], right_after[g]
        _sum_into(ring, half_before[g], other_before[g], right[:, block[before]])
        _sum_into(ring, half_after[g], other_after[g], left[:, block[after]])
        for k, column in enumerate(group.columns):
            results[column] = ArithmeticShare(left[k], right[k], ring)
    return results


def _sum_into(ring: Ring, a: Words, b: Words, out: Words) -> None:
    """``out = a + b`` for tables of columns."""
    if ring.bits != 128:
        np.add(a, b, out=out)
        return
    for k in range(len(a)):
        out[k] = ring.add(a[k], b[k])


def select_sum_cost(count: int, terms: int, rings: Sequence[Ring]) -> Cost:
    """Cost of :func:`select_sum`: 2 rounds; in all, per term a bit for every ring used and an element per column are
    dealt, and two elements per column answer."""
    thirds = thirds_of(count)
    dealt, answered = _dealt_bytes(terms, rings), sum(ring.nbytes for ring in rings)

    def sent(party: int) -> int:
        neighbours = thirds.size((party - 1) % 3) + thirds.size((party + 1) % 3)
        return dealt * thirds.size(party) + answered * neighbours

    return Cost(2, (sent(0), sent(1), sent(2)))


def multiply_bit(ctx: Context, bit: BinaryShare, xs: Sequence[ArithmeticShare]) -> list[ArithmeticShare]:
    """``bit * x`` for every x. Cost: :func:`multiply_bit_cost`. Reveals: nothing beyond shapes."""
    return select_sum(ctx, [bit], [xs])


def multiply_bit_cost(count: int, rings: Sequence[Ring]) -> Cost:
    """Cost of :func:`multiply_bit`: 2 rounds, 3 elements per number and item in all, plus one per ring used."""
    return select_sum_cost(count, 1, rings)


def select(
    ctx: Context, bit: BinaryShare, if_one: Sequence[ArithmeticShare], if_zero: Sequence[ArithmeticShare]
) -> list[ArithmeticShare]:
    """For every pair of numbers, the first where the bit is 1, else the second. Cost: :func:`multiply_bit_cost`.

    Reveals: nothing beyond shapes.
    """
    differences = multiply_bit(ctx, bit, [a - b for a, b in zip(if_one, if_zero, strict=True)])
    return [b + d for b, d in zip(if_zero, differences, strict=True)]


def bit_to_ring(ctx: Context, bit: BinaryShare, ring: Ring = RING32) -> ArithmeticShare:
    """The shared bit as a shared number 0 or 1 of a ring of one word (widen that for 2^128).

    Paper: ABY3's conversion with two instead of three messages. Cost: :func:`bit_to_ring_cost`. Reveals: nothing.
    """
    thirds = thirds_of(bit.count)
    own, before, after = (ctx.party, ctx.transport.left, ctx.transport.right)
    size = {p: thirds.size(p) for p in range(3)}
    mask = ctx.with_right(size[own], ring.dtype)
    dealt = ring.empty(size[own])
    word = {p: thirds.words(p) for p in range(3)}
    left_bits, right_bits = np.ascontiguousarray(bit.left[0]), np.ascontiguousarray(bit.right[0])
    ring_kernels.deal_bits(left_bits[word[own]], right_bits[word[own]], mask, dealt)
    dealt_before = ctx.with_left(size[before], ring.dtype)
    dealt_after = ring.empty(size[after])
    ctx.exchange(to_left=dealt, from_right=dealt_after)

    right_own = ctx.with_right(size[own], ring.dtype)
    left_before = ctx.with_left(size[before], ring.dtype)
    right_after = ctx.with_right(size[after], ring.dtype)
    left_own = ctx.with_left(size[own], ring.dtype)
    half_before, half_after = ring.empty(size[before]), ring.empty(size[after])
    ring_kernels.flip_dealt(dealt_before, right_bits[word[before]], True, left_before, half_before)
    ring_kernels.flip_dealt(dealt_after, left_bits[word[after]], False, right_after, half_after)
    other_before, other_after = np.empty_like(half_before), np.empty_like(half_after)
    ctx.exchange(to_right=half_before, to_left=half_after, from_right=other_before, from_left=other_after)

    left, right = ring.empty(bit.count), ring.empty(bit.count)
    left[thirds.items(own)], right[thirds.items(own)] = left_own, right_own
    left[thirds.items(before)], right[thirds.items(before)] = left_before, half_before + other_before
    left[thirds.items(after)], right[thirds.items(after)] = half_after + other_after, right_after
    return ArithmeticShare(left, right, ring)


def bit_to_ring_cost(count: int, ring: Ring) -> Cost:
    """Cost of :func:`bit_to_ring`: 2 rounds, 3 elements per item in all."""
    # A party deals its own third and answers for the other two, so it sends one element for every item.
    return Cost.even(2, ring.nbytes * count)
