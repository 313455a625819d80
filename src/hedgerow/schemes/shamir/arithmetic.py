"""Numbers on lines: public ones, products, opening, and the step from one summand per party to a line.

Party i holds f(i + 1) of a line f with f(0) = x. Three points determine a parabola, too, so with the weights 3, -3 and
1 the parties' products of points add up to the product of the secrets: one summand per party. A summand is masked by a
share of zero and handed to the left, which gives a replicated sharing; and of that a line is a local function.
"""

from collections.abc import Sequence

import numpy as np

from ...engine import Context, Cost, Protocol, Round, Steps
from ...kernels import field as kernels
from ...shares import FIELD61, Numbers, Points, Words
from ...shares.field import PRIME

WEIGHTS = FIELD61.encode([3, -3, 1])
"""What party i's value is multiplied by so that all three add up to the value at 0."""


def _fraction(numerator: int, denominator: int) -> int:
    return numerator * pow(denominator, -1, PRIME) % PRIME


def on_line(ctx: Context, x: Numbers) -> Points:
    """The line through the origin's x, from replicated summands; local.

    The summand that only one party lacks is multiplied by the line that is 1 at 0 and 0 at that party: so every line
    is at each party a multiple of what that party knows. Reveals: nothing.
    """
    own = ctx.party + 1
    left, right = (1 - _fraction(own, (ctx.party + lacking) % 3 + 1) for lacking in (1, 2))
    factors = [FIELD61.encode(np.uint64(factor % PRIME)) for factor in (left, right)]
    return Points(FIELD61.add(FIELD61.multiply(x.left, factors[0]), FIELD61.multiply(x.right, factors[1])))


def weighted(ctx: Context, values: Words) -> Words:
    """This party's summand, from its value at its point."""
    return FIELD61.multiply(values, WEIGHTS[ctx.party])


def masked(ctx: Context, summand: Words) -> Words:
    """A summand and this party's part of a sharing of zero."""
    left, right = ctx.zero_masks(FIELD61, len(summand))
    return FIELD61.add(summand, FIELD61.subtract(left, right))


@Protocol
def replicate(ctx: Context, summand: Words) -> Steps[Numbers]:
    """A replicated sharing of the sum of one summand per party.

    Paper: AFLNO16. Cost: :func:`replicate_cost`. Reveals: nothing: the left neighbour receives a summand masked by a
    share of zero, half of which it does not know.
    """
    told = masked(ctx, summand)
    heard = np.empty_like(told)
    yield Round(to_left=[told], from_right=[heard])
    return Numbers(told, heard, FIELD61)


def replicate_cost(count: int) -> Cost:
    """Cost of :func:`replicate`, :func:`replicated`, :func:`multiply` and :func:`dot`: an element per item and party,
    one round."""
    return Cost.even(1, FIELD61.nbytes * count)


def replicated(ctx: Context, x: Points) -> Numbers:
    """The same vector in replicated shares. Cost: :func:`replicate_cost`. Reveals: nothing."""
    return replicate(ctx, weighted(ctx, x.value))


def multiply(ctx: Context, x: Points, y: Points) -> Points:
    """Item-wise product. Cost: :func:`replicate_cost`. Reveals: nothing beyond shapes."""
    return dot(ctx, [x], [y])


def dot(ctx: Context, xs: Sequence[Points], ys: Sequence[Points]) -> Points:
    """Item-wise inner product over the terms.

    Paper: BGW88's product with the pseudo-random sharing of zero of CDI05. Cost: :func:`replicate_cost`, however many
    terms. Reveals: nothing beyond shapes; see :func:`replicate`.
    """
    products = np.empty(len(xs[0]), np.uint64)
    kernels.inner_product(*(np.stack([term.value for term in side]) for side in (xs, ys)), products)
    return on_line(ctx, replicate(ctx, weighted(ctx, products)))


def public(ctx: Context, values: Words) -> Points:
    """A public vector as a share, free: a line that is the same everywhere."""
    return Points(FIELD61.encode(values))


@Protocol
def reveal(ctx: Context, x: Points) -> Steps[Words]:
    """Open a vector to all three parties.

    Cost: :func:`replicate_cost`. Reveals: exactly x: with its own value and x, a party knows the line and so the value
    that it receives.
    """
    told = np.ascontiguousarray(x.value)
    heard = np.empty_like(told)
    yield Round(to_left=[told], from_right=[heard])
    here, there = ctx.party + 1, (ctx.party + 1) % 3 + 1
    own = FIELD61.encode(np.uint64(_fraction(there, there - here)))
    other = FIELD61.encode(np.uint64(_fraction(here, here - there)))
    return FIELD61.add(FIELD61.multiply(told, own), FIELD61.multiply(heard, other))
