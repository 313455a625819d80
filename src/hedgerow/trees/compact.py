"""Flagged items brought to the front: one entry per node."""

from collections.abc import Sequence

import numpy as np

from .. import protocols as mpc
from ..engine import Context, Cost
from ..shares import RING16, RING32, Bits, Numbers, Ring, Words, padded
from .orders import bit_orders


def place_ring(count: int) -> Ring:
    """The narrowest ring for ``count`` places."""
    return RING16 if count <= 1 << RING16.bits else RING32


def compact(ctx: Context, kept: Bits, count: int, columns: Sequence[Numbers], length: int) -> list[Numbers]:
    """The flagged items of every column at the front, in order, cut to ``length``."""
    return compact_tables(ctx, [kept], count, [columns], [length])[0]


def compact_tables(
    ctx: Context, kept: Sequence[Bits], count: int, tables: Sequence[Sequence[Numbers]], lengths: Sequence[int]
) -> list[list[Numbers]]:
    """:func:`compact` of several tables of ``count`` items with their own flags, in the same rounds."""
    found = []
    for (_, places, moved), length in zip(_moved(ctx, kept, count, tables), lengths, strict=True):
        order = mpc.inverse(places)[:length]
        found.append([column.gather(order) for column in moved])
    return found


def moved_to_front(
    ctx: Context, kept: Bits, count: int, columns: Sequence[Numbers]
) -> tuple[mpc.Shuffle, Words, list[Numbers]]:
    """The shuffle, the opened places that bring flagged items to the front, and the shuffled columns."""
    return _moved(ctx, [kept], count, [columns])[0]


def _moved(
    ctx: Context, kept: Sequence[Bits], count: int, tables: Sequence[Sequence[Numbers]]
) -> list[tuple[mpc.Shuffle, Words, list[Numbers]]]:
    others = mpc.bit_not(ctx, Bits.stack(kept))
    permutations = bit_orders(ctx.step("order"), others, count, place_ring(count))
    jobs = [
        mpc.ShuffleJob(mpc.draw_shuffle(ctx.step("draw"), count, j), [permutation, *columns], opened=(0,))
        for j, (permutation, columns) in enumerate(zip(permutations, tables, strict=True))
    ]
    moved = mpc.run_shuffles(ctx.step("move"), jobs)
    return [
        (job.shuffle, places.astype(np.uint32), columns) for job, (places, *columns) in zip(jobs, moved, strict=True)
    ]


def compact_cost(count: int, columns: list[int]) -> Cost:
    """Cost of :func:`compact` for columns of these bytes per item."""
    return compact_tables_cost(count, columns, 1)


def compact_tables_cost(count: int, columns: list[int], tables: int) -> Cost:
    """Cost of :func:`compact_tables`."""
    ring = place_ring(count)
    cost = mpc.bit_to_ring_cost(tables * padded(count), ring) + mpc.dot_cost(tables * count, ring)
    return cost + mpc.shuffles_cost([mpc.shuffle_cost(count, j % 3, columns, [ring.nbytes]) for j in range(tables)])
