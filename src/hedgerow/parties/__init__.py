"""Running programs at three parties on this machine, as real processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .local import Outcome, ProcessParties, RowProgress, local_parties
    from .process import Moment, PartyProcesses, PartyReport, Progress

__getattr__ = lazy_names(__name__, __file__)
