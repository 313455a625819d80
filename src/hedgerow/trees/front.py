"""Flagged items at the front: one entry a node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..oblivious import Load, draw_shuffle, shuffle_loads
from ..oblivious.packed import padded
from ..oblivious.permutation import gather
from ..oblivious.shuffle import Shuffle, inverse, loads_cost, shuffle_cost
from ..primitives import Cost, bit_not, bit_to_ring_cost, dot_cost
from ..sharing import RING16, RING32, ArithmeticShare, BinaryShare, Context, Ring
from ..sharing.ring import Words
from .order import bit_orders


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
    return all_to_front(ctx, [kept], count, [columns], [length])[0]


def all_to_front(
    ctx: Context,
    kept: Sequence[BinaryShare],
    count: int,
    tables: Sequence[Sequence[ArithmeticShare]],
    lengths: Sequence[int],
) -> list[list[ArithmeticShare]]:
    """:func:`to_front` of several tables of ``count`` items with their own flags, in the same rounds."""
    found = []
    for (_, places, moved), length in zip(_moved(ctx, kept, count, tables), lengths, strict=True):
        order = inverse(places)[:length]
        found.append([gather(column, order) for column in moved])
    return found


def moved_to_front(
    ctx: Context, kept: BinaryShare, count: int, columns: Sequence[ArithmeticShare]
) -> tuple[Shuffle, Words, list[ArithmeticShare]]:
    """The shuffle, the opened places that bring flagged items to the front, and the shuffled columns."""
    return _moved(ctx, [kept], count, [columns])[0]


def _moved(
    ctx: Context, kept: Sequence[BinaryShare], count: int, tables: Sequence[Sequence[ArithmeticShare]]
) -> list[tuple[Shuffle, Words, list[ArithmeticShare]]]:
    others = bit_not(ctx, BinaryShare.stack(kept))
    permutations = bit_orders(ctx.step("order"), others, count, place_ring(count))
    loads = [
        Load(draw_shuffle(ctx.step("draw"), count, j), [permutation, *columns], opened=(0,))
        for j, (permutation, columns) in enumerate(zip(permutations, tables, strict=True))
    ]
    moved = shuffle_loads(ctx.step("move"), loads)
    return [
        (load.shuffle, places.astype(np.uint32), columns) for load, (places, *columns) in zip(loads, moved, strict=True)
    ]


def front_cost(count: int, columns: list[int]) -> Cost:
    """Cost of :func:`to_front` for columns of these bytes an item."""
    return fronts_cost(count, columns, 1)


def fronts_cost(count: int, columns: list[int], tables: int) -> Cost:
    """Cost of :func:`all_to_front`."""
    ring = place_ring(count)
    cost = bit_to_ring_cost(tables * padded(count), ring) + dot_cost(tables * count, ring)
    return cost + loads_cost([shuffle_cost(count, j % 3, columns, [ring.nbytes]) for j in range(tables)])
