"""Carries of A + B, where the dealer knows A and the other two know B: the core of comparison and equality.

With x = A + B as in :mod:`.dealing`, the dealer shares the chunk monomials of A (see :mod:`hedgerow.kernels.chunk`),
the answering parties evaluate the chunk polynomials locally and exchange masked halves, and the stages of a
:class:`.circuit.Circuit` join the chunks, three or four at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from ...engine import Cost, Round
from ...kernels import bits as bit_kernels
from ...kernels import chunk as chunk_kernels
from ...shares import Bits, Numbers, Ring, Words, words_for
from .dealing import NEXT, OWN, Dealing, dealer_blocks, few
from .evaluation import Block, SharedInputs

_LONGEST_JOIN = 4


@dataclass(frozen=True, slots=True)
class Chunks:
    """``bits`` bits cut into ``number`` chunks: the lowest of ``lowest`` bits, the highest ``fours`` of four bits, the
    others of three; and how many of them are joined in each stage. Few items take the fewest rounds and then the
    fewest bytes; many items pay at most a tenth more bytes to save a round."""

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
    def _planned(bits: int, carries: bool, minimise_rounds: bool) -> Chunks:
        if bits == 0:
            return Chunks(0, 0, 0, 0, carries, ())
        plans = [
            Chunks(bits, number, *_shape(bits, number), carries, radices)
            for number in range(-(-bits // 4), -(-bits // 3) + 1)
            for radices in _radices(number)
        ]
        if minimise_rounds:
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


def slice_words(ring: Ring, words: Words, bits: int) -> Words:
    """The low ``bits`` bits of ring items as packed rows."""
    rows = np.empty((bits, words_for(len(words))), np.uint64)
    if ring.bits != 128:
        bit_kernels.slice_items(np.ascontiguousarray(words), rows)
        return rows
    bit_kernels.slice_items(np.ascontiguousarray(words[:, 0]), rows[:64])
    bit_kernels.slice_items(np.ascontiguousarray(words[:, 1]), rows[64:])
    return rows


class SumOperand(Protocol):
    """What a party knows of each block, some of it only after the round in which A is dealt."""

    @property
    def mine(self) -> Words:
        """Packed rows of A of this party's own block."""

    def opening(self) -> Round:
        """What is sent in the round of the dealing."""

    def others(self, role: int) -> Words:
        """Packed rows of B of the block in which this party has the role, after that round."""


class SharedOperand:
    """A shared number: everything is known from the start. ``known`` has by role the rows of A and of B."""

    def __init__(self, known: Sequence[Words]) -> None:
        self.mine, self._known = known[OWN], known

    @staticmethod
    def of(dealing: Dealing, x: Numbers, bits: int, minus: int = 0) -> SharedOperand:
        """The low ``bits`` bits of x; ``minus`` is subtracted from B."""
        return SharedOperand(known_rows(dealing, x, bits, minus))

    def opening(self) -> Round:
        """Nothing is sent."""
        return Round()

    def others(self, role: int) -> Words:
        """Known from the start."""
        return self._known[role]


class ChunkInputs:
    """A circuit's inputs: rows G and P of every chunk (or P alone), then the rows of x past the chunks' bits, as they
    are without a carry, then rows that are shared already."""

    def __init__(self, chunks: Chunks, operand: SumOperand, shared: Bits | None = None) -> None:
        self.chunks, self.operand = chunks, operand
        self.extra = operand.mine.shape[0] - chunks.bits
        self.dealt_rows, self.fresh_rows = chunks.monomials + self.extra, chunks.rows
        self.shared = None if shared is None else SharedInputs(shared)

    def deal(self, block: Block, mask: Words, dealt: Words) -> None:
        """Monomials of A, and A's other rows."""
        chunks, mine = self.chunks, self.operand.mine
        monomials = chunks.monomials
        if chunks.number:
            chunk_kernels.mask_monomials(mine[: chunks.bits], chunks.lowest, chunks.fours, mask, dealt)
        dealt[monomials:] = mine[chunks.bits :] ^ mask[monomials:]
        self._fill(block, mask[monomials:], dealt[monomials:])

    def opening(self) -> Round:
        """What is sent so that B is known afterwards."""
        return self.operand.opening()

    def answer(self, block: Block, dealt: Words, out: Words) -> None:
        """The chunk polynomials in the bits of B."""
        chunks, monomials = self.chunks, self.chunks.monomials
        b = self.operand.others(block.role)
        if chunks.number:
            chunk_kernels.evaluate_chunks(
                dealt,
                b[: chunks.bits],
                chunks.lowest,
                chunks.fours,
                block.constant,
                chunks.carries,
                block.near_mask[: chunks.rows],
                out,
            )
        self._fill(block, dealt[monomials:], b[chunks.bits :])

    def _fill(self, block: Block, masks: Words, other: Words) -> None:
        start = self.chunks.rows
        block.near_mask[start : start + self.extra], block.far_mask_or_value[start : start + self.extra] = masks, other
        if self.shared is not None:
            self.shared.fill(block, start + self.extra)


def known_rows(dealing: Dealing, x: Numbers, bits: int, minus: int = 0) -> list[Words]:
    """By role the low bits of A or of B, less ``minus``, as packed rows."""
    known = dealing.known_numbers(x)
    if minus:
        offset = x.ring.encode([minus])
        known[1:] = [x.ring.subtract(words, offset) for words in known[1:]]
    return [slice_words(x.ring, words, bits) for words in known]


class LocalOperand:
    """A number that is the sum of one summand per party, each known only to that party, as products are.

    The dealer of a block takes its own summand for A and can deal at once; in the same round the other two send each
    other theirs, whose sum is B. What they send is masked by a share of zero of which the receiver lacks one half.
    """

    def __init__(self, dealing: Dealing, ring: Ring, summand: Words, bits: int) -> None:
        own, *others = dealing.items
        self.ring, self.bits = ring, bits
        self.mine = slice_words(ring, summand[own], bits)
        self.told = [np.ascontiguousarray(summand[block]) for block in others]
        self.heard = [np.empty_like(told) for told in self.told]

    def opening(self) -> Round:
        """Send this party's summand to the other answering party."""
        (following, previous), (from_right, from_left) = self.told, self.heard
        return Round(to_right=[following], to_left=[previous], from_right=[from_right], from_left=[from_left])

    def others(self, role: int) -> Words:
        """The sum of what both answering parties know."""
        side = 0 if role == NEXT else 1
        return slice_words(self.ring, self.ring.add(self.told[side], self.heard[side]), self.bits)


def unshared_cost(count: int, ring: Ring, single_dealer: bool = False) -> Cost:
    """What :class:`LocalOperand` adds to the cost of its circuit: bytes, no round."""
    blocks = dealer_blocks(count, single_dealer)

    return Cost.by_party(0, lambda party: ring.nbytes * (count - blocks.size(party)))
