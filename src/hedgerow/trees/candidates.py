"""Where a node can be split: places after which the value changes, in nodes that are neither pure nor too small."""

from collections.abc import Sequence

import numpy as np

from ..engine import FREE, Context, Cost
from ..protocols import bit_and, bit_not, equal_cost, gates_cost, is_zero, less_than, less_than_cost, public
from ..shares import RING32, Bits, Numbers, pack_row, padded
from .criteria.base import Criterion, CriterionCost
from .nodes import Nodes
from .orders import View
from .problem import Problem

EQUALITY_BLOCK = 1 << 21
"""Items compared in one batch when looking for equal neighbours, which bounds the memory."""


def candidates(ctx: Context, problem: Problem, nodes: Nodes, views: Sequence[View], criterion: Criterion) -> Bits:
    """Per feature the places after which a node can be split: not its last, the node neither pure nor too small, both
    sides large enough, and the next value differs.

    Cost: :func:`candidates_cost`. Reveals: nothing beyond shapes.
    """
    numeric = [view.values for view in views if isinstance(view.values, Numbers)]
    columns = [(values[1:] - values[:-1]).pad(nodes.length) for values in numeric]
    columns += [column.narrow(problem.widths.sorted_ring) for column in criterion.purity_columns()]
    differs_or_mixed = iter(_not_zero(ctx, problem, columns))
    differs = [
        next(differs_or_mixed) if isinstance(values, Numbers) else values ^ values.following()
        for values in (view.values for view in views)
    ]
    inside = bit_not(ctx, nodes.flags.following())
    limits = (criterion.may_split(ctx.step("mixed")), _large_enough(ctx.step("large"), problem, nodes))
    for other in (*differs_or_mixed, *limits):
        if other is not None:
            inside = bit_and(ctx.step("inside"), inside, other)
    valid = bit_and(ctx.step("valid"), Bits.stack(differs), inside.times(len(views)))
    return valid.masked(pack_row(np.arange(nodes.length) < problem.rows - 1))


def _not_zero(ctx: Context, problem: Problem, columns: Sequence[Numbers]) -> list[Bits]:
    """For every column a row that says where it is not zero; as many at a time as fit into a block."""
    size, bits = max(1, EQUALITY_BLOCK // padded(problem.rows)), _equality_bits(problem)
    found: list[Bits] = []
    for start in range(0, len(columns), size):
        part = columns[start : start + size]
        zero = is_zero(ctx.step("equal"), Numbers.concatenate(part), bits)
        found += bit_not(ctx, zero.cut(len(part))).every_row()
    return found


def _equality_bits(problem: Problem) -> int:
    return max(problem.value_bits, problem.widths.count_bits)


def _large_enough(ctx: Context, problem: Problem, nodes: Nodes) -> Bits | None:
    """Whether a place leaves enough rows on both sides, and its node has enough; None where that always holds."""
    columns, least = [], []
    rows_so_far = nodes.rows_so_far(ctx)
    if problem.min_samples_leaf > 1:
        columns += [rows_so_far, nodes.size - rows_so_far]
        least += [problem.min_samples_leaf] * 2
    if problem.min_samples_split > 2 * problem.min_samples_leaf:
        columns.append(nodes.size)
        least.append(problem.min_samples_split)
    if not columns:
        return None
    # Clamp to rows + 1 so that the constant fits.
    wanted = np.repeat(np.array([min(k, problem.rows + 1) for k in least], np.uint32), nodes.length)
    having = Numbers.concatenate([column.narrow(RING32) for column in columns])
    small = less_than(ctx.step("small"), having, public(ctx, wanted, RING32), problem.widths.count_bits + 1)
    found, *others = bit_not(ctx, small.cut(len(columns))).every_row()
    for other in others:
        found = bit_and(ctx.step("both"), found, other)
    return found


def candidates_cost(problem: Problem, criterion: CriterionCost) -> Cost:
    """Cost of :func:`candidates`."""
    length, features = padded(problem.rows), problem.features
    size = max(1, EQUALITY_BLOCK // length)
    columns = sum(feature.category is None for feature in features) + criterion.purity_columns
    cost = gates_cost(1, length) * criterion.purity_columns + gates_cost(len(features), length)
    for start in range(0, columns, size):
        cost += equal_cost(min(size, columns - start) * length, _equality_bits(problem))
    may_split = criterion.may_split()
    cost += may_split + gates_cost(1, length) if may_split != FREE else FREE
    checks = 2 * (problem.min_samples_leaf > 1) + (problem.min_samples_split > 2 * problem.min_samples_leaf)
    if checks:
        cost += less_than_cost(checks * length, problem.widths.count_bits + 1) + gates_cost(1, length) * checks
    return cost
