"""What HIKC23 measured, to be shown beside our own figures."""

from ..trees.problem import Problem

SECONDS: dict[str, dict[int, float]] = {
    "h": {1: 1.342, 2: 2.203, 5: 4.432, 10: 8.810, 20: 16.633, 50: 40.891},
    "n": {10: 1.811, 100: 2.092, 1_000: 2.569, 10_000: 4.432, 100_000: 32.035},
    "m": {1: 2.469, 2: 2.641, 5: 3.069, 10: 4.432, 20: 7.790, 50: 19.111, 100: 39.401},
}
"""Seconds of HIKC23's Tables 3 to 5: three servers with 2 × 8 cores each, 10 Gbit/s."""

BASE = {"h": 5, "n": 10_000, "m": 10}
"""The shape from which each table goes along one axis."""


def published_seconds(problem: Problem) -> float | None:
    """The paper's time for a table of this shape, where it has one."""
    shape = {"h": problem.height, "n": problem.rows, "m": problem.attributes}
    points = [points.get(shape[axis]) for axis, points in SECONDS.items() if shape == BASE | {axis: shape[axis]}]
    return next((seconds for seconds in points if seconds is not None), None)
