"""Numbers cut to their low bits: what an owner declares is made true by the parties, whatever it shared."""

from collections.abc import Sequence

from ...engine import FREE, Context, Cost
from ...shares import RING64, Numbers, Ring
from .carry import SharedOperand, slice_words
from .compare import PendingSign, top_bit_cost
from .convert import raised, ring_above
from .dealing import OWN, Dealing, dealer_blocks, packet_sum
from .select import bit_to_ring, bit_to_ring_cost

BLOCK = 1 << 21
"""Items truncated in one batch, which bounds the memory."""


def truncate(ctx: Context, x: Numbers, bits: int, ring: Ring) -> Numbers:
    """x modulo ``2**bits`` as a number of ``ring``, which has more than ``bits`` bits; both rings have one word.

    With x = A + B as in :mod:`.dealing`, ``x mod 2^bits = (A mod 2^bits) + (B mod 2^bits) - 2^bits·c`` where c is the
    carry out of the low bits. The dealer shares A mod 2^bits while the carry's circuit is dealt; c is needed only in as
    many bits as ``ring`` has above ``bits``.

    Paper: our own. Cost: :func:`truncate_cost`. Reveals: nothing beyond shapes: what is dealt is masked by the dealer's
    key with the next party.
    """
    _check(x.ring, bits, ring)
    dealing = Dealing.of(ctx, len(x))
    low = x.ring.dtype.type((1 << bits) - 1)
    known = [words & low for words in dealing.known_numbers(x)]
    packet = dealing.packet(dealing.number_shapes(ring), ring.dtype)
    packet.content[:] = ring.subtract(known[OWN].astype(ring.dtype), packet.mask)
    sliced = x.ring if bits < x.ring.bits else RING64
    rows = [slice_words(sliced, words.astype(sliced.dtype, copy=False), bits + 1) for words in known]
    carry = PendingSign(SharedOperand(rows), bits + 1, len(x)).found(ctx.step("carry"), packet.round())
    carried = bit_to_ring(ctx.step("bit"), carry, ring_above(bits, ring))
    total = packet_sum(dealing, ring, packet, known)
    return total.map(lambda side, wrap: ring.subtract(side, raised(wrap, bits, ring)), carried)


def _check(narrow: Ring, bits: int, ring: Ring) -> None:
    if not 1 <= bits <= narrow.bits <= 64 or not bits < ring.bits <= 64:
        raise ValueError(f"truncate() cannot keep {bits} bits of {narrow} in {ring}; use a wider ring, at most 2^64")


def truncate_cost(count: int, bits: int, ring: Ring) -> Cost:
    """Cost of :func:`truncate`: a comparison of ``bits`` bits, one element dealt, one bit in the ring above."""
    blocks = dealer_blocks(count)
    dealt = Cost.by_party(0, lambda party: ring.nbytes * blocks.size(party))
    return top_bit_cost(count, bits + 1) + dealt + bit_to_ring_cost(count, ring_above(bits, ring))


def truncate_many(ctx: Context, columns: Sequence[Numbers], bits: int, ring: Ring) -> list[Numbers]:
    """:func:`truncate` of columns of one length, as many at a time as fit into a block.

    Cost: :func:`truncate_many_cost`. Reveals: nothing beyond shapes.
    """
    found: list[Numbers] = []
    count = len(columns[0])
    for part in _parts(count, len(columns)):
        joined = truncate(ctx, Numbers.concatenate(columns[part]), bits, ring)
        found += joined.cut_like(columns[part])
    return found


def _parts(count: int, columns: int) -> list[slice]:
    size = max(1, BLOCK // max(1, count))
    return [slice(start, min(columns, start + size)) for start in range(0, columns, size)]


def truncate_many_cost(count: int, columns: int, bits: int, ring: Ring) -> Cost:
    """Cost of :func:`truncate_many`."""
    return sum((truncate_cost(count * (part.stop - part.start), bits, ring) for part in _parts(count, columns)), FREE)
