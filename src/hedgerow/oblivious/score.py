"""Items with scores that are fractions p/q, and their comparison by cross products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..primitives import Cost, product_sign, product_sign_cost, widen_cost, widen_many
from ..primitives.cost import FREE
from ..sharing import RING64, RING128, ArithmeticShare, BinaryShare, Context, Ring

Numbers = list[ArithmeticShare]


@dataclass(frozen=True, slots=True)
class Items:
    """Scores p/q and the numbers that ride along."""

    p: ArithmeticShare
    q: ArithmeticShare
    numbers: Numbers

    @property
    def columns(self) -> Numbers:
        """All columns."""
        return [self.p, self.q, *self.numbers]

    @staticmethod
    def of(columns: Sequence[ArithmeticShare]) -> Items:
        """The inverse of :attr:`columns`."""
        return Items(columns[0], columns[1], list(columns[2:]))


def less_score(ctx: Context, a: Items, b: Items, cross_bits: int) -> BinaryShare:
    """The bit p/q < p'/q' by cross products, in 2^64 where they fit and else in 2^128, where p may be already."""
    p, q, p2, q2 = a.p, a.q, b.p, b.q
    if cross_bits + 1 > RING64.bits or p.ring == RING128:
        p, q, p2, q2 = widen_many(ctx.step("widen"), [p, q, p2, q2], RING128)
    return product_sign(ctx.step("less"), [p, -p2], [q2, q], cross_bits + 1)


def less_score_cost(pairs: int, cross_bits: int, score: Ring = RING64) -> Cost:
    """Cost of :func:`less_score` with numerators in the ring ``score``."""
    wide = cross_bits + 1 > RING64.bits or score == RING128
    widening = widen_cost((4 if score == RING64 else 2) * pairs, RING64, RING128) if wide else FREE
    return widening + product_sign_cost(pairs, RING128 if wide else RING64, cross_bits + 1)


def riffled(even: Numbers, odd: Numbers, count: int) -> Numbers:
    """Columns of which even and odd places are given apart, cut to ``count`` items."""
    results = []
    for a, b in zip(even, odd, strict=True):
        sides = []
        for x, y in ((a.left, b.left), (a.right, b.right)):
            out = np.empty(count, a.ring.dtype)
            out[0::2] = x[: (count + 1) // 2]
            out[1::2] = y[: count // 2]
            sides.append(out)
        results.append(ArithmeticShare(sides[0], sides[1], a.ring))
    return results
