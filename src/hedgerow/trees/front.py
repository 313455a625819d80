"""Flagged items at the front: one entry a node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..oblivious import Load, bit_destinations, draw_shuffle, shuffle_loads
from ..oblivious.packed import padded
from ..oblivious.permutation import gather
from ..oblivious.shuffle import Shuffle, inverse, shuffle_cost
from ..primitives import Cost, bit_to_ring, bit_to_ring_cost, dot_cost
from ..sharing import RING16, RING32, ArithmeticShare, BinaryShare, Context, Ring, public
from ..sharing.ring import Words


def place_ring(count: int) -> Ring:
    """The narrowest ring for ``count`` places."""
    return RING16 if count <= 1 << RING16.bits else RING32


def to_front(
    ctx: Context,
    kept: BinaryShare,
    count: int,
    columns: Sequence[ArithmeticShare],
    length: int,
) -> list[ArithmeticShare]:
    """The flagged items of every column at the front, in order, cut to ``length``."""
    _, places, moved = moved_to_front(ctx, kept, count, columns)
    order = inverse(places)[:length]
    return [gather(column, order) for column in moved]


def moved_to_front(
    ctx: Context, kept: BinaryShare, count: int, columns: Sequence[ArithmeticShare]
) -> tuple[Shuffle, Words, list[ArithmeticShare]]:
    """The shuffle, the opened places that bring flagged items to the front, and the shuffled columns."""
    ring = place_ring(count)
    flag = bit_to_ring(ctx.step("flag"), kept, ring)[:count]
    others = public(ctx, np.ones(count, ring.dtype), ring) - flag
    permutation = bit_destinations(ctx.step("order"), others)
    shuffle = draw_shuffle(ctx.step("draw"), count)
    ((places, *moved),) = shuffle_loads(ctx.step("move"), [Load(shuffle, [permutation, *columns], opened=(0,))])
    return shuffle, places.astype(np.uint32), moved


def front_cost(count: int, columns: list[int]) -> Cost:
    """Cost of :func:`to_front` for columns of these bytes an item."""
    ring = place_ring(count)
    cost = bit_to_ring_cost(padded(count), ring) + dot_cost(count, ring)
    return cost + shuffle_cost(count, 0, columns, [ring.nbytes])
