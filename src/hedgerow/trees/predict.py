"""Private prediction: shared rows walk down a shared tree, one layer at a time, all rows at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import protocols as mpc
from ..engine import Context
from ..shares import RING32, RING64, RING128, Numbers, padded
from .feature import feature_values, in_declared_range
from .lookup import ONE_HOT_NODES, lookup
from .problem import MEAN_PLACES, Problem
from .shared_tree import SharedTree

PROBABILITY_PLACES = 16
"""Binary places of a predicted probability."""
BATCH = 1 << 20
"""Rows times attributes (or nodes looked up by comparison) worked on at a time, which bounds the memory."""


def batches(problem: Problem, rows: int) -> list[slice]:
    """The rows of a table in pieces small enough to be predicted in one go."""
    size = max(64, BATCH // max(len(problem.features), ONE_HOT_NODES) // 64 * 64)
    return [slice(start, min(rows, start + size)) for start in range(0, rows, size)]


def walk(ctx: Context, tree: SharedTree, x: Sequence[Numbers], problem: Problem) -> Numbers:
    """The number of the leaf every row reaches.

    ``x`` are *doubled* attribute values, ⌊2v⌋ (categories as places), in the problem's value ring: with a whole
    threshold t the test 2v < t says the same as ⌊2v⌋ < t, so values between the trained ones are judged exactly. The
    parties cut them to their declared range first.

    Paper: our own; HIKC23 trains only. Cost: per layer one :mod:`.lookup`, m equalities of attribute numbers, one
    selection among m and one comparison per row. Reveals: nothing beyond shapes.
    """
    count = len(x[0])
    x = in_declared_range(ctx.step("range"), x, problem, problem.value_bits + 1, problem.widths.value_ring)
    x = feature_values(ctx.step("features"), x, problem)
    number = mpc.public(ctx, np.ones(count, problem.widths.number_ring.dtype), problem.widths.number_ring)
    for k, layer in enumerate(tree.layers):
        step = ctx.turn("layer", k)
        columns = [layer.feature.narrow(RING32), layer.threshold.narrow(problem.widths.value_ring)]
        feature, threshold = lookup(step.step("node"), layer.number.narrow(number.ring), columns, number, k + 1)
        value = _chosen_value(step.step("value"), x, feature)
        passes = mpc.less_than(step.step("test"), value, threshold, problem.value_bits + 1)
        number = number + mpc.bit_to_ring(step.step("bit"), passes, number.ring).scale(1 << k)
    return number


def _chosen_value(ctx: Context, x: Sequence[Numbers], attribute: Numbers) -> Numbers:
    """Every row's value of the attribute whose number (counted from 1) it holds."""
    m, count = len(x), len(attribute)
    length = padded(count)
    codes = np.repeat(np.arange(1, m + 1, dtype=np.uint32), length)
    wanted = Numbers.concatenate([attribute.pad(length)] * m) - mpc.public(ctx, codes, RING32)
    here = mpc.is_zero(ctx.step("equal"), wanted, m.bit_length()).cut(m)
    (value,) = mpc.select_sum(
        ctx.step("fetch"), [here.row(j) for j in range(m)], [[column.pad(length)] for column in x]
    )
    return value[:count]


def predict_labels(ctx: Context, tree: SharedTree, x: Sequence[Numbers], problem: Problem) -> Numbers:
    """Every row's class number, or its leaf's mean times 2^16, rounded down.

    Cost: :func:`walk` and one more lookup. Reveals: nothing beyond shapes.
    """
    label = tree.leaves.label if problem.regression else tree.leaves.label.narrow(RING32)
    return _at_leaves(ctx, tree, x, problem, [label])[0]


def predict_probabilities(ctx: Context, tree: SharedTree, x: Sequence[Numbers], problem: Problem) -> list[Numbers]:
    """Per class but the first, every row's probability times 2^16, rounded down: the share of its leaf's weight.

    Cost: as :func:`predict_labels`, and one secret division per leaf and class. Reveals: nothing beyond shapes.
    """
    if not tree.counts:
        raise ValueError("this model has no class counts, so it has no probabilities; train with the fast algorithm")
    if problem.regression:
        raise ValueError("a model that estimates a number has no probabilities")
    length, others = len(tree.counts[0]), tree.counts[1:]
    total = Numbers.total(tree.counts)
    shares = mpc.fraction(
        ctx.step("divide"),
        Numbers.concatenate(others),
        Numbers.concatenate([total] * len(others)),
        problem.widths.mass_bits,
        PROBABILITY_PLACES,
    )
    return _at_leaves(ctx, tree, x, problem, shares.pieces(length))


def probability_table(others: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.float64]:
    """Opened columns of :func:`predict_probabilities` as probabilities ``[row, class]``, the first class's included.

    A leaf whose counts are withheld has none: 0 divided by 0 is more than 1 in :func:`fraction`, and becomes NaN.
    """
    shares = np.stack(others, axis=1) / float(1 << PROBABILITY_PLACES)
    shares[(shares > 1).any(axis=1)] = np.nan
    return np.concatenate([1 - shares.sum(axis=1, keepdims=True), shares], axis=1)


def _at_leaves(
    ctx: Context, tree: SharedTree, x: Sequence[Numbers], problem: Problem, columns: list[Numbers]
) -> list[Numbers]:
    number = walk(ctx.step("walk"), tree, x, problem)
    return lookup(ctx.step("leaf"), tree.leaves.number.narrow(number.ring), columns, number, problem.height + 1)


def confusion(ctx: Context, truth: Numbers, predicted: Numbers, classes: int) -> Numbers:
    """The confusion matrix, flat, a row for every true class. Items are class numbers of 2^32.

    Cost: 2·classes equalities and conversions per row, and one product of matrices. Reveals: nothing beyond shapes.
    """
    count = len(truth)
    codes = mpc.public(ctx, np.repeat(np.arange(classes, dtype=np.uint32), count), RING32)
    both = [Numbers.concatenate([side] * classes) - codes for side in (truth, predicted)]
    hits = mpc.is_zero(ctx.step("equal"), Numbers.concatenate(both), max(1, (classes - 1).bit_length()))
    numbers = mpc.bit_to_ring(ctx.step("bit"), hits, RING32)
    return mpc.inner_products(ctx.step("sum"), numbers[: classes * count], numbers[classes * count :], classes)


def squared_errors(ctx: Context, truth: Numbers, predicted: Numbers) -> Numbers:
    """Of true and predicted targets in 2^64, both times 2^16 and below 2^61 in size: the sum of squared errors times
    2^32, the sum of the true ones times 2^16 and the sum of their squares times 2^32; three items of 2^128.

    True ones beyond that size are cut to it: widened as they are, they would make the sums depend on how numbers are
    shared. Cost: one truncation, one widening of both and one round of squares. Reveals: nothing beyond shapes.
    """
    count = len(truth)
    offset = mpc.public(ctx, [1 << 61], RING64)
    truth = mpc.truncate(ctx.step("range"), truth + offset, 62, RING64) - offset
    # Widening takes no negative numbers.
    lifted = Numbers.concatenate([predicted - truth, truth]) + mpc.public(ctx, [1 << 62], RING64)
    both = mpc.widen(ctx.step("widen"), lifted, RING128) - mpc.public(ctx, [1 << 62], RING128)
    true, squares = both[count:], mpc.square(ctx.step("square"), both)
    return Numbers.concatenate([x.sum() for x in (squares[:count], true, squares[count:])])


@dataclass(frozen=True, slots=True)
class Errors:
    """What the opened sums of :func:`squared_errors` over ``rows`` rows say, in the target's own units."""

    rows: int
    mean_squared_error: float
    r2: float

    @staticmethod
    def of_sums(sums: Sequence[int], rows: int, unit: Fraction) -> Errors:
        """``unit`` is what one step of the fixed point is worth."""
        fine = 1 << MEAN_PLACES
        error, total, squares = Fraction(sums[0], fine**2), Fraction(sums[1], fine), Fraction(sums[2], fine**2)
        spread = squares - total * total / rows
        r2 = 1 - error / spread if spread else Fraction(error == 0)
        return Errors(rows, _float(error * unit * unit / rows), _float(r2))


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
