"""Who deals which block of a vector, and the moves that every dealt protocol makes.

Every block of a shared x has a *dealer*, which knows A = x_i + x_{i+1}; the party right of it (*next*) and the party
left of it (*previous*) both know the third summand B, and x = A + B. A dealt protocol has two kinds of rounds:

1. The dealer shares what it knows in a *packet*: the next party's summand comes from the key it has with the dealer,
   the rest goes to the previous party.
2. The answering parties, next and previous, each compute one *half* of the results and exchange the halves, each masked
   by the key that its sender has with the dealer. What the dealer holds of the results are those two masks.

Every party plays all three roles, each in another block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...engine import Context, Round, Steps
from ...shares import Bits, Numbers, Ring, Words, words_for

OWN, NEXT, PREVIOUS = range(3)
"""Roles: the dealer, the party right of it, the party left of it."""
FEW = 1 << 15
"""Up to this many items a round takes longer than the bytes that save it; see docs/decisions/0001-comparison.md."""

NOTHING: Words = np.empty((0, 0), np.uint64)
"""In the place of a role that has no array."""

Shapes = Sequence[Any]
"""An array's shape for each role."""


class DealerBlocks:
    """A vector cut into three word-aligned blocks, one for each dealer, so that the load of all roles is even.

    Few items are one block, which party 0 deals: then only two parties wait for each other, and the dealer, which gets
    nothing, does not wait.
    """

    __slots__ = ("_items", "_words", "count", "single_dealer")

    def __init__(self, count: int, single_dealer: bool = False) -> None:
        self.count = count
        self.single_dealer = single_dealer or few(count)
        total = words_for(count)
        bounds = [0, total, total, total] if self.single_dealer else [dealer * total // 3 for dealer in range(4)]
        self._words = [slice(bounds[d], bounds[d + 1]) for d in range(3)]
        self._items = [slice(min(count, 64 * w.start), min(count, 64 * w.stop)) for w in self._words]

    def words(self, dealer: int) -> slice:
        """The packed words of the block that ``dealer`` deals."""
        return self._words[dealer]

    def items(self, dealer: int) -> slice:
        """The items of the block that ``dealer`` deals."""
        return self._items[dealer]

    def width(self, dealer: int) -> int:
        """Packed words in a block."""
        words = self._words[dealer]
        return int(words.stop - words.start)

    def size(self, dealer: int) -> int:
        """Items in a block."""
        items = self._items[dealer]
        return int(items.stop - items.start)


def few(count: int) -> bool:
    """Whether rounds matter more than bytes."""
    return count <= FEW


@lru_cache(maxsize=1024)
def dealer_blocks(count: int, single_dealer: bool = False) -> DealerBlocks:
    """The blocks of a vector of ``count`` items; with ``single_dealer``, one dealer however many they are."""
    return DealerBlocks(count, single_dealer)


@dataclass(frozen=True, slots=True)
class Packet:
    """What the dealers share: this party's ``mask``, which the next party knows, and ``content``, the rest,
    which the caller fills; and by role what this party gets of the others' packets."""

    mask: Words
    content: Words
    received: list[Words]

    def round(self) -> Round:
        """The round of the dealing. What the previous party receives is masked by a key that it does not have."""
        return Round(to_left=[self.content], from_right=[self.received[PREVIOUS]])


@dataclass(frozen=True, slots=True)
class AnswerMasks:
    """Of this party's block both masks of the results, left and right; of the others' blocks by role the mask that this
    party has in common with the dealer."""

    own: tuple[Words, Words]
    answering: list[Words]


class Dealing:
    """One party's part in dealt protocols on one vector."""

    __slots__ = ("blocks", "ctx", "items", "sizes", "widths", "words")

    def __init__(self, ctx: Context, blocks: DealerBlocks) -> None:
        self.ctx, self.blocks = ctx, blocks
        dealers = (ctx.party, ctx.transport.left, ctx.transport.right)
        self.items = [blocks.items(dealer) for dealer in dealers]
        self.words = [blocks.words(dealer) for dealer in dealers]
        self.sizes = [blocks.size(dealer) for dealer in dealers]
        self.widths = [blocks.width(dealer) for dealer in dealers]

    @staticmethod
    def of(ctx: Context, count: int, single_dealer: bool = False) -> Dealing:
        """The dealing of a vector of ``count`` items."""
        return Dealing(ctx, dealer_blocks(count, single_dealer))

    def number_shapes(self, ring: Ring) -> Shapes:
        """One number per item."""
        return [ring.shape(size) for size in self.sizes]

    def row_shapes(self, rows: int) -> Shapes:
        """Packed rows of bits."""
        return [(rows, width) for width in self.widths]

    def byte_shapes(self, each: int) -> Shapes:
        """``each`` bytes per item."""
        return [each * size for size in self.sizes]

    def known_numbers(self, x: Numbers) -> list[Words]:
        """A of this party's own block, and B of the others' blocks by role."""
        own, following, previous = self.items
        return [x.ring.add(x.left[own], x.right[own]), x.right[following], x.left[previous]]

    def packet(self, shapes: Shapes, dtype: Any = np.uint64) -> Packet:
        """Draw a packet's masks; a receiver that is *next* thereby has its part."""
        mask = self.ctx.with_right(shapes[OWN], dtype)
        held: Words = np.empty(shapes[PREVIOUS], dtype)
        return Packet(mask, np.empty_like(mask), [NOTHING, self.ctx.with_left(shapes[NEXT], dtype), held])

    def answer_masks(self, shapes: Shapes, dtype: Any = np.uint64) -> AnswerMasks:
        """Draw the masks of results."""
        # Both neighbours of a pair draw in the same order: what its left party deals, then what its right one deals.
        own_right, following = self.ctx.with_right(shapes[OWN], dtype), self.ctx.with_left(shapes[NEXT], dtype)
        previous, own_left = self.ctx.with_right(shapes[PREVIOUS], dtype), self.ctx.with_left(shapes[OWN], dtype)
        return AnswerMasks((own_left, own_right), [NOTHING, following, previous])

    def exchange_halves(self, halves: Sequence[Words]) -> Steps[list[Words]]:
        """One round in which the answering parties send each other their halves of the blocks in which this party is
        next and previous; returns the other's. The caller has masked them by keys that the receiver does not have."""
        others = [np.empty_like(half) for half in halves]
        yield Round(to_right=[halves[0]], to_left=[halves[1]], from_right=[others[0]], from_left=[others[1]])
        return others

    def assemble_numbers(self, ring: Ring, near: Sequence[Words], far: Sequence[Words]) -> Numbers:
        """A share from its parts by role: ``near`` is the right summand of this party's block and of others the one
        the dealer knows too; ``far`` the left one of this party's block and the one both answering parties know."""
        left, right = ring.empty(self.blocks.count), ring.empty(self.blocks.count)
        for role, items in enumerate(self.items):
            here, there = (left, right) if role == NEXT else (right, left)
            here[items], there[items] = near[role], far[role]
        return Numbers(left, right, ring)

    def assemble_bits(self, near: Sequence[Words], far: Sequence[Words]) -> Bits:
        """:meth:`assemble_numbers` for packed rows."""
        shape = (len(near[OWN]), sum(self.widths))
        left, right = np.empty(shape, np.uint64), np.empty(shape, np.uint64)
        for role, words in enumerate(self.words):
            here, there = (left, right) if role == NEXT else (right, left)
            here[:, words], there[:, words] = near[role], far[role]
        return Bits(left, right, self.blocks.count)


def packet_sum(dealing: Dealing, ring: Ring, packet: Packet, known: Sequence[Words]) -> Numbers:
    """A share of A + B, where the packet has A and ``known`` by role B, both as items of ``ring``."""
    near = [packet.mask, *packet.received[1:]]
    return dealing.assemble_numbers(ring, near, [packet.content, *known[1:]])
