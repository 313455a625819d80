"""What :mod:`.sums` costs."""

from __future__ import annotations

from ..oblivious.packed import padded
from ..oblivious.score import score_sign_cost
from ..oblivious.shuffle import shuffle_cost
from ..primitives import (
    Cost,
    bit_to_ring_cost,
    dot_cost,
    equal_cost,
    less_than_cost,
    multiply_bit_cost,
    widen_cost,
)
from ..primitives.cost import FREE
from ..sharing import RING32, RING64
from .extremes import mean_cost
from .front import front_cost
from .shape import TreeShape
from .sums import feature_blocks


class SumsCost:
    """Costs of the criterion of several sums."""

    def __init__(self, shape: TreeShape) -> None:
        self.shape = shape
        self.n, self.length, self.ring = shape.rows, padded(shape.rows), shape.score_ring
        self.count = 2 if shape.regression else shape.classes - (not shape.weighted)
        self.columns = [self.ring.nbytes] * self.count if shape.weighted else [1] * (-(-self.count // 8))
        self.keys = [self.ring, RING64] if shape.weighted else [self.ring]

    def rows(self) -> Cost:
        """What rows add to the sums, once before the first layer."""
        shape, n = self.shape, self.n
        if shape.regression:
            return dot_cost(n, RING64) + widen_cost(2 * n, RING64, self.ring)
        count = self.count * self.length
        others = shape.classes - 1
        hits = equal_cost(others * self.length, others.bit_length())
        if not shape.weighted:
            return hits
        return hits + (multiply_bit_cost(count, [RING64]) if shape.row_weights else bit_to_ring_cost(count, RING64))

    def numbers(self, features: int) -> Cost:
        """Bits that moved into the order of some features become numbers."""
        return FREE if self.shape.weighted else bit_to_ring_cost(features * self.count * self.length, RING64)

    def enter(self) -> Cost:
        """The nodes' sums and squares."""
        n, size = self.n, self.ring.nbytes
        cost = self.numbers(1) + multiply_bit_cost(self.length, [self.ring] * (self.count + 1))
        cost += front_cost(n, [size] * (self.count + 1)) + dot_cost(2 * self.count * n, self.ring)
        return cost + shuffle_cost(n, 0, [size] * (2 * self.count), undo=True) + dot_cost(self.length, self.ring)

    def mixed(self) -> Cost:
        """Which nodes are pure or empty."""
        if self.shape.regression:
            return equal_cost(self.length, self.shape.mass_bits)
        return dot_cost(self.length, RING64) + equal_cost(self.length, 2 * self.shape.mass_bits)

    def sign(self, count: int) -> tuple[Cost, int]:
        """Of a comparison of scores what comes before the sign's circuit, and the sign's bits."""
        if self.shape.weighted:
            return score_sign_cost(count, self.shape.cross_bits, self.ring), self.shape.cross_bits + 1
        return FREE, self.shape.score_bits + 1

    def scores(self) -> Cost:
        """Scores of all features at all places."""
        cost = FREE
        for start, stop in feature_blocks(self.shape, self.length):
            count = (stop - start) * self.length
            cost += self.numbers(stop - start) + dot_cost(2 * count, self.ring) + dot_cost(count, self.ring)
            if self.shape.weighted:
                cost += dot_cost(count, RING64)
        return cost if self.shape.weighted else cost + dot_cost(self.length, RING64)

    def leaves(self) -> Cost:
        """The leaves, the first feature's order apart."""
        shape, number = self.shape, self.shape.number_ring
        length = shape.layer_length(shape.height)
        cost = self.numbers(1) + multiply_bit_cost(self.length, [number, RING64, *([self.ring] * self.count)])
        cost += front_cost(self.n, [number.nbytes, 8, *([self.ring.nbytes] * self.count)])
        if shape.regression:
            return cost + mean_cost(shape)
        field = shape.classes
        while field > 1:
            count = field // 2 * padded(length)
            cost += less_than_cost(count, shape.mass_bits) + multiply_bit_cost(count, [RING64, RING32])
            field = (field + 1) // 2
        return cost
