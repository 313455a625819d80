"""Between lines over the field and replicated shares of bits and of the ring 2^64.

As in :mod:`hedgerow.schemes.replicated.dealing`, of every block the dealer knows A and the other two know B. Whether
A + B exceeds the modulus is told by their top bits, because the number itself has none: no carry is needed. So a
conversion is one summand per party, made with one dealt bit, and its sharing.
"""

from collections.abc import Sequence

import numpy as np

from ...engine import Context, Cost, Protocol, Round, Steps
from ...kernels import field as kernels
from ...shares import FIELD61, RING64, Bits, Numbers, Points, Ring, Words, unpack_bits
from ...shares.field import PRIME
from ..replicated.dealing import NEXT, OWN, PREVIOUS, Dealing, Packet, dealer_blocks
from ..replicated.multiply import reshared
from .arithmetic import masked, on_line, replicate, weighted

MOST_BITS = 60
"""Bits of a number that can be converted."""


class Exchanged:
    """A vector as one summand per party becomes A and B: the dealer of a block takes its own summand for A, the other
    two send each other theirs. What they send is masked by a share of zero of which the receiver lacks one half."""

    def __init__(self, ctx: Context, x: Points, dealing: Dealing) -> None:
        summand = masked(ctx, weighted(ctx, x.value))
        own, *others = dealing.items
        self.mine = np.ascontiguousarray(summand[own])
        self.told = [np.ascontiguousarray(summand[block]) for block in others]
        self.heard = [np.empty_like(told) for told in self.told]

    def opening(self) -> Round:
        """Send this party's summands to the other answering parties."""
        (following, previous), (from_right, from_left) = self.told, self.heard
        return Round(to_right=[following], to_left=[previous], from_right=[from_right], from_left=[from_left])

    def known(self) -> list[Words]:
        """By role A or B, after that round."""
        return [self.mine, *(FIELD61.add(told, heard) for told, heard in zip(self.told, self.heard, strict=True))]


def exchanged_cost(count: int) -> Cost:
    """What :class:`Exchanged` sends: an element for every item that a party does not deal."""
    blocks = dealer_blocks(count)
    return Cost.by_party(0, lambda party: FIELD61.nbytes * (count - blocks.size(party)))


def _deal(dealing: Dealing, ring: Ring, bits: Words) -> Packet:
    """The dealer's bits as items of a ring."""
    packet = dealing.packet(dealing.number_shapes(ring), ring.dtype)
    drawn = Packet(ring.uniform(packet.mask), packet.content, packet.received)
    drawn.content[:] = ring.subtract(bits, drawn.mask)
    return drawn


def _dealt(packet: Packet, ring: Ring, role: int) -> Words:
    """This party's part of the bits of the block in which it has the role."""
    return ring.uniform(packet.received[role]) if role == NEXT else packet.received[role]


def _by_block(dealing: Dealing, parts: Sequence[Words]) -> Words:
    """One vector from its blocks by role."""
    out = np.empty(dealing.blocks.count, np.uint64)
    for items, part in zip(dealing.items, parts, strict=True):
        out[items] = part
    return out


def _without_wraps(
    dealing: Dealing, ring: Ring, known: Sequence[Words], tops: Sequence[Words], packet: Packet, modulus: Words
) -> Words:
    """One summand per party of A + B, less ``modulus`` where the top bit a of A or b of B is set, as items of ``ring``.

    That is A - m·a + B - m·b + m·a·b, where a was dealt: the next party has the B of a block besides its part of m·a·b.
    """
    own = ring.subtract(known[OWN], ring.multiply(tops[OWN], modulus))
    both = [ring.multiply(modulus, ring.multiply(tops[role], _dealt(packet, ring, role))) for role in (NEXT, PREVIOUS)]
    following = ring.subtract(known[NEXT], ring.multiply(tops[NEXT], modulus))
    return _by_block(dealing, [own, ring.add(following, both[0]), both[1]])


@Protocol
def to_ring(ctx: Context, x: Points) -> Steps[Numbers]:
    """Numbers below 2^60 as replicated shares in 2^64.

    Paper: our own. Cost: :func:`to_ring_cost`. Reveals: nothing beyond shapes: what is dealt and what is exchanged is
    masked by a key that the receiver does not have.
    """
    dealing = Dealing.of(ctx, len(x))
    exchanged = Exchanged(ctx, x, dealing)
    packet = _deal(dealing, RING64, exchanged.mine >> np.uint64(MOST_BITS))
    opening = packet.round()
    opening += exchanged.opening()
    yield opening
    known = exchanged.known()
    tops = [words >> np.uint64(MOST_BITS) for words in known]
    summand = _without_wraps(dealing, RING64, known, tops, packet, RING64.encode([PRIME]))
    left, right = ctx.zero_masks(RING64, len(x))
    return (yield from reshared(summand + left - right, RING64))


def to_ring_cost(count: int) -> Cost:
    """Cost of :func:`to_ring`: 2 rounds; in all a dealt element, two exchanged ones and three of the new sharing."""
    return exchanged_cost(count) + _converted_cost(count)


def _converted_cost(count: int) -> Cost:
    blocks = dealer_blocks(count)
    return Cost.by_party(2, lambda party: 8 * (count + blocks.size(party)))


@Protocol
def from_ring(ctx: Context, x: Numbers) -> Steps[Points]:
    """Replicated numbers of 2^64, below 2^60, on lines.

    Paper: our own. Cost: :func:`from_ring_cost`. Reveals: nothing beyond shapes; see :func:`to_ring`.
    """
    dealing = Dealing.of(ctx, len(x))
    words = [np.ascontiguousarray(part) for part in dealing.known_numbers(x)]
    tops = [part >> np.uint64(63) for part in words]
    packet = _deal(dealing, FIELD61, tops[OWN])
    yield packet.round()
    known = [kernels.reduced(part) for part in words]
    # 2^64 is 8 in the field.
    summand = _without_wraps(dealing, FIELD61, known, tops, packet, FIELD61.encode(8))
    return on_line(ctx, (yield from replicate.rounds(ctx, summand)))


def from_ring_cost(count: int) -> Cost:
    """Cost of :func:`from_ring` and :func:`from_bits`: 2 rounds; in all a dealt element and three of the sharing."""
    return _converted_cost(count)


@Protocol
def from_bits(ctx: Context, bit: Bits) -> Steps[Points]:
    """A replicated bit as a number 0 or 1 on a line.

    With b = c ^ d, where the dealer knows c and the others d, b = d + c·(1 - 2d). Paper: as
    :func:`hedgerow.schemes.replicated.select.bit_to_ring`. Cost: :func:`from_ring_cost`. Reveals: nothing.
    """
    dealing = Dealing.of(ctx, bit.count)
    own, following, previous = (
        unpack_bits(row[None, words], size)[0].astype(np.uint64)
        for row, words, size in zip(
            (bit.left[0] ^ bit.right[0], bit.right[0], bit.left[0]), dealing.words, dealing.sizes, strict=True
        )
    )
    packet = _deal(dealing, FIELD61, own)
    yield packet.round()
    signs = [FIELD61.subtract(FIELD61.encode(1), FIELD61.add(values, values)) for values in (following, previous)]
    halves = [
        FIELD61.multiply(_dealt(packet, FIELD61, role), sign)
        for role, sign in zip((NEXT, PREVIOUS), signs, strict=True)
    ]
    summand = _by_block(dealing, [np.zeros_like(own), FIELD61.add(following, halves[0]), halves[1]])
    return on_line(ctx, (yield from replicate.rounds(ctx, summand)))
