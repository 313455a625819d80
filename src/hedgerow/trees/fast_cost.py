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
    select_sum_cost,
    top_bit_cost,
    widen_cost,
)
from ..primitives.carry import carry_out_cost
from ..primitives.cost import FREE
from ..sharing import RING32, RING64
from .fast import EQUALITY_BLOCK
from .shape import TreeShape


class FastCost:
    """Costs of one training run."""

    def __init__(self, shape: TreeShape, fan_in: int = FAN_IN) -> None:
        self.shape = shape
        self.fan_in = fan_in
        self.n, self.m = shape.rows, shape.attributes
        self.length = padded(shape.rows)
        self.ring, self.number_ring = shape.value_ring, shape.number_ring
        self.tag = shape.attributes.bit_length()

    def _every_shuffle(self, shared: list[int], opened: list[int], undo: bool = False) -> Cost:
        """One load per attribute, roles rotating."""
        return loads_cost([shuffle_cost(self.n, j % 3, shared, opened, undo) for j in range(self.m)])

    def order(self) -> Cost:
        """Open every permutation; values and labels move along."""
        return self._every_shuffle([self.ring.nbytes, 4], [4])

    def candidates(self) -> Cost:
        """Equal neighbours and pure nodes, then three layers of gates."""
        bits = max(self.shape.value_bits, self.shape.count_bits)
        block = max(1, EQUALITY_BLOCK // self.length)
        cost = gates_cost(1, self.length) * 2 + gates_cost(self.m, self.length)
        for start in range(0, self.m + 2, block):
            cost += equal_cost(min(block, self.m + 2 - start) * self.length, bits)
        return cost

    def tournament(self) -> Cost:
        """Both extremes over the attributes."""
        cost, field = FREE, self.m
        while field > 1:
            count = field // 2 * 2 * self.length
            cost += less_than_cost(count, self.shape.count_bits) + gates_cost(2, count) + gates_cost(1, count)
            cost += multiply_bit_cost(count, [RING32]) + gates_cost(self.tag, count)
            field = (field + 1) // 2
        return cost

    def score(self) -> Cost:
        """The better extreme, and its score."""
        n, tag = self.length, self.tag
        cost = dot_cost(2 * n, RING64) * 2 + widen_cost(n, RING32, RING64) * 2
        cost += gates_cost(tag, n) + carry_out_cost(tag, n) + bit_to_ring_cost(n, RING64)
        cost += top_bit_cost(n, 2 * self.shape.count_bits + 3) + multiply_bit_cost(n, [RING32]) + gates_cost(tag, n)
        cost += dot_cost(n, RING64) * 2 + gates_cost(tag, n)
        return cost + multiply_bit_cost(n, [RING64, RING64, RING32, RING32]) + bit_to_ring_cost(tag * n, RING32)

    def best(self) -> Cost:
        """The best place of every node."""
        return segment_best_cost(self.length, [RING32] * 3, self.shape.cross_bits, self.fan_in)

    def format(self) -> Cost:
        """Which places are true, thresholds, and one entry a node at the front."""
        n, m = self.length, self.m
        cost = less_than_cost(n, self.shape.count_bits) + equal_cost(m * n, self.tag)
        cost += gates_cost(1, n) + gates_cost(2, n) + gates_cost(m, n)
        cost += select_sum_cost(n, m, [self.ring]) + select_sum_cost(n, 2, [self.number_ring, RING32])
        return cost + self._front([self.number_ring.nbytes, 4, self.ring.nbytes])

    def _front(self, columns: list[int]) -> Cost:
        flags = bit_to_ring_cost(self.length, RING32) + dot_cost(self.n, RING32)
        return flags + shuffle_cost(self.n, 0, columns, [4])

    def nodes(self) -> Cost:
        """The next layer's node state."""
        widening = widen_cost(2 * self.length, RING32, RING64)
        return widening + multiply_bit_cost(self.length, [RING64] * 6) + gates_cost(1, self.length) * 2

    def partition(self) -> Cost:
        """The next layer's permutations."""
        cost = gates_cost(self.m, self.length) + self._every_shuffle([1], [], undo=True)
        cost += bit_to_ring_cost(self.n, RING32) + self._every_shuffle([4], [])
        return cost + dot_cost(self.m * self.n, RING32) + self._every_shuffle([4], [], undo=True)

    def layer(self, k: int) -> Cost:
        """One inner layer; the last one needs no new permutations."""
        cost = self.order() + self.candidates() + self.tournament() + self.score() + self.best()
        cost += self.format() + self.nodes()
        return cost + self.partition() if k + 1 < self.shape.height else cost

    def leaves(self) -> Cost:
        """The last layer."""
        length = self.shape.layer_length(self.shape.height)
        cost = multiply_bit_cost(self.length, [self.number_ring, RING32, RING32])
        cost += self._front([self.number_ring.nbytes, 4, 4])
        return cost + less_than_cost(length, self.shape.count_bits) + bit_to_ring_cost(length, RING32)
