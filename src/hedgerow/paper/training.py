"""HIKC23, Section 4, as written: decision tree training on an arithmetic black box.

Each function is the paper's algorithm of the same name; variables carry the paper's names. Attributes, which the paper
treats "for each j in parallel", are the first axis of a private vector.

Conventions where the paper leaves a choice: attributes are numbered 1…m; MIN_VALUE is 0 for thresholds (values are not
negative, so 2·X < 0 is always false) and the fraction 0/1 for scores (a real candidate's is larger); NULL is 0 (node
numbers start at 1). Ties: of equal scores the lowest place inside an attribute wins, then the lowest attribute.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..reference.tree import slack
from ..trees.criteria.entropy import k_log_k_table, offset_of
from ..trees.problem import Problem
from .box import Private, Score, if_else_many, prefix_sum, private_or, sort, tabulate, vect_max
from .group import group_first_one, group_max, group_prefix_sum, group_same, group_sum

MIN_THRESHOLD = 0
MIN_SCORE = (0, 1)
NULL = 0


@dataclass(frozen=True, slots=True)
class Layer:
    """Layer information: node numbers with attributes and thresholds, or with labels in the last layer."""

    nid: Private
    aid: Private | None = None
    threshold: Private | None = None
    label: Private | None = None


def decision_tree_training(x: Private, y: Private, problem: Problem) -> list[Layer]:
    """DecisionTreeTraining (Algorithm 5): ``x[m, n]``, ``y[n]``; returns the layers 0…h: 3h + 2 private vectors."""
    box = x.box
    n = problem.rows
    g = box.enc(np.eye(1, n, dtype=np.int64)[0])
    nid = box.enc(np.ones(n, np.int64))
    layers = []
    for k in range(problem.height):
        layer, b = train_internal_nodes(k, x, y, g, nid, problem)
        layers.append(layer)
        with box.step("next_layer"):
            nid = (1 << k) * b + nid
            both = group_first_one(g, box.stack([~b, b]), problem.widths.count_bits)
            g = both[0] + both[1]
            *columns, y, g, nid = sort([b], [1], [*(x[j] for j in range(problem.attributes)), y, g, nid])
            x = box.stack(columns)
    with box.step("leaves"):
        layers.append(train_leaf_nodes(problem.height, g, y, nid, problem))
    return layers


def train_internal_nodes(
    k: int, x: Private, y: Private, g: Private, nid: Private, problem: Problem
) -> tuple[Layer, Private]:
    """TrainInternalNodes (Algorithm 7): the tests of layer k, and every row's test result."""
    box = x.box
    with box.step("test_selection"):
        aid, threshold = global_test_selection(x, y, g, problem)
    with box.step("stopping"):
        s = group_same(g, y, problem.widths.count_bits)
        aid, threshold = if_else_many(s, [1, MIN_THRESHOLD], [aid, threshold])
    with box.step("apply_tests"):
        b = apply_tests(x, aid, threshold, problem)
    with box.step("format_layer"):
        nid, aid, threshold = format_layer(k, g, [nid, aid, threshold], problem)
    return Layer(nid, aid, threshold), b


def train_leaf_nodes(h: int, g: Private, y: Private, nid: Private, problem: Problem) -> Layer:
    """TrainLeafNodes (Algorithm 11): the most frequent label of every group, 0 where both are equally frequent."""
    sums = group_sum(g, g.box.stack([~y, y]))
    label = g.box.lt(sums[0], sums[1], problem.widths.count_bits)
    nid, label = format_layer(h, g, [nid, label], problem)
    return Layer(nid, label=label)


def apply_tests(x: Private, aid: Private, threshold: Private, problem: Problem) -> Private:
    """ApplyTests (Algorithm 9): the bit 2·X_aid < threshold of every row."""
    box = x.box
    numbers = np.arange(1, problem.attributes + 1)[:, None]
    e = box.eq(box.stack([aid] * problem.attributes), numbers, problem.attributes.bit_length())
    chosen = box.dot(x, e)
    return box.lt(2 * chosen, threshold, problem.value_bits + 1)


def format_layer(k: int, g: Private, columns: Sequence[Private], problem: Problem) -> list[Private]:
    """FormatLayer (Algorithm 10): keep one item of every group, at the front, padded with NULL."""
    kept = if_else_many(g, columns, [g.box.enc(np.full(g.shape, NULL)) for _ in columns])
    moved = sort([~g], [1], kept)
    return [column[: problem.layer_length(k)] for column in moved]


def global_test_selection(x: Private, y: Private, g: Private, problem: Problem) -> tuple[Private, Private]:
    """GlobalTestSelection (Algorithm 12): attribute and threshold of the best test of every group."""
    box = x.box
    m = problem.attributes
    groups = prefix_sum(g)
    u, v = sort([box.stack([groups] * m), x], [problem.widths.count_bits, problem.value_bits], [x, box.stack([y] * m)])
    threshold, score = attributewise_test_selection(g, u, v, problem)
    numbers = box.enc(np.repeat(np.arange(1, m + 1)[:, None], problem.rows, axis=1))
    aid, best = vect_max(score, [numbers, threshold], problem.bounds.cross_bits)
    return aid, best


def attributewise_test_selection(g: Private, x: Private, y: Private, problem: Problem) -> tuple[Private, Score]:
    """AttributewiseTestSelection (Algorithm 13): threshold and score of the best test of every group, per attribute."""
    box = x.box
    n = problem.rows
    p, q = modified_gini(g, y) if problem.criterion == "gini" else entropy_score(g, y, problem)
    following = np.minimum(np.arange(n) + 1, n - 1)
    last = (np.arange(n) == n - 1).astype(np.int64)
    threshold = (x + x[..., following]) * (1 - last)
    same = box.eq(x, x[..., following], problem.value_bits)
    ends = g[..., following] * (1 - last) + last
    skip = private_or(ends, same)
    p, q, threshold = if_else_many(skip, [*MIN_SCORE, MIN_THRESHOLD], [p, q, threshold])
    bits = problem.bounds.cross_bits

    def less(a: Sequence[Private], b: Sequence[Private]) -> Private:
        return box.lt_fraction((a[0], a[1]), (b[0], b[1]), bits)

    p, q, threshold = group_max(g, [p, q, threshold], less)
    return threshold, (p, q)


def modified_gini(g: Private, y: Private) -> Score:
    """ModifiedGini (Algorithm 14): numerator and denominator of the score of a split after every place.

    The pair stands for the quotient; scores are compared by cross products.
    """
    box = y.box
    classes = box.stack([~y, y])
    u = group_prefix_sum(g, classes)
    s = group_sum(g, classes)
    w = s - u
    u_all, w_all = u[0] + u[1], w[0] + w[1]
    squares = box.stack([u, w]) * box.stack([u, w])
    products = box.stack([w_all, u_all, w_all]) * box.stack(
        [squares[0, 0] + squares[0, 1], squares[1, 0] + squares[1, 1], u_all]
    )
    return products[0] + products[1], products[2]


def entropy_score(g: Private, y: Private, problem: Problem) -> Score:
    """Entropy or gain ratio in place of Algorithm 14, as HIKC23 proposes (ID3, C4.5): the same sums, put into
    f(k) = k·log2 k of whole numbers; see :mod:`hedgerow.trees.criteria.entropy`."""
    box = y.box
    classes = box.stack([~y, y])
    u = group_prefix_sum(g, classes)
    s = group_sum(g, classes)
    w = s - u
    s = s + u * 0
    parts = [u[0], u[1], w[0], w[1], u[0] + u[1], w[0] + w[1], s[0], s[1], s[0] + s[1]]
    ratio = problem.criterion == "gain_ratio"
    f = tabulate(box.stack(parts if ratio else parts[:6]), k_log_k_table(problem.rows))
    split = f[4] + f[5]
    score = f[0] + f[1] + f[2] + f[3] - split
    if not ratio:
        return score + offset_of(problem), score * 0 + 1
    return score - f[6] - f[7] + f[8] + slack(2), f[8] - split
