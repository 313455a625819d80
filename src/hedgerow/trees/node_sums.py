"""Sums of row columns over secret nodes, known at all places of the node."""

from collections.abc import Sequence

from .. import protocols as mpc
from ..engine import Context, Cost
from ..shares import Numbers, Ring, padded
from .compact import compact_cost, moved_to_front
from .nodes import Nodes


def suffix_sums(columns: Sequence[Numbers]) -> list[Numbers]:
    """For every place the sum from it to the end."""
    results = []
    for column in columns:
        running = column.prefix_sum()
        results.append(running[len(column) - 1 :].spread(len(column)) - running + column)
    return results


def node_sums(ctx: Context, nodes: Nodes, columns: Sequence[Numbers]) -> tuple[list[Numbers], list[Numbers]]:
    """Per place, for every column in node order: its sum over earlier nodes and over the place's own node.

    At the first place of a node stands the sum from there to the end; brought to the front, the difference to the next
    node's is the node's own sum. What changes from node to node goes back to the first places, and prefix sums bring it
    to the others. Cost: :func:`node_sums_cost`. Reveals: a permutation under a fresh shuffle.
    """
    n, flags = nodes.rows, nodes.flags.masked(nodes.real)
    ends = suffix_sums(columns)
    one = mpc.public(ctx, [1], columns[0].ring).spread(nodes.length)
    heads = mpc.multiply_bit(ctx.step("head"), flags, [*(end.pad(nodes.length) for end in ends), one])
    shuffle, places, moved = moved_to_front(ctx.step("front"), flags, n, [head[:n] for head in heads])
    order = mpc.inverse(places)
    *fronts, real = (column.gather(order) for column in moved)
    totals = [column - column[1:].pad(n) for column in fronts]
    changes = [column - column.later() for column in (*fronts, *totals)]
    marked = mpc.multiply_many(ctx.step("real"), [(column, real) for column in changes])
    back = [column.gather(places) for column in marked]
    (spread,) = mpc.run_shuffles(ctx.step("back"), [mpc.ShuffleJob(shuffle, back)], undo=True)
    told = [column.prefix_sum() for column in spread]
    before = [end[:1].spread(n) - after for end, after in zip(ends, told[: len(ends)], strict=True)]
    return before, told[len(ends) :]


def node_sums_cost(count: int, ring: Ring, columns: int) -> Cost:
    """Cost of :func:`node_sums` for ``count`` rows and ``columns`` columns."""
    cost = mpc.multiply_bit_cost(padded(count), [ring] * (columns + 1))
    cost += compact_cost(count, [ring.nbytes] * (columns + 1)) + mpc.dot_cost(2 * columns * count, ring)
    return cost + mpc.shuffle_cost(count, 0, [ring.nbytes] * (2 * columns), undo=True)
