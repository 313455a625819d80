"""What a party spent: rounds, messages, bytes and seconds, by named step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Spending:
    """Counts of one step. ``sent`` and ``received`` are payload bytes; frame headers are counted by messages.

    ``longest`` adds up the larger of the two messages of every round: what a limited link carries one after the other.
    """

    rounds: int = 0
    messages: int = 0
    sent: int = 0
    received: int = 0
    computing: float = 0.0
    exchanging: float = 0.0
    longest: int = 0

    def __add__(self, other: Spending) -> Spending:
        return Spending(
            self.rounds + other.rounds,
            self.messages + other.messages,
            self.sent + other.sent,
            self.received + other.received,
            self.computing + other.computing,
            self.exchanging + other.exchanging,
            self.longest + other.longest,
        )


@dataclass(slots=True)
class Meter:
    """Adds up the spending of one party. Seconds before an exchange count as that step's computing time."""

    steps: dict[str, Spending] = field(default_factory=dict)
    last_end: float | None = None

    def count(self, step: str, sent: Sequence[int], received: int, start: float, end: float) -> None:
        """Record one round: the sizes of the messages sent, the bytes received, and when it began and ended."""
        spending = self.steps.get(step)
        if spending is None:
            spending = self.steps[step] = Spending()
        spending.rounds += 1
        spending.messages += len(sent)
        spending.sent += sum(sent)
        spending.longest += max(sent, default=0)
        spending.received += received
        if self.last_end is not None:
            spending.computing += start - self.last_end
        spending.exchanging += end - start
        self.last_end = end

    def total(self) -> Spending:
        """Sum over all steps."""
        return sum(self.steps.values(), Spending())

    def below(self, prefix: str) -> Spending:
        """Sum over the steps whose path starts with ``prefix``."""
        return sum((s for name, s in self.steps.items() if name.startswith(prefix)), Spending())
