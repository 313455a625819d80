"""Declared costs: rounds and payload bytes sent, per party. Tests compare them with the meter, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..sharing.share import words_for


@dataclass(frozen=True, slots=True)
class Cost:
    """Rounds, and payload bytes sent by parties 0, 1 and 2."""

    rounds: int
    sent: tuple[int, int, int]

    @staticmethod
    def even(rounds: int, each: int) -> Cost:
        """Every party sends the same amount."""
        return Cost(rounds, (each, each, each))

    def __add__(self, other: Cost) -> Cost:
        """One after the other."""
        a, b = self.sent, other.sent
        return Cost(self.rounds + other.rounds, (a[0] + b[0], a[1] + b[1], a[2] + b[2]))

    def along(self, saved: int | None = None) -> Cost:
        """Some of its rounds, or all, are rounds of something else."""
        return Cost(0 if saved is None else self.rounds - saved, self.sent)

    def __mul__(self, times: int) -> Cost:
        a = self.sent
        return Cost(self.rounds * times, (a[0] * times, a[1] * times, a[2] * times))


FREE = Cost.even(0, 0)
FEW = 1 << 15
"""Up to so many items a round takes longer than the bytes that would save it; see docs/adr/0001-comparison.md."""


class Thirds:
    """A vector cut into three word-aligned blocks, one for each dealer, so that the load of all roles is even.

    Few items are one block, which party 0 deals: then only two parties wait for each other, and the dealer, which hears
    nothing, goes ahead.
    """

    __slots__ = ("_items", "_words", "alone", "count")

    def __init__(self, count: int, alone: bool = False) -> None:
        self.count = count
        self.alone = alone or few(count)
        total = words_for(count)
        bounds = [0, total, total, total] if self.alone else [dealer * total // 3 for dealer in range(4)]
        self._words = [slice(bounds[d], bounds[d + 1]) for d in range(3)]
        self._items = [slice(min(count, 64 * w.start), min(count, 64 * w.stop)) for w in self._words]

    def words(self, dealer: int) -> slice:
        """The packed words of the block that ``dealer`` deals."""
        return self._words[dealer]

    def items(self, dealer: int) -> slice:
        """The items of the block that ``dealer`` deals."""
        return self._items[dealer]

    def width(self, dealer: int) -> int:
        """Packed words in a block."""
        words = self._words[dealer]
        return int(words.stop - words.start)

    def size(self, dealer: int) -> int:
        """Items in a block."""
        items = self._items[dealer]
        return int(items.stop - items.start)


def few(count: int) -> bool:
    """Whether rounds matter more than bytes."""
    return count <= FEW


@lru_cache(maxsize=1024)
def thirds_of(count: int, alone: bool = False) -> Thirds:
    """The thirds of a vector of so many items; with ``alone``, one dealer however many they are."""
    return Thirds(count, alone)
