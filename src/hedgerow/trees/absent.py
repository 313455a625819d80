"""Rows of weight 0 are ignored, and nobody can tell which they are: they stand behind all others, in no node."""

from dataclasses import dataclass

import numpy as np

from .. import protocols as mpc
from ..engine import FREE, Context, Cost
from ..shares import Bits, Numbers, padded
from .nodes import Nodes, split_cost
from .orders import Orders, partition, partition_cost, views_cost
from .problem import Problem


@dataclass(frozen=True, slots=True)
class Present:
    """The places of rows that have a weight, and nodes and orders in which they come first."""

    places: Bits
    nodes: Nodes
    orders: Orders


def set_aside_absent(ctx: Context, problem: Problem, orders: Orders, weights: Numbers) -> Present:
    """Move the rows of weight 0 behind all others, into a node without a number, which never splits.

    Cost: :func:`set_aside_absent_cost`. Reveals: every feature's permutation under a fresh shuffle.
    """
    n, widths = problem.rows, problem.widths
    ring, length = widths.count_ring, padded(n)
    absent = mpc.bit_to_ring(ctx.step("bit"), mpc.is_zero(ctx.step("zero"), weights, problem.weight_bits), ring)
    passes = mpc.constant(ctx, 1, n, ring) - absent
    present = passes.sum().spread(length)
    here = mpc.public(ctx, np.arange(length, dtype=ring.dtype), ring)
    whole = Nodes.root(ctx, n, [], widths.number_ring, number=0)
    true = mpc.less_than(ctx.step("true"), here, present, widths.count_bits).masked(whole.real)
    false_start = whole.false_starts(ctx.step("openings"), true)
    nodes, true_rows_before = whole.split(ctx.step("nodes"), 0, true, false_start, present, [])
    views = orders.views(ctx.step("order"), [])
    moved = partition(ctx.step("partition"), views, whole, present, true_rows_before, passes)
    return Present(true, nodes, orders.moved(moved))


def set_aside_absent_cost(problem: Problem) -> Cost:
    """Cost of :func:`set_aside_absent`, where rows have weights."""
    if not problem.row_weights:
        return FREE
    n, length, widths = problem.rows, padded(problem.rows), problem.widths
    cost = mpc.equal_cost(n, problem.weight_bits) + mpc.bit_to_ring_cost(n, widths.count_ring)
    cost += mpc.less_than_cost(length, widths.count_bits) + mpc.gates_cost(1, length) * 2
    cost += split_cost(n, widths.count_ring, widths.number_ring, [])
    return cost + views_cost(problem, []) + partition_cost(problem)
