"""Declared costs: rounds and payload bytes sent, per party. Tests compare them with the meter, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """Rounds, and payload bytes sent by parties 0, 1 and 2."""

    rounds: int
    sent: tuple[int, int, int]

    @staticmethod
    def even(rounds: int, each: int) -> Cost:
        """Every party sends the same amount."""
        return Cost(rounds, (each, each, each))

    @staticmethod
    def by_party(rounds: int, sent: Callable[[int], int]) -> Cost:
        """What each party sends, by its number."""
        return Cost(rounds, (sent(0), sent(1), sent(2)))

    def __add__(self, other: Cost) -> Cost:
        """One after the other."""
        a, b = self.sent, other.sent
        return Cost(self.rounds + other.rounds, (a[0] + b[0], a[1] + b[1], a[2] + b[2]))

    def along(self, saved: int | None = None) -> Cost:
        """The cost if ``saved`` of its rounds, or all of them, are rounds of something else."""
        return Cost(0 if saved is None else self.rounds - saved, self.sent)

    def __mul__(self, times: int) -> Cost:
        a = self.sent
        return Cost(self.rounds * times, (a[0] * times, a[1] * times, a[2] * times))


FREE = Cost.even(0, 0)
