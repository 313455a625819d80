"""The plaintext training algorithm of HIKC23, Section 2, exactly: the twin every trained tree is compared with.

Stopping: height h reached, all labels equal, or all rows equal. Scores are exact fractions. Ties are a stated rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .node import Leaf, Node, Split


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible split of a node: rows up to ``place`` in the order of ``attribute`` go to the true side."""

    score: Fraction
    attribute: int
    place: int
    threshold: int


Rule = Callable[[Candidate], Any]


def paper_rule(candidate: Candidate) -> Any:
    """Highest score, then lowest attribute, then lowest place: HIKC23's Max inside an attribute, then VectMax."""
    return candidate.score, -candidate.attribute, -candidate.place


def fast_rule(candidate: Candidate) -> Any:
    """Highest score, then lowest place, then lowest attribute: the fast trainer's tournament, then its maximum."""
    return candidate.score, -candidate.place, -candidate.attribute


def train(x: npt.NDArray[Any], y: npt.NDArray[Any], height: int, rule: Rule = paper_rule) -> Node:
    """Train on ``x[m, n]`` and labels 0/1 ``y[n]``."""
    values, labels = np.asarray(x).astype(np.int64), np.asarray(y).astype(np.int64)
    ones = int(labels.sum())
    if height == 0 or ones in (0, len(labels)):
        return Leaf(int(len(labels) - ones < ones))
    best = best_split(values, labels, rule)
    if best is None:
        return Leaf(int(len(labels) - ones < ones))
    true = 2 * values[best.attribute] < best.threshold
    return Split(
        best.attribute,
        best.threshold,
        train(values[:, true], labels[true], height - 1, rule),
        train(values[:, ~true], labels[~true], height - 1, rule),
    )


def best_split(values: npt.NDArray[Any], labels: npt.NDArray[Any], rule: Rule) -> Candidate | None:
    """The best candidate by the rule. Floats only sieve: whatever is near the top is compared as exact fractions."""
    arrays = []
    for attribute in range(len(values)):
        order = np.argsort(values[attribute], kind="stable")
        sorted_values, sorted_labels = values[attribute][order], labels[order]
        places = np.nonzero(sorted_values[:-1] != sorted_values[1:])[0]
        p, q = scores(sorted_labels, places)
        arrays.append((places, p, q, sorted_values))
    top = max((float((p / q).max()) for _, p, q, _ in arrays if len(p)), default=None)
    if top is None:
        return None
    candidates = []
    for attribute, (places, p, q, sorted_values) in enumerate(arrays):
        for k in np.nonzero(p / q >= top * (1 - 1e-9))[0]:
            place = int(places[k])
            threshold = int(sorted_values[place]) + int(sorted_values[place + 1])
            candidates.append(Candidate(Fraction(int(p[k]), int(q[k])), attribute, place, threshold))
    return max(candidates, key=rule)


def scores(labels: npt.NDArray[Any], places: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Numerator and denominator of the modified Gini index of a split after each place."""
    n, ones = len(labels), int(labels.sum())
    u1 = np.cumsum(labels)[places].astype(np.int64)
    u = places + 1
    u0, w1 = u - u1, ones - u1
    w = n - u
    w0 = w - w1
    return w * (u0**2 + u1**2) + u * (w0**2 + w1**2), u * w
