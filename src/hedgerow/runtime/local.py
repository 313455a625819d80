"""Training and prediction with three parties on this machine, started when first needed and kept for the next call."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..sharing import RING64, ArithmeticShare, reconstruct, split
from ..trees.model import SharedTree
from ..trees.predict import batches, probability_table
from ..trees.shape import TreeShape
from .processes import PartyProcesses, PartyReport, Progress
from .programs import run_evaluation, run_labels, run_probabilities, run_training

Rows = npt.NDArray[np.uint64]
Ticked = Callable[[int, int], None]
"""Told how many rows of how many are done."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run at the local parties gave and took."""

    value: Any
    reports: list[PartyReport]


class LocalParties:
    """Three party processes on this machine that train and predict. The caller plays the data owner and the asker.

    They start with the first call, are shared by all estimators of the process and end with it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: PartyProcesses | None = None
        self._owner = 0

    def __repr__(self) -> str:
        return "LocalParties()"

    def _run(self, program: Callable[..., Any], *arguments: Sequence[Any], progress: Progress | None = None) -> Any:
        with self._lock:
            if self._processes is not None and self._owner == os.getpid() and not self._processes.alive:
                self._processes.close()
                self._processes = None
            if self._processes is None or self._owner != os.getpid():
                self._processes, self._owner = PartyProcesses(), os.getpid()
            try:
                return self._processes.run(program, *arguments, progress=progress)
            except BaseException:
                # Parties that were interrupted in the middle of a run cannot start another one.
                self._processes.abandon()
                self._processes = None
                raise

    def train(
        self,
        x: Rows,
        y: Rows,
        shape: TreeShape,
        algorithm: str = "fast",
        progress: Progress | None = None,
        weights: Rows | None = None,
    ) -> Outcome:
        """Share ``x[attribute, row]``, ``y`` and ``weights``, train, and return the parties' shares of the tree."""
        heavy = [None] * 3 if weights is None else split(weights, RING64)
        shares = split(x.reshape(-1), RING64), split(y, RING64), heavy
        reports = self._run(run_training, *shares, [shape] * 3, [algorithm] * 3, progress=progress)
        return Outcome([report.result for report in reports], reports)

    def labels(self, trees: Sequence[SharedTree], rows: Rows, shape: TreeShape, ticked: Ticked | None = None) -> Any:
        """Class numbers or estimates of rows given doubled, ``rows[attribute, row]``; only these are opened, here."""

        def one(part: list[ArithmeticShare], _: slice) -> Any:
            reports = self._run(run_labels, trees, part, [shape] * 3)
            return reconstruct([report.result for report in reports])

        pieces = self._batched(rows, shape, one, ticked)
        return np.concatenate(pieces).astype(np.int64) if pieces else np.zeros(0, np.int64)

    def probabilities(
        self, trees: Sequence[SharedTree], rows: Rows, shape: TreeShape, ticked: Ticked | None = None
    ) -> Any:
        """Probabilities ``[row, class]`` of rows given doubled."""

        def one(part: list[ArithmeticShare], _: slice) -> Any:
            reports = self._run(run_probabilities, trees, part, [shape] * 3)
            columns = zip(*(report.result for report in reports), strict=True)
            return probability_table([reconstruct(list(column)) for column in columns])

        return np.concatenate(self._batched(rows, shape, one, ticked))

    def evaluation(
        self,
        trees: Sequence[SharedTree],
        rows: Rows,
        truth: Rows,
        shape: TreeShape,
        ticked: Ticked | None = None,
    ) -> npt.NDArray[Any]:
        """The confusion matrix, flat, or the sums of squared errors; only these are opened, summed over all batches."""

        def one(part: list[ArithmeticShare], piece: slice) -> Any:
            reports = self._run(run_evaluation, trees, part, split(truth[piece], RING64), [shape] * 3)
            return [report.result for report in reports]

        pieces = self._batched(rows, shape, one, ticked)
        return reconstruct([ArithmeticShare.total([piece[party] for piece in pieces]) for party in range(3)])

    def _batched(
        self, rows: Rows, shape: TreeShape, one: Callable[[list[ArithmeticShare], slice], Any], ticked: Ticked | None
    ) -> list[Any]:
        results, count = [], rows.shape[1]
        for piece in batches(shape, count):
            results.append(one(split(rows[:, piece].reshape(-1), shape.value_ring), piece))
            if ticked:
                ticked(piece.stop, count)
        return results

    def close(self) -> None:
        """End the processes; the next call starts new ones."""
        with self._lock:
            if self._processes is not None and self._owner == os.getpid():
                self._processes.close()
            self._processes = None


_parties = LocalParties()
atexit.register(_parties.close)


def local_parties() -> LocalParties:
    """The local parties of this process."""
    return _parties
