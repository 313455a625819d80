"""One entry a node: its number, feature and threshold, at the front, for several layers at once.

Nothing in training waits for the entries, so those of several layers are made together, in the rounds of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..oblivious.packed import end_to_end, padded
from ..primitives import Cost, select_sum, select_sum_cost, widen, widen_cost
from ..primitives.cost import FREE
from ..sharing import RING32, ArithmeticShare, BinaryShare, Context, Ring, public
from .front import all_to_front, fronts_cost
from .shape import TreeShape

ENTRY_BLOCK = 1 << 21
"""Places of all layers whose entries are made together, which bounds the memory."""

Layer = tuple[ArithmeticShare, ArithmeticShare, ArithmeticShare]


@dataclass(frozen=True, slots=True)
class Entries:
    """What a layer leaves at its places: where true children end, where nodes without one begin, and per place the
    node's number, its feature's number and the threshold at the end of the true child."""

    layer: int
    last: BinaryShare
    whole: BinaryShare
    number: ArithmeticShare
    code: ArithmeticShare
    threshold: ArithmeticShare


def layers_together(shape: TreeShape) -> int:
    """How many layers' entries are made at once."""
    return max(1, ENTRY_BLOCK // padded(shape.rows))


def at_front(ctx: Context, shape: TreeShape, entries: Sequence[Entries]) -> list[Layer]:
    """Every layer's entries at the front, padded with NULL. Cost: :func:`at_front_cost`.

    Reveals: per layer the permutation that brings its nodes to the front, under a fresh shuffle.
    """
    n, length = shape.rows, padded(shape.rows)
    number = ArithmeticShare.concatenate([entry.number for entry in entries])
    code = ArithmeticShare.concatenate([entry.code for entry in entries])
    one = public(ctx, np.ones(len(code), code.ring.dtype), code.ring)
    # A node that does not split has code 0; feature 1 with threshold 0 is the paper's always-false test.
    bits = [end_to_end([entry.last for entry in entries]), end_to_end([entry.whole for entry in entries])]
    number, code = select_sum(ctx.step("number"), bits, [[number, code], [number, one]])
    starts = range(0, len(entries) * length, length)
    columns = [
        [number[start : start + n], code[start : start + n], entry.threshold[:n]]
        for start, entry in zip(starts, entries, strict=True)
    ]
    kept = [entry.last ^ entry.whole for entry in entries]
    lengths = [shape.layer_length(entry.layer) for entry in entries]
    found = all_to_front(ctx.step("front"), kept, n, columns, lengths)
    return [(number, code, threshold) for number, code, threshold in found]


def at_front_cost(shape: TreeShape, layers: int) -> Cost:
    """Cost of :func:`at_front` for so many layers."""
    rings = [shape.number_ring, shape.count_ring]
    columns = [ring.nbytes for ring in (*rings, shape.sorted_ring)]
    return select_sum_cost(layers * padded(shape.rows), 2, rings) + fronts_cost(shape.rows, columns, layers)


def as_stored(ctx: Context, columns: Sequence[ArithmeticShare], ring: Ring) -> list[ArithmeticShare]:
    """Columns of any lengths in the ring that trees are stored in. Cost: :func:`as_stored_cost`."""
    if not columns:
        return []
    wide = widen(ctx, ArithmeticShare.concatenate(columns), ring)
    ends = np.cumsum([len(column) for column in columns]).tolist()
    return [wide[end - len(column) : end] for column, end in zip(columns, ends, strict=True)]


def as_stored_cost(shape: TreeShape) -> Cost:
    """Cost of bringing all features' numbers and thresholds into the rings that trees are stored in."""
    count = sum(shape.layer_length(k) for k in range(shape.height))
    if count == 0:
        return FREE
    return widen_cost(count, shape.count_ring, RING32) + widen_cost(count, shape.sorted_ring, shape.value_ring)
