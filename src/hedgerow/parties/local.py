"""Training and prediction with three parties on this machine, started when first needed and kept for the next call."""

import atexit
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..shares import RING64, Numbers, reconstruct, split
from ..trees.predict import batches, probability_table
from ..trees.problem import Problem
from ..trees.shared_tree import SharedTree
from ..trees.table import TrainingTable
from .process import PartyProcesses, PartyReport, Progress
from .program import run_evaluation, run_labels, run_probabilities, run_training

Rows = npt.NDArray[np.uint64]
RowProgress = Callable[[int, int], None]
"""Called with the number of rows that are done and the number of all rows."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run at the local parties gave and took."""

    value: Any
    reports: list[PartyReport]


class ProcessParties:
    """Three party processes on this machine that train and predict. The caller plays the data owner and the asker.

    They start with the first call, are shared by all estimators of the process and end with it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: PartyProcesses | None = None
        self._owner = 0

    def __repr__(self) -> str:
        return "ProcessParties()"

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
        problem: Problem,
        algorithm: str = "fast",
        progress: Progress | None = None,
        weights: Rows | None = None,
    ) -> Outcome:
        """Share ``x[attribute, row]``, ``y`` and ``weights``, train, and return the parties' shares of the tree."""
        shares = TrainingTable.split(x, y, weights)
        reports = self._run(run_training, shares, [problem] * 3, [algorithm] * 3, progress=progress)
        return Outcome([report.result for report in reports], reports)

    def labels(
        self, trees: Sequence[SharedTree], rows: Rows, problem: Problem, ticked: RowProgress | None = None
    ) -> Any:
        """Class numbers or estimates of rows given doubled, ``rows[attribute, row]``; only these are opened, here."""

        def one(part: list[list[Numbers]], _: slice) -> Any:
            reports = self._run(run_labels, trees, part, [problem] * 3)
            return reconstruct([report.result for report in reports])

        pieces = self._batched(rows, problem, one, ticked)
        return np.concatenate(pieces).astype(np.int64) if pieces else np.zeros(0, np.int64)

    def probabilities(
        self, trees: Sequence[SharedTree], rows: Rows, problem: Problem, ticked: RowProgress | None = None
    ) -> Any:
        """Probabilities ``[row, class]`` of rows given doubled."""

        def one(part: list[list[Numbers]], _: slice) -> Any:
            reports = self._run(run_probabilities, trees, part, [problem] * 3)
            columns = zip(*(report.result for report in reports), strict=True)
            return probability_table([reconstruct(list(column)) for column in columns])

        return np.concatenate(self._batched(rows, problem, one, ticked))

    def evaluation(
        self, trees: Sequence[SharedTree], rows: Rows, truth: Rows, problem: Problem, ticked: RowProgress | None = None
    ) -> npt.NDArray[Any]:
        """The confusion matrix, flat, or the sums of squared errors; only these are opened, summed over all batches."""

        def one(part: list[list[Numbers]], piece: slice) -> Any:
            reports = self._run(run_evaluation, trees, part, split(truth[piece], RING64), [problem] * 3)
            return [report.result for report in reports]

        pieces = self._batched(rows, problem, one, ticked)
        return reconstruct([Numbers.total([piece[party] for piece in pieces]) for party in range(3)])

    def _batched(
        self, rows: Rows, problem: Problem, one: Callable[[list[list[Numbers]], slice], Any], ticked: RowProgress | None
    ) -> list[Any]:
        results, count = [], rows.shape[1]
        for piece in batches(problem, count):
            shares = split(rows[:, piece].reshape(-1), problem.widths.value_ring)
            results.append(one([share.pieces(piece.stop - piece.start) for share in shares], piece))
            if ticked:
                ticked(piece.stop, count)
        return results

    def close(self) -> None:
        """End the processes; the next call starts new ones."""
        with self._lock:
            if self._processes is not None and self._owner == os.getpid():
                self._processes.close()
            self._processes = None


_parties = ProcessParties()
atexit.register(_parties.close)


def local_parties() -> ProcessParties:
    """The local parties of this process."""
    return _parties
