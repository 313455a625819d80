"""From the best feature at every place to the best test of every node, told to all its places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..oblivious.packed import numbers_of_rows
from ..oblivious.segment import segment_best
from ..oblivious.shuffle import Column
from ..primitives import bit_and, bit_not, multiply, multiply_bit, product_sign, widen_many
from ..primitives.columns import Columns
from ..sharing import RING64, ArithmeticShare, BinaryShare, Context, public
from .nodes import Nodes
from .order import Orders, View
from .shape import TreeShape


@dataclass(frozen=True, slots=True)
class Choice:
    """The tests of a layer as every place sees its node's: rows of the true child, the feature's number, and of the
    sums that are kept along those of the true child."""

    rows_true: ArithmeticShare
    code: ArithmeticShare
    sums_true: list[ArithmeticShare]


@dataclass(frozen=True, slots=True)
class Found:
    """The best feature at every place: its score p/q, its tag, whether it is a candidate, and sums up to the place."""

    p: ArithmeticShare
    q: ArithmeticShare
    tag: BinaryShare
    candidate: BinaryShare
    sums: list[ArithmeticShare]


@dataclass(frozen=True, slots=True)
class Leaves:
    """One entry a leaf, padded with NULL: node numbers, labels, and the weight of every class (or weight and sum)."""

    number: ArithmeticShare
    label: ArithmeticShare
    counts: list[ArithmeticShare]


class Criterion(Protocol):
    """What makes a test good: what rows carry along, the state of nodes, the choice of tests, the leaves."""

    @property
    def columns(self) -> Sequence[Column]:
        """Row columns that move into every feature's order."""

    @property
    def needs_last_order(self) -> bool:
        """Whether the leaves need the rows in order once more."""

    def enter(self, ctx: Context, nodes: Nodes, views: Sequence[View]) -> None:
        """Get to know the nodes of a layer."""

    def purity_columns(self) -> list[ArithmeticShare]:
        """Numbers of at most :attr:`TreeShape.count_bits` bits that are zero where a node must not be split."""

    def mixed(self, ctx: Context) -> BinaryShare | None:
        """Whether a node may be split, where that is not told by :meth:`purity_columns`."""

    def choose(self, ctx: Context, views: Sequence[View], valid: BinaryShare) -> Found:
        """The best feature at every place among the valid ones."""

    def leaves(self, ctx: Context, nodes: Nodes, orders: Orders) -> Leaves:
        """The last layer."""


def best_tests(ctx: Context, nodes: Nodes, shape: TreeShape, found: Found, fan_in: int) -> Choice:
    """The best candidate of every node, told to all its places; a node without one gets no true rows."""
    one = public(ctx, np.ones(nodes.length, np.uint64), RING64)
    upto = nodes.upto(ctx).narrow(shape.count_ring)
    code = numbers_of_rows(ctx.step("code"), found.tag, shape.count_ring)
    columns = [found.p, found.q - one, upto, code, *found.sums]
    p, q, *numbers = multiply_bit(ctx.step("candidate"), found.candidate, columns)
    items = Columns.of([p, q + one, *numbers])
    best = segment_best(ctx.step("best"), items, nodes.flags, shape.cross_bits, fan_in)
    rows_true, code, *sums = best.list()
    return Choice(rows_true, code, sums)


def worth_splitting(
    ctx: Context,
    shape: TreeShape,
    found: Found,
    mass: ArithmeticShare,
    squares: ArithmeticShare,
    whole: ArithmeticShare,
) -> Found:
    """Only candidates that lower the impurity by the shape's least decrease, and in regression at all.

    ``mass`` is the node's weight s, ``squares`` its Σs_c² and ``whole`` the root's weight W. The impurity of all rows
    falls by f·(p/q - Σs_c²/s)/W, which is at least a/b if f·b·(p·s - Σs_c²·q) - a·W·q·s is not negative: whole numbers.
    """
    least, ring = shape.least_decrease, shape.gain_ring
    columns = [found.p, squares, mass, found.q]
    if least:
        columns.append(multiply(ctx.step("whole"), mass, whole))
    p, squares, mass, q, *product = widen_many(ctx.step("widen"), columns, ring)
    factor = shape.gain_factor * least.denominator
    xs, ys = [p.scale(factor), -squares.scale(factor)], [mass, q]
    if product:
        xs.append(-product[0].scale(least.numerator))
        ys.append(q)
    minus_one = None if least else -public(ctx, [1], ring)
    enough = bit_not(ctx, product_sign(ctx.step("gain"), xs, ys, shape.gain_bits + 2, minus_one))
    return replace(found, candidate=bit_and(ctx.step("worth"), found.candidate, enough))
