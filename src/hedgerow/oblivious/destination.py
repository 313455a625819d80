"""Where items go in a stable sort by a few bits: prefix sums are local, one inner product picks the right one."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ..engine import FREE, Context, Cost
from ..protocols import dot, dot_cost, multiply, multiply_many, public
from ..shares import RING32, Numbers


def bit_destinations(ctx: Context, bit: Numbers) -> Numbers:
    """The stable sort permutation of one shared bit (0 or 1 in a ring that holds the places): zeros first.

    A zero goes to the number of zeros before it, a one to the number of all zeros plus the ones before it.

    Paper: AHIKNPT22, single-bit case. Cost: one product. Reveals: nothing beyond shapes.
    """
    count = len(bit)
    one = public(ctx, np.ones(count, bit.ring.dtype), bit.ring)
    zero = one - bit
    zeros = zero.prefix_sum()
    ones = bit.prefix_sum()
    return zeros + multiply(ctx, bit, zeros[count - 1 :] + ones - zeros) - one


def digit_destinations(ctx: Context, bits: Sequence[Numbers]) -> Numbers:
    """The stable sort permutation of a digit given by its bits, lowest first.

    Paper: AHIKNPT22. Cost: :func:`digit_destinations_cost`. Reveals: nothing beyond shapes.
    """
    if len(bits) == 1:
        return bit_destinations(ctx, bits[0])
    count = len(bits[0])
    one = public(ctx, np.ones(count, np.uint32), RING32)
    products: dict[tuple[int, ...], Numbers] = {(): one} | {(i,): bit for i, bit in enumerate(bits)}
    for size in range(2, len(bits) + 1):
        subsets = list(combinations(range(len(bits)), size))
        results = multiply_many(ctx.step(f"product{size}"), [(products[s[:-1]], products[s[-1:]]) for s in subsets])
        products.update(zip(subsets, results, strict=True))
    indicators = [_indicator(products, value, len(bits)) for value in range(1 << len(bits))]
    targets = []
    offset: Numbers | None = None
    for indicator in indicators:
        running = indicator.prefix_sum()
        target = running - one if offset is None else running - one + offset
        targets.append(target)
        total = running[max(0, count - 1) :]
        offset = total if offset is None else offset + total
    return dot(ctx.step("place"), indicators, targets)


def _indicator(products: dict[tuple[int, ...], Numbers], value: int, bits: int) -> Numbers:
    """Whether the digit has this value: inclusion and exclusion over the products of its bits."""
    ones = tuple(i for i in range(bits) if value >> i & 1)
    zeros = [i for i in range(bits) if not value >> i & 1]
    result = products[ones]
    for size in range(1, len(zeros) + 1):
        for extra in combinations(zeros, size):
            term = products[tuple(sorted(ones + extra))]
            result = result - term if size % 2 else result + term
    return result


def digit_destinations_cost(count: int, bits: int) -> Cost:
    """Cost of :func:`digit_destinations`: the products of two or more bits, then one inner product."""
    cost = FREE
    for size in range(2, bits + 1):
        cost += dot_cost(count * len(list(combinations(range(bits), size))), RING32)
    return cost + dot_cost(count, RING32)
