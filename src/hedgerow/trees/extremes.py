"""Two classes or a number to estimate, every row of weight one: one sum per node decides.

Splitting a node of s rows that sum up to s1 after u rows that sum up to u1 has, up to constants of the node, the score
p/q with p = w·u1² + u·w1² and q = u·w. At one place only u1 differs between features, so the best feature has the
largest or the smallest u1 (see :mod:`.tournament`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..oblivious.packed import end_to_end, pad
from ..primitives import (
    Cost,
    bit_not,
    bit_to_ring,
    dot,
    equal_cost,
    fraction,
    fraction_cost,
    is_zero,
    less_than,
    multiply,
    multiply_bit,
    multiply_bit_cost,
    multiply_many,
    widen,
    widen_many,
)
from ..primitives.compare import sign_of
from ..sharing import RING32, RING64, RING128, ArithmeticShare, BinaryShare, Context, public
from .choice import Found, Leaves, worth_splitting
from .front import to_front
from .nodes import Nodes, masked
from .order import Orders, View
from .shape import MEAN_PLACES, TreeShape
from .tournament import Contender, attribute_tag, choose_extreme, cut_contender, tournament


class Extremes:
    """The criterion of a single sum. ``y`` are labels 0 or 1, or targets, in 2^64."""

    needs_last_order = False

    def __init__(self, shape: TreeShape, y: ArithmeticShare) -> None:
        self.shape = shape
        self.columns = [y.narrow(shape.sum_ring)]
        self.tag_rows = len(shape.features).bit_length()
        self._nodes: Nodes | None = None

    @property
    def nodes(self) -> Nodes:
        """The nodes of the layer."""
        assert self._nodes is not None
        return self._nodes

    def enter(self, ctx: Context, nodes: Nodes, views: Sequence[View]) -> None:
        """The nodes' sums are kept from layer to layer."""
        self._nodes = nodes

    def purity_columns(self) -> list[ArithmeticShare]:
        """Rows of either class; in regression purity shows in the gain."""
        if self.shape.regression:
            return []
        (ones,) = self.nodes.sums
        return [ones, self.nodes.size - ones]

    def mixed(self, ctx: Context) -> BinaryShare | None:
        """Told by :meth:`purity_columns`."""
        return None

    def choose(self, ctx: Context, views: Sequence[View], valid: BinaryShare) -> Found:
        """Two tournaments, the better of their winners, its score."""
        nodes, shape = self.nodes, self.shape
        length, ring = nodes.length, shape.sum_ring
        (node_sum,), (before,) = nodes.sums, nodes.before
        largest = shape.rows * shape.largest_target
        total = public(ctx, np.full(length, largest, ring.dtype), ring)
        offset = before.narrow(ring)
        contenders = []
        for j, view in enumerate(views):
            (column,) = view.columns
            assert isinstance(column, ArithmeticShare)
            sums = pad(column.prefix_sum(), length) - offset
            tag = attribute_tag(ctx, j + 1, self.tag_rows, 2 * length)
            row = valid.row(j)
            key = ArithmeticShare.concatenate([sums, total - sums])
            contenders.append(Contender([key], tag, end_to_end([row, row])))
        best = tournament(
            ctx.step("tournament"),
            contenders,
            lambda step, a, b, differences: sign_of(step, differences[0], shape.sum_bits),
        )
        highest, lowest = cut_contender(best, 2)
        # The better extreme is chosen among wide numbers, so that they are widened once.
        high, low = widen_many(ctx.step("widen"), [highest.keys[0], total - lowest.keys[0]], RING64)
        highest, lowest = Contender([high], highest.tag, highest.valid), Contender([low], lowest.tag, lowest.valid)

        upto = nodes.upto(ctx)
        share, q = multiply_many(ctx.step("shares"), [(upto, node_sum), (upto, nodes.size - upto)])
        part, tag = choose_extreme(ctx.step("extreme"), highest, lowest, nodes.size, share, shape.distance_bits)
        p = self._score(ctx.step("score"), upto, part, node_sum, share)
        found = Found(p, q, tag, highest.valid, [part.narrow(ring)])
        return self._worth(ctx.step("worth"), found, node_sum) if shape.checks_gain else found

    def _score(
        self, ctx: Context, upto: ArithmeticShare, part: ArithmeticShare, whole: ArithmeticShare, share: ArithmeticShare
    ) -> ArithmeticShare:
        """p, in the shape's score ring; ``share`` is u·s1."""
        size = self.nodes.size
        if self.shape.score_ring == RING64:
            slope, mean = multiply_many(ctx.step("slope"), [(size, part), (share, whole)])
            return multiply(ctx.step("p"), part, slope - share.scale(2)) + mean
        rest = whole - part
        pulls = multiply_many(ctx.step("pull"), [(size - upto, part), (upto, rest)])
        a, b, part, rest = widen_many(ctx.step("widen"), [*pulls, part, rest], RING128)
        return dot(ctx.step("p"), [a, b], [part, rest])

    def _worth(self, ctx: Context, found: Found, node_sum: ArithmeticShare) -> Found:
        ring = self.shape.score_ring
        wide = widen(ctx.step("sum"), node_sum, ring)
        squares = multiply(ctx.step("square"), wide, wide)
        whole = public(ctx, np.full(len(node_sum), self.shape.rows, np.uint64), RING64)
        return worth_splitting(ctx, self.shape, found, self.nodes.size, squares, whole)

    def leaves(self, ctx: Context, nodes: Nodes, orders: Orders) -> Leaves:
        """Labels and class counts (equal counts give label 0), or means, counts and sums."""
        shape, n = self.shape, self.shape.rows
        kept = masked(nodes.flags, nodes.real)
        payload = [
            nodes.number,
            nodes.size.narrow(RING32),
            nodes.sums[0].narrow(shape.leaf_ring),
        ]
        columns = [x[:n] for x in multiply_bit(ctx.step("kept"), kept, payload)]
        number, size, sums = to_front(ctx.step("front"), kept, n, columns, shape.layer_length(shape.height))
        if shape.regression:
            wide = widen(ctx.step("widen"), size, RING64), widen(ctx.step("widen"), sums, RING64)
            return Leaves(number, mean(ctx.step("mean"), *wide, shape), list(wide))
        label = less_than(ctx.step("label"), size - sums, sums, shape.count_bits)
        return Leaves(number, bit_to_ring(ctx.step("bit"), label, RING32), [size - sums, sums])


def mean(ctx: Context, mass: ArithmeticShare, sums: ArithmeticShare, shape: TreeShape) -> ArithmeticShare:
    """⌊sum·2^places / mass⌋ in 2^64, by one long division: targets have fewer than ``target_bits`` bits, so the sum is
    below 2^target_bits times the mass. Where the mass is 0, in entries that are no leaf, it is 0."""
    bits = shape.target_bits
    found = fraction(ctx.step("divide"), sums, mass.scale(1 << bits), shape.mass_bits + bits, bits + MEAN_PLACES)
    real = bit_not(ctx, is_zero(ctx.step("empty"), mass, shape.mass_bits))
    return multiply_bit(ctx.step("real"), real, [found])[0]


def mean_cost(shape: TreeShape) -> Cost:
    """Cost of :func:`mean` for all leaves."""
    length, bits = shape.layer_length(shape.height), shape.target_bits
    cost = fraction_cost(length, shape.mass_bits + bits, bits + MEAN_PLACES, RING64)
    return cost + equal_cost(length, shape.mass_bits) + multiply_bit_cost(length, [RING64])
