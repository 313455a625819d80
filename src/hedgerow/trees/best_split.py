"""From the best feature at every place to the best split of every node, known at all its places."""

from dataclasses import dataclass

from ..engine import Context, Cost
from ..oblivious import FAN_IN, segment_best, segment_best_cost
from ..protocols import bit_to_ring_cost, constant, multiply_bit, multiply_bit_cost, numbers_of_rows
from ..shares import RING64, Columns, Numbers, padded
from ..transport import Network
from .criteria.base import CriterionCost, PlaceWinners
from .criteria.factory import criterion_cost
from .nodes import Nodes
from .problem import Problem

FAN_INS = (8, 20, 160, 1280, 10_240, 81_920)
"""The choices for a network: how many blocks are joined in groups rather than in pairs."""


@dataclass(frozen=True, slots=True)
class ChosenSplits:
    """The splits of a layer as every place sees its node's: rows of the true child, the feature's number, and the
    kept sums of the true child."""

    rows_true: Numbers
    feature: Numbers
    sums_true: list[Numbers]


def best_splits(ctx: Context, nodes: Nodes, problem: Problem, found: PlaceWinners, fan_in: int) -> ChosenSplits:
    """The best candidate of every node, known at all its places; a node without one gets no true rows.

    Cost: :func:`best_splits_cost`. Reveals: nothing beyond shapes.
    """
    ring = problem.widths.count_ring
    one = constant(ctx, 1, nodes.length, RING64)
    rows_so_far = nodes.rows_so_far(ctx).narrow(ring)
    feature = numbers_of_rows(ctx.step("code"), found.feature, ring)
    scores = [found.p] if found.q is None else [found.p, found.q - one]
    columns = [*scores, rows_so_far, feature, *found.sums]
    p, *rest = multiply_bit(ctx.step("candidate"), found.candidate, columns)
    items = Columns.of([p, *rest] if found.q is None else [p, rest[0] + one, *rest[1:]])
    best = segment_best(ctx.step("best"), items, nodes.flags, problem.bounds.scores, fan_in)
    rows_true, feature, *sums = best.list()
    return ChosenSplits(rows_true, feature, sums)


def best_splits_cost(problem: Problem, criterion: CriterionCost, fan_in: int) -> Cost:
    """Cost of :func:`best_splits`."""
    length, ring, bounds = padded(problem.rows), problem.widths.count_ring, problem.bounds
    numbers = [ring, ring, *criterion.sum_rings]
    cost = bit_to_ring_cost(problem.feature_bits * length, ring)
    cost += multiply_bit_cost(length, [*bounds.scores.rings, *numbers])
    return cost + segment_best_cost(length, numbers, bounds.scores, fan_in)


def choose_fan_in(network: Network | None, problem: Problem) -> int:
    """How many blocks of the segmented maximum to join in groups, from a link's delay and bandwidth: the quickest by
    the declared rounds and bytes."""
    if network is None:
        return FAN_IN

    def seconds(fan_in: int) -> float:
        cost = best_splits_cost(problem, criterion_cost(problem), fan_in)
        return cost.rounds * network.delay + max(cost.sent) / 2 / network.bandwidth

    return min(FAN_INS, key=seconds)
