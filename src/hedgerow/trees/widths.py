"""How wide the numbers of a training run are: for each kind the narrowest ring that holds it exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..shares import RING16, RING32, RING64, Ring

if TYPE_CHECKING:
    from .problem import Problem


@dataclass(frozen=True, slots=True)
class Widths:
    """Bits and rings that follow from a problem's public facts. Those of scores are the criterion's own."""

    problem: Problem

    @property
    def count_bits(self) -> int:
        """Bits of a number of rows."""
        return self.problem.rows.bit_length()

    @property
    def mass_bits(self) -> int:
        """Bits of a total weight."""
        return self.problem.mass_bound.bit_length()

    @property
    def sum_bits(self) -> int:
        """Bits of a weighted sum of targets or of a class's weight."""
        return (self.problem.mass_bound * self.problem.largest_target).bit_length()

    @property
    def count_ring(self) -> Ring:
        """The narrowest ring for places, rows and features while training, twice as large numbers included."""
        return _narrowest(max(self.count_bits, self.problem.feature_bits) + 2)

    @property
    def sorted_ring(self) -> Ring:
        """The narrowest ring for values while training; sums of two neighbours, the thresholds, fit it as well, and
        numbers of rows, which are compared together with values."""
        return _narrowest(max(self.problem.value_bits, self.count_bits) + 2)

    @property
    def sum_ring(self) -> Ring:
        """The narrowest ring for sums of targets, twice as large ones included."""
        return _narrowest(self.sum_bits + 2)

    @property
    def number_ring(self) -> Ring:
        """The narrowest ring for node numbers."""
        return RING32 if self.problem.height < RING32.bits else RING64

    @property
    def value_ring(self) -> Ring:
        """The ring of values and thresholds in stored trees and in prediction."""
        return _stored(self.sorted_ring)

    @property
    def leaf_ring(self) -> Ring:
        """The ring of sums in stored trees."""
        return _stored(self.sum_ring)


def _narrowest(bits: int) -> Ring:
    """The narrowest ring of one word with ``bits`` bits; the widest one where there is none."""
    return next((ring for ring in (RING16, RING32) if bits <= ring.bits), RING64)


def _stored(ring: Ring) -> Ring:
    """Trees are stored in 2^32 or wider."""
    return RING32 if ring == RING16 else ring
