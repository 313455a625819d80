"""Private prediction against the plaintext twin; lookups, divisions, confusion matrices."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.reference.node import predict
from hedgerow.reference.tree import fast_rule, train
from hedgerow.shares import RING32, RING64, reconstruct, split
from hedgerow.trees.lookup import ONE_HOT_NODES, lookup
from hedgerow.trees.opened import reconstruct_root
from hedgerow.trees.predict import batches, confusion, predict_labels, predict_probabilities
from hedgerow.trees.problem import Problem, check_table
from hedgerow.trees.table import TrainingTable
from hedgerow.trees.trainer import train_fast
from support.threads import ThreadParties


def run_all(ctx, x, y, rows, problem):
    tree = train_fast(ctx.step("train"), TrainingTable.of_flat(x, y), problem)
    columns = rows.pieces(len(rows) // problem.attributes)
    labels = predict_labels(ctx.step("predict"), tree, columns, problem)
    return tree, labels, predict_probabilities(ctx.step("chances"), tree, columns, problem)[0]


def leaf_shares(tree, x, y, rows):
    """Per row the share of ones among the training rows of its leaf, times 2^16, rounded down."""
    from hedgerow.reference.node import Leaf

    def path(node, values):
        steps = []
        while not isinstance(node, Leaf):
            passes = 2 * int(values[node.feature]) < node.threshold
            steps.append(passes)
            node = node.if_true if passes else node.if_false
        return tuple(steps)

    trained = [path(tree, x[:, i]) for i in range(x.shape[1])]
    results = []
    for i in range(rows.shape[1]):
        mine = [int(y[k]) for k in range(len(y)) if trained[k] == path(tree, rows[:, i])]
        results.append((sum(mine) << 16) // len(mine))
    return results


@pytest.mark.parametrize(
    ("rows", "attributes", "height", "bits"),
    [(40, 3, 3, 6), (90, 2, 8, 4), (7, 1, 0, 5), (60, 12, 4, 31), (30, 2, 34, 9)],
)
def test_prediction_equals_the_twins(rows, attributes, height, bits):
    generator = np.random.default_rng(rows)
    x = generator.integers(0, 1 << bits, (attributes, rows))
    y = generator.integers(0, 2, rows)
    x, y, problem = check_table(x, y, height, bits)
    new = generator.integers(0, 1 << bits, (attributes, 50)).astype(np.uint64)
    shares = split(x.reshape(-1), RING64), split(y, RING64), split(2 * new.reshape(-1), problem.widths.value_ring)
    results = ThreadParties().run(run_all, *shares, [problem] * 3)
    tree = train(x, y, height, fast_rule)
    assert reconstruct_root([r[0] for r in results]) == tree
    assert reconstruct([r[1] for r in results]).tolist() == predict(tree, new).tolist()
    assert reconstruct([r[2] for r in results]).tolist() == leaf_shares(tree, x, y, new)


def test_height_31_with_more_leaves_than_are_compared_one_by_one():
    """Node numbers fill 32 bits there, and a sort needs a bit more."""
    generator = np.random.default_rng(31)
    x, y, problem = check_table(generator.integers(0, 1 << 9, (1, 300)), generator.integers(0, 2, 300), 31, 9)
    new = generator.integers(0, 1 << 9, (1, 40)).astype(np.uint64)
    shares = split(x.reshape(-1), RING64), split(y, RING64), split(2 * new.reshape(-1), problem.widths.value_ring)
    results = ThreadParties().run(run_all, *shares, [problem] * 3)
    assert np.count_nonzero(reconstruct([r[0].leaves.number for r in results])) > ONE_HOT_NODES
    tree = train(x, y, 31, fast_rule)
    assert reconstruct([r[1] for r in results]).tolist() == predict(tree, new).tolist()


@pytest.mark.parametrize("one_hot", [True, False])
@pytest.mark.parametrize(("nodes", "rows"), [(1, 5), (9, 3), (20, 130)])
def test_lookup_both_ways(one_hot, nodes, rows):
    generator = np.random.default_rng(nodes)
    numbers = generator.permutation(np.concatenate([generator.choice(np.arange(1, 64), nodes, replace=False), [0, 0]]))
    a, b = generator.integers(0, 1 << 32, len(numbers)), generator.integers(0, 1 << 62, len(numbers))
    wanted = generator.choice(numbers[numbers > 0], rows)

    def program(ctx, numbers, a, b, wanted):
        return lookup(ctx.step("lookup"), numbers, [a, b], wanted, 6, one_hot)

    inputs = ((numbers, RING32), (a, RING32), (b, RING64), (wanted, RING32))
    results = ThreadParties().run(program, *(split(v, ring) for v, ring in inputs))
    where = [numbers.tolist().index(w) for w in wanted]
    assert reconstruct([r[0] for r in results]).tolist() == a[where].tolist()
    assert reconstruct([r[1] for r in results]).tolist() == b[where].tolist()


def test_confusion_counts_every_pair_of_classes():
    generator = np.random.default_rng(5)
    truth, predicted = generator.integers(0, 3, 200), generator.integers(0, 3, 200)

    def program(ctx, truth, predicted):
        return confusion(ctx.step("confusion"), truth, predicted, 3)

    results = ThreadParties().run(program, split(truth, RING32), split(predicted, RING32))
    expected = [int(((truth == i) & (predicted == j)).sum()) for i in range(3) for j in range(3)]
    assert reconstruct(results).tolist() == expected


def test_batches_cover_all_rows_once():
    problem = Problem(100, 500, 3, 10)
    pieces = batches(problem, 10_001)
    assert len(pieces) > 1
    assert [i for piece in pieces for i in range(piece.start, piece.stop)] == list(range(10_001))
