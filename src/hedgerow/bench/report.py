"""The facts of one benchmark run, the same for every benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..parties import PartyReport
from ..transport.frame import HEADER_BYTES


@dataclass(slots=True)
class RunFacts:
    """Seconds of the slowest party; rounds; bytes (payload and frame headers) and peak memory per party."""

    seconds: float
    rounds: int
    bytes_sent: list[int]
    peak_rss_mb: list[float]
    correct: bool
    extra: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(reports: Sequence[PartyReport], correct: bool, **extra: Any) -> RunFacts:
        """Collect the facts from the three parties' reports."""
        totals = [report.meter.total() for report in reports]
        return RunFacts(
            seconds=round(max(report.seconds for report in reports), 4),
            rounds=totals[0].rounds,
            bytes_sent=[total.sent + HEADER_BYTES * total.messages for total in totals],
            peak_rss_mb=[round(report.peak_rss_mb, 1) for report in reports],
            correct=correct,
            extra=extra,
        )

    def as_dict(self) -> dict[str, Any]:
        """One flat JSON-ready object."""
        flat = asdict(self)
        extra: dict[str, Any] = flat.pop("extra")
        return extra | flat


def best(runs: Sequence[RunFacts]) -> RunFacts:
    """The fastest of several runs, correct only if all were."""
    fastest = min(runs, key=lambda run: run.seconds)
    fastest.correct = all(run.correct for run in runs)
    return fastest
