"""Secret permutations: a shared vector π of places, moving item i of a vector to place π(i)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernels import permute
from ..primitives import Cost
from ..sharing import RING32, ArithmeticShare, ByteShare, Context, public
from ..sharing.ring import Words
from .shuffle import Column, Load, draw_shuffle, inverse, shuffle_cost, shuffle_loads


def gather(column: Any, order: Words) -> Any:
    """For item i the column's item ``order[i]``; local. The order must be (part of) a checked permutation."""
    if isinstance(column, ArithmeticShare) and column.ring.bits == 128:
        return column[order]
    sides = []
    for side in (column.left, column.right):
        out = np.empty(len(order), side.dtype)
        permute.gather(np.ascontiguousarray(side), order, out)
        sides.append(out)
    if isinstance(column, ArithmeticShare):
        return ArithmeticShare(sides[0], sides[1], column.ring)
    return ByteShare(sides[0], sides[1])


def place(column: Any, places: Words) -> Any:
    """Move item i of a column to the public place ``places[i]``; local."""
    return gather(column, inverse(places))


def fetch(column: Any, places: Words) -> Any:
    """For item i the column's item at the public place ``places[i]``; local."""
    inverse(places)
    return gather(column, np.ascontiguousarray(places))


def _check(permutation: ArithmeticShare, columns: Sequence[Column]) -> None:
    if permutation.ring != RING32:
        raise ValueError(f"a permutation lives in the ring 2^32, not in {permutation.ring}")
    if any(len(column) != len(permutation) for column in columns):
        raise ValueError(f"all columns need {len(permutation)} items; got {list(columns)!r}")


def apply(ctx: Context, permutation: ArithmeticShare, columns: Sequence[Column], first: int = 0) -> list[Any]:
    """Move item i of every column to place π(i).

    Paper: CHI+19. Cost: :func:`apply_cost`. Reveals: π under a fresh shuffle, which is a uniform permutation.
    """
    _check(permutation, columns)
    shuffle = draw_shuffle(ctx, len(permutation), first)
    ((places, *moved),) = shuffle_loads(ctx, [Load(shuffle, [permutation, *columns], opened=(0,))])
    order = inverse(places)
    return [gather(column, order) for column in moved]


def apply_cost(count: int, first: int, shared: Sequence[int]) -> Cost:
    """Cost of :func:`apply` for columns of these bytes per item."""
    return shuffle_cost(count, first, shared, [4])


def unapply(ctx: Context, permutation: ArithmeticShare, columns: Sequence[Column], first: int = 0) -> list[Any]:
    """Fetch for every item i the column's item at place π(i): the inverse of :func:`apply`.

    Paper: CHI+19. Cost: :func:`unapply_cost`. Reveals: π under a fresh shuffle, which is a uniform permutation.
    """
    _check(permutation, columns)
    shuffle = draw_shuffle(ctx, len(permutation), first)
    ((places,),) = shuffle_loads(ctx, [Load(shuffle, [permutation], opened=(0,))])
    fetched = [fetch(column, places) for column in columns]
    ((*results,),) = shuffle_loads(ctx.step("back"), [Load(shuffle, fetched)], undo=True)
    return results


def unapply_cost(count: int, first: int, shared: Sequence[int]) -> Cost:
    """Cost of :func:`unapply` for columns of these bytes per item."""
    return shuffle_cost(count, first, [], [4]) + shuffle_cost(count, first, shared, undo=True)


def compose(ctx: Context, outer: ArithmeticShare, inner: ArithmeticShare, first: int = 0) -> ArithmeticShare:
    """The permutation i → outer(inner(i)). Cost: :func:`unapply_cost` of one 32-bit column. Reveals: as unapply."""
    composed: ArithmeticShare = unapply(ctx, inner, [outer], first)[0]
    return composed


def invert(ctx: Context, permutation: ArithmeticShare, first: int = 0) -> ArithmeticShare:
    """The inverse permutation: the row numbers, moved by it. Cost: :func:`apply_cost` of one 32-bit column."""
    rows = public(ctx, np.arange(len(permutation), dtype=np.uint32), RING32)
    inverted: ArithmeticShare = apply(ctx, permutation, [rows], first)[0]
    return inverted
