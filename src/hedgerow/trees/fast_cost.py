"""What the fast trainer costs, step by step, as functions of the public shape; tests compare them with the meter.

The sort before the first layer is not here: its transcript has a random length (see :mod:`hedgerow.oblivious.rank`).
"""

from __future__ import annotations

from ..oblivious.packed import padded
from ..oblivious.segment import FAN_IN, segment_best_cost
from ..oblivious.shuffle import loads_cost, shuffle_cost
from ..primitives import (
    Cost,
    bit_to_ring_cost,
    dot_cost,
    equal_cost,
    gates_cost,
    less_than_cost,
    multiply_bit_cost,
    product_sign_cost,
    select_sum_cost,
    truncate_cost,
    widen_cost,
)
from ..primitives.cost import FREE
from ..sharing import RING32, RING64, RING128, Ring
from .entries import as_stored_cost, at_front_cost, layers_together
from .extremes import mean_cost
from .fast import EQUALITY_BLOCK
from .feature import code_bits, in_declared_range_cost
from .front import front_cost
from .shape import TreeShape
from .sums_cost import SumsCost
from .tournament import both_cost, meet_cost, place_blocks, tag_less_cost


class FastCost:
    """Costs of one training run."""

    def __init__(self, shape: TreeShape, fan_in: int = FAN_IN) -> None:
        self.shape = shape
        self.fan_in = fan_in
        self.n = shape.rows
        self.numeric = [feature.category is None for feature in shape.features]
        self.m = len(self.numeric)
        self.length = padded(shape.rows)
        self.ring, self.number_ring, self.count_ring = shape.sorted_ring, shape.number_ring, shape.count_ring
        self.tag = self.m.bit_length()
        self.sums = SumsCost(shape) if shape.by_sums else None

    def _every_shuffle(self, shared: list[int], opened: list[int], undo: bool = False, count: int = 0) -> Cost:
        """One load per feature (or for the first ``count``), roles rotating."""
        loads = [shuffle_cost(self.n, j % 3, shared, opened, undo) for j in range(count or self.m)]
        return loads_cost(loads)

    def _views(self, columns: list[int], count: int = 0) -> Cost:
        """Permutations opened; values (a byte where they are bits) and columns move along."""
        own = [[self.ring.nbytes if numeric else 1, *columns] for numeric in self.numeric[: count or self.m]]
        return loads_cost(
            [shuffle_cost(self.n, j % 3, shared, [self.count_ring.nbytes]) for j, shared in enumerate(own)]
        )

    def declared(self) -> Cost:
        """Labels or targets and weights cut to their declared bits, once before the first layer."""
        shape, cost = self.shape, FREE
        if shape.row_weights:
            cost += truncate_cost(self.n, shape.weight_bits, RING64)
        return cost if shape.classes > 2 else cost + truncate_cost(self.n, shape.target_bits or 1, RING64)

    def range(self) -> Cost:
        """Attributes cut to their declared bits, once before the sort."""
        return in_declared_range_cost(self.shape, self.n, self.shape.value_bits, self.ring)

    def category(self) -> Cost:
        """The bits of categories and their places, once before the first layer."""
        bits = self.m - sum(self.numeric)
        if not bits:
            return FREE
        count = bits * self.length
        cost = equal_cost(count, code_bits(self.shape)) + bit_to_ring_cost(count, RING32)
        return cost + dot_cost(bits * self.n, RING32)

    def absent(self) -> Cost:
        """Setting aside the rows of weight 0, once before the first layer."""
        if not self.shape.row_weights:
            return FREE
        n, length = self.n, self.length
        cost = equal_cost(n, self.shape.weight_bits) + bit_to_ring_cost(n, self.count_ring)
        cost += less_than_cost(length, self.shape.count_bits)
        return cost + gates_cost(1, length) * 2 + self._split([]) + self._views([]) + self._move()

    def order(self) -> Cost:
        """Open every permutation; values and labels move along."""
        return self._views(self.sums.columns if self.sums else [self.shape.sum_ring.nbytes])

    def candidates(self) -> Cost:
        """Equal neighbours and pure nodes, small nodes, then layers of gates."""
        shape, length = self.shape, self.length
        bits = max(shape.value_bits, shape.count_bits)
        block = max(1, EQUALITY_BLOCK // length)
        pure = 2 if self.sums is None and not shape.regression else 0
        columns = sum(self.numeric) + pure
        cost = gates_cost(1, length) * pure + gates_cost(self.m, length)
        for start in range(0, columns, block):
            cost += equal_cost(min(block, columns - start) * length, bits)
        if self.sums:
            cost += self.sums.mixed() + gates_cost(1, length)
        checks = 2 * (shape.min_samples_leaf > 1) + (shape.min_samples_split > 2 * shape.min_samples_leaf)
        if checks:
            cost += less_than_cost(checks * length, shape.count_bits + 1) + gates_cost(1, length) * checks
        return cost

    def tournament(self) -> Cost:
        """Both extremes over the features, or one tournament of scores."""
        if self.m == 1:
            return FREE
        places = (1 if self.sums else 2) * self.length
        return sum((self._meetings(stop - start) for start, stop in place_blocks(places, self.m)), FREE)

    def _meetings(self, places: int) -> Cost:
        """The levels of a tournament at so many places."""
        field, keys = self.m, self.sums.keys if self.sums else [self.shape.sum_ring]
        cost = both_cost(field // 2 * places)
        while field > 1:
            count, ahead = (size // 2 * places for size in (field, (field + 1) // 2))
            before, bits = self.sums.sign(count) if self.sums else (FREE, self.shape.sum_bits + 1)
            cost += before + meet_cost(count, bits, self.tag, keys, ahead)
            field = (field + 1) // 2
        return cost

    def score(self) -> Cost:
        """The better extreme and its score, or all scores; what of it is a candidate."""
        n, shape = self.length, self.shape
        if self.sums:
            cost, sums = self.sums.scores(), []
        else:
            cost, sums = self._extreme(), [shape.sum_ring]
        if shape.checks_gain:
            cost += self._gain()
        cost += bit_to_ring_cost(self.tag * n, self.count_ring)
        return cost + multiply_bit_cost(n, [shape.score_ring, RING64, self.count_ring, self.count_ring, *sums])

    def _extreme(self) -> Cost:
        n, tag, ring = self.length, self.tag, self.shape.sum_ring
        cost = dot_cost(2 * n, RING64) + widen_cost(2 * n, ring, RING64)
        cost += tag_less_cost(n, tag) + bit_to_ring_cost(n, RING64)
        cost += product_sign_cost(n, RING64, self.shape.distance_bits + 2)
        cost += multiply_bit_cost(n, [RING64]) + gates_cost(tag, n)
        cost += dot_cost(2 * n, RING64)
        if self.shape.score_ring == RING64:
            return cost + dot_cost(n, RING64)
        return cost + widen_cost(4 * n, RING64, RING128) + dot_cost(n, RING128)

    def _gain(self) -> Cost:
        """The check that a split lowers the impurity enough."""
        n, shape = self.length, self.shape
        cost = FREE
        if self.sums is None:
            cost += widen_cost(n, RING64, shape.score_ring) + dot_cost(n, shape.score_ring)
        ring = shape.gain_ring
        columns = [shape.score_ring, shape.score_ring, RING64, RING64]
        if shape.least_decrease:
            cost += dot_cost(n, RING64)
            columns.append(RING64)
        others = sum(column != ring for column in columns)
        cost += widen_cost(others * n, RING64, ring) if others else FREE
        return cost + product_sign_cost(n, ring, shape.gain_bits + 2) + gates_cost(1, n)

    def best(self) -> Cost:
        """The best place of every node."""
        numbers: list[Ring] = [self.count_ring] * 2 + ([] if self.sums else [self.shape.sum_ring])
        return segment_best_cost(self.length, numbers, self.shape.cross_bits, self.fan_in, self.shape.score_ring)

    def format(self) -> Cost:
        """Which places are true, and thresholds."""
        n, m = self.length, self.m
        terms = sum(self.numeric) + (not all(self.numeric))
        cost = less_than_cost(n, self.shape.count_bits) + equal_cost(m * n, self.tag)
        cost += gates_cost(2, n) * (1 + self.shape.row_weights) + gates_cost(3, n)
        return cost + select_sum_cost(n, terms, [self.ring])

    def entries(self, start: int) -> Cost:
        """One entry a node at the front, for the layers from ``start`` on that are made together."""
        return at_front_cost(self.shape, min(layers_together(self.shape), self.shape.height - start))

    def nodes(self) -> Cost:
        """The next layer's node state."""
        return self._split([] if self.sums else [self.shape.sum_ring])

    def _split(self, sums: list[Ring]) -> Cost:
        """Products with a bit, then columns brought to 2^64, those of one ring together."""
        cost = multiply_bit_cost(self.length, [self.count_ring] * 3 + [self.number_ring] + sums * 2)
        widened = [self.count_ring] * 2 + sums
        for ring in dict.fromkeys(widened):
            cost += widen_cost(widened.count(ring) * self.length, ring, RING64)
        return cost

    def _move(self, count: int = 0) -> Cost:
        """New permutations (of the first ``count`` features) from a bit a row."""
        ring = self.count_ring
        cost = self._every_shuffle([ring.nbytes], [], count=count)
        cost += self._every_shuffle([ring.nbytes], [], undo=True, count=count)
        return cost + dot_cost((count or self.m) * self.n, ring)

    def partition(self, count: int = 0) -> Cost:
        """The next layer's permutations, of all or of the first ``count`` features."""
        cost = self._every_shuffle([1], [], undo=True)
        return cost + bit_to_ring_cost(self.n, self.count_ring) + self._move(count)

    def layer(self, k: int) -> Cost:
        """One inner layer; the last one needs no new permutations, or one."""
        cost = self.order() + self.candidates() + self.tournament() + self.score() + self.best()
        cost += self.format() + self.nodes()
        if self.sums:
            cost += self.sums.enter()
        last = k + 1 == self.shape.height
        if last and not self.sums:
            return cost + gates_cost(self.m, self.length)
        return cost + gates_cost(2 * self.m, self.length) + self.partition(1 if last else 0)

    def stored(self) -> Cost:
        """Features' numbers and thresholds in the rings trees are stored in, once after the last layer."""
        return as_stored_cost(self.shape)

    def leaves(self) -> Cost:
        """The last layer."""
        shape = self.shape
        length, ring = shape.layer_length(shape.height), shape.leaf_ring
        if self.sums:
            return self._views(self.sums.columns, 1) + self.sums.leaves()
        cost = multiply_bit_cost(self.length, [self.number_ring, RING32, ring])
        cost += front_cost(self.n, [self.number_ring.nbytes, 4, ring.nbytes])
        if shape.regression:
            return cost + widen_cost(length, RING32, RING64) + widen_cost(length, ring, RING64) + mean_cost(shape)
        return cost + less_than_cost(length, shape.count_bits) + bit_to_ring_cost(length, RING32)
