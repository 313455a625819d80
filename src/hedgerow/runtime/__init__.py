"""Running programs at three real party processes on this machine."""

from .processes import PartyProcesses, PartyReport

__all__ = ["PartyProcesses", "PartyReport"]
