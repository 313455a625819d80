"""Categories as tests: for every tested category the secret bit "another category than this one"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..oblivious.packed import cut, pad, padded
from ..primitives import Cost, bit_not, bit_to_ring, is_zero, truncate_many, truncate_many_cost
from ..primitives.cost import FREE
from ..sharing import ArithmeticShare, BinaryShare, Context, Ring, public
from .shape import Feature, TreeShape


def category_features(shape: TreeShape) -> list[Feature]:
    """The features that are bits."""
    return [feature for feature in shape.features if feature.category is not None]


def code_bits(shape: TreeShape) -> int:
    """Bits of a category's place in its list; one place more is left for "none of them"."""
    return max(shape.categories).bit_length()


def in_declared_range(
    ctx: Context, x: Sequence[ArithmeticShare], shape: TreeShape, bits: int, ring: Ring
) -> list[ArithmeticShare]:
    """Attributes whose numbers are cut to ``bits`` bits, in ``ring``; categories as they are, since tests of them look
    at :func:`code_bits` bits whatever else is there.

    Owners promise that nothing else is there. One who breaks the promise would make the comparisons that a sort opens
    depend on other owners' rows, so the parties make it true. Cost: :func:`in_declared_range_cost`. Reveals: nothing
    beyond shapes.
    """
    places = _numeric(shape)
    found = list(x)
    if places:
        for place, column in zip(places, truncate_many(ctx, [x[j] for j in places], bits, ring), strict=True):
            found[place] = column
    return found


def in_declared_range_cost(shape: TreeShape, rows: int, bits: int, ring: Ring) -> Cost:
    """Cost of :func:`in_declared_range`."""
    places = _numeric(shape)
    return truncate_many_cost(rows, len(places), bits, ring) if places else FREE


def _numeric(shape: TreeShape) -> list[int]:
    """The attributes that are numbers."""
    return [j for j in range(shape.attributes) if not (shape.categories and shape.categories[j])]


def category_rows(ctx: Context, x: Sequence[ArithmeticShare], shape: TreeShape) -> BinaryShare:
    """A row for every feature that is a bit, in their order, padded to a multiple of 64 places.

    Cost: one equality of :func:`code_bits` bits per feature and row. Reveals: nothing beyond shapes.
    """
    length = padded(len(x[0]))
    parts = []
    for feature in category_features(shape):
        column = pad(x[feature.attribute], length)
        assert feature.category is not None
        code = public(ctx, np.full(length, feature.category, column.ring.dtype), column.ring)
        parts.append(column - code)
    equal = is_zero(ctx, ArithmeticShare.concatenate(parts), code_bits(shape))
    return bit_not(ctx, cut(equal, len(parts)))


def feature_values(ctx: Context, x: Sequence[ArithmeticShare], shape: TreeShape) -> list[ArithmeticShare]:
    """For prediction every feature's *doubled* values in the value ring; numbers come doubled, categories as places."""
    if not shape.categories or not any(shape.categories):
        return list(x)
    count, length = len(x[0]), padded(len(x[0]))
    rows = category_rows(ctx.step("category"), x, shape)
    flat = BinaryShare(rows.left.reshape(1, -1), rows.right.reshape(1, -1), rows.rows * length)
    numbers = bit_to_ring(ctx.step("bit"), flat, shape.value_ring).scale(2)
    starts = iter(range(0, len(numbers), length))
    values = []
    for feature in shape.features:
        if feature.category is None:
            values.append(x[feature.attribute])
        else:
            start = next(starts)
            values.append(numbers[start : start + count])
    return values
