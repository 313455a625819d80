"""Numbers cut to their low bits: what an owner declares is made true by the parties, whatever it shared."""

from __future__ import annotations

from collections.abc import Sequence

from ..sharing import RING16, RING32, RING64, ArithmeticShare, Context, Ring
from ..sharing.ring import Words
from .carry import Summands, complete_summands, slice_words
from .compare import Sign, top_bit_cost
from .cost import FREE, Cost, thirds_of
from .select import bit_to_ring, bit_to_ring_cost
from .steps import Round

BLOCK = 1 << 21
"""Items truncated in one batch, which bounds the memory."""


def truncate(ctx: Context, x: ArithmeticShare, bits: int, ring: Ring) -> ArithmeticShare:
    """x modulo ``2**bits`` as a number of ``ring``, which has more than ``bits`` bits; both rings have one word.

    With x = A + B as in :mod:`.carry`, ``x mod 2^bits = (A mod 2^bits) + (B mod 2^bits) - 2^bits·c`` where c is the
    carry out of the low bits. The dealer shares A mod 2^bits while the carry's circuit is dealt; c is needed only in as
    many bits as ``ring`` has above ``bits``.

    Paper: our own. Cost: :func:`truncate_cost`. Reveals: nothing beyond shapes: what is dealt is masked by the dealer's
    key with the next party.
    """
    _check(x.ring, bits, ring)
    thirds = thirds_of(len(x))
    own, before, after = (thirds.items(p) for p in (ctx.party, ctx.transport.left, ctx.transport.right))
    low = x.ring.dtype.type((1 << bits) - 1)
    mine = (x.left[own] + x.right[own]) & low
    known_before, known_after = x.right[before] & low, x.left[after] & low
    mask = ctx.with_right(len(mine), ring.dtype)
    dealt = ring.subtract(mine.astype(ring.dtype), mask)
    dealt_before, dealt_after = ctx.with_left(len(known_before), ring.dtype), ring.empty(len(known_after))
    sliced = x.ring if bits < x.ring.bits else RING64
    rows = (
        slice_words(sliced, words.astype(sliced.dtype, copy=False), bits + 1)
        for words in (mine, known_before, known_after)
    )
    sign = Sign(complete_summands(Summands(*rows)), bits + 1, len(x))
    carry = sign.found(ctx.step("carry"), Round(to_left=[dealt], from_right=[dealt_after]))
    carried = bit_to_ring(ctx.step("bit"), carry, _high_ring(bits, ring))
    left, right = ring.empty(len(x)), ring.empty(len(x))
    left[own], right[own] = dealt, mask
    left[before], right[before] = dealt_before, known_before
    left[after], right[after] = known_after, dealt_after
    return ArithmeticShare(
        ring.subtract(left, _raised(carried.left, bits, ring)),
        ring.subtract(right, _raised(carried.right, bits, ring)),
        ring,
    )


def _check(narrow: Ring, bits: int, ring: Ring) -> None:
    if not 1 <= bits <= narrow.bits <= 64 or not bits < ring.bits <= 64:
        raise ValueError(f"truncate() cannot keep {bits} bits of {narrow} in {ring}; use a wider ring, at most 2^64")


def _high_ring(bits: int, ring: Ring) -> Ring:
    """The narrowest ring that has all bits of ``ring`` above the low ones."""
    return next(high for high in (RING16, RING32, RING64) if high.bits >= ring.bits - bits)


def _raised(words: Words, bits: int, ring: Ring) -> Words:
    """``2^bits`` times items of the high ring."""
    raised: Words = words.astype(ring.dtype) << ring.dtype.type(bits)
    return raised


def truncate_cost(count: int, bits: int, ring: Ring) -> Cost:
    """Cost of :func:`truncate`: a comparison of ``bits`` bits, one element dealt, one bit in the high ring."""
    thirds = thirds_of(count)
    dealt = Cost(0, tuple(ring.nbytes * thirds.size(p) for p in range(3)))  # type: ignore[arg-type]
    return top_bit_cost(count, bits + 1) + dealt + bit_to_ring_cost(count, _high_ring(bits, ring))


def truncate_many(ctx: Context, columns: Sequence[ArithmeticShare], bits: int, ring: Ring) -> list[ArithmeticShare]:
    """:func:`truncate` of columns of one length, as many at a time as fit into a block.

    Cost: :func:`truncate_many_cost`. Reveals: nothing beyond shapes.
    """
    found: list[ArithmeticShare] = []
    count = len(columns[0])
    for part in _parts(count, len(columns)):
        joined = truncate(ctx, ArithmeticShare.concatenate(columns[part]), bits, ring)
        found += [joined[k * count : (k + 1) * count] for k in range(len(columns[part]))]
    return found


def _parts(count: int, columns: int) -> list[slice]:
    size = max(1, BLOCK // max(1, count))
    return [slice(start, min(columns, start + size)) for start in range(0, columns, size)]


def truncate_many_cost(count: int, columns: int, bits: int, ring: Ring) -> Cost:
    """Cost of :func:`truncate_many`."""
    return sum((truncate_cost(count * (part.stop - part.start), bits, ring) for part in _parts(count, columns)), FREE)
