"""Products of a shared bit and shared numbers, and choosing between numbers, straight from packed bits.

A bit b = c ^ d where the dealer of a block knows c and its neighbours both know d; a number x = A + B as in
:mod:`.dealing`. Then ``b·x = (1 - 2d)·(cA + c·B) + d·x``: the dealer shares c and cA, the neighbours do the rest
locally and exchange masked halves. No separate conversion of b is needed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine import Context, Cost, Protocol, Round, Steps
from ...kernels import ring as ring_kernels
from ...kernels import word128
from ...shares import RING32, Bits, Columns, Numbers, Ring, Words
from ...shares.columns import Part
from .dealing import NEXT, OWN, PREVIOUS, Dealing, dealer_blocks


def _dealt_bytes(terms: int, rings: Sequence[Ring]) -> int:
    """Bytes dealt for an item: per term the bit once in every ring that occurs, and one product per column."""
    return terms * (sum(ring.nbytes for ring in set(rings)) + sum(ring.nbytes for ring in rings))


def _kernels(ring: Ring) -> tuple[Any, Any]:
    """What deals and what answers in a ring."""
    if ring.bits == 128:
        return word128.deal_table_words, word128.answer_table_words
    return ring_kernels.deal_table, ring_kernels.answer_table


def _cut(buffer: Words, parts: Sequence[Part], terms: int, extra: int, size: int) -> list[Words]:
    """A packet's tables, one per ring: ``terms`` rows (none if 0) of its columns and ``extra`` more, ``size`` items."""
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

    def __init__(self, ctx: Context, columns: Columns, terms: int = 1, single_dealer: bool = False) -> None:
        self.columns, self.parts, self.terms = columns, columns.parts, terms
        self.count = len(columns) // terms
        self.dealing = Dealing.of(ctx, self.count, single_dealer)
        self.sizes = self.dealing.sizes

    def _both(self, part: Part, role: int) -> tuple[Words, Words]:
        """Left and right summands of a block, by term and column."""
        items = self.dealing.items[role]
        left, right = (
            side.reshape(len(side), self.terms, self.count, *side.shape[2:])[:, :, items].swapaxes(0, 1)
            for side in (part.left, part.right)
        )
        return np.ascontiguousarray(left), np.ascontiguousarray(right)

    def opening(self, left: Words, right: Words) -> Round:
        """The round of the dealing, from both halves of the masks of this party's own block, one packed row per
        term."""
        size, dealt = self.sizes[OWN], _dealt_bytes(self.terms, self.columns.rings)
        self.packet = self.dealing.packet(self.dealing.byte_shapes(dealt), np.uint8)
        if size:
            buffers = self.packet.mask, self.packet.content
            masks, outs = (_cut(buffer, self.parts, self.terms, 1, size) for buffer in buffers)
            for part, mask, out in zip(self.parts, masks, outs, strict=True):
                _kernels(part.ring)[0](left, right, *self._both(part, OWN), mask, out)
        return self.packet.round()

    def answers(self, following: Words, previous: Words) -> Steps[Columns]:
        """The round of the answers, from the values of the blocks of the left and of the right neighbour."""
        each = sum(ring.nbytes for ring in self.columns.rings)
        masks = self.dealing.answer_masks(self.dealing.byte_shapes(each), np.uint8)
        halves = [np.empty_like(mask) for mask in masks.answering[1:]]
        self._answer(NEXT, following, masks.answering[NEXT], halves[0])
        self._answer(PREVIOUS, previous, masks.answering[PREVIOUS], halves[1])
        others = yield from self.dealing.exchange_halves(halves)
        results = [
            Part(part.ring, np.empty(shape, part.ring.dtype), np.empty(shape, part.ring.dtype))
            for part, shape in ((part, (len(part.left), *part.ring.shape(self.count))) for part in self.parts)
        ]
        self._write(OWN, masks.own[1], [masks.own[0]], results)
        self._write(NEXT, masks.answering[NEXT], [halves[0], others[0]], results)
        self._write(PREVIOUS, masks.answering[PREVIOUS], [halves[1], others[1]], results)
        return Columns(results, self.columns.places)

    def _tables(self, buffer: Words, role: int) -> list[Words]:
        return _cut(buffer, self.parts, 0, 0, self.sizes[role])

    def _answer(self, role: int, values: Words, mask: Words, out: Words) -> None:
        """This party's halves of a neighbour's block, masked."""
        if self.sizes[role] == 0:
            return
        packets = _cut(self.packet.received[role], self.parts, self.terms, 1, self.sizes[role])
        tables = (self._tables(buffer, role) for buffer in (mask, out))
        for part, packet, mask_table, half in zip(self.parts, packets, *tables, strict=True):
            left, right = self._both(part, role)
            common, near = (right, left) if role == NEXT else (left, right)
            _kernels(part.ring)[1](packet, values, common, near, role == NEXT, mask_table, half)

    def _write(self, role: int, near: Words, far: Sequence[Words], results: Sequence[Part]) -> None:
        """A block of the results: what is shared with the dealer, and the rest or its two halves."""
        if self.sizes[role] == 0:
            return
        block, masks = self.dealing.items[role], self._tables(near, role)
        summands = [self._tables(buffer, role) for buffer in far]
        for g, part in enumerate(results):
            own, other = (part.left, part.right) if role == NEXT else (part.right, part.left)
            own[:, block] = masks[g]
            if len(summands) == 1:
                other[:, block] = summands[0][g]
            else:
                _sum_into(part.ring, summands[0][g], summands[1][g], other[:, block])


def _sum_into(ring: Ring, a: Words, b: Words, out: Words) -> None:
    """``out = a + b`` for tables of columns."""
    if ring.bits != 128:
        np.add(a, b, out=out)
        return
    for k in range(len(a)):
        out[k] = ring.add(a[k], b[k])


def select_sum(ctx: Context, bits: Sequence[Bits], table: Sequence[Sequence[Numbers]]) -> list[Numbers]:
    """For every column p, the sum over the terms t of ``bits[t] * table[t][p]``; rings may be mixed.

    Paper: our own. Cost: :func:`select_sum_cost`. Reveals: nothing beyond shapes; see :class:`Selection`.
    """
    return select_columns(ctx, bits, Columns.of_table(table)).list()


@Protocol
def select_columns(ctx: Context, bits: Sequence[Bits], columns: Columns) -> Steps[Columns]:
    """:func:`select_sum` of columns that have the items of all terms one after the other."""
    count = bits[0].count
    if len(columns) != len(bits) * count or any((bit.rows, bit.count) != (1, count) for bit in bits):
        raise ValueError(f"{list(bits)!r} do not go with {columns!r}; one row of bits per term is needed")
    selection = Selection(ctx, columns, len(bits))
    rows = bits[0] if len(bits) == 1 else Bits.stack(bits)
    own, following, previous = selection.dealing.words
    yield selection.opening(_block(rows.left, own), _block(rows.right, own))
    return (yield from selection.answers(_block(rows.right, following), _block(rows.left, previous)))


def _block(rows: Words, words: slice) -> Words:
    return np.ascontiguousarray(rows[:, words])


def select_sum_cost(count: int, terms: int, rings: Sequence[Ring], single_dealer: bool = False) -> Cost:
    """Cost of :func:`select_sum`: 2 rounds; in all, per term a bit for every ring used and an element per column are
    dealt, and two elements per column answer."""
    blocks = dealer_blocks(count, single_dealer)
    dealt, answered = _dealt_bytes(terms, rings), sum(ring.nbytes for ring in rings)

    return Cost.by_party(2, lambda party: answered * count + (dealt - answered) * blocks.size(party))


def multiply_bit(ctx: Context, bit: Bits, xs: Sequence[Numbers]) -> list[Numbers]:
    """``bit * x`` for every x. Cost: :func:`multiply_bit_cost`. Reveals: nothing beyond shapes."""
    return select_sum(ctx, [bit], [xs])


def multiply_bit_cost(count: int, rings: Sequence[Ring]) -> Cost:
    """Cost of :func:`multiply_bit`: 2 rounds, 3 elements per number and item in all, plus one per ring used."""
    return select_sum_cost(count, 1, rings)


def select(ctx: Context, bit: Bits, if_one: Sequence[Numbers], if_zero: Sequence[Numbers]) -> list[Numbers]:
    """For every pair of numbers, the first where the bit is 1, else the second. Cost: :func:`multiply_bit_cost`.

    Reveals: nothing beyond shapes.
    """
    differences = multiply_bit(ctx, bit, [a - b for a, b in zip(if_one, if_zero, strict=True)])
    return [b + d for b, d in zip(if_zero, differences, strict=True)]


@Protocol
def bit_to_ring(ctx: Context, bit: Bits, ring: Ring = RING32) -> Steps[Numbers]:
    """The shared bit as a shared number 0 or 1 of a ring of one word (widen that for 2^128).

    Paper: ABY3's conversion with two instead of three messages. Cost: :func:`bit_to_ring_cost`. Reveals: nothing.
    """
    dealing = Dealing.of(ctx, bit.count)
    own, following, previous = dealing.words
    left, right = np.ascontiguousarray(bit.left[0]), np.ascontiguousarray(bit.right[0])
    packet = dealing.packet(dealing.number_shapes(ring), ring.dtype)
    ring_kernels.deal_bits(left[own], right[own], packet.mask, packet.content)
    yield packet.round()
    masks = dealing.answer_masks(dealing.number_shapes(ring), ring.dtype)
    halves = [np.empty_like(mask) for mask in masks.answering[1:]]
    for role, values in ((NEXT, right[following]), (PREVIOUS, left[previous])):
        ring_kernels.flip_dealt(packet.received[role], values, role == NEXT, masks.answering[role], halves[role - 1])
    others = yield from dealing.exchange_halves(halves)
    common = [half + other for half, other in zip(halves, others, strict=True)]
    return dealing.assemble_numbers(ring, [masks.own[1], *masks.answering[1:]], [masks.own[0], *common])


def bit_to_ring_cost(count: int, ring: Ring) -> Cost:
    """Cost of :func:`bit_to_ring`: 2 rounds, 3 elements per item in all."""
    # A party deals its own block and answers for the other two, so it sends one element for every item.
    return Cost.even(2, ring.nbytes * count)
