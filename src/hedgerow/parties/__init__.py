"""Running programs at three real party processes on this machine."""

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
