"""Scores that are fractions p/q, the first two columns of items, and their comparison by cross products."""

from ..engine import FREE, Context, Cost
from ..schemes.replicated.carry import unshared_cost
from ..schemes.replicated.compare import PendingSign, sign_of_products
from ..schemes.replicated.convert import widen_cost, widen_many
from ..shares import RING64, RING128, Columns, Ring


def score_sign(ctx: Context, a: Columns, b: Columns, cross_bits: int, single_dealer: bool = False) -> PendingSign:
    """The bit p/q < p'/q', still to be found, by cross products in 2^64 where they fit, otherwise in 2^128, where p may
    be already."""
    p, q, p2, q2 = a.column(0), a.column(1), b.column(0), b.column(1)
    if cross_bits + 1 > RING64.bits or p.ring == RING128:
        p, q, p2, q2 = widen_many(ctx.step("widen"), [p, q, p2, q2], RING128)
    return sign_of_products(ctx.step("less"), [p, -p2], [q2, q], cross_bits + 1, single_dealer=single_dealer)


def score_sign_cost(pairs: int, cross_bits: int, score: Ring = RING64, single_dealer: bool = False) -> Cost:
    """What :func:`score_sign` adds to the cost of the sign's circuit, with numerators in the ring ``score``."""
    wide = cross_bits + 1 > RING64.bits or score == RING128
    widening = widen_cost((4 if score == RING64 else 2) * pairs, RING64, RING128) if wide else FREE
    return widening + unshared_cost(pairs, RING128 if wide else RING64, single_dealer)
