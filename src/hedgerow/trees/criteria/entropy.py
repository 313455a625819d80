"""Entropy and gain ratio: scores are sums of f(k) = k·log2 k, looked up in a table of whole numbers.

A split that leaves the weight u with u_c of each class on the true side and w with w_c on the other has the score
Σf(u_c) + Σf(w_c) - f(u) - f(w), minus the entropy of both sides: additive, so the best place needs a plain maximum. A
gain ratio (C4.5) divides what that gains by f(s) - f(u) - f(w); C4.5's filter, a gain of at least the average, is not
applied.

Two classes of rows of weight one: at a place all features have the same u and w, and the score is a strictly convex
function of u1, because f is, rounded as it is. So the best feature has the largest or the smallest u1, as in
:mod:`.single_sum`, and f is looked up for these two alone, however many features there are. Otherwise it is looked up
for every class and feature.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from ... import protocols as mpc
from ...engine import FREE, Context, Cost
from ...kernels import logarithm
from ...oblivious.tabulate import tabulate
from ...reference.logarithm import PLACES
from ...reference.tree import slack
from ...shares import RING64, Bits, Columns, Numbers, Words
from ..orders import View
from ..problem import Problem
from ..tournament import Contender, feature_less, feature_less_cost, tournament_cost
from .base import PlaceWinners
from .bounds import EntropyBounds
from .class_sums import ClassSums, ClassSumsCost, WeightedClasses, feature_blocks
from .single_sum import SingleSum, SingleSumCost


@lru_cache(maxsize=2)
def k_log_k_table(largest: int) -> Words:
    """f of 0 to ``largest``."""
    table = np.empty(largest + 1, np.uint64)
    logarithm.fill_k_log_k(table)
    return table


def offset_of(problem: Problem) -> int:
    """What makes entropy scores positive."""
    assert isinstance(problem.bounds, EntropyBounds)
    return problem.bounds.offset


def k_log_k(ctx: Context, problem: Problem, columns: Sequence[Numbers]) -> list[Numbers]:
    """f of columns that have a number for every place; what stands at padding places is not looked at, and becomes 0.

    Cost and reveals: see :func:`hedgerow.oblivious.tabulate.tabulate`.
    """
    n, length = problem.rows, len(columns[0])
    found = tabulate(ctx, Numbers.concatenate([column[:n] for column in columns]), k_log_k_table(problem.mass_bound))
    return [piece.pad(length) for piece in found.pieces(n)]


def _slack(ctx: Context, problem: Problem, length: int) -> Numbers:
    return mpc.constant(ctx, slack(problem.classes), length, RING64)


def _enough(ctx: Context, problem: Problem, candidate: Bits, raised: Numbers, whole: Numbers) -> Bits:
    """Only candidates whose gain, given raised by the slack, is at least the least decrease a/b times the weight W of
    all rows: b·gain - a·W·2^32 is not negative. Cost: :func:`_enough_cost`. Reveals: nothing beyond shapes."""
    least, bounds = problem.least_decrease, problem.bounds
    raised, whole = mpc.widen_many(ctx.step("widen"), [raised, whole], bounds.gain_ring)
    few = mpc.public(ctx, [slack(problem.classes) * least.denominator], bounds.gain_ring)
    missing = raised.scale(least.denominator) - few - whole.scale(least.numerator << PLACES)
    enough = mpc.bit_not(ctx, mpc.top_bit(ctx.step("gain"), missing, bounds.gain_bits + 2))
    return mpc.bit_and(ctx.step("worth"), candidate, enough.cut(candidate.rows))


def _enough_cost(problem: Problem, features: int, length: int) -> Cost:
    """Cost of :func:`_enough` for candidates of so many features."""
    bounds, count = problem.bounds, features * length
    cost = mpc.widen_cost(2 * count, RING64, bounds.gain_ring)
    return cost + mpc.top_bit_cost(count, bounds.gain_bits + 2) + mpc.gates_cost(features, length)


class EntropyOfTwo(SingleSum):
    """Two classes, every row of weight one.

    In a true child u stays what it was at a place, in a false child w does: of f(u) and f(w) only the other is looked
    up, and in the root both are public.
    """

    def __init__(self, problem: Problem, y: Numbers) -> None:
        super().__init__(problem, y)
        self._before: Numbers | None = None
        self._after: Numbers | None = None

    def _root_sides(self, ctx: Context, length: int) -> tuple[Numbers, Numbers]:
        """f(u) and f(w) at every place of the root."""
        table, n = k_log_k_table(self.problem.rows), self.problem.rows
        before, after = np.zeros((2, length), np.uint64)
        before[:n], after[:n] = table[1:], table[:n][::-1]
        return mpc.public(ctx, before, RING64), mpc.public(ctx, after, RING64)

    def _changed_side(self, ctx: Context, u: Numbers, w: Numbers) -> list[Numbers]:
        """What to look up of u and w; nothing in the root."""
        if self.true is None:
            return []
        (other,) = mpc.multiply_bit(ctx, self.true, [w - u])
        return [u + other]

    def _split_of(self, ctx: Context, changed: list[Numbers], length: int) -> Numbers:
        """f(u) + f(w), from f of what changed."""
        if self.true is None or self._before is None or self._after is None:
            self._before, self._after = self._root_sides(ctx, length)
        else:
            (f,) = changed
            kept = mpc.multiply_bit(ctx, self.true, [self._before - f, f - self._after])
            self._before, self._after = f + kept[0], self._after + kept[1]
        return self._before + self._after

    def choose(self, ctx: Context, views: Sequence[View], valid: Bits) -> PlaceWinners:
        """Two tournaments, f of what their winners leave on both sides, the better one."""
        problem, nodes, (ones,) = self.problem, self.nodes, self.nodes.sums
        highest, lowest = self._extremes(ctx, views, valid)
        u = nodes.rows_so_far(ctx)
        w, zeros = nodes.size - u, nodes.size - ones
        asked: list[Numbers] = []
        for (part,) in (highest.keys, lowest.keys):
            asked += [part, u - part, ones - part, zeros - u + part]
        asked += [nodes.size, ones, zeros] if problem.needs_gain else []
        f = k_log_k(ctx.step("f"), problem, asked + self._changed_side(ctx.step("changed"), u, w))
        scores = [Numbers.total(f[k : k + 4]) for k in (0, 4)]
        parts, feature = self._better_score(ctx.step("extreme"), (highest, scores[0]), (lowest, scores[1]))
        score, part = parts
        split = self._split_of(ctx.step("sides"), f[len(asked) :], nodes.length)
        offset = mpc.constant(ctx, offset_of(problem), nodes.length, RING64)
        found = PlaceWinners(score - split + offset, None, feature, highest.valid, [part.narrow(self.widths.sum_ring)])
        if not problem.needs_gain:
            return found
        whole, *classes = f[8:11]
        raised = score - split - Numbers.total(classes) + whole + _slack(ctx, problem, nodes.length)
        if problem.criterion == "gain_ratio":
            found = replace(found, p=raised, q=whole - split)
        if not problem.checks_gain:
            return found
        rows = mpc.constant(ctx, problem.rows, nodes.length, RING64)
        return replace(found, candidate=_enough(ctx.step("worth"), problem, found.candidate, raised, rows))

    def _better_score(
        self, ctx: Context, highest: tuple[Contender, Numbers], lowest: tuple[Contender, Numbers]
    ) -> tuple[list[Numbers], Bits]:
        """Score and u1, and the feature, of the better extreme; of equal ones the lower feature wins."""
        (high, high_score), (low, low_score) = highest, lowest
        earlier = feature_less(ctx.step("earlier"), low.feature, high.feature)
        behind = (high_score - low_score).scale(2) - mpc.bit_to_ring(ctx.step("bit"), earlier, RING64)
        take_lowest = mpc.top_bit(ctx.step("sign"), behind, self.bounds.score_bits + 3)
        columns = mpc.select(ctx.step("choose"), take_lowest, [low_score, *low.keys], [high_score, *high.keys])
        return columns, mpc.choose_rows(ctx.step("tag"), take_lowest, low.feature, high.feature)


class EntropyOfTwoCost(SingleSumCost):
    """What :class:`EntropyOfTwo` costs besides looking up f, whose length is random."""

    def choose(self, layer: int) -> Cost:
        """Two tournaments in one, the better extreme, the side that changed, the check of the gain."""
        n, problem, sum_bits = self.length, self.problem, self.problem.widths.sum_bits
        cost = tournament_cost(2 * n, problem, [self.ring], lambda count: (FREE, sum_bits + 1))
        cost += mpc.widen_cost(2 * n, self.ring, RING64) + feature_less_cost(n, problem.feature_bits)
        cost += mpc.bit_to_ring_cost(n, RING64) + mpc.top_bit_cost(n, problem.bounds.score_bits + 3)
        cost += mpc.multiply_bit_cost(n, [RING64, RING64]) + mpc.gates_cost(problem.feature_bits, n)
        if layer:
            cost += mpc.multiply_bit_cost(n, [RING64]) + mpc.multiply_bit_cost(n, [RING64, RING64])
        return cost + _enough_cost(problem, 1, n) if problem.checks_gain else cost


class EntropyOfMany(ClassSums):
    """Many classes, every row of weight one."""

    @property
    def sums_of_a_feature(self) -> int:
        """What is looked up takes four times the room of a sum."""
        return 8 * self.problem.classes + 8

    def _masses(self, mass: list[Numbers], rows_so_far: Numbers) -> list[Numbers]:
        """The weights of the true side that f is looked up for: all features have the same."""
        return [rows_so_far]

    def _scores(self, ctx: Context, views: Sequence[View], rows_so_far: Numbers) -> list[list[Numbers]]:
        """For every view its score, and where features differ in it the denominator."""
        problem, state, length = self.problem, self.state, len(rows_so_far)
        asked, masses = [], []
        for columns in self._in_order(ctx.step("columns"), views):
            pairs = zip(columns, state.before, strict=True)
            left, mass = self._parts(
                [column.prefix_sum().pad(length) - before for column, before in pairs], rows_so_far
            )
            masses.append(mass)
            asked += [*left, *(whole - part for whole, part in zip(state.sums, left, strict=True))]
        masses = self._masses(masses, rows_so_far)
        asked += [side for mass in masses for side in (mass, state.mass - mass)]
        of_node = [state.mass, *state.sums] if problem.needs_gain else []
        found = k_log_k(ctx.step("f"), problem, asked + of_node)
        each, count = 2 * problem.classes, len(views)
        sides = [Numbers.total(found[k * each : (k + 1) * each]) for k in range(count)]
        others = found[count * each :]
        splits = [others[2 * k] + others[2 * k + 1] for k in range(len(masses))]
        self._whole_and_classes = others[2 * len(masses) :]
        self._split = splits[0]
        return [self._key(ctx, side, splits[k % len(splits)]) for k, side in enumerate(sides)]

    def _key(self, ctx: Context, sides: Numbers, split: Numbers) -> list[Numbers]:
        if self.problem.criterion == "entropy":
            return [sides - split + mpc.constant(ctx, offset_of(self.problem), len(sides), RING64)]
        whole, *classes = self._whole_and_classes
        raised = sides - split - Numbers.total(classes) + whole + _slack(ctx, self.problem, len(sides))
        return [raised, whole - split][: 1 + self.problem.weighted]

    def _worthy(self, ctx: Context, keys: Sequence[list[Numbers]], valid: Bits) -> Bits:
        """Features that differ in denominators are checked before they meet: the best ratio need not gain most."""
        if not (self.problem.checks_gain and len(keys[0]) == 2):
            return valid
        raised = Numbers.concatenate([key[0] for key in keys])
        whole = self._whole(ctx, valid.count)
        return _enough(ctx, self.problem, valid, raised, Numbers.concatenate([whole] * len(keys)))

    def _less(self, ctx: Context, a: list[Numbers], b: list[Numbers], differences: list[Numbers]) -> mpc.PendingSign:
        if len(a) == 1:
            return mpc.sign_of(ctx, differences[0], self.bounds.score_bits)
        return mpc.score_sign(ctx, Columns.of(a), Columns.of(b), self.bounds.scores)

    def _denominator(self, ctx: Context, best: Contender, rows_so_far: Numbers) -> Numbers | None:
        if self.problem.criterion == "entropy":
            return None
        return best.keys[1] if self.problem.weighted else self._whole_and_classes[0] - self._split

    def _worth(self, ctx: Context, found: PlaceWinners) -> PlaceWinners:
        if self.problem.weighted and found.q is not None:
            return found
        raised, length = found.p, self.state.nodes.length
        if found.q is None:
            whole, *classes = self._whole_and_classes
            offset = mpc.constant(ctx, offset_of(self.problem), length, RING64)
            raised = raised - offset - Numbers.total(classes) + whole + _slack(ctx, self.problem, length)
        enough = _enough(ctx, self.problem, found.candidate, raised, self._whole(ctx, length))
        return replace(found, candidate=enough)


class WeightedEntropy(EntropyOfMany, WeightedClasses):
    """Classes of rows that differ in weight."""

    def _masses(self, mass: list[Numbers], rows_so_far: Numbers) -> list[Numbers]:
        return mass


class EntropyOfManyCost(ClassSumsCost):
    """What :class:`EntropyOfMany` and :class:`WeightedEntropy` cost besides looking up f, whose length is random."""

    def _sign(self, count: int) -> tuple[Cost, int]:
        bounds = self.problem.bounds
        if self._fractions:
            return mpc.score_sign_cost(count, bounds.scores), bounds.cross_bits + 1
        return FREE, bounds.score_bits + 1

    @property
    def _fractions(self) -> bool:
        return self.problem.weighted and self.problem.criterion == "gain_ratio"

    def choose(self, layer: int) -> Cost:
        """Class bits as numbers, a tournament, the check of the gain."""
        blocks = feature_blocks(self.problem, 8 * self.problem.classes + 8)
        cost = sum((self._numbers(stop - start) for start, stop in blocks), FREE)
        cost += tournament_cost(self.length, self.problem, [RING64] * (1 + self._fractions), self._sign)
        checked = len(self.problem.features) if self._fractions else 1
        return cost + _enough_cost(self.problem, checked, self.length) if self.problem.checks_gain else cost
