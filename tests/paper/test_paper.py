"""HIKC23 as written: the paper's own examples, equality with the plaintext algorithm, and its cost model."""

import math

import numpy as np
import pytest

from hedgerow import errors
from hedgerow.bench.complexity import count_operations, draw, measure
from hedgerow.paper import box as paper_box
from hedgerow.paper import group
from hedgerow.paper.baselines import abspoel_training, trivial_training
from hedgerow.paper.counting import CountingBox
from hedgerow.paper.replicated import ReplicatedBox
from hedgerow.paper.shamir import ShamirBox
from hedgerow.paper.training import decision_tree_training
from hedgerow.reference.node import Leaf, Split, predict
from hedgerow.reference.tree import train
from hedgerow.shares import RING64, split
from hedgerow.trees.opened import decode
from hedgerow.trees.problem import Problem, check_table
from support import tables
from support.paper_rounds import training_rounds
from support.problems import train_parties
from support.threads import ThreadParties

FLAGS, VALUES = [1, 0, 1, 1, 0, 0], [3, 1, 2, 2, 3, 2]


def opened(box, layers):
    """The vectors of the paper's output by their names in a shared tree."""
    columns = {}
    for k, layer in enumerate(layers[:-1]):
        columns[f"layer{k}.number"], columns[f"layer{k}.attribute"] = box.dec(layer.nid), box.dec(layer.aid)
        columns[f"layer{k}.threshold"] = box.dec(layer.threshold)
    return columns | {"leaf.number": box.dec(layers[-1].nid), "leaf.label": box.dec(layers[-1].label)}


def train_counting(x, y, h):
    values, labels, problem = check_table(x, y, h)
    box = CountingBox()
    tree = opened(box, decision_tree_training(box.enc(values), box.enc(labels), problem))
    return tree, box.tally, problem


def on_all(program, *inputs):
    """Run ``program(box, *private vectors)`` on the counting box and, on both sharings, at three parties."""
    plain = CountingBox()
    clear = plain.dec(program(plain, *(plain.enc(np.array(values)) for values in inputs)))
    shares = [split(np.array(values).reshape(-1), RING64) for values in inputs]
    for kind in (ReplicatedBox, ShamirBox):

        def at_party(ctx, *shares, kind=kind):
            box = kind(ctx)
            vectors = [box.load(share, np.shape(values)) for share, values in zip(shares, inputs, strict=True)]
            return box.dec(program(box, *vectors))

        secure = ThreadParties().run(at_party, *shares)
        assert all(np.array_equal(secure[0], other) for other in secure)
        assert secure[0].tolist() == clear.tolist(), kind
    return clear.tolist()


def head(flags, i):
    return max(j for j in range(1, i + 1) if flags[j - 1] == 1)


def tail(flags, i):
    return min([j for j in range(i + 1, len(flags) + 1) if flags[j - 1] == 1] + [len(flags) + 1]) - 1


def test_the_papers_head_and_tail_example():
    assert (head(FLAGS, 2), head(FLAGS, 4), tail(FLAGS, 4), tail(FLAGS, 3)) == (1, 4, 6, 3)


def test_the_papers_table_of_group_wise_protocols():
    assert on_all(lambda box, g, x: group.group_sum(g, x), FLAGS, VALUES) == [4, 4, 2, 7, 7, 7]
    assert on_all(lambda box, g, x: group.group_prefix_sum(g, x), FLAGS, VALUES) == [3, 4, 2, 2, 5, 7]

    def maximum(box, g, x):
        return group.group_max(g, [x], lambda a, b: box.lt(a[0], b[0], 4))[0]

    assert on_all(maximum, FLAGS, VALUES) == [3, 3, 2, 3, 3, 3]


def test_group_wise_protocols_on_random_groups():
    generator = np.random.default_rng(5)
    for n in (1, 2, 3, 8, 13):
        g = generator.integers(0, 2, n)
        g[0] = 1
        x, b = generator.integers(0, 9, n), generator.integers(0, 2, n)
        groups = [np.nonzero(np.cumsum(g) == k)[0] for k in range(1, g.sum() + 1)]
        of = {i: rows for rows in groups for i in rows}
        assert on_all(lambda box, f, v: group.group_sum(f, v), g, x) == [int(x[of[i]].sum()) for i in range(n)]
        first = [int(b[i] and not b[[j for j in of[i] if j < i]].any()) for i in range(n)]
        assert on_all(lambda box, f, v: group.group_first_one(f, v, 5), g, b) == first
        same = [int(len(set(b[of[i]].tolist())) == 1) for i in range(n)]
        assert on_all(lambda box, f, v: group.group_same(f, v, 5), g, b) == same

        def best_place(box, f, v):
            places = box.enc(np.arange(v.n))
            return group.group_max(f, [v, places], lambda a, c: box.lt(a[0], c[0], 5))[1]

        winners = [int(of[i][np.argmax(x[of[i]])]) for i in range(n)]
        assert on_all(best_place, g, x) == winners


def test_derived_protocols():
    x, y = [3, 0, 7, 7], [1, 5, 7, 2]
    assert on_all(lambda box, a, b: paper_box.private_max(a, b, 4), x, y) == [3, 5, 7, 7]
    bits = [1, 0, 1, 0], [1, 1, 0, 0]
    assert on_all(lambda box, a, b: paper_box.private_or(a, b), *bits) == [1, 1, 1, 0]
    assert on_all(lambda box, a: ~a, bits[0]) == [0, 1, 0, 1]
    assert on_all(lambda box, c, a, b: paper_box.if_else(c, a, b), bits[0], x, y) == [3, 5, 7, 2]
    for forward, backward in [
        (paper_box.prefix_sum, paper_box.prefix_sum_inv),
        (paper_box.prefix_sum_r, paper_box.prefix_sum_r_inv),
    ]:
        assert on_all(lambda box, a, f=forward, b=backward: b(f(a)), x) == x
    assert on_all(lambda box, a: paper_box.prefix_sum_r(a), x) == [17, 14, 14, 7]
    assert on_all(lambda box, a, b: paper_box.sort([a], [3], [b])[0], x, y) == [5, 1, 7, 2]

    def best(box, p, q):
        numbers = box.enc(np.array([[10], [20], [30], [40], [50]]))
        return paper_box.vect_max((p, q), [numbers], 8)[0]

    assert on_all(best, [[1], [2], [4], [6], [1]], [[2], [3], [6], [9], [5]]) == [20]


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 200), marks=pytest.mark.slow)])
def test_two_hundred_random_tables_in_the_clear(seeds):
    for seed in seeds:
        x, y, h = tables.random_table(seed)
        tree, tally, problem = train_counting(x, y, h)
        assert decode(tree) == train(x, y, h), seed
        assert tally.rounds == training_rounds(problem), seed


@pytest.mark.parametrize("seeds", [range(1000, 1020), pytest.param(range(1020, 1200), marks=pytest.mark.slow)])
def test_two_hundred_random_tables_on_three_parties(seeds):
    for seed in seeds:
        x, y, h = tables.random_table(
            seed, most_rows=64 if seed % 10 == 0 else 20, most_height=8 if seed % 10 == 0 else 3
        )
        assert decode(train_parties(ThreadParties(), x, y, h)) == train(x, y, h), seed


def test_the_normalised_output():
    x, y = np.array([[1, 2, 3, 4]]), np.array([0, 0, 1, 1])
    tree, _, _ = train_counting(x, y, 3)
    assert [len(column) for name, column in tree.items() if name.endswith("number")] == [1, 2, 4, 4]
    columns = [column.tolist() for column in tree.values()]
    assert columns[:3] == [[1], [1], [5]]
    assert columns[3:6] == [[1, 2], [1, 1], [0, 0]]
    assert columns[-2:] == [[1, 2, 0, 0], [1, 0, 0, 0]]
    assert decode(tree) == Split(0, 5, Leaf(0), Leaf(1))


@pytest.mark.parametrize(
    ("x", "y", "h"),
    [
        ([[7]], [1], 3),
        ([[7]], [1], 0),
        ([[5, 5, 5]], [0, 1, 1], 4),
        ([[1, 2], [2, 1]], [0, 1], 5),
        ([[1, 2, 3, 4, 5, 6, 7, 8]], [0, 1, 0, 1, 0, 1, 0, 1], 50),
    ],
)
def test_small_and_extreme_shapes_on_three_processes(x, y, h, processes):
    assert decode(train_parties(processes, x, y, h)) == train(np.array(x), np.array(y), h)


def test_height_fifty_has_node_numbers_of_fifty_bits():
    """One row splits off at every layer: values double and the true side keeps on splitting."""
    x, y = np.array([[0, 1, 2, 3]]), np.array([0, 1, 0, 1])
    tree, _, _ = train_counting(x, y, 50)
    assert sum(name.endswith("threshold") for name in tree) == 50
    assert decode(tree) == train(x, y, 50)
    assert max(int(v) for v in tree["leaf.number"]) < 2**50


def test_real_tables_on_three_processes(processes):
    x, y = tables.iris_two_classes()
    assert decode(train_parties(processes, x, y, 4)) == train(x, y, 4)
    x, y = tables.breast_cancer()
    tree = decode(train_parties(processes, x, y, 3))
    assert tree == train(x, y, 3)
    assert (predict(tree, x) == y).mean() > 0.95


def test_tic_tac_toe_on_three_processes(processes):
    x, y = tables.tic_tac_toe()
    assert decode(train_parties(processes, x, y, 4)) == train(x, y, 4)


@pytest.mark.slow
def test_adult_numeric_on_three_processes(processes):
    x, y = tables.adult_numeric()
    assert decode(train_parties(processes, x, y, 3)) == train(x, y, 3)


@pytest.mark.parametrize(("n", "m"), [(24, 4), (50, 6)])
def test_operations_are_linear_in_the_height(n, m):
    counts = {h: count_operations("HIKC23", n, m, h)["operations"] for h in (3, 6, 12)}
    assert counts[6] / counts[3] == pytest.approx(2, rel=0.05)
    assert counts[12] / counts[6] == pytest.approx(2, rel=0.05)


def test_operations_fit_the_papers_bound():
    """Operations / (h·m·n·log n) stays within a constant over all sweeps."""
    ratios = [
        count_operations("HIKC23", n, m, h)["operations"] / (h * m * n * math.log2(n))
        for n, m, h in [(16, 4, 2), (64, 4, 2), (128, 4, 2), (64, 16, 2), (64, 4, 8)]
    ]
    assert max(ratios) / min(ratios) < 1.7


def test_the_earlier_methods_train_the_same_trees_exponentially():
    for seed in range(15):
        x, y, h = tables.random_table(seed, most_rows=12, most_attributes=2, most_height=3)
        values, labels, problem = check_table(x, y, h)
        box = CountingBox()
        assert abspoel_training(box.enc(values), box.enc(labels), problem) == train(x, y, h)
        tree = trivial_training(box.enc(values), box.enc(labels), problem)
        assert predict(tree, x).tolist() == predict(train(x, y, h), x).tolist()
    for method in ("trivial", "Abspoel et al., efficient sort"):
        counts = [count_operations(method, 8, 2, h)["operations"] for h in (3, 4, 5)]
        assert counts[1] / counts[0] == pytest.approx(2, rel=0.1)
        assert counts[2] / counts[1] == pytest.approx(2, rel=0.1)


def test_the_complexity_picture(tmp_path):
    path = tmp_path / "complexity.png"
    draw(measure(), path)
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("x", "y", "h", "message"),
    [
        (np.empty((2, 0)), [], 1, "empty"),
        (np.empty((0, 3)), [0, 1, 0], 1, "no input attribute"),
        ([[1, 2]], [0, 2], 1, "0 or 1"),
        ([[1, 2]], [0, 1], -1, "height"),
        ([[1, 2]], [0, 1], 63, "height"),
        ([[1.0, float("nan")]], [0, 1], 1, "NaN"),
        ([[1.5, 2.0]], [0, 1], 1, "fractions"),
        ([[-1, 2]], [0, 1], 1, "negative"),
        ([["a", "b"]], [0, 1], 1, "whole numbers"),
        ([[1, 2]], [0], 1, "labels"),
        ([1, 2], [0, 1], 1, "table"),
    ],
)
def test_bad_tables_are_refused_before_sharing(x, y, h, message):
    with pytest.raises(errors.InputError, match=message):
        check_table(x, y, h)


def test_sizes_that_cannot_be_exact_are_refused():
    with pytest.raises(errors.ExactnessError, match="at most 2,642,245 rows"):
        Problem(2_642_246, 1, 1, 8)
    assert Problem(2_642_245, 1, 1, 8).bounds.cross_bits <= 127
    with pytest.raises(errors.InputError, match="declare more"):
        check_table([[300, 1]], [0, 1], 1, value_bits=8)
