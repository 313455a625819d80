"""Many classes, or rows with secret weights: several sums per node decide.

A split that leaves the weight u with sums u_c (per class, or of targets) on the true side and w with w_c on the other
has the score p/q with p = w·Σu_c² + u·Σw_c² and q = u·w. With s = u + w and s_c = u_c + w_c

    p = s·Σu_c² + u·(Σs_c² - 2·Σu_c·s_c),

so the class sums are two inner products, whatever the number of classes, and a third product finishes p. Where every
row weighs one, u and q are the same for all features at a place, and features are compared by p alone; with weights
they are compared as fractions. Sums of nodes are taken from the rows in the first feature's order, once per layer.

Where every row weighs one, a row's class moves into a feature's order as bits, eight classes to a byte, and becomes
numbers there, block by block: that is fewer bytes than moving a number for every class, and bounds the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ... import protocols as mpc
from ...engine import FREE, Context, Cost
from ...shares import RING32, RING64, Bits, Bytes, Columns, Numbers, padded
from ..compact import compact, compact_cost
from ..node_sums import node_sums, node_sums_cost, suffix_sums
from ..nodes import Nodes
from ..orders import Orders, View, views_cost
from ..problem import Problem
from ..shared_tree import SharedLeaves
from ..table import TrainingTable
from ..tournament import Contender, feature_rows, tournament, tournament_cost
from .base import Criterion, CriterionCost, PlaceWinners
from .gain import require_gain, require_gain_cost
from .leaf_values import heaviest, heaviest_cost, mean, mean_cost

FEATURE_BLOCK = 1 << 22
"""Sums (features times places times classes) held in one batch of inner products, which bounds the memory."""


def several_sums(ctx: Context, problem: Problem, table: TrainingTable) -> ClassSums:
    """The criterion for a table, with what its rows carry along. Cost: :meth:`ClassSumsCost.rows`."""
    if problem.regression:
        assert table.weights is not None
        product = mpc.multiply(ctx.step("weigh"), table.y, table.weights)
        columns = mpc.widen_many(ctx.step("widen"), [product, table.weights], problem.bounds.score_ring)
        return WeightedTargets(problem, columns)
    kind = WeightedClasses if problem.weighted else ClassSums
    return kind(problem, class_columns(ctx, problem, table))


def class_columns(ctx: Context, problem: Problem, table: TrainingTable) -> Sequence[mpc.Column]:
    """What rows add to sums of classes: bits of all but the last class, or weights in the column of a row's class."""
    length, others = padded(problem.rows), problem.classes - 1
    codes = mpc.public(ctx, np.repeat(np.arange(others, dtype=np.uint64), length), RING64)
    labels = Numbers.concatenate([table.y.pad(length)] * others) - codes
    rows = mpc.is_zero(ctx.step("class"), labels, others.bit_length()).cut(others)
    if not problem.weighted:
        return [rows.some_rows(k, k + 8).to_bytes(problem.rows) for k in range(0, others, 8)]
    # The last class is none of the others, so that whatever a label says, a row has one class.
    hits = Bits.end_to_end([rows, mpc.bit_not(ctx, rows.any_row())])
    if table.weights is None:
        flat = mpc.bit_to_ring(ctx.step("bit"), hits, RING64)
    else:
        weights = Numbers.concatenate([table.weights.pad(length)] * problem.classes)
        (flat,) = mpc.multiply_bit(ctx.step("weigh"), hits, [weights])
    factors = problem.class_weights or (1,) * problem.classes
    by_class = zip(flat.pieces(length, problem.rows), factors, strict=True)
    return [column.scale(factor) for column, factor in by_class]


@dataclass(frozen=True, slots=True)
class _State:
    """The nodes of a layer; per place the sums of row columns in earlier nodes, and of the node itself the sums that
    are squared, the weight and the sum of squares."""

    nodes: Nodes
    before: list[Numbers]
    sums: list[Numbers]
    mass: Numbers
    squares: Numbers


class ClassSums(Criterion):
    """Many classes, every row of weight one. ``columns`` have a bit for each class but the last."""

    needs_last_order = True

    @property
    def sums_of_a_feature(self) -> int:
        """How many numbers a feature has at a place, for the size of blocks."""
        return self.problem.classes

    def __init__(self, problem: Problem, columns: Sequence[mpc.Column]) -> None:
        self.problem, self.bounds, self.columns = problem, problem.bounds, columns
        self._state: _State | None = None

    def _in_order(self, ctx: Context, views: Sequence[View]) -> list[list[Numbers]]:
        """For every view what the rows add to the sums, in its order."""
        count, length = self.problem.classes - 1, padded(self.problem.rows)
        rows = [Bits.of_bytes([c for c in view.columns if isinstance(c, Bytes)], count) for view in views]
        flat = mpc.bit_to_ring(ctx.step("bit"), Bits.end_to_end(rows), RING64)
        columns = flat.pieces(length, self.problem.rows)
        return [columns[k * count : (k + 1) * count] for k in range(len(views))]

    def _parts(self, sums: Sequence[Numbers], rows: Numbers) -> tuple[list[Numbers], Numbers]:
        """The sums that are squared, and the weight, from sums of the row columns and the number of rows."""
        return [*sums, rows - Numbers.total(sums)], rows

    def _whole(self, ctx: Context, length: int) -> Numbers:
        """The root's weight at every place."""
        return mpc.constant(ctx, self.problem.rows, length, RING64)

    def _keys(self, ctx: Context, p: Numbers, mass: Numbers, whole: Numbers) -> list[Numbers]:
        """What features are compared by at a place."""
        return [p]

    def _less(self, ctx: Context, a: list[Numbers], b: list[Numbers], differences: list[Numbers]) -> mpc.PendingSign:
        """Whether the keys ``a`` are lower than ``b``."""
        return mpc.sign_of(ctx, differences[0], self.bounds.score_bits)

    def _denominator(self, ctx: Context, best: Contender, rows_so_far: Numbers) -> Numbers | None:
        """q of the winners, where scores are fractions."""
        return mpc.multiply(ctx.step("q"), rows_so_far, self.state.nodes.size - rows_so_far)

    @property
    def state(self) -> _State:
        """What is known of the layer's nodes."""
        assert self._state is not None
        return self._state

    def enter(self, ctx: Context, nodes: Nodes, views: Sequence[View]) -> None:
        """The nodes' sums, and their squares."""
        (columns,) = self._in_order(ctx.step("first"), views[:1])
        before, totals = node_sums(ctx.step("totals"), nodes, columns)
        before, totals = ([column.pad(nodes.length) for column in side] for side in (before, totals))
        sums, mass = self._parts(totals, nodes.size)
        self._state = _State(nodes, before, sums, mass, mpc.dot(ctx.step("squares"), sums, sums))

    def may_split(self, ctx: Context) -> Bits | None:
        """Whether Σs_c² differs from s²."""
        mass = self.state.mass
        squares = mpc.multiply(ctx.step("whole"), mass, mass) - self.state.squares
        return mpc.bit_not(ctx, mpc.is_zero(ctx.step("pure"), squares, 2 * self.problem.widths.mass_bits))

    def choose(self, ctx: Context, views: Sequence[View], valid: Bits) -> PlaceWinners:
        """Scores of all features at all places, then a tournament."""
        problem, state = self.problem, self.state
        length, rows_so_far = state.nodes.length, state.nodes.rows_so_far(ctx)
        keys: list[list[Numbers]] = []
        for start, stop in feature_blocks(problem, self.sums_of_a_feature):
            keys += self._scores(ctx.step("scores"), views[start:stop], rows_so_far)
        valid = self._worthy(ctx.step("worth"), keys, valid)
        contenders = [
            Contender(key, feature_rows(ctx, j + 1, problem.feature_bits, length), valid.row(j))
            for j, key in enumerate(keys)
        ]
        best = tournament(ctx.step("tournament"), contenders, self._less)
        found = PlaceWinners(best.keys[0], self._denominator(ctx, best, rows_so_far), best.feature, best.valid, [])
        return self._worth(ctx.step("worth"), found) if problem.checks_gain else found

    def _worthy(self, ctx: Context, keys: Sequence[list[Numbers]], valid: Bits) -> Bits:
        """The candidates of all features, where some are refused before they are compared."""
        return valid

    def _worth(self, ctx: Context, found: PlaceWinners) -> PlaceWinners:
        """Only candidates that lower the impurity enough."""
        state = self.state
        whole = self._whole(ctx, state.nodes.length)
        return require_gain(ctx, self.problem, found, state.mass.narrow(RING64), state.squares, whole)

    def _scores(self, ctx: Context, views: Sequence[View], rows_so_far: Numbers) -> list[list[Numbers]]:
        """For every view the keys of its places."""
        length, count, state = len(rows_so_far), len(views), self.state
        lefts, masses = [], []
        for columns in self._in_order(ctx.step("columns"), views):
            pairs = zip(columns, state.before, strict=True)
            left, mass = self._parts(
                [column.prefix_sum().pad(length) - before for column, before in pairs], rows_so_far
            )
            lefts.append(left)
            masses.append(mass)
        terms = [Numbers.concatenate(column) for column in zip(*lefts, strict=True)]
        totals = [Numbers.concatenate([column] * count) for column in state.sums]
        both = mpc.dot(
            ctx.step("sums"),
            [Numbers.concatenate([term, term]) for term in terms],
            [Numbers.concatenate(pair) for pair in zip(terms, totals, strict=True)],
        )
        squares, mixed = both.pieces(count * length)
        mass, whole = Numbers.concatenate(masses), Numbers.concatenate([state.mass] * count)
        rest = Numbers.concatenate([state.squares] * count) - mixed.scale(2)
        p = mpc.dot(ctx.step("p"), [whole, mass], [squares, rest])
        keys = [key.pieces(length) for key in self._keys(ctx, p, mass, whole)]
        return [list(key) for key in zip(*keys, strict=True)]

    def leaves(self, ctx: Context, nodes: Nodes, orders: Orders) -> SharedLeaves:
        """Labels of the heaviest class (of equal ones the lowest), or means; and the weights."""
        problem, n = self.problem, self.problem.rows
        (view,) = Orders(orders.permutations[:1], orders.values[:1]).views(ctx.step("order"), self.columns)
        kept = nodes.flags.masked(nodes.real)
        (columns,) = self._in_order(ctx.step("columns"), [view])
        ends = [column.pad(nodes.length) for column in suffix_sums(columns)]
        kept_columns = [x[:n] for x in mpc.multiply_bit(ctx.step("kept"), kept, [nodes.number, nodes.size, *ends])]
        length = problem.layer_length(problem.height)
        number, size, *rest = compact(ctx.step("front"), kept, n, kept_columns, min(n, length + 1))
        differences = [(column - column[1:].pad(len(column)))[:length] for column in rest]
        sums, mass = self._parts(differences, size[:length])
        return self._leaves(ctx, number[:length], sums, mass)

    def _leaves(self, ctx: Context, number: Numbers, sums: list[Numbers], mass: Numbers) -> SharedLeaves:
        label = heaviest(ctx.step("label"), sums, self.problem.widths.mass_bits)
        return SharedLeaves(number, label, [column.narrow(RING32) for column in sums])


class WeightedClasses(ClassSums):
    """Classes of rows that differ in weight. ``columns`` have a row's weight in its class's column."""

    def _in_order(self, ctx: Context, views: Sequence[View]) -> list[list[Numbers]]:
        return [[column for column in view.columns if isinstance(column, Numbers)] for view in views]

    def _parts(self, sums: Sequence[Numbers], rows: Numbers) -> tuple[list[Numbers], Numbers]:
        return list(sums), Numbers.total(sums)

    def _whole(self, ctx: Context, length: int) -> Numbers:
        sums = [column.sum() for column in self.columns if isinstance(column, Numbers)]
        _, mass = self._parts(sums, sums[0])
        return mass.narrow(RING64).spread(length)

    def _keys(self, ctx: Context, p: Numbers, mass: Numbers, whole: Numbers) -> list[Numbers]:
        mass = mass.narrow(RING64)
        return [p, mpc.multiply(ctx.step("q"), mass, whole.narrow(RING64) - mass)]

    def _less(self, ctx: Context, a: list[Numbers], b: list[Numbers], differences: list[Numbers]) -> mpc.PendingSign:
        return mpc.score_sign(ctx, Columns.of(a), Columns.of(b), self.bounds.scores)

    def _denominator(self, ctx: Context, best: Contender, rows_so_far: Numbers) -> Numbers | None:
        return best.keys[1]


class WeightedTargets(WeightedClasses):
    """Numbers to estimate from rows that differ in weight. ``columns`` are weight times target, and weight."""

    def _parts(self, sums: Sequence[Numbers], rows: Numbers) -> tuple[list[Numbers], Numbers]:
        return [sums[0]], sums[1]

    def may_split(self, ctx: Context) -> Bits | None:
        """Whether the node has any weight; whether it is pure is seen in the gain."""
        return mpc.bit_not(ctx, mpc.is_zero(ctx.step("empty"), self.state.mass, self.problem.widths.mass_bits))

    def _leaves(self, ctx: Context, number: Numbers, sums: list[Numbers], mass: Numbers) -> SharedLeaves:
        weight, total = mass.narrow(RING64), sums[0].narrow(RING64)
        return SharedLeaves(number, mean(ctx.step("mean"), weight, total, self.problem), [weight, total])


def feature_blocks(problem: Problem, sums: int) -> list[tuple[int, int]]:
    """The features in pieces whose sums, so many of each at a place, are worked on at a time."""
    count = len(problem.features)
    size = max(1, FEATURE_BLOCK // (padded(problem.rows) * max(1, sums)))
    return [(start, min(count, start + size)) for start in range(0, count, size)]


class ClassSumsCost(CriterionCost):
    """What :class:`ClassSums` and its subclasses cost."""

    needs_last_order = True

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.n, self.length, self.ring = problem.rows, padded(problem.rows), problem.bounds.score_ring
        self.count = 2 if problem.regression else problem.classes - (not problem.weighted)
        self.moved_bytes = [self.ring.nbytes] * self.count if problem.weighted else [1] * (-(-self.count // 8))

    def rows(self) -> Cost:
        """What rows add to the sums."""
        problem, n = self.problem, self.n
        if problem.regression:
            return mpc.dot_cost(n, RING64) + mpc.widen_cost(2 * n, RING64, self.ring)
        count, others = self.count * self.length, problem.classes - 1
        hits = mpc.equal_cost(others * self.length, others.bit_length())
        if not problem.weighted:
            return hits
        return hits + (
            mpc.multiply_bit_cost(count, [RING64]) if problem.row_weights else mpc.bit_to_ring_cost(count, RING64)
        )

    def _numbers(self, features: int) -> Cost:
        """Bits that moved into the order of some features become numbers."""
        return FREE if self.problem.weighted else mpc.bit_to_ring_cost(features * self.count * self.length, RING64)

    def enter(self) -> Cost:
        """The nodes' sums and squares."""
        return self._numbers(1) + node_sums_cost(self.n, self.ring, self.count) + mpc.dot_cost(self.length, self.ring)

    def may_split(self) -> Cost:
        """Which nodes are pure or empty."""
        mass_bits = self.problem.widths.mass_bits
        if self.problem.regression:
            return mpc.equal_cost(self.length, mass_bits)
        return mpc.dot_cost(self.length, RING64) + mpc.equal_cost(self.length, 2 * mass_bits)

    def _sign(self, count: int) -> tuple[Cost, int]:
        bounds = self.problem.bounds
        if self.problem.weighted:
            return mpc.score_sign_cost(count, bounds.scores), bounds.cross_bits + 1
        return FREE, bounds.score_bits + 1

    def choose(self, layer: int) -> Cost:
        """Scores of all features at all places, a tournament, the check of the gain."""
        weighted, cost = self.problem.weighted, FREE
        for start, stop in feature_blocks(self.problem, self.problem.classes):
            count = (stop - start) * self.length
            cost += self._numbers(stop - start) + mpc.dot_cost(2 * count, self.ring) + mpc.dot_cost(count, self.ring)
            cost += mpc.dot_cost(count, RING64) if weighted else FREE
        cost += FREE if weighted else mpc.dot_cost(self.length, RING64)
        keys = [self.ring, RING64] if weighted else [self.ring]
        cost += tournament_cost(self.length, self.problem, keys, self._sign)
        return cost + require_gain_cost(self.problem) if self.problem.checks_gain else cost

    def leaves(self) -> Cost:
        """The first feature's order, one entry per leaf, and what it says."""
        problem, number = self.problem, self.problem.widths.number_ring
        cost = views_cost(problem, self.moved_bytes, 1) + self._numbers(1)
        cost += mpc.multiply_bit_cost(self.length, [number, RING64, *([self.ring] * self.count)])
        cost += compact_cost(self.n, [number.nbytes, 8, *([self.ring.nbytes] * self.count)])
        return cost + (mean_cost(problem) if problem.regression else heaviest_cost(problem))
