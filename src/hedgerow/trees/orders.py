"""Where the rows stand: one secret permutation per feature, opened under a fresh shuffle in every layer.

Rows of a node are neighbours, and inside a node they are sorted by the feature. Rows never move; columns are carried
into a feature's order and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import protocols as mpc
from ..engine import FREE, Context, Cost
from ..oblivious import sort_permutations
from ..shares import RING32, Bits, Bytes, Numbers, Ring, Words, padded
from .feature import category_rows, code_bits, in_declared_range, in_declared_range_cost
from .nodes import Nodes
from .problem import Problem


@dataclass(frozen=True, slots=True)
class View:
    """One feature in one layer: its shuffle, the opened places and their inverse, values and columns in node order.

    Values are numbers, or for a category's feature one row of bits.
    """

    shuffle: mpc.Shuffle
    places: Words
    order: Words
    values: Numbers | Bits
    columns: list[mpc.Column]


@dataclass(frozen=True, slots=True)
class Orders:
    """Permutations and values of some features."""

    permutations: list[Numbers]
    values: list[mpc.Column]

    @staticmethod
    def of_table(ctx: Context, x: Sequence[Numbers], problem: Problem) -> Orders:
        """Cut numbers to their declared range, sort them by comparisons, and every category's bit by counting.

        Cost: :func:`range_cost`, :func:`category_cost`, and of numbers a sort, whose transcript has a random length
        (see :mod:`hedgerow.oblivious.ranking`). Reveals: the opened comparisons of that sort.
        """
        features, n = problem.features, problem.rows
        x = in_declared_range(ctx.step("range"), x, problem, problem.value_bits, problem.widths.sorted_ring)
        numeric = [f.attribute for f in features if f.category is None]
        sorted_numbers = sort_permutations(ctx, [x[j] for j in numeric], problem.value_bits) if numeric else []
        permutations: list[Numbers] = []
        values: list[mpc.Column] = []
        bits: list[Bytes] = []
        sorted_bits: list[Numbers] = []
        if len(numeric) < len(features):
            rows = category_rows(ctx.step("category"), x, problem)
            sorted_bits = bit_orders(ctx.step("bits"), rows, n, RING32)
            bits = [rows.row(j).to_bytes(n) for j in range(rows.rows)]
        numbers, places, ones = iter(sorted_numbers), iter(sorted_bits), iter(bits)
        for feature in features:
            if feature.category is None:
                permutations.append(next(numbers))
                values.append(x[feature.attribute])
            else:
                permutations.append(next(places))
                values.append(next(ones))
        return Orders([permutation.narrow(problem.widths.count_ring) for permutation in permutations], values)

    def views(self, ctx: Context, columns: Sequence[mpc.Column]) -> list[View]:
        """Open every permutation under a fresh shuffle and put values and columns into node order.

        Cost: :func:`views_cost`. Reveals: permutations under fresh shuffles.
        """
        jobs = []
        for j, (permutation, values) in enumerate(zip(self.permutations, self.values, strict=True)):
            shuffle = mpc.draw_shuffle(ctx.step("draw"), len(permutation), j)
            jobs.append(mpc.ShuffleJob(shuffle, [permutation, values, *columns], opened=(0,)))
        views = []
        for job, (places, values, *moved) in zip(jobs, mpc.run_shuffles(ctx.step("shuffle"), jobs), strict=True):
            places = places.astype(np.uint32)
            order = mpc.inverse(places)
            ordered = values.gather(order)
            if isinstance(ordered, Bytes):
                ordered = Bits.of_bytes([ordered], 1)
            views.append(View(job.shuffle, places, order, ordered, [column.gather(order) for column in moved]))
        return views

    def moved(self, permutations: list[Numbers]) -> Orders:
        """The same values under new permutations."""
        return Orders(permutations, self.values[: len(permutations)])


def bit_orders(ctx: Context, rows: Bits, count: int, ring: Ring) -> list[Numbers]:
    """The stable sort permutations of rows of bits, zeros first; one product in all. Reveals: nothing beyond shapes."""
    length = padded(count)
    bits = mpc.bit_to_ring(ctx.step("bit"), Bits.end_to_end([rows]), ring).pieces(length, count)
    one = mpc.constant(ctx, 1, count, ring)
    zeros = [(one - bit).prefix_sum() for bit in bits]
    jumps = [zero[count - 1 :] + bit.prefix_sum() - zero for zero, bit in zip(zeros, bits, strict=True)]
    moved = mpc.multiply(ctx.step("place"), Numbers.concatenate(bits), Numbers.concatenate(jumps))
    return [zero + jump - one for zero, jump in zip(zeros, moved.pieces(count), strict=True)]


def rows_passing(ctx: Context, views: Sequence[View], results: Bits, ring: Ring) -> Numbers:
    """Per row whether it passes its node's test, as a number of the ring.

    ``results`` has a row for every view that says at which places of it a row passes. In the order of a node's own
    feature the true rows are the first ones, so the bit is fetched from there and from nowhere else: the exclusive or
    over all features of (is it this one) and (is the place true). Cost: :func:`rows_passing_cost`. Reveals: nothing.
    """
    n = len(views[0].places)
    back = [
        mpc.ShuffleJob(view.shuffle, [results.row(j).to_bytes(n).gather(view.places)]) for j, view in enumerate(views)
    ]
    parts = [column for (column,) in mpc.run_shuffles(ctx.step("to_rows"), back, undo=True)]
    passes = Bits.of_bytes([Bytes.total(parts)], 1)
    return mpc.bit_to_ring(ctx.step("bit"), passes.map(lambda rows: rows, count=n), ring)


def partition(
    ctx: Context, views: Sequence[View], nodes: Nodes, rows_true: Numbers, true_rows_before: Numbers, passes: Numbers
) -> list[Numbers]:
    """New permutations: in every node the rows that pass come first, each side in its old order.

    ``rows_true`` and ``true_rows_before`` say per place how many rows pass in its node and in earlier ones;
    ``rows_true`` and ``passes`` are of the ring of the permutations. Cost: :func:`partition_cost`. Reveals: nothing
    beyond shapes.
    """
    n, ring = len(passes), passes.ring
    jobs = [mpc.ShuffleJob(view.shuffle, [passes]) for view in views]
    moved = mpc.run_shuffles(ctx.step("to_order"), jobs)
    ordered = [column.gather(view.order) for (column,), view in zip(moved, views, strict=True)]
    here = mpc.public(ctx, np.arange(n, dtype=ring.dtype), ring)
    start, first, before = nodes.start.narrow(ring)[:n], rows_true[:n], true_rows_before[:n]
    seen = [bit.prefix_sum() - bit - before for bit in ordered]
    jumps = mpc.multiply(
        ctx.step("jump"),
        Numbers.concatenate(ordered),
        Numbers.concatenate([start + s.scale(2) - here - first for s in seen]),
    )
    jobs = []
    for view, passed, jump in zip(views, seen, jumps.pieces(n), strict=True):
        destination = here + first - passed + jump
        jobs.append(mpc.ShuffleJob(view.shuffle, [destination.gather(view.places)]))
    return [column for (column,) in mpc.run_shuffles(ctx.step("back"), jobs, undo=True)]


def range_cost(problem: Problem) -> Cost:
    """Attributes cut to their declared bits, once before the sort."""
    return in_declared_range_cost(problem, problem.rows, problem.value_bits, problem.widths.sorted_ring)


def category_cost(problem: Problem) -> Cost:
    """The bits of categories and their places, once before the first layer."""
    bits = sum(feature.category is not None for feature in problem.features)
    if not bits:
        return FREE
    count = bits * padded(problem.rows)
    cost = mpc.equal_cost(count, code_bits(problem)) + mpc.bit_to_ring_cost(count, RING32)
    return cost + mpc.dot_cost(bits * problem.rows, RING32)


def views_cost(problem: Problem, columns: Sequence[int], count: int | None = None) -> Cost:
    """Cost of :meth:`Orders.views` of all features or the first ``count``: permutations are opened; values (a byte
    where they are bits) and columns of these bytes per row move along."""
    widths = problem.widths
    values = [widths.sorted_ring.nbytes if feature.category is None else 1 for feature in problem.features[:count]]
    opened = [widths.count_ring.nbytes]
    return mpc.shuffles_cost(
        [mpc.shuffle_cost(problem.rows, j % 3, [own, *columns], opened) for j, own in enumerate(values)]
    )


def _every_shuffle(problem: Problem, nbytes: int, undo: bool, count: int | None) -> Cost:
    """One column of these bytes per row for all features or the first ``count``, roles rotating."""
    number = len(problem.features) if count is None else count
    return mpc.shuffles_cost([mpc.shuffle_cost(problem.rows, j % 3, [nbytes], undo=undo) for j in range(number)])


def rows_passing_cost(problem: Problem) -> Cost:
    """Cost of :func:`rows_passing`."""
    return _every_shuffle(problem, 1, True, None) + mpc.bit_to_ring_cost(problem.rows, problem.widths.count_ring)


def partition_cost(problem: Problem, count: int | None = None) -> Cost:
    """Cost of :func:`partition` for all features or the first ``count``."""
    ring, number = problem.widths.count_ring, len(problem.features) if count is None else count
    moved = [_every_shuffle(problem, ring.nbytes, undo, count) for undo in (False, True)]
    return moved[0] + moved[1] + mpc.dot_cost(number * problem.rows, ring)
