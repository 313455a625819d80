"""Running programs at three parties on this machine: as real processes, or as threads for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .local import Outcome, ProcessParties, RowProgress, local_parties
    from .process import Moment, PartyProcesses, PartyReport, Progress

__all__ = [
    "Moment",
    "Outcome",
    "PartyProcesses",
    "PartyReport",
    "ProcessParties",
    "Progress",
    "RowProgress",
    "local_parties",
]

__getattr__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(("Outcome", "ProcessParties", "RowProgress", "local_parties"), "local"),
        **dict.fromkeys(("Moment", "PartyProcesses", "PartyReport", "Progress"), "process"),
    },
)
