"""The two earlier methods of HIKC23's Table 1, on the same black box, so that the table can be measured.

Both train node by node and keep all n rows at every node, absent ones as dummies, to hide the sizes: 2^h times n rows.

- :func:`trivial_training` tries every row's value of every attribute as a threshold against all rows: n² comparisons.
- :func:`abspoel_training` (Abspoel, Escudero, Volgushev: AEV21, with an efficient sort) sorts the rows of a node by
  each attribute, present rows first, and scores the splits between neighbours.
"""

import numpy as np

from ..reference.node import Leaf, Node, Split
from ..trees.problem import Problem
from .box import Private, Score, if_else_many, prefix_sum, private_or, sort, vect_max
from .training import MIN_SCORE, MIN_THRESHOLD, apply_tests


def trivial_training(x: Private, y: Private, problem: Problem) -> Node:
    """O(2^h·m·n²) operations. The test's threshold is 2·x + 1 for a row's value x, so that X ≤ x passes."""
    return _node(x, y, x.box.enc(np.ones(problem.rows, np.int64)), problem, problem.height, _trivial_selection)


def abspoel_training(x: Private, y: Private, problem: Problem) -> Node:
    """O(2^h·m·n·log n) operations."""
    return _node(x, y, x.box.enc(np.ones(problem.rows, np.int64)), problem, problem.height, _abspoel_selection)


def _node(x: Private, y: Private, present: Private, problem: Problem, height: int, selection: object) -> Node:
    """One node: its test, opened at the end only to build the tree object, and its children with dummies."""
    box = x.box
    of_one = present * y
    ones, all_ = _total(of_one), _total(present)
    if height == 0:
        return Leaf(int(box.dec(box.lt(all_ - ones, ones, problem.widths.count_bits))[0]))
    assert callable(selection)
    aid, threshold = selection(x, y, present, problem)
    pure = box.eq(box.stack([ones, ones]), box.stack([all_, ones * 0]), problem.widths.count_bits)
    aid, threshold = if_else_many(private_or(pure[0], pure[1]), [1, MIN_THRESHOLD], [aid, threshold])
    b = apply_tests(x, aid[np.zeros(problem.rows, int)], threshold[np.zeros(problem.rows, int)], problem)
    true = present * b
    if_true = _node(x, y, true, problem, height - 1, selection)
    if_false = _node(x, y, present - true, problem, height - 1, selection)
    if int(box.dec(threshold)[0]) == MIN_THRESHOLD:
        return if_false
    return Split(int(box.dec(aid)[0]) - 1, int(box.dec(threshold)[0]), if_true, if_false)


def _total(x: Private) -> Private:
    return prefix_sum(x)[..., x.n - 1 :]


def _score(u: Private, u1: Private, s: Private, s1: Private) -> Score:
    """Modified Gini index from counts: rows and ones on the true side, rows and ones of the node."""
    box = u.box
    w, w1 = s - u, s1 - u1
    counts = box.stack([u - u1, u1, w - w1, w1])
    squares = counts * counts
    products = box.stack([w, u, w]) * box.stack([squares[0] + squares[1], squares[2] + squares[3], u])
    return products[0] + products[1], products[2]


def _best(score: Score, threshold: Private, skip: Private, problem: Problem) -> tuple[Private, Private]:
    """The best of m × n candidates; of equal ones the lowest attribute, then the first place."""
    box = threshold.box
    p, q, threshold = if_else_many(skip, [*MIN_SCORE, MIN_THRESHOLD], [score[0], score[1], threshold])
    m, n = problem.attributes, problem.rows

    def column(v: Private) -> Private:
        return box.stack([v[j, i : i + 1] for j in range(m) for i in range(n)])

    numbers = box.enc(np.repeat(np.arange(1, m + 1), n)[:, None])
    aid, best = vect_max((column(p), column(q)), [numbers, column(threshold)], problem.bounds.cross_bits)
    return aid, best


def _trivial_selection(x: Private, y: Private, present: Private, problem: Problem) -> tuple[Private, Private]:
    box = x.box
    n = problem.rows
    rows = np.arange(n)
    candidate, other = x[:, np.repeat(rows, n)], x[:, np.tile(rows, n)]
    passes = ~box.lt(candidate, other, problem.value_bits)
    weights = box.stack([present, present * y])[:, np.tile(rows, n)]
    counted = box.stack([passes, passes]) * box.stack([weights[0:1], weights[1:2]])
    sums = prefix_sum(counted)
    ends, starts = rows * n + n - 1, rows * n - 1
    inside = sums[..., ends] - sums[..., np.maximum(starts, 0)] * (starts >= 0).astype(np.int64)
    s, s1 = _total(present), _total(present * y)
    u, u1 = inside[0], inside[1]
    empty = box.eq(box.stack([u, s - u]), 0, problem.widths.count_bits)
    return _best(_score(u, u1, s, s1), 2 * x + 1, private_or(empty[0], empty[1]), problem)


def _abspoel_selection(x: Private, y: Private, present: Private, problem: Problem) -> tuple[Private, Private]:
    box = x.box
    m, n = problem.attributes, problem.rows
    flags = box.stack([present] * m)
    values, here, ones = sort([~flags, x], [1, problem.value_bits], [x, flags, box.stack([present * y] * m)])
    following = np.minimum(np.arange(n) + 1, n - 1)
    last = (np.arange(n) == n - 1).astype(np.int64)
    u, u1 = prefix_sum(here), prefix_sum(ones)
    same = box.eq(values, values[..., following], problem.value_bits)
    absent = ~here[..., following] * (1 - last) + last
    threshold = values + values[..., following]
    score = _score(u, u1, _total(here), _total(ones))
    return _best(score, threshold, private_or(absent, same), problem)
