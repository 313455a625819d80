"""Products: item-wise, inner products of any length, squares. One ring element per item and party in one round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels import ring as ring_kernels
from ..kernels import word128
from ..sharing import ArithmeticShare, Context, Ring
from ..sharing.ring import Words
from .cost import Cost


def dot_cost(count: int, ring: Ring) -> Cost:
    """Cost of :func:`dot`, :func:`multiply` and :func:`square` for ``count`` items, however many terms."""
    return Cost.even(1, ring.nbytes * count)


def dot(ctx: Context, xs: Sequence[ArithmeticShare], ys: Sequence[ArithmeticShare]) -> ArithmeticShare:
    """Item-wise inner product: ``sum of xs[t] * ys[t]`` over the terms t.

    Paper: AFLNO16. Cost: :func:`dot_cost`. Reveals: nothing beyond shapes; the left neighbour receives a summand masked
    by a share of zero, half of which it does not know.
    """
    summand = dot_summands(ctx, xs, ys)
    return ArithmeticShare(summand, ctx.pass_left(summand), xs[0].ring)


def dot_summands(ctx: Context, xs: Sequence[ArithmeticShare], ys: Sequence[ArithmeticShare]) -> Words:
    """This party's summands of :func:`dot`, masked by its share of zero."""
    ring, count = xs[0].ring, len(xs[0])
    mask_left, mask_right = ctx.zero_masks(ring, count)
    summand = ring.empty(count)
    kernel = word128.product_words if ring.bits == 128 else ring_kernels.product
    for term, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if len(x) != count or len(y) != count or x.ring != ring or y.ring != ring:
            raise ValueError(f"all factors need {count} items of {ring}; got {x!r} and {y!r}")
        parts = (np.ascontiguousarray(a) for a in (x.left, x.right, y.left, y.right))
        kernel(*parts, mask_left, mask_right, summand, term == 0)
    return summand


def multiply(ctx: Context, x: ArithmeticShare, y: ArithmeticShare) -> ArithmeticShare:
    """Item-wise product. Cost: :func:`dot_cost`. Reveals: nothing beyond shapes."""
    return dot(ctx, [x], [y])


def square(ctx: Context, x: ArithmeticShare) -> ArithmeticShare:
    """Item-wise square. Cost: :func:`dot_cost`. Reveals: nothing beyond shapes."""
    return dot(ctx, [x], [x])


def multiply_many(ctx: Context, pairs: Sequence[tuple[ArithmeticShare, ArithmeticShare]]) -> list[ArithmeticShare]:
    """Several item-wise products of one ring in the same round. Cost: :func:`dot_cost` of all items together."""
    joined_x = ArithmeticShare.concatenate([x for x, _ in pairs])
    joined_y = ArithmeticShare.concatenate([y for _, y in pairs])
    product = multiply(ctx, joined_x, joined_y)
    ends = np.cumsum([len(x) for x, _ in pairs])
    return [product[end - len(x) : end] for (x, _), end in zip(pairs, ends.tolist(), strict=True)]


def inner_products(ctx: Context, x: ArithmeticShare, y: ArithmeticShare, rows: int) -> ArithmeticShare:
    """All inner products of the ``rows`` rows of x with those of y, both flat: ``rows**2`` items, x's rows first.

    Paper: AFLNO16. Cost: :func:`dot_cost` of ``rows**2`` items, however long the rows are. Reveals: nothing beyond
    shapes; the left neighbour receives sums masked by a share of zero, half of which it does not know.
    """
    mask_left, mask_right = ctx.zero_masks(x.ring, rows * rows)
    xl, xr, yl, yr = (side.reshape(rows, -1) for side in (x.left, x.right, y.left, y.right))
    products = xl @ (yl + yr).T + xr @ yl.T
    summand: Words = products.reshape(-1) + mask_left - mask_right
    return ArithmeticShare(summand, ctx.pass_left(summand), x.ring)
