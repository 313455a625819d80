"""The table that a training run learns from, as one party holds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..engine import FREE, Context, Cost
from ..errors import InputError
from ..protocols import truncate, truncate_cost
from ..shares import RING64, Numbers, split
from .problem import Problem


@dataclass(frozen=True, slots=True)
class TrainingTable:
    """Shares of attributes ``x``, one vector each, of labels or targets ``y`` and maybe of weights, all in 2^64."""

    x: list[Numbers]
    y: Numbers
    weights: Numbers | None = None

    @staticmethod
    def of_flat(x: Numbers, y: Numbers, weights: Numbers | None = None) -> TrainingTable:
        """A table whose attributes are one vector, attribute by attribute."""
        return TrainingTable(x.pieces(len(y)), y, weights)

    @staticmethod
    def split(x: Any, y: Any, weights: Any = None) -> list[TrainingTable]:
        """What a data owner does with plain whole numbers ``x[attribute, row]``, ``y`` and weights: three shares."""
        parts = split(x.reshape(-1), RING64), split(y, RING64), split(weights, RING64) if weights is not None else None
        return [
            TrainingTable.of_flat(parts[0][party], parts[1][party], parts[2][party] if parts[2] else None)
            for party in range(3)
        ]

    def check(self, problem: Problem) -> None:
        """Refuse a table that does not go with the problem."""
        if (self.weights is None) is problem.row_weights:
            raise InputError("weights must be given exactly if the problem declares their bits")
        if len(self.x) != problem.attributes or any(len(x) != problem.rows for x in (*self.x, self.y)):
            raise InputError(f"a table of {problem.attributes} attributes and {problem.rows} rows is needed")


def truncate_to_declared(ctx: Context, table: TrainingTable, problem: Problem) -> TrainingTable:
    """Labels or targets and weights cut to their declared bits; attributes are cut before they are sorted.

    Sums of what exceeds its declared bits would overflow, and with them the places that are opened. Cost:
    :func:`truncate_to_declared_cost`. Reveals: nothing beyond shapes.
    """
    y, weights = table.y, table.weights
    if weights is not None:
        weights = truncate(ctx.step("weights"), weights, problem.weight_bits, RING64)
    if problem.classes <= 2:
        y = truncate(ctx.step("labels"), y, problem.target_bits or 1, RING64)
    return TrainingTable(table.x, y, weights)


def truncate_to_declared_cost(problem: Problem) -> Cost:
    """Cost of :func:`truncate_to_declared`."""
    cost = truncate_cost(problem.rows, problem.weight_bits, RING64) if problem.row_weights else FREE
    return cost if problem.classes > 2 else cost + truncate_cost(problem.rows, problem.target_bits or 1, RING64)
