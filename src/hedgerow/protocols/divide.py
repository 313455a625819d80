"""Secret fractions by long division, one binary place at a time."""

import numpy as np

from ..engine import Context, Cost
from ..schemes.replicated.compare import less_than, less_than_cost
from ..schemes.replicated.gate import bit_not
from ..schemes.replicated.input import public
from ..schemes.replicated.select import multiply_bit, multiply_bit_cost
from ..shares import Numbers, Ring


def fraction(ctx: Context, numerator: Numbers, denominator: Numbers, bits: int, places: int) -> Numbers:
    """⌊numerator·2^places / denominator⌋ for 0 ≤ numerator ≤ denominator, both of ``bits`` bits, denominator not 0.

    Paper: restoring division. Cost: :func:`fraction_cost`. Reveals: nothing beyond shapes.
    """
    one = public(ctx, np.ones(len(numerator), numerator.ring.dtype), numerator.ring)
    rest, quotient = numerator, numerator - numerator
    for place in range(places + 1):
        if place:
            rest = rest.scale(2)
        fits = bit_not(ctx, less_than(ctx.step("fits"), rest, denominator, bits + 1))
        taken, digit = multiply_bit(ctx.step("take"), fits, [denominator, one])
        rest, quotient = rest - taken, quotient.scale(2) + digit
    return quotient


def fraction_cost(count: int, bits: int, places: int, ring: Ring) -> Cost:
    """Cost of :func:`fraction`: a comparison and a selection for every place and one more."""
    return (less_than_cost(count, bits + 1) + multiply_bit_cost(count, [ring, ring])) * (places + 1)
