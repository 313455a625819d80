"""Products of a shared bit and shared numbers, and choosing between numbers, straight from packed bits.

A bit b = c ^ d where the dealer of a block knows c and its neighbours both know d; a number x = A + B where the dealer
knows A and the neighbours both know B. Then ``b·x = (1 - 2d)·(cA + c·B) + d·x``: the dealer shares c and cA, the
neighbours do the rest locally and exchange masked halves. No separate conversion of b is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernels import ring as ring_kernels
from ..kernels import word128
from ..sharing import RING32, ArithmeticShare, BinaryShare, Context, Ring
from ..sharing.ring import Words
from .circuit import NEXT, OWN, PREVIOUS
from .columns import Columns, Part
from .cost import Cost, thirds_of
from .steps import Round, Steps, run


def _dealt_bytes(terms: int, rings: Sequence[Ring]) -> int:
    """Bytes dealt for an item: per term the bit once in every ring that occurs, and one product a column."""
    return terms * (sum(ring.nbytes for ring in set(rings)) + sum(ring.nbytes for ring in rings))


def _kernels(ring: Ring) -> tuple[Any, Any]:
    """What deals and what answers in a ring."""
    if ring.bits == 128:
        return word128.deal_table_words, word128.answer_table_words
    return ring_kernels.deal_table, ring_kernels.answer_table


def _cut(buffer: Words, parts: Sequence[Part], terms: int, extra: int, size: int) -> list[Words]:
    """A packet's tables, one a ring: ``terms`` rows (none if 0) of its columns and ``extra`` more, ``size`` items."""
    tables, start = [], 0
    for part in parts:
        rows = part.left.shape[0] + extra
        stop = start + max(1, terms) * rows * size * part.ring.nbytes
        shape = (terms, rows) if terms else (rows,)
        tables.append(buffer[start:stop].view(part.ring.dtype).reshape(*shape, *part.ring.shape(size)))
        start = stop
    return tables


class Selection:
    """For every column the sum over ``terms`` terms of ``bits[t] * column[t]``; bits may come later than the columns,
    which have the items of all terms one after the other.

    Of a block's bits the dealer knows the masks from the start, and deals; the other two know the values in the end,
    and answer. Reveals: nothing beyond shapes: what is dealt is masked by the dealer's key with the next party, the
    exchanged halves by keys the receiver does not have.
    """

    def __init__(self, ctx: Context, columns: Columns, terms: int = 1, alone: bool = False) -> None:
        self.ctx, self.columns, self.parts, self.terms = ctx, columns, columns.parts, terms
        self.count = len(columns) // terms
        thirds = thirds_of(self.count, alone)
        parties = (ctx.party, ctx.transport.left, ctx.transport.right)
        self.sizes, self.blocks = [thirds.size(p) for p in parties], [thirds.items(p) for p in parties]
        rings = columns.rings
        self.dealt_bytes, self.answer_bytes = _dealt_bytes(terms, rings), sum(ring.nbytes for ring in rings)
        self.incoming = np.empty(self.dealt_bytes * self.sizes[PREVIOUS], np.uint8)

    def _both(self, part: Part, role: int) -> tuple[Words, Words]:
        """Left and right summands of a block, by term and column."""
        left, right = (
            side.reshape(len(side), self.terms, self.count, *side.shape[2:])[:, :, self.blocks[role]].swapaxes(0, 1)
            for side in (part.left, part.right)
        )
        return np.ascontiguousarray(left), np.ascontiguousarray(right)

    def opening(self, left: Words, right: Words) -> Round:
        """The round of the dealing, from both halves of the masks of this party's own block, a packed row a term."""
        size = self.sizes[OWN]
        mask = self.ctx.with_right(self.dealt_bytes * size, np.uint8)
        dealt = np.empty_like(mask)
        if size:
            masks, outs = (_cut(buffer, self.parts, self.terms, 1, size) for buffer in (mask, dealt))
            for part, mask_table, out in zip(self.parts, masks, outs, strict=True):
                _kernels(part.ring)[0](left, right, *self._both(part, OWN), mask_table, out)
        self.dealt_before = self.ctx.with_left(self.dealt_bytes * self.sizes[NEXT], np.uint8)
        return Round(to_left=[dealt], from_right=[self.incoming])

    def answers(self, before: Words, after: Words) -> Steps[Columns]:
        """The round of the answers, from the values of the blocks of the left and of the right neighbour."""
        ctx, each = self.ctx, self.answer_bytes
        own, following, previous = (each * size for size in self.sizes)
        right_own, left_before = ctx.with_right(own, np.uint8), ctx.with_left(following, np.uint8)
        right_after, left_own = ctx.with_right(previous, np.uint8), ctx.with_left(own, np.uint8)
        half_before, half_after = np.empty_like(left_before), np.empty_like(right_after)
        self._answer(NEXT, self.dealt_before, before, left_before, half_before)
        self._answer(PREVIOUS, self.incoming, after, right_after, half_after)
        other_before, other_after = np.empty_like(half_before), np.empty_like(half_after)
        yield Round(to_right=[half_before], to_left=[half_after], from_right=[other_before], from_left=[other_after])
        shapes = [(len(part.left), *part.ring.shape(self.count)) for part in self.parts]
        results = [
            Part(part.ring, np.empty(shape, part.ring.dtype), np.empty(shape, part.ring.dtype))
            for part, shape in zip(self.parts, shapes, strict=True)
        ]
        self._write(OWN, right_own, [left_own], results)
        self._write(NEXT, left_before, [half_before, other_before], results)
        self._write(PREVIOUS, right_after, [half_after, other_after], results)
        return Columns(results, self.columns.places)

    def _tables(self, buffer: Words, role: int) -> list[Words]:
        return _cut(buffer, self.parts, 0, 0, self.sizes[role])

    def _answer(self, role: int, dealt: Words, values: Words, mask: Words, out: Words) -> None:
        """This party's halves of a neighbour's block, masked."""
        if self.sizes[role] == 0:
            return
        packets = _cut(dealt, self.parts, self.terms, 1, self.sizes[role])
        tables = (self._tables(buffer, role) for buffer in (mask, out))
        for part, packet, mask_table, half in zip(self.parts, packets, *tables, strict=True):
            left, right = self._both(part, role)
            common, near = (right, left) if role == NEXT else (left, right)
            _kernels(part.ring)[1](packet, values, common, near, role == NEXT, mask_table, half)

    def _write(self, role: int, near: Words, far: Sequence[Words], results: Sequence[Part]) -> None:
        """A block of the results: what is shared with the dealer, and the rest or its two halves."""
        if self.sizes[role] == 0:
            return
        block, masks = self.blocks[role], self._tables(near, role)
        summands = [self._tables(buffer, role) for buffer in far]
        for g, part in enumerate(results):
            own, other = (part.left, part.right) if role == NEXT else (part.right, part.left)
            own[:, block] = masks[g]
            if len(summands) == 1:
                other[:, block] = summands[0][g]
            else:
                _sum_into(part.ring, summands[0][g], summands[1][g], other[:, block])


def select_sum(
    ctx: Context, bits: Sequence[BinaryShare], table: Sequence[Sequence[ArithmeticShare]]
) -> list[ArithmeticShare]:
    """For every column p, the sum over the terms t of ``bits[t] * table[t][p]``; rings may be mixed.

    Paper: our own. Cost: :func:`select_sum_cost`. Reveals: nothing beyond shapes; see :class:`Selection`.
    """
    return select_columns(ctx, bits, Columns.of_table(table)).list()


def select_columns(ctx: Context, bits: Sequence[BinaryShare], columns: Columns) -> Columns:
    """:func:`select_sum` of columns that have the items of all terms one after the other."""
    count = bits[0].count
    if len(columns) != len(bits) * count or any((bit.rows, bit.count) != (1, count) for bit in bits):
        raise ValueError(f"{list(bits)!r} do not go with {columns!r}; one row of bits a term is needed")
    selection = Selection(ctx, columns, len(bits))
    rows = bits[0] if len(bits) == 1 else BinaryShare.stack(bits)
    thirds = thirds_of(count)
    own, before, after = (thirds.words(p) for p in (ctx.party, ctx.transport.left, ctx.transport.right))

    def steps() -> Steps[Columns]:
        yield selection.opening(_block(rows.left, own), _block(rows.right, own))
        return (yield from selection.answers(_block(rows.right, before), _block(rows.left, after)))

    return run(ctx, steps())


def _block(rows: Words, words: slice) -> Words:
    return np.ascontiguousarray(rows[:, words])


def _sum_into(ring: Ring, a: Words, b: Words, out: Words) -> None:
    """``out = a + b`` for tables of columns."""
    if ring.bits != 128:
        np.add(a, b, out=out)
        return
    for k in range(len(a)):
        out[k] = ring.add(a[k], b[k])


def select_sum_cost(count: int, terms: int, rings: Sequence[Ring], alone: bool = False) -> Cost:
    """Cost of :func:`select_sum`: 2 rounds; in all, per term a bit for every ring used and an element per column are
    dealt, and two elements per column answer."""
    thirds = thirds_of(count, alone)
    dealt, answered = _dealt_bytes(terms, rings), sum(ring.nbytes for ring in rings)

    def sent(party: int) -> int:
        own = thirds.size(party)
        return dealt * own + answered * (count - own)

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
