"""Products: item-wise, inner products of any length, squares. One ring element per item and party in one round."""

from collections.abc import Sequence

import numpy as np

from ...engine import Context, Cost, Protocol, Round, Steps
from ...kernels import ring as ring_kernels
from ...kernels import word128
from ...shares import Numbers, Ring, Words


def dot_cost(count: int, ring: Ring) -> Cost:
    """Cost of :func:`dot`, :func:`multiply` and :func:`square` for ``count`` items, however many terms."""
    return Cost.even(1, ring.nbytes * count)


def reshared(summand: Words, ring: Ring) -> Steps[Numbers]:
    """A share from one masked summand per party: each passes its own to the left."""
    incoming = np.empty_like(summand)
    yield Round(to_left=[summand], from_right=[incoming])
    return Numbers(summand, incoming, ring)


@Protocol
def dot(ctx: Context, xs: Sequence[Numbers], ys: Sequence[Numbers]) -> Steps[Numbers]:
    """Item-wise inner product: ``sum of xs[t] * ys[t]`` over the terms t.

    Paper: AFLNO16. Cost: :func:`dot_cost`. Reveals: nothing beyond shapes; the left neighbour receives a summand masked
    by a share of zero, half of which it does not know.
    """
    return (yield from reshared(dot_summands(ctx, xs, ys), xs[0].ring))


def dot_summands(ctx: Context, xs: Sequence[Numbers], ys: Sequence[Numbers]) -> Words:
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


def multiply(ctx: Context, x: Numbers, y: Numbers) -> Numbers:
    """Item-wise product. Cost: :func:`dot_cost`. Reveals: nothing beyond shapes."""
    return dot(ctx, [x], [y])


def square(ctx: Context, x: Numbers) -> Numbers:
    """Item-wise square. Cost: :func:`dot_cost`. Reveals: nothing beyond shapes."""
    return dot(ctx, [x], [x])


def multiply_many(ctx: Context, pairs: Sequence[tuple[Numbers, Numbers]]) -> list[Numbers]:
    """Several item-wise products of one ring in the same round. Cost: :func:`dot_cost` of all items together."""
    product = multiply(ctx, Numbers.concatenate([x for x, _ in pairs]), Numbers.concatenate([y for _, y in pairs]))
    return product.cut_like([x for x, _ in pairs])


@Protocol
def inner_products(ctx: Context, x: Numbers, y: Numbers, rows: int) -> Steps[Numbers]:
    """All inner products of the ``rows`` rows of x with those of y, both flat: ``rows**2`` items, x's rows first.

    Paper: AFLNO16. Cost: :func:`dot_cost` of ``rows**2`` items, however long the rows are. Reveals: nothing beyond
    shapes; the left neighbour receives sums masked by a share of zero, half of which it does not know.
    """
    mask_left, mask_right = ctx.zero_masks(x.ring, rows * rows)
    xl, xr, yl, yr = (side.reshape(rows, -1) for side in (x.left, x.right, y.left, y.right))
    products = xl @ (yl + yr).T + xr @ yl.T
    summand: Words = products.reshape(-1) + mask_left - mask_right
    return (yield from reshared(summand, x.ring))
