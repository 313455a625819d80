"""Two classes or a number to estimate, every row of weight one: one sum per node decides.

Splitting a node of s rows that sum up to s1 after u rows that sum up to u1 has, up to constants of the node, the score
p/q with p = w·u1² + u·w1² and q = u·w, where w = s - u. Up to further constants that is D²/(u·w) with D = s·u1 - u·s1.
At one place s, s1, u and w are the same for all features, so the best feature has the largest |D|, and that is the one
with the largest or the smallest u1. Two tournaments of short numbers find both, and the sign of D_max + D_min says
which one it is. Of equal |D| the lowest feature wins.
"""

from collections.abc import Sequence

from ... import protocols as mpc
from ...engine import FREE, Context, Cost
from ...shares import RING32, RING64, RING128, Bits, Numbers, padded
from ..compact import compact, compact_cost
from ..nodes import Nodes
from ..orders import Orders, View
from ..problem import Problem
from ..shared_tree import SharedLeaves
from ..tournament import (
    Contender,
    cut_contender,
    feature_less,
    feature_less_cost,
    feature_rows,
    tournament,
    tournament_cost,
)
from .base import Criterion, CriterionCost, PlaceWinners
from .gain import require_gain, require_gain_cost
from .leaf_values import mean, mean_cost


class SingleSum(Criterion):
    """The criterion of a single sum. ``y`` are labels 0 or 1, or targets, in 2^64."""

    needs_last_order = False

    def __init__(self, problem: Problem, y: Numbers) -> None:
        self.problem, self.bounds, self.widths = problem, problem.bounds, problem.widths
        self.columns = [y.narrow(self.widths.sum_ring)]
        self.node_sums = [y]
        self._nodes: Nodes | None = None

    @property
    def nodes(self) -> Nodes:
        """The nodes of the layer."""
        assert self._nodes is not None
        return self._nodes

    def enter(self, ctx: Context, nodes: Nodes, views: Sequence[View]) -> None:
        """The nodes' sums are kept from layer to layer."""
        self._nodes = nodes

    def purity_columns(self) -> list[Numbers]:
        """Rows of either class; in regression purity shows in the gain."""
        if self.problem.regression:
            return []
        (ones,) = self.nodes.sums
        return [ones, self.nodes.size - ones]

    def choose(self, ctx: Context, views: Sequence[View], valid: Bits) -> PlaceWinners:
        """Two tournaments, the better of their winners, its score."""
        nodes, (node_sum,) = self.nodes, self.nodes.sums
        highest, lowest = self._extremes(ctx, views, valid)
        rows_so_far = nodes.rows_so_far(ctx)
        share, q = mpc.multiply_many(
            ctx.step("shares"), [(rows_so_far, node_sum), (rows_so_far, nodes.size - rows_so_far)]
        )
        part, feature = self._better(ctx.step("extreme"), highest, lowest, share)
        p = self._score(ctx.step("score"), rows_so_far, part, share)
        found = PlaceWinners(p, q, feature, highest.valid, [part.narrow(self.widths.sum_ring)])
        return self._worth(ctx.step("worth"), found, node_sum) if self.problem.checks_gain else found

    def _extremes(self, ctx: Context, views: Sequence[View], valid: Bits) -> list[Contender]:
        """The features with the largest and with the smallest u1 at every place; keys are u1, in 2^64."""
        length, ring, (sum_before_node,) = self.nodes.length, self.widths.sum_ring, self.nodes.before
        largest = mpc.constant(ctx, self.problem.rows * self.problem.largest_target, length, ring)
        offset = sum_before_node.narrow(ring)
        contenders = []
        for j, view in enumerate(views):
            (column,) = view.columns
            assert isinstance(column, Numbers)
            sums = column.prefix_sum().pad(length) - offset
            feature = feature_rows(ctx, j + 1, self.problem.feature_bits, 2 * length)
            row = valid.row(j)
            key = Numbers.concatenate([sums, largest - sums])
            contenders.append(Contender([key], feature, Bits.end_to_end([row, row])))
        best = tournament(
            ctx.step("tournament"),
            contenders,
            lambda step, a, b, differences: mpc.sign_of(step, differences[0], self.widths.sum_bits),
        )
        highest, lowest = cut_contender(best, 2)
        # The better extreme is chosen among wide numbers, so that they are widened once.
        wide = mpc.widen_many(ctx.step("widen"), [highest.keys[0], largest - lowest.keys[0]], RING64)
        return [Contender([key], x.feature, x.valid) for key, x in zip(wide, (highest, lowest), strict=True)]

    def _better(self, ctx: Context, highest: Contender, lowest: Contender, share: Numbers) -> tuple[Numbers, Bits]:
        """u1 and feature of the better of the two extremes; ``share`` is u·s1.

        D_max + D_min = s·(u1_max + u1_min) - 2·u·s1: where it is negative the lowest is farther away from the mean,
        where it is zero the lower feature wins.
        """
        extremes, bits = highest.keys[0] + lowest.keys[0], self.bounds.distance_bits + 2
        earlier = feature_less(ctx.step("earlier"), lowest.feature, highest.feature)
        minus = -(share.scale(4) + mpc.bit_to_ring(ctx.step("bit"), earlier, RING64))
        take_lowest = mpc.product_sign(ctx.step("sign"), [self.nodes.size], [extremes.scale(2)], bits, minus)
        (key,) = mpc.select(ctx.step("choose"), take_lowest, lowest.keys, highest.keys)
        return key, mpc.choose_rows(ctx.step("tag"), take_lowest, lowest.feature, highest.feature)

    def _score(self, ctx: Context, rows_so_far: Numbers, part: Numbers, share: Numbers) -> Numbers:
        """p, in the ring of scores; ``share`` is u·s1."""
        size, (whole,) = self.nodes.size, self.nodes.sums
        if self.bounds.score_ring == RING64:
            slope, mean_part = mpc.multiply_many(ctx.step("slope"), [(size, part), (share, whole)])
            return mpc.multiply(ctx.step("p"), part, slope - share.scale(2)) + mean_part
        rest = whole - part
        pulls = mpc.multiply_many(ctx.step("pull"), [(size - rows_so_far, part), (rows_so_far, rest)])
        a, b, part, rest = mpc.widen_many(ctx.step("widen"), [*pulls, part, rest], RING128)
        return mpc.dot(ctx.step("p"), [a, b], [part, rest])

    def _worth(self, ctx: Context, found: PlaceWinners, node_sum: Numbers) -> PlaceWinners:
        wide = mpc.widen(ctx.step("sum"), node_sum, self.bounds.score_ring)
        squares = mpc.multiply(ctx.step("square"), wide, wide)
        whole = mpc.constant(ctx, self.problem.rows, len(node_sum), RING64)
        return require_gain(ctx, self.problem, found, self.nodes.size, squares, whole)

    def leaves(self, ctx: Context, nodes: Nodes, orders: Orders) -> SharedLeaves:
        """Labels and class counts (equal counts give label 0), or means, counts and sums."""
        problem, n = self.problem, self.problem.rows
        kept = nodes.flags.masked(nodes.real)
        payload = [nodes.number, nodes.size.narrow(RING32), nodes.sums[0].narrow(self.widths.leaf_ring)]
        columns = [x[:n] for x in mpc.multiply_bit(ctx.step("kept"), kept, payload)]
        number, size, sums = compact(ctx.step("front"), kept, n, columns, problem.layer_length(problem.height))
        if problem.regression:
            wide = mpc.widen(ctx.step("widen"), size, RING64), mpc.widen(ctx.step("widen"), sums, RING64)
            return SharedLeaves(number, mean(ctx.step("mean"), *wide, problem), list(wide))
        label = mpc.less_than(ctx.step("label"), size - sums, sums, self.widths.count_bits)
        return SharedLeaves(number, mpc.bit_to_ring(ctx.step("bit"), label, RING32), [size - sums, sums])


class SingleSumCost(CriterionCost):
    """What :class:`SingleSum` costs."""

    needs_last_order = False

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.length, self.ring = padded(problem.rows), problem.widths.sum_ring
        self.moved_bytes, self.sum_rings = [self.ring.nbytes], [self.ring]
        self.purity_columns = 0 if problem.regression else 2

    def choose(self, layer: int) -> Cost:
        """Two tournaments in one, the better extreme, its score, the check of the gain."""
        n, bits, bounds = self.length, self.problem.feature_bits, self.problem.bounds
        sum_bits = self.problem.widths.sum_bits
        cost = tournament_cost(2 * n, self.problem, [self.ring], lambda count: (FREE, sum_bits + 1))
        cost += mpc.dot_cost(2 * n, RING64) + mpc.widen_cost(2 * n, self.ring, RING64)
        cost += feature_less_cost(n, bits) + mpc.bit_to_ring_cost(n, RING64)
        cost += mpc.product_sign_cost(n, RING64, bounds.distance_bits + 2)
        cost += mpc.multiply_bit_cost(n, [RING64]) + mpc.gates_cost(bits, n) + mpc.dot_cost(2 * n, RING64)
        if bounds.score_ring == RING64:
            cost += mpc.dot_cost(n, RING64)
        else:
            cost += mpc.widen_cost(4 * n, RING64, RING128) + mpc.dot_cost(n, RING128)
        if not self.problem.checks_gain:
            return cost
        squares = mpc.widen_cost(n, RING64, bounds.score_ring) + mpc.dot_cost(n, bounds.score_ring)
        return cost + squares + require_gain_cost(self.problem)

    def leaves(self) -> Cost:
        """One entry per leaf, and what it says."""
        problem, widths = self.problem, self.problem.widths
        length, ring = problem.layer_length(problem.height), widths.leaf_ring
        cost = mpc.multiply_bit_cost(self.length, [widths.number_ring, RING32, ring])
        cost += compact_cost(problem.rows, [widths.number_ring.nbytes, 4, ring.nbytes])
        if problem.regression:
            return (
                cost
                + mpc.widen_cost(length, RING32, RING64)
                + mpc.widen_cost(length, ring, RING64)
                + mean_cost(problem)
            )
        return cost + mpc.less_than_cost(length, widths.count_bits) + mpc.bit_to_ring_cost(length, RING32)
