"""What a result must not tell: too few rows behind a training, and numbers of leaves with too few rows.

Both are decided on shares. The first opens one bit, the second nothing.
"""

import numpy as np

from .. import protocols as mpc
from ..engine import Context
from ..shares import RING32, RING64, Numbers
from .problem import Problem
from .shared_tree import SharedLeaves, SharedTree
from .table import TrainingTable

WITHHELD = 1 << 62
"""In the place of a mean that is withheld; means are below 2^61 in size."""
MOST_LEAVES = 1 << 10
"""Leaves are compared in pairs; of larger trees all numbers are withheld."""


def enough_rows(ctx: Context, table: TrainingTable, problem: Problem, least_rows: int, least_of_a_class: int) -> bool:
    """Whether enough rows have a weight, and every class that occurs among them has enough of them.

    Paper: our own. Cost: one equality per row for the weights, and one with a gate for every class.
    Reveals: the answer, one bit for all conditions together, to all parties.
    """
    rows, bits = problem.rows, problem.widths.count_bits + 1
    ones = mpc.constant(ctx, 1, rows, RING32)
    present = None
    if table.weights is not None:
        present = mpc.bit_not(ctx, mpc.is_zero(ctx.step("weight"), table.weights, problem.weight_bits))
        ones = mpc.bit_to_ring(ctx.step("present"), present, RING32)
    counted = [ones.sum()]
    for label in range(problem.classes):
        same = table.y - mpc.constant(ctx, label, rows, RING64)
        here = mpc.is_zero(ctx.turn("class", label), same, max(1, (problem.classes - 1).bit_length()))
        if present is not None:
            here = mpc.bit_and(ctx.turn("class with weight", label), here, present)
        counted.append(mpc.bit_to_ring(ctx.turn("of class", label), here, RING32).sum())
    counts = Numbers.concatenate(counted)
    least = np.full(len(counts), min(least_of_a_class, problem.rows + 1), RING32.dtype)
    least[0] = min(least_rows, problem.rows + 1)
    few = mpc.less_than(ctx.step("few"), counts, mpc.public(ctx, least, RING32), bits)
    # A class without any row does no harm; a table without any row of positive weight does.
    some = counts + mpc.public(ctx, np.eye(1, len(counts), dtype=RING32.dtype)[0], RING32)
    occurs = mpc.bit_not(ctx, mpc.is_zero(ctx.step("occurs"), some, bits))
    failed = mpc.bit_to_ring(ctx.step("failed"), mpc.bit_and(ctx.step("both"), few, occurs), RING32)
    passed = mpc.is_zero(ctx.step("passed"), failed.sum(), len(failed).bit_length())
    return bool(mpc.reveal_bits(ctx.step("open"), passed)[0, 0] & np.uint64(1))


def withhold_small_leaves(ctx: Context, tree: SharedTree, problem: Problem, least: int) -> SharedTree:
    """The tree without the numbers (counts, means) of leaves that would tell about fewer than ``least`` rows.

    A leaf keeps its numbers where every split above it has at least ``least`` rows on both sides. So what is withheld
    are whole subtrees of at least ``least`` rows, and no sum or difference of numbers that are shown, nor the known
    number of all rows, gives back less. Where rows have weights, or leaves are too many to compare, all are withheld.

    Paper: our own. Cost: for every layer one equality and one selection for each pair of leaves.
    Reveals: nothing beyond shapes.
    """
    length = len(tree.leaves.number)
    if problem.weighted or length > MOST_LEAVES or not tree.counts:
        keep = mpc.is_zero(ctx.step("none"), mpc.constant(ctx, 1, length, RING32), 2)
    else:
        keep = mpc.is_zero(
            ctx.step("keep"), _small_splits(ctx, tree, problem, least), (problem.height + 1).bit_length()
        )
    counts = mpc.multiply_bit(ctx.step("counts"), keep, tree.counts) if tree.counts else []
    label = tree.leaves.label
    if problem.regression:
        offset = mpc.constant(ctx, WITHHELD, length, label.ring)
        (kept,) = mpc.multiply_bit(ctx.step("means"), keep, [label - offset])
        label = kept + offset
    return SharedTree(tree.layers, SharedLeaves(tree.leaves.number, label, counts))


def _small_splits(ctx: Context, tree: SharedTree, problem: Problem, least: int) -> Numbers:
    """For every leaf the number of splits above it with too few rows on a side; one more if all rows are too few."""
    length, height, bits = len(tree.leaves.number), problem.height, problem.widths.count_bits + 1
    rows = (tree.counts[0] if problem.regression else Numbers.total(tree.counts)).narrow(RING32)
    one = mpc.constant(ctx, 1, length, RING32)
    # Bit k of a leaf's number, counted from 0, says whether its path is the true one in layer k.
    path = tree.leaves.number.narrow(RING32) - one
    first, second = np.repeat(np.arange(length), length), np.tile(np.arange(length), length)
    below = [rows.sum().spread(length)]
    for k in range(1, height):
        same = mpc.is_zero(ctx.turn("same path", k), path[first] - path[second], k)
        (shared,) = mpc.multiply_bit(ctx.turn("rows", k), same, [rows[second]])
        upto = shared.prefix_sum()[np.arange(length - 1, length * length, length)]
        below.append(upto - upto.later())
    below.append(rows)
    limit = mpc.constant(ctx, min(least, problem.rows + 1), length, RING32)
    everything = mpc.less_than(ctx.step("all"), below[0], limit, bits)
    total = mpc.bit_to_ring(ctx.step("too few"), everything, RING32)
    for k in range(height):
        child, sibling = below[k + 1], below[k] - below[k + 1]
        split = mpc.bit_not(ctx, mpc.is_zero(ctx.turn("split", k), sibling, bits))
        small_child = mpc.less_than(ctx.turn("child", k), child, limit, bits)
        small_sibling = mpc.less_than(ctx.turn("sibling", k), sibling, limit, bits)
        small = mpc.bit_and(ctx.turn("small", k), split, mpc.bit_or(ctx.turn("either", k), small_child, small_sibling))
        total = total + mpc.bit_to_ring(ctx.turn("count", k), small, RING32)
    return total
