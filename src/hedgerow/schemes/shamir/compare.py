"""Comparison and equality of numbers on lines, giving replicated bits.

Of every block the dealer knows A and the others know B, and the number is A + B modulo the prime 2^61 - 1. So A + B
has reached the prime exactly if A + B + 1 has a carry past bit 60, and what finds carries in the rings finds it here.
"""

import numpy as np

from ...engine import Context, Cost, Round
from ...shares import FIELD61, RING64, Bits, Points, Words
from ..replicated.carry import slice_words
from ..replicated.compare import PendingSign, equal_cost, top_bit_cost, zero_sum
from ..replicated.dealing import Dealing
from .convert import Exchanged, exchanged_cost

FIELD_BITS = 61


class _Parity:
    """The rows from which the parity of A + B modulo the prime is found as a highest bit: those of A and of B + 1, and
    in place of bit 61, which they do not have, the lowest bits of A and of B."""

    def __init__(self, exchanged: Exchanged) -> None:
        self.exchanged = exchanged
        self.mine = self._rows(exchanged.mine, 0)

    def _rows(self, words: Words, plus: int) -> Words:
        lowest = (words & np.uint64(1)) << np.uint64(FIELD_BITS)
        return slice_words(RING64, words + np.uint64(plus) | lowest, FIELD_BITS + 1)

    def opening(self) -> Round:
        """The exchange after which B is known."""
        return self.exchanged.opening()

    def others(self, role: int) -> Words:
        """Rows of B + 1."""
        return self._rows(self.exchanged.known()[role], 1)


class _Opposite:
    """The rows from which A + B = 0 modulo the prime is found: -(p - A), or 0, of the dealer and B - 1 of the others
    add up to nothing but ones if p - A equals B."""

    def __init__(self, exchanged: Exchanged) -> None:
        self.exchanged = exchanged
        opposite = FIELD61.subtract(FIELD61.encode(0), exchanged.mine)
        self.mine = slice_words(RING64, np.uint64(0) - opposite, FIELD_BITS)

    def opening(self) -> Round:
        """The exchange after which B is known."""
        return self.exchanged.opening()

    def others(self, role: int) -> Words:
        """Rows of B - 1."""
        return slice_words(RING64, self.exchanged.known()[role] - np.uint64(1), FIELD_BITS)


def is_negative(ctx: Context, x: Points) -> Bits:
    """The bit x < 0 of numbers between minus and plus 2^60: twice such a number is odd modulo the prime.

    Paper: the parity is NO07's; how it is found is our own. Cost: :func:`is_negative_cost`. Reveals: nothing beyond
    shapes.
    """
    operand = _Parity(Exchanged(ctx, x + x, Dealing.of(ctx, len(x))))
    return PendingSign(operand, FIELD_BITS + 1, len(x)).found(ctx)


def is_negative_cost(count: int) -> Cost:
    """Cost of :func:`is_negative`: a comparison of 61 bits and what makes B known."""
    return top_bit_cost(count, FIELD_BITS + 1) + exchanged_cost(count)


def is_zero(ctx: Context, x: Points) -> Bits:
    """The bit x = 0. Cost: :func:`is_zero_cost`. Reveals: nothing beyond shapes."""
    return zero_sum(ctx, _Opposite(Exchanged(ctx, x, Dealing.of(ctx, len(x)))), FIELD_BITS, len(x))


def is_zero_cost(count: int) -> Cost:
    """Cost of :func:`is_zero`: an equality of 61 bits and what makes B known."""
    return equal_cost(count, FIELD_BITS) + exchanged_cost(count)
