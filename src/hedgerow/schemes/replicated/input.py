"""Getting values in: public from the start, or dealt by a party. Owners outside use :mod:`hedgerow.shares.owner`."""

from typing import Any

import numpy as np

from ...engine import Context, Protocol, Round, Steps
from ...errors import InputError
from ...shares import Bits, Numbers, Ring, Words


def public(ctx: Context, values: Any, ring: Ring) -> Numbers:
    """A public vector as a share, free: the summand between parties 2 and 0 is the value, the others are zero."""
    known = ring.encode(values)
    zero = ring.zeros(len(known))
    return Numbers(known if ctx.party == 0 else zero, known if ctx.party == 2 else zero, ring)


def constant(ctx: Context, value: int, count: int, ring: Ring) -> Numbers:
    """A public number ``count`` times as a share, free."""
    return public(ctx, np.full(count, value, ring.dtype), ring)


def public_bits(ctx: Context, packed: Words, count: int) -> Bits:
    """Public packed bit rows as a share, free."""
    zero = np.zeros_like(packed)
    return Bits(packed if ctx.party == 0 else zero, packed if ctx.party == 2 else zero, count)


@Protocol
def deal(ctx: Context, dealer: int, values: Any, ring: Ring, count: int) -> Steps[Numbers]:
    """Share a vector that one party knows alone; the others pass ``None``.

    Cost: 1 round, ``count`` elements sent by the dealer.
    Reveals: nothing. The left neighbour receives the value minus a summand it does not know; the right neighbour's
    summand comes from its key with the dealer; the third summand is zero.
    """
    if ctx.party == dealer:
        encoded = ring.encode(values)
        if len(encoded) != count:
            raise InputError(f"{count} items were announced, {len(encoded)} are to be dealt")
        mask = ctx.with_right(ring.shape(count), ring.dtype)
        rest = ring.subtract(encoded, mask)
        yield Round(to_left=[rest])
        return Numbers(rest, mask, ring)
    if dealer == ctx.transport.left:
        mask = ctx.with_left(ring.shape(count), ring.dtype)
        yield Round()
        return Numbers(mask, ring.zeros(count), ring)
    rest = ring.empty(count)
    yield Round(from_right=[rest])
    return Numbers(ring.zeros(count), rest, ring)
