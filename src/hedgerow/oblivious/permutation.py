"""Secret permutations: a shared vector π of places, moving item i of a vector to place π(i)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine import Context, Cost
from ..protocols import Column, ShuffleJob, draw_shuffle, inverse, public, run_shuffles, shuffle_cost
from ..shares import RING32, Numbers, Words


def place(column: Any, places: Words) -> Any:
    """Move item i of a column to the public place ``places[i]``; local."""
    return column.gather(inverse(places))


def fetch(column: Any, places: Words) -> Any:
    """For item i the column's item at the public place ``places[i]``; local."""
    inverse(places)
    return column.gather(np.ascontiguousarray(places))


def _check(permutation: Numbers, columns: Sequence[Column]) -> None:
    if permutation.ring != RING32:
        raise ValueError(f"a permutation lives in the ring 2^32, not in {permutation.ring}")
    if any(len(column) != len(permutation) for column in columns):
        raise ValueError(f"all columns need {len(permutation)} items; got {list(columns)!r}")


def apply(ctx: Context, permutation: Numbers, columns: Sequence[Column], first: int = 0) -> list[Any]:
    """Move item i of every column to place π(i).

    Paper: CHI+19. Cost: :func:`apply_cost`. Reveals: π under a fresh shuffle, which is a uniform permutation.
    """
    _check(permutation, columns)
    shuffle = draw_shuffle(ctx, len(permutation), first)
    ((places, *moved),) = run_shuffles(ctx, [ShuffleJob(shuffle, [permutation, *columns], opened=(0,))])
    order = inverse(places)
    return [column.gather(order) for column in moved]


def apply_cost(count: int, first: int, shared: Sequence[int]) -> Cost:
    """Cost of :func:`apply` for columns of these bytes per item."""
    return shuffle_cost(count, first, shared, [4])


def unapply(ctx: Context, permutation: Numbers, columns: Sequence[Column], first: int = 0) -> list[Any]:
    """Fetch for every item i the column's item at place π(i): the inverse of :func:`apply`.

    Paper: CHI+19. Cost: :func:`unapply_cost`. Reveals: π under a fresh shuffle, which is a uniform permutation.
    """
    _check(permutation, columns)
    shuffle = draw_shuffle(ctx, len(permutation), first)
    ((places,),) = run_shuffles(ctx, [ShuffleJob(shuffle, [permutation], opened=(0,))])
    fetched = [fetch(column, places) for column in columns]
    ((*results,),) = run_shuffles(ctx.step("back"), [ShuffleJob(shuffle, fetched)], undo=True)
    return results


def unapply_cost(count: int, first: int, shared: Sequence[int]) -> Cost:
    """Cost of :func:`unapply` for columns of these bytes per item."""
    return shuffle_cost(count, first, [], [4]) + shuffle_cost(count, first, shared, undo=True)


def compose(ctx: Context, outer: Numbers, inner: Numbers, first: int = 0) -> Numbers:
    """The permutation i → outer(inner(i)). Cost: :func:`unapply_cost` of one 32-bit column. Reveals: as unapply."""
    composed: Numbers = unapply(ctx, inner, [outer], first)[0]
    return composed


def invert(ctx: Context, permutation: Numbers, first: int = 0) -> Numbers:
    """The inverse permutation: the row numbers, moved by it. Cost: :func:`apply_cost` of one 32-bit column."""
    rows = public(ctx, np.arange(len(permutation), dtype=np.uint32), RING32)
    inverted: Numbers = apply(ctx, permutation, [rows], first)[0]
    return inverted
