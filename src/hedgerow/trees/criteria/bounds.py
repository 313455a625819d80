"""How large the scores of Gini and of the squared error can become, and the rings in which they stay exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import ExactnessError
from ...protocols import Scores
from ...reference.logarithm import PLACES, k_log_k
from ...shares import RING64, RING128, Ring

if TYPE_CHECKING:
    from ..problem import Problem

MAX_MASS = 2_642_245
"""The largest total weight W with W^3/4 below 2^62."""


@dataclass(frozen=True, slots=True)
class ScoreBounds:
    """Bounds of scores p/q with q = u·w and p = w·Σu_c² + u·Σw_c², where u and w are the weights of both sides.

    p ≤ u·w·(u + w)·Y² for targets up to Y (1 for classes), so q is at most W²/4 and p at most W³·Y²/4.
    """

    problem: Problem

    def check(self) -> None:
        """Refuse what would not fit the widest ring."""
        problem = self.problem
        if not problem.regression and self.score_bound >= 1 << 62:
            if problem.weighted:
                raise ExactnessError(
                    f"{problem.rows} rows of weights up to {problem.heaviest}: score numerators up to W^3/4 for a "
                    "total weight W would need more than 62 bits; use smaller weights or fewer rows"
                )
            raise ExactnessError(
                f"{problem.rows} rows: score numerators up to n^3/4 would need more than 62 bits, so splits could not "
                "be exact; train on at most 2,642,245 rows"
            )
        too_far = not self.several_sums and self.distance_bits > 62
        if self.cross_bits > 126 or (problem.checks_gain and self.gain_bits > 126) or too_far:
            raise ExactnessError(
                f"{problem.rows} rows, {problem.target_bits} bits of the target, {problem.weight_bits} of a weight and "
                f"min_impurity_decrease {problem.min_impurity_decrease}: scores would need more than 126 bits, so "
                "splits could not be exact; keep fewer decimals of the target or of min_impurity_decrease, or smaller "
                "weights"
            )

    @property
    def several_sums(self) -> bool:
        """Whether several sums per node decide (see :mod:`.class_sums`), not one (see :mod:`.single_sum`)."""
        return self.problem.weighted or self.problem.classes > 2

    @property
    def score_bound(self) -> int:
        """The largest numerator of a score."""
        return self.problem.mass_bound**3 * self.problem.largest_target**2 // 4

    @property
    def score_bits(self) -> int:
        """Bits of a score's numerator."""
        return max(1, self.score_bound.bit_length())

    @property
    def score_ring(self) -> Ring:
        """The ring of a score's numerator."""
        return RING64 if self.score_bound < 1 << 62 else RING128

    @property
    def cross_bits(self) -> int:
        """Bits of a cross product of scores p·q'."""
        return max(1, self.score_bound * (self.problem.mass_bound**2 // 4)).bit_length()

    @property
    def scores(self) -> Scores:
        """How scores are compared."""
        return Scores(self.cross_bits, self.score_ring)

    @property
    def distance_bits(self) -> int:
        """Bits of D_max + D_min, see :mod:`.single_sum`."""
        problem = self.problem
        return 2 * problem.rows.bit_length() + (problem.target_bits if problem.regression else 0) + 1

    @property
    def gain_bits(self) -> int:
        """Bits of the two sides of the check that a split lowers the impurity enough."""
        problem, least = self.problem, self.problem.least_decrease
        gained = self.gain_factor * least.denominator * problem.mass_bound**4 * problem.largest_target**2 // 4
        return max(1, gained, least.numerator * problem.mass_bound**4 // 4).bit_length()

    @property
    def gain_ring(self) -> Ring:
        """The ring of that check."""
        return RING64 if self.gain_bits + 2 <= RING64.bits and self.score_ring == RING64 else RING128

    @property
    def gain_factor(self) -> int:
        """How many times p/q - Σs_c²/s the impurity falls: with two classes only one of them is summed."""
        return 2 if self.problem.classes == 2 and not self.problem.weighted else 1


MOST_LOGARITHMS = 1 << 22
"""The largest total weight for which there is a table of f(k) = k·log2 k."""


@dataclass(frozen=True, slots=True)
class EntropyBounds(ScoreBounds):
    """Bounds of entropy and gain ratio, whose scores are sums of f(k) = k·log2 k with 32 binary places.

    All of them are between minus and plus f(W), for a total weight W; a few units are lost where f is rounded down.
    """

    def check(self) -> None:
        """Refuse what has no table, or would not fit the widest ring."""
        problem = self.problem
        if problem.mass_bound > MOST_LOGARITHMS:
            raise ExactnessError(
                f"{problem.rows} rows of weights up to {problem.heaviest}: criterion '{problem.criterion}' has "
                f"logarithms for a total weight of at most {MOST_LOGARITHMS:,}; use smaller weights, fewer rows or "
                "criterion 'gini'"
            )
        if problem.checks_gain and self.gain_bits > 126:
            raise ExactnessError(
                f"min_impurity_decrease {problem.min_impurity_decrease} has too many decimals for {problem.rows} rows"
            )

    @property
    def largest(self) -> int:
        """f(W), rounded up."""
        return k_log_k(self.problem.mass_bound) + 1

    @property
    def offset(self) -> int:
        """What makes entropy scores positive, which are at most a few units above 0."""
        return 1 << self.largest.bit_length()

    @property
    def score_bound(self) -> int:
        """The largest score's numerator."""
        return self.offset + 2 * self.problem.classes

    @property
    def score_ring(self) -> Ring:
        """Scores always fit."""
        return RING64

    @property
    def cross_bits(self) -> int:
        """A gain ratio's denominator is below f(W), too; entropy has none."""
        return self.score_bits if self.problem.criterion == "entropy" else 2 * self.score_bits

    @property
    def scores(self) -> Scores:
        """Entropies are numbers, gain ratios fractions."""
        return Scores(self.cross_bits, fractions=self.problem.criterion == "gain_ratio")

    @property
    def gain_bits(self) -> int:
        """Bits of the two sides of the check that a split lowers the impurity enough."""
        least, weight = self.problem.least_decrease, self.problem.mass_bound
        return max(1, least.denominator * self.score_bound, least.numerator * weight << PLACES).bit_length()

    @property
    def gain_ring(self) -> Ring:
        """The ring of that check."""
        return RING64 if self.gain_bits + 2 <= RING64.bits else RING128
