"""Scores, the first columns of items, and their comparison: numbers, or fractions p/q by cross products."""

from dataclasses import dataclass

from ..engine import FREE, Context, Cost
from ..schemes.replicated.carry import unshared_cost
from ..schemes.replicated.compare import PendingSign, sign_of, sign_of_products
from ..schemes.replicated.convert import widen_cost, widen_many
from ..shares import RING64, RING128, Columns, Ring


@dataclass(frozen=True, slots=True)
class Scores:
    """What scores are: ``bits`` bound a number, or a cross product p·q'; numbers and numerators live in ``ring``."""

    bits: int
    ring: Ring = RING64
    fractions: bool = True

    @property
    def rings(self) -> list[Ring]:
        """The rings of a score's columns."""
        return [self.ring, RING64] if self.fractions else [self.ring]

    @property
    def columns(self) -> int:
        """How many columns a score has."""
        return len(self.rings)

    @property
    def wide(self) -> bool:
        """Whether cross products need 2^128."""
        return self.bits + 1 > RING64.bits or self.ring == RING128


def score_sign(ctx: Context, a: Columns, b: Columns, scores: Scores, single_dealer: bool = False) -> PendingSign:
    """Whether a's score is lower than b's, still to be found; fractions by cross products in 2^64 where they fit,
    otherwise in 2^128, where numerators may be already."""
    if not scores.fractions:
        return sign_of(ctx, a.column(0) - b.column(0), scores.bits, single_dealer)
    p, q, p2, q2 = a.column(0), a.column(1), b.column(0), b.column(1)
    if scores.wide:
        p, q, p2, q2 = widen_many(ctx.step("widen"), [p, q, p2, q2], RING128)
    return sign_of_products(ctx.step("less"), [p, -p2], [q2, q], scores.bits + 1, single_dealer=single_dealer)


def score_sign_cost(pairs: int, scores: Scores, single_dealer: bool = False) -> Cost:
    """What :func:`score_sign` adds to the cost of the sign's circuit."""
    if not scores.fractions:
        return FREE
    widened = 4 if scores.ring == RING64 else 2
    widening = widen_cost(widened * pairs, RING64, RING128) if scores.wide else FREE
    return widening + unshared_cost(pairs, RING128 if scores.wide else RING64, single_dealer)
