"""One entry per node: its number, feature and threshold, at the front, for several layers at once.

Nothing in training waits for the entries, so those of several layers are made together, in the rounds of one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..engine import FREE, Context, Cost
from ..protocols import constant, select_sum, select_sum_cost, widen, widen_cost
from ..shares import RING32, Bits, Numbers, padded
from .compact import compact_tables, compact_tables_cost
from .problem import Problem
from .shared_tree import SharedLayer

ENTRY_BLOCK = 1 << 21
"""Places of all layers whose entries are made together, which bounds the memory."""


@dataclass(frozen=True, slots=True)
class Entries:
    """What a layer leaves at its places: where true children end, where nodes without one begin, and per place the
    node's number, its feature's number and the threshold at the end of the true child."""

    layer: int
    true_end: Bits
    unsplit_start: Bits
    number: Numbers
    feature: Numbers
    threshold: Numbers


def layers_together(problem: Problem) -> int:
    """How many layers' entries are made at once."""
    return max(1, ENTRY_BLOCK // padded(problem.rows))


def at_front(ctx: Context, problem: Problem, entries: Sequence[Entries]) -> list[SharedLayer]:
    """Every layer's entries at the front, padded with NULL. Cost: :func:`at_front_cost`.

    Reveals: per layer the permutation that brings its nodes to the front, under a fresh shuffle.
    """
    n, length = problem.rows, padded(problem.rows)
    number = Numbers.concatenate([entry.number for entry in entries])
    feature = Numbers.concatenate([entry.feature for entry in entries])
    one = constant(ctx, 1, len(feature), feature.ring)
    # A node that does not split has feature 0; feature 1 with threshold 0 is the paper's always-false test.
    bits = [
        Bits.end_to_end([entry.true_end for entry in entries]),
        Bits.end_to_end([entry.unsplit_start for entry in entries]),
    ]
    number, feature = select_sum(ctx.step("number"), bits, [[number, feature], [number, one]])
    starts = range(0, len(entries) * length, length)
    columns = [
        [number[start : start + n], feature[start : start + n], entry.threshold[:n]]
        for start, entry in zip(starts, entries, strict=True)
    ]
    kept = [entry.true_end ^ entry.unsplit_start for entry in entries]
    lengths = [problem.layer_length(entry.layer) for entry in entries]
    found = compact_tables(ctx.step("front"), kept, n, columns, lengths)
    return [SharedLayer(*columns) for columns in found]


def at_front_cost(problem: Problem, layers: int) -> Cost:
    """Cost of :func:`at_front` for ``layers`` layers."""
    rings = [problem.widths.number_ring, problem.widths.count_ring]
    columns = [ring.nbytes for ring in (*rings, problem.widths.sorted_ring)]
    return select_sum_cost(layers * padded(problem.rows), 2, rings) + compact_tables_cost(problem.rows, columns, layers)


def as_stored(ctx: Context, layers: Sequence[SharedLayer], problem: Problem) -> list[SharedLayer]:
    """Layers in the rings that trees are stored in. Cost: :func:`as_stored_cost`. Reveals: nothing beyond shapes."""
    features, thresholds = [layer.feature for layer in layers], [layer.threshold for layer in layers]
    if not layers:
        return []
    wide_features = widen(ctx.step("codes"), Numbers.concatenate(features), RING32)
    wide = widen(ctx.step("thresholds"), Numbers.concatenate(thresholds), problem.widths.value_ring)
    both = zip(layers, wide_features.cut_like(features), wide.cut_like(thresholds), strict=True)
    return [SharedLayer(layer.number, feature, threshold) for layer, feature, threshold in both]


def as_stored_cost(problem: Problem) -> Cost:
    """Cost of :func:`as_stored`."""
    count = sum(problem.layer_length(k) for k in range(problem.height))
    if count == 0:
        return FREE
    return widen_cost(count, problem.widths.count_ring, RING32) + widen_cost(
        count, problem.widths.sorted_ring, problem.widths.value_ring
    )
