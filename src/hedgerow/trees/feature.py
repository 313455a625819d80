"""Categories as tests: for every tested category the secret bit "another category than this one"."""

from collections.abc import Sequence

import numpy as np

from ..engine import FREE, Context, Cost
from ..protocols import bit_not, bit_to_ring, is_zero, public, truncate_many, truncate_many_cost
from ..shares import Bits, Numbers, Ring, padded
from .problem import Feature, Problem


def category_features(problem: Problem) -> list[Feature]:
    """The features that are bits."""
    return [feature for feature in problem.features if feature.category is not None]


def code_bits(problem: Problem) -> int:
    """Bits of a category's place in its list; one place more is left for "none of them"."""
    return max(problem.categories).bit_length()


def in_declared_range(ctx: Context, x: Sequence[Numbers], problem: Problem, bits: int, ring: Ring) -> list[Numbers]:
    """Attributes whose numbers are cut to ``bits`` bits, in ``ring``; categories as they are, since tests of them look
    at :func:`code_bits` bits whatever else is there.

    Owners promise that nothing else is there. One who breaks the promise would make the comparisons that a sort opens
    depend on other owners' rows, so the parties make it true. Cost: :func:`in_declared_range_cost`. Reveals: nothing
    beyond shapes.
    """
    places = problem.numeric_attributes
    found = list(x)
    if places:
        for place, column in zip(places, truncate_many(ctx, [x[j] for j in places], bits, ring), strict=True):
            found[place] = column
    return found


def in_declared_range_cost(problem: Problem, rows: int, bits: int, ring: Ring) -> Cost:
    """Cost of :func:`in_declared_range`."""
    places = problem.numeric_attributes
    return truncate_many_cost(rows, len(places), bits, ring) if places else FREE


def category_rows(ctx: Context, x: Sequence[Numbers], problem: Problem) -> Bits:
    """A row for every feature that is a bit, in their order, padded to a multiple of 64 places.

    Cost: one equality of :func:`code_bits` bits per feature and row. Reveals: nothing beyond shapes.
    """
    length = padded(len(x[0]))
    parts = []
    for feature in category_features(problem):
        column = x[feature.attribute].pad(length)
        assert feature.category is not None
        code = public(ctx, np.full(length, feature.category, column.ring.dtype), column.ring)
        parts.append(column - code)
    equal = is_zero(ctx, Numbers.concatenate(parts), code_bits(problem))
    return bit_not(ctx, equal.cut(len(parts)))


def feature_values(ctx: Context, x: Sequence[Numbers], problem: Problem) -> list[Numbers]:
    """For prediction every feature's *doubled* values in the value ring; numbers come doubled, categories as places."""
    if not problem.categories or not any(problem.categories):
        return list(x)
    count, length = len(x[0]), padded(len(x[0]))
    rows = category_rows(ctx.step("category"), x, problem)
    numbers = bit_to_ring(ctx.step("bit"), Bits.end_to_end([rows]), problem.widths.value_ring).scale(2)
    bits = iter(numbers.pieces(length, count))
    values = []
    for feature in problem.features:
        if feature.category is None:
            values.append(x[feature.attribute])
        else:
            values.append(next(bits))
    return values
