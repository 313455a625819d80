"""What chosen splits mean for the places of a layer: which are true, where children begin and end, which feature."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import protocols as mpc
from ..engine import Context, Cost
from ..shares import Bits, Numbers, padded
from .best_split import ChosenSplits
from .nodes import Nodes
from .orders import View
from .problem import Problem


@dataclass(frozen=True, slots=True)
class Ends:
    """Per place: the last of a true child, the first of a node that has none, the first of a false child inside."""

    true_end: Bits
    unsplit_start: Bits
    false_start: Bits


def true_places(ctx: Context, problem: Problem, nodes: Nodes, splits: ChosenSplits) -> Bits:
    """The places that belong to their node's true child, which comes first. Reveals: nothing beyond shapes."""
    ring = problem.widths.count_ring
    offset = nodes.rows_so_far(ctx).narrow(ring) - mpc.constant(ctx, 1, nodes.length, ring)
    true = mpc.less_than(ctx.step("true"), offset, splits.rows_true, problem.widths.count_bits)
    return true.masked(nodes.real)


def feature_one_hot(ctx: Context, problem: Problem, feature: Numbers) -> Bits:
    """A row for every feature that says whether it is the node's. Reveals: nothing beyond shapes."""
    count = len(problem.features)
    codes = np.repeat(np.arange(1, count + 1, dtype=feature.ring.dtype), len(feature))
    repeated = Numbers.concatenate([feature] * count) - mpc.public(ctx, codes, feature.ring)
    return mpc.is_zero(ctx, repeated, problem.feature_bits).cut(count)


def child_ends(ctx: Context, nodes: Nodes, true: Bits, present: Bits | None) -> Ends:
    """Where true children end, where nodes without one begin, and where false children begin inside their node.

    Reveals: nothing beyond shapes.
    """
    neighbours = mpc.bit_and(
        ctx.step("neighbours"),
        Bits.stack([true.following(), true.preceding()]),
        Bits.stack([mpc.bit_not(ctx, nodes.flags.following()), mpc.bit_not(ctx, true)]),
    )
    goes_on, after = neighbours.every_row()
    found = mpc.bit_and(
        ctx.step("found"),
        Bits.stack([true, nodes.flags, after]),
        Bits.stack([mpc.bit_not(ctx, goes_on), mpc.bit_not(ctx, true), mpc.bit_not(ctx, nodes.flags)]),
    )
    ends = found.some_rows(0, 2)
    if present is not None:
        # Rows without weight leave no entry, so an opened tree does not show whether there are any.
        ends = mpc.bit_and(ctx.step("present"), ends, present.times(2))
    true_end, unsplit_start = ends.masked(nodes.real).every_row()
    return Ends(true_end, unsplit_start, found.row(2))


def where_chosen(ctx: Context, features: Bits, bits: Sequence[Bits]) -> list[Bits]:
    """For every bit the rows of features where it is set; one round. Reveals: nothing beyond shapes."""
    rows = Bits.stack([bit.times(features.rows) for bit in bits])
    found = mpc.bit_and(ctx, features.times(len(bits)), rows)
    return [found.some_rows(k * features.rows, (k + 1) * features.rows) for k in range(len(bits))]


def thresholds(ctx: Context, problem: Problem, views: Sequence[View], at_true_end: Bits) -> Numbers:
    """Per place the threshold of its node's split, where ``at_true_end`` is set in the feature's row: the sum of
    neighbouring values, 1 for any category. Reveals: nothing beyond shapes."""
    length, ring = at_true_end.count, problem.widths.sorted_ring
    bits, sums = [], []
    category: Bits | None = None
    for j, view in enumerate(views):
        here = at_true_end.row(j)
        if isinstance(view.values, Numbers):
            bits.append(here)
            sums.append((view.values[1:] + view.values[:-1]).pad(length))
        else:
            # A place has one feature at most, so the bits of all categories join without a gate.
            category = here if category is None else category ^ here
    if category is not None:
        bits.append(category)
        sums.append(mpc.constant(ctx, 1, length, ring))
    (threshold,) = mpc.select_sum(ctx.step("threshold"), bits, [[column] for column in sums])
    return threshold


def split_places_cost(problem: Problem, passed_on: bool) -> Cost:
    """Cost of all steps here in one layer; where the rows are ``passed_on`` to the next, two bits per place are marked
    with the feature, not one."""
    length, features = padded(problem.rows), problem.features
    numeric = sum(feature.category is None for feature in features)
    cost = mpc.less_than_cost(length, problem.widths.count_bits) + mpc.equal_cost(
        len(features) * length, problem.feature_bits
    )
    cost += mpc.gates_cost(2, length) * (1 + problem.row_weights) + mpc.gates_cost(3, length)
    cost += mpc.gates_cost((1 + passed_on) * len(features), length)
    return cost + mpc.select_sum_cost(length, numeric + (numeric < len(features)), [problem.widths.sorted_ring])
