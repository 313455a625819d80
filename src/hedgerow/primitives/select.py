"""Products of a shared bit and shared numbers, and choosing between numbers, straight from packed bits.

A bit b = c ^ d where the dealer of a block knows c and its neighbours both know d; a number x = A + B where the dealer
knows A and the neighbours both know B. Then ``b·x = (1 - 2d)·(cA + c·B) + d·x``: the dealer shares c and cA, the
neighbours do the rest locally and exchange masked halves. No separate conversion of b is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ..kernels import ring as ring_kernels
from ..kernels import word128
from ..sharing import RING32, ArithmeticShare, BinaryShare, Context, Ring
from ..sharing.ring import Words
from .cost import Cost, Thirds, thirds_of
from .packet import packet, packet_bytes, views


def _distinct(rings: Sequence[Ring]) -> list[Ring]:
    return sorted(set(rings), key=lambda ring: ring.bits)


def _dealt(terms: int, rings: Sequence[Ring]) -> list[Ring]:
    """The rings of dealt columns, term by term: the bit once in every ring that occurs, then one product a column."""
    return [*_distinct(rings), *rings] * terms


def _kernels(ring: Ring) -> tuple[Any, Any, Any]:
    """What deals bits, deals products and answers in a ring."""
    if ring.bits == 128:
        return word128.deal_bits_words, word128.deal_selected_words, word128.answer_selected_words
    return ring_kernels.deal_bits, ring_kernels.deal_selected, ring_kernels.answer_selected


def _negate(ring: Ring, words: Words, out: Words) -> None:
    """``out = -words``, without a copy where a word is an item."""
    if ring.bits == 128:
        out[:] = ring.subtract(ring.zeros(1), words)
    else:
        np.negative(words, out=out)


class _Bits(Protocol):
    """The bits of a selection, term by term: what the dealer of a block knows of them and what the others do."""

    def own(self, term: int) -> tuple[Words, Words]:
        """Two packed summands whose sum this party deals, in its own block."""

    def exchange(self, ctx: Context, dealt: Words, incoming: Words) -> None:
        """The round of the dealing."""

    def known(self, term: int) -> tuple[Words, Words]:
        """After it, what both answering parties know, in the block of the left neighbour and in that of the right."""


class _SharedBits:
    """Bits that are shared."""

    def __init__(self, ctx: Context, bits: Sequence[BinaryShare], thirds: Thirds) -> None:
        self.bits = bits
        self.blocks = [thirds.words(p) for p in (ctx.party, ctx.transport.left, ctx.transport.right)]

    def own(self, term: int) -> tuple[Words, Words]:
        block, bit = self.blocks[0], self.bits[term]
        return np.ascontiguousarray(bit.left[0, block]), np.ascontiguousarray(bit.right[0, block])

    def exchange(self, ctx: Context, dealt: Words, incoming: Words) -> None:
        ctx.exchange(to_left=dealt, from_right=incoming)

    def known(self, term: int) -> tuple[Words, Words]:
        (_, before, after), bit = self.blocks, self.bits[term]
        return np.ascontiguousarray(bit.right[0, before]), np.ascontiguousarray(bit.left[0, after])


class _UnsharedBit:
    """One bit that is the sum of one summand a party, each known to that party alone, as gates are before they are
    shared. The dealer of a block takes its own summand and deals at once; in the same round the other two tell each
    other theirs. Words that wait for a round may go along to the left."""

    def __init__(self, ctx: Context, summand: Words, thirds: Thirds, passing: Words) -> None:
        own, before, after = (thirds.words(p) for p in (ctx.party, ctx.transport.left, ctx.transport.right))
        self.mine, self.before, self.after = (np.ascontiguousarray(summand[block]) for block in (own, before, after))
        self.passing, self.passed = passing, np.empty_like(passing)

    def own(self, term: int) -> tuple[Words, Words]:
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

    def known(self, term: int) -> tuple[Words, Words]:
        return self.before, self.after


def select_sum(
    ctx: Context, bits: Sequence[BinaryShare], table: Sequence[Sequence[ArithmeticShare]]
) -> list[ArithmeticShare]:
    """For every column p, the sum over the terms t of ``bits[t] * table[t][p]``; rings may be mixed.

    Paper: our own. Cost: :func:`select_sum_cost`. Reveals: nothing beyond shapes: what is dealt is masked by the
    dealer's key with the next party, the exchanged halves by keys the receiver does not have.
    """
    return _select_sum(ctx, _SharedBits(ctx, bits, thirds_of(bits[0].count)), bits[0].count, table)


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
    distinct = _distinct(rings)
    stride = len(distinct) + len(rings)
    thirds = thirds_of(count)
    own, before, after = (ctx.party, ctx.transport.left, ctx.transport.right)
    size = {p: thirds.size(p) for p in range(3)}

    def items(side: Words, party: int) -> Words:
        return np.ascontiguousarray(side[thirds.items(party)])

    def masks(draw: Callable[[int, Any], Words], columns: Sequence[Ring], party: int) -> list[Words]:
        return views(draw(packet_bytes(columns, size[party]), np.uint8), columns, size[party])

    columns = _dealt(len(table), rings)
    dealt_buffer, dealt = packet(columns, size[own])
    dealt_masks = masks(ctx.with_right, columns, own)
    for t, row in enumerate(table):
        left, right = bits.own(t)
        for k, ring in enumerate(distinct, start=t * stride):
            _kernels(ring)[0](left, right, dealt_masks[k], dealt[k])
        for k, x in enumerate(row, start=t * stride + len(distinct)):
            _kernels(x.ring)[1](left, right, items(x.left, own), items(x.right, own), dealt_masks[k], dealt[k])
    dealt_before = masks(ctx.with_left, columns, before)
    after_buffer, dealt_after = packet(columns, size[after])
    bits.exchange(ctx, dealt_buffer, after_buffer)

    right_own = masks(ctx.with_right, rings, own)
    left_before = masks(ctx.with_left, rings, before)
    right_after = masks(ctx.with_right, rings, after)
    left_own = masks(ctx.with_left, rings, own)
    buffer_before, half_before = packet(rings, size[before])
    buffer_after, half_after = packet(rings, size[after])
    for p, ring in enumerate(rings):
        _negate(ring, left_before[p], half_before[p])
        _negate(ring, right_after[p], half_after[p])
    for t, row in enumerate(table):
        known_before, known_after = bits.known(t)
        for p, x in enumerate(row):
            one, product = t * stride + distinct.index(x.ring), t * stride + len(distinct) + p
            answer = _kernels(x.ring)[2]
            answer(
                dealt_before[one], dealt_before[product], known_before,
                items(x.right, before), items(x.left, before), True, half_before[p],
            )  # fmt: skip
            answer(
                dealt_after[one], dealt_after[product], known_after,
                items(x.left, after), items(x.right, after), False, half_after[p],
            )  # fmt: skip
    other_before_buffer, other_before = packet(rings, size[before])
    other_after_buffer, other_after = packet(rings, size[after])
    ctx.exchange(
        to_right=buffer_before, to_left=buffer_after, from_right=other_before_buffer, from_left=other_after_buffer
    )

    results = []
    for p, ring in enumerate(rings):
        left, right = ring.empty(count), ring.empty(count)
        left[thirds.items(own)], right[thirds.items(own)] = left_own[p], right_own[p]
        left[thirds.items(before)] = left_before[p]
        right[thirds.items(before)] = ring.add(half_before[p], other_before[p])
        left[thirds.items(after)] = ring.add(half_after[p], other_after[p])
        right[thirds.items(after)] = right_after[p]
        results.append(ArithmeticShare(left, right, ring))
    return results


def select_sum_cost(count: int, terms: int, rings: Sequence[Ring]) -> Cost:
    """Cost of :func:`select_sum`: 2 rounds; in all, per term a bit for every ring used and an element per column are
    dealt, and two elements per column answer."""
    thirds = thirds_of(count)
    dealt, answered = packet_bytes(_dealt(terms, rings), 1), packet_bytes(rings, 1)

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
    """The shared bit as a shared number 0 or 1 of a 32- or 64-bit ring (widen that for 2^128).

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
