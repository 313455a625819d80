"""The plaintext training algorithm of HIKC23, Section 2, exactly, and all that Hedgerow learns beyond it: the twin
every trained tree is compared with.

Stopping: height h reached, all labels equal, no two rows different, or a rule. Scores are exact
fractions. Ties are a stated rule.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .logarithm import PLACES, k_log_k_of
from .node import Leaf, Node, Split

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible split of a node: rows up to ``place`` in the order of ``attribute`` go to the true side."""

    score: Fraction
    attribute: int
    place: int
    threshold: int


@dataclass(frozen=True, slots=True)
class TwinRules:
    """What is learnt: ``classes`` classes, or for 0 a number; and the rules that end growth before the height does.

    ``places`` are the binary places of a leaf's mean.
    """

    classes: int = 2
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_impurity_decrease: Fraction = Fraction(0)
    places: int = 16
    criterion: str = "gini"


Rule = Callable[[Candidate], Any]


def paper_rule(candidate: Candidate) -> Any:
    """Highest score, then lowest attribute, then lowest place: HIKC23's Max inside an attribute, then VectMax."""
    return candidate.score, -candidate.attribute, -candidate.place


def fast_rule(candidate: Candidate) -> Any:
    """Highest score, then lowest place, then lowest attribute: the fast trainer's tournament, then its maximum."""
    return candidate.score, -candidate.place, -candidate.attribute


def tested_categories(count: int) -> range:
    """The categories of an attribute that get a test: all of them, but of two only the first."""
    return range(count if count > 2 else 1)


def expand(x: Array, categories: Sequence[int]) -> Array:
    """Numbers as they are, and for every tested category v the bit "another category than v"."""
    rows = []
    for values, count in zip(np.asarray(x), categories, strict=True):
        rows += [(values != v).astype(np.int64) for v in tested_categories(count)] if count else [values]
    return np.stack(rows)


def train(
    x: Array,
    y: Array,
    height: int,
    rule: Rule = paper_rule,
    rules: TwinRules | None = None,
    weights: Array | None = None,
) -> Node:
    """Train on ``x[m, n]`` and labels ``y[n]``: class numbers, or whole numbers to be estimated.

    Rows of weight 0 do not exist.
    """
    values, labels = np.asarray(x).astype(np.int64), np.asarray(y).astype(np.int64)
    rules = rules or TwinRules()
    if weights is None:
        return _node(values, labels, np.ones(len(labels), np.int64), height, rule, rules, len(labels))
    mass = np.asarray(weights).astype(np.int64)
    kept = mass > 0
    return _node(values[:, kept], labels[kept], mass[kept], height, rule, rules, int(mass.sum()))


def _node(values: Array, labels: Array, mass: Array, height: int, rule: Rule, rules: TwinRules, whole: int) -> Node:
    best = None
    if height > 0 and len(labels) >= rules.min_samples_split and len(np.unique(labels)) > 1:
        best = best_split(values, labels, rule, rules, mass, whole)
    if best is not None and not _worth(best, labels, mass, rules, whole):
        best = None
    if best is None:
        return Leaf(leaf_label(labels, mass, rules))
    true = 2 * values[best.attribute] < best.threshold
    return Split(
        best.attribute,
        best.threshold,
        _node(values[:, true], labels[true], mass[true], height - 1, rule, rules, whole),
        _node(values[:, ~true], labels[~true], mass[~true], height - 1, rule, rules, whole),
    )


def leaf_label(labels: Array, mass: Array, rules: TwinRules) -> int:
    """The class with the largest weight, of equal ones the lowest; or the mean times 2^places, rounded down."""
    if rules.classes == 0:
        weight = int(mass.sum())
        return (sum_of(labels, mass) << rules.places) // weight if weight else 0
    return int(np.argmax([int(mass[labels == c].sum()) for c in range(rules.classes)]))


def sum_of(labels: Array, mass: Array) -> int:
    """The weighted sum of targets, without overflow."""
    return int((labels.astype(object) * mass).sum()) if len(labels) else 0


def _summands(labels: Array, mass: Array, rules: TwinRules) -> Array:
    """What a row adds to the sums that are squared in a score: a row for every class, or one of targets."""
    if rules.classes == 0:
        return (labels.astype(object) * mass)[None]
    return np.stack([(labels == c) * mass for c in range(rules.classes)]).astype(object)


def _worth(best: Candidate, labels: Array, mass: Array, rules: TwinRules, whole: int) -> bool:
    """Whether a split lowers the impurity enough; a regression tree's must lower the error."""
    sums, weight = _summands(labels, mass, rules).sum(axis=1), int(mass.sum())
    if rules.criterion != "gini":
        return True
    gain = best.score - Fraction(int((sums * sums).sum()), weight)
    if rules.classes == 0 and gain == 0:
        return False
    return gain >= rules.min_impurity_decrease * whole


def best_split(
    values: Array, labels: Array, rule: Rule, rules: TwinRules | None = None, mass: Array | None = None, whole: int = 0
) -> Candidate | None:
    """The best candidate by the rule. Floats only filter: whatever is near the top is compared as exact fractions.

    By entropy and gain ratio only splits that gain enough of ``whole``, the weight of all rows, are candidates.
    """
    rules = rules or TwinRules()
    least_gain = rules.min_impurity_decrease * (whole << PLACES)
    mass = np.ones(len(labels), np.int64) if mass is None else mass
    summands = _summands(labels, mass, rules)
    least = rules.min_samples_leaf
    arrays = []
    for attribute in range(len(values)):
        order = np.argsort(values[attribute], kind="stable")
        sorted_values = values[attribute][order]
        places = np.nonzero(sorted_values[:-1] != sorted_values[1:])[0]
        places = places[(places + 1 >= least) & (len(labels) - places - 1 >= least)]
        p, q, gains = scores(summands[:, order], mass[order], places, rules.criterion)
        if rules.criterion != "gini" and least_gain > 0:
            enough = np.array([gain >= least_gain for gain in gains.tolist()], bool)
            places, p, q = places[enough], p[enough], q[enough]
        arrays.append((places, p, q, sorted_values, (p / q).astype(float)))
    top = max((float(score.max()) for *_, score in arrays if len(score)), default=None)
    if top is None:
        return None
    candidates = []
    for attribute, (places, p, q, sorted_values, score) in enumerate(arrays):
        for k in np.nonzero(score >= top - 1e-9 * abs(top))[0]:
            place = int(places[k])
            threshold = int(sorted_values[place]) + int(sorted_values[place + 1])
            candidates.append(Candidate(Fraction(int(p[k]), int(q[k])), attribute, place, threshold))
    return max(candidates, key=rule)


def slack(classes: int) -> int:
    """What gains are raised by, in units of 2^-32: f of both sides of every class is rounded down, and of the whole."""
    return 2 * classes + 2


def scores(summands: Array, mass: Array, places: Array, criterion: str = "gini") -> tuple[Array, Array, Array]:
    """Numerator and denominator of the score after each place, and what entropy gains; see :func:`entropy_scores`.

    For Gini it is the modified Gini index (or what the squared error loses).
    """
    sums, weight = summands.sum(axis=1)[:, None], int(mass.sum())
    left = np.cumsum(summands, axis=1)[:, places]
    u = np.cumsum(mass)[places].astype(object)
    w = weight - u
    right = sums - left
    if criterion != "gini":
        u, w = u.astype(np.int64), w.astype(np.int64)
        return entropy_scores(left.astype(np.int64), right.astype(np.int64), u, w, criterion)
    p = w * (left * left).sum(axis=0) + u * (right * right).sum(axis=0)
    return p, u * w, np.zeros_like(p)


def entropy_scores(left: Array, right: Array, u: Array, w: Array, criterion: str) -> tuple[Array, Array, Array]:
    """With f(k) = k·log2 k the entropy of both sides is f(u) + f(w) - Σf(u_c) - Σf(w_c), the lower the better.

    A gain ratio divides what that gains, raised by :func:`slack`, by the entropy of the split, f(s) - f(u) - f(w).
    """
    split = k_log_k_of(u) + k_log_k_of(w)
    score = k_log_k_of(left).sum(axis=0) + k_log_k_of(right).sum(axis=0) - split
    whole = k_log_k_of(u + w)
    gain = score - (k_log_k_of(left + right).sum(axis=0) - whole)
    if criterion == "entropy":
        return score, np.ones_like(score), gain
    return gain + slack(len(left)), whole - split, gain
