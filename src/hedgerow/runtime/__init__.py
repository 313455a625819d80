"""Running programs at three real party processes on this machine."""

from .local import LocalParties, Outcome, Ticked, local_parties
from .processes import Moment, PartyProcesses, PartyReport, Progress

__all__ = [
    "LocalParties",
    "Moment",
    "Outcome",
    "PartyProcesses",
    "PartyReport",
    "Progress",
    "Ticked",
    "local_parties",
]
