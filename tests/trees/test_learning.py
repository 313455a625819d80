"""What the fast trainer learns beyond two classes: equality with the twin, costs, what stays hidden or is refused."""

import numpy as np
import pytest

from hedgerow.errors import ExactnessError, InputError
from hedgerow.reference.node import Leaf, predict
from hedgerow.reference.tree import expand, fast_rule, train
from hedgerow.shares import RING64, RING128, reconstruct, split
from hedgerow.trees.opened import opened_columns
from hedgerow.trees.predict import Errors, predict_labels, predict_probabilities, squared_errors
from hedgerow.trees.problem import Problem
from hedgerow.trees.rules import check_algorithm
from hedgerow.trees.trainer import TrainingCost
from support import problems
from support.operations import dealers
from support.threads import ThreadParties, run_parties
from support.transcript import RecordingTransport

MIXTURES = [
    ("classes",),
    ("categories",),
    ("weights",),
    ("rules",),
    ("regression",),
    ("class weights", "classes", "weights"),
    ("categories", "rules"),
    ("classes", "categories", "weights", "rules"),
    ("regression", "categories", "weights", "rules"),
    ("regression", "categories", "rules"),
]


@pytest.mark.parametrize("kinds", MIXTURES, ids="+".join)
@pytest.mark.parametrize("block", [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 12))])
def test_random_tables_of_everything(block, kinds):
    """360 for every feature and mixture; ties, constant columns, one class, one row, no weight."""
    for seed in range(20) if block == 0 else range(20 + 31 * (block - 1), 20 + 31 * block):
        x, y, weights, problem = problems.draw(seed, kinds)
        parts = problems.train_secure(x, y, weights, problem)
        tree = problems.opened(parts)
        assert tree == problems.twin(x, y, weights, problem), seed
        check_counts(parts, tree, x, y, weights, problem)


def check_counts(parts, tree, x, y, weights, problem):
    """Leaves hold the weights (and sums) of the rows that reach them."""
    mass = problems.masses(y, weights, problem)
    kept = mass > 0
    if not kept.any():
        assert problems.counts_by_leaf(parts) == []
        return
    reached = leaf_numbers(tree, expand(x, problem.categories or (0,) * len(x)))
    expected = []
    for leaf in set(reached[kept].tolist()):
        rows = kept & (reached == leaf)
        if problem.regression:
            expected.append((int(mass[rows].sum()), int((mass * y)[rows].sum())))
        else:
            expected.append(tuple(int(mass[rows & (y == c)].sum()) for c in range(problem.classes)))
    assert problems.counts_by_leaf(parts) == sorted(expected)


def leaf_numbers(tree, features):
    """Which leaf every row reaches, counted in depth-first order."""
    found = np.empty(features.shape[1], np.int64)
    count = 0

    def fill(node, rows):
        nonlocal count
        if isinstance(node, Leaf):
            found[rows] = count
            count += 1
            return
        passes = 2 * features[node.feature, rows] < node.threshold
        fill(node.if_true, rows[passes])
        fill(node.if_false, rows[~passes])

    fill(tree, np.arange(features.shape[1]))
    return found


@pytest.mark.parametrize("kinds", [("classes",), ("classes", "weights"), ("regression", "categories")], ids="+".join)
def test_tournaments_in_several_batches(kinds, monkeypatch):
    monkeypatch.setattr("hedgerow.trees.tournament.PAIRS", 64)
    for seed in (1, 2, 3):
        x, y, weights, problem = problems.draw(seed, kinds, most_rows=300)
        parts = problems.train_secure(x, y, weights, problem)
        assert problems.opened(parts) == problems.twin(x, y, weights, problem), seed


@pytest.mark.parametrize("kinds", MIXTURES[-4:], ids="+".join)
def test_three_processes(kinds, processes):
    for seed in (1001, 1002):
        x, y, weights, problem = problems.draw(seed, kinds, most_rows=300)
        parts = problems.train_secure(x, y, weights, problem, processes)
        assert problems.opened(parts) == problems.twin(x, y, weights, problem), seed


def test_a_hundred_classes(processes):
    generator = np.random.default_rng(4)
    x = generator.integers(0, 50, (3, 400))
    y = (x[0] * 2 + generator.integers(0, 2, 400)).astype(int)
    problem = Problem(400, 3, 6, 6, classes=100)
    parts = problems.train_secure(x, y, None, problem, processes)
    tree = problems.opened(parts)
    assert tree == problems.twin(x, y, None, problem)
    check_counts(parts, tree, x, y, None, problem)


def test_a_weight_is_as_many_rows():
    generator = np.random.default_rng(5)
    x, y, weights = generator.integers(0, 9, (3, 40)), generator.integers(0, 3, 40), generator.integers(0, 4, 40)
    problem = Problem(40, 3, 3, 4, classes=3, weight_bits=2)
    rows = np.repeat(np.arange(40), weights)
    repeated = Problem(len(rows), 3, 3, 4, classes=3)
    weighted = problems.train_secure(x, y, weights, problem)
    plain = problems.train_secure(x[:, rows], y[rows], None, repeated)
    # Places differ, so ties could be broken differently; this table has none that matter.
    assert problems.opened(weighted) == problems.opened(plain)
    assert problems.counts_by_leaf(weighted) == problems.counts_by_leaf(plain)


def test_rows_without_weight_leave_no_trace_in_an_opened_tree():
    """Every entry that is no node looks the same, whether rows have weight 0 or there are just fewer nodes."""
    generator = np.random.default_rng(6)
    x, y = generator.integers(0, 9, (2, 30)), generator.integers(0, 2, 30)
    problem = Problem(30, 2, 3, 4, weight_bits=1)
    present = np.ones(30, np.int64)
    absent = present.copy()
    absent[[3, 8, 20]] = 0
    for weights in (present, absent):
        tree = opened_columns(problems.train_secure(x, y, weights, problem))
        for name, numbers in tree.items():
            if name.endswith(".number"):
                part = name.removesuffix("number")
                columns = [column for other, column in tree.items() if other.startswith(part)]
                assert len(columns) >= 2
                assert all((column[numbers == 0] == 0).all() for column in columns)
    problem = Problem(30, 2, 3, 4, classes=0, target_bits=3, weight_bits=1)
    tree = opened_columns(problems.train_secure(x, y * 5, absent, problem))
    assert (tree["leaf.label"][tree["leaf.number"] == 0] == 0).all()


@pytest.mark.parametrize(
    "problem",
    [
        Problem(64, 2, 3, 6),
        Problem(64, 2, 3, 6, weight_bits=2),
        Problem(64, 2, 3, 6, classes=3, weight_bits=2),
        Problem(64, 2, 3, 6, classes=0, target_bits=4),
        Problem(64, 2, 3, 6, classes=0, target_bits=4, weight_bits=1),
    ],
    ids=range(5),
)
def test_labels_targets_and_weights_beyond_their_bits_are_cut_to_them(problem):
    """An owner who lies about its values must not make opened places depend on others' data."""
    x, y, weights = table_for(problem, 7)
    high = np.random.default_rng(7).integers(0, 2**20, 64) << 20
    heavy = None if weights is None else weights + high
    parts = problems.train_secure(x, y + high, heavy, problem)
    assert problems.opened(parts) == problems.twin(x, y, weights, problem)


def test_a_label_that_is_no_class_counts_as_the_last():
    problem = Problem(40, 2, 3, 4, classes=3, class_weights=(2, 1, 1))
    x, y, _ = table_for(problem, 8)
    told = np.where(y == 2, 3, y)
    assert problems.opened(problems.train_secure(x, told, None, problem)) == problems.twin(x, y, None, problem)


def test_a_model_of_no_rows_predicts_nothing_by_either_lookup():
    """All weights are 0: estimates are 0, whether nodes are found by comparing or by sorting."""
    x, y = np.arange(80)[None], np.arange(80) % 8
    problem = Problem(80, 1, 7, 7, classes=0, target_bits=3, weight_bits=1)
    parts = problems.train_secure(x, y, np.zeros(80, np.int64), problem)
    rows = split((2 * x[0]).astype(np.uint64), problem.widths.value_ring)
    answers = ThreadParties().run(lambda ctx, tree, rows: predict_labels(ctx, tree, [rows], problem), parts, rows)
    assert (reconstruct(answers) == 0).all()


COST_SHAPES = [
    Problem(70, 3, 2, 9, classes=5),
    Problem(70, 3, 2, 9, classes=3, weight_bits=3),
    Problem(70, 3, 2, 9, class_weights=(3, 1)),
    Problem(70, 3, 2, 9, classes=0, target_bits=5),
    Problem(70, 3, 2, 9, classes=0, target_bits=30),
    Problem(70, 3, 2, 9, classes=0, target_bits=30, weight_bits=2),
    Problem(70, 4, 2, 9, categories=(0, 3, 2, 5)),
    Problem(70, 3, 3, 9, categories=(4, 3, 2)),
    Problem(70, 3, 2, 9, min_samples_split=9, min_samples_leaf=3, min_impurity_decrease="0.01"),
    Problem(130, 4, 3, 9, 4, 0, 2, (0, 3, 2, 5), 9, 3, "0.0001"),
]


def table_for(problem, seed=0):
    generator = np.random.default_rng(seed)
    counts = [count or 1 << problem.value_bits for count in problem.categories or (0,) * problem.attributes]
    x = np.stack([generator.integers(0, count, problem.rows) for count in counts])
    y = generator.integers(0, problem.classes or 2**problem.target_bits, problem.rows)
    weights = generator.integers(0, 2**problem.weight_bits, problem.rows) if problem.row_weights else None
    return x, y, weights


@pytest.mark.parametrize("problem", COST_SHAPES, ids=range(len(COST_SHAPES)))
@pytest.mark.parametrize("number", [1, 3])
def test_every_step_costs_what_the_formulas_say(problem, number):
    parties = ThreadParties()
    with dealers(number):
        x, y, weights = table_for(problem)
        problems.train_secure(x, y, weights, problem, parties)
        cost = TrainingCost(problem)
        steps = {f"layer{k}/": cost.layer(k) for k in range(problem.height)} | {"leaves/": cost.leaves()}
        steps |= {"absent/": cost.absent(), "entries0/": cost.entries(0)}
        steps["rows/"] = cost.criterion.rows()
        cut_cost, range_cost, category_cost = cost.declared(), cost.range(), cost.category()
    for party, transport in enumerate(parties.transports):
        for name, declared in steps.items():
            spent = transport.meter.below(f"main/fast/{name}")
            assert (spent.rounds, spent.sent) == (declared.rounds, declared.sent[party]), name
        cut = [transport.meter.below(f"main/fast/{name}/") for name in ("labels", "weights")]
        assert sum(spent.sent for spent in cut) == cut_cost.sent[party]
        in_range = transport.meter.below("main/fast/sort/range")
        assert (in_range.rounds, in_range.sent) == (range_cost.rounds, range_cost.sent[party])
        category = [transport.meter.below(f"main/fast/sort/{name}") for name in ("category", "bits/")]
        assert sum(spent.rounds for spent in category) == category_cost.rounds
        assert sum(spent.sent for spent in category) == category_cost.sent[party]


@pytest.mark.parametrize("problem", [COST_SHAPES[1], COST_SHAPES[5], COST_SHAPES[7], COST_SHAPES[9]], ids=range(4))
def test_equal_shapes_give_equal_transcripts(problem):
    shapes = []
    for seed in (1, 2):
        x, y, weights = table_for(problem, seed)
        if seed == 2 and weights is not None:
            weights[:] = 0
        recorders = [RecordingTransport(t) for t in ThreadParties().transports]
        arguments = list(zip(*problems.shares(x, y, weights, problem), strict=True))
        run_parties(recorders, problems.program, arguments)
        shapes.append([[entry for entry in r.shape() if "/sort/rank" not in entry[0]] for r in recorders])
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("kinds", [MIXTURES[7], MIXTURES[8], ("regression",), ("classes",)], ids="+".join)
def test_prediction_equals_the_twins(kinds):
    """Categories that are not in the list are none of them."""
    for seed in range(2000, 2010):
        x, y, weights, problem = problems.draw(seed, kinds, most_height=4)
        parts = problems.train_secure(x, y, weights, problem)
        generator = np.random.default_rng(seed)
        counts = problem.categories or (0,) * len(x)
        rows = np.stack(
            [generator.integers(0, c + 1 if c else int(v.max()) + 1, 20) for c, v in zip(counts, x, strict=True)]
        )
        doubled = np.stack([row if c else 2 * row for c, row in zip(counts, rows, strict=True)])
        shared = split(doubled.astype(np.uint64).reshape(-1), problem.widths.value_ring)

        def ask(ctx, tree, rows, problem=problem):
            columns = [rows[j * 20 : (j + 1) * 20] for j in range(problem.attributes)]
            labels = predict_labels(ctx.step("labels"), tree, columns, problem)
            others = [] if problem.regression else predict_probabilities(ctx.step("chances"), tree, columns, problem)
            return labels, others

        answers = ThreadParties().run(ask, parts, shared)
        labels = reconstruct([labels for labels, _ in answers]).astype(np.int64)
        tree = problems.twin(x, y, weights, problem)
        mass = problems.masses(y, weights, problem)
        if not (mass > 0).any():
            continue
        features = expand(rows, counts)
        assert labels.tolist() == predict(tree, features).tolist(), seed
        if problem.regression:
            continue
        leaves = leaf_numbers(tree, np.concatenate([expand(x, counts), features], axis=1))
        for c in range(1, problem.classes):
            chances = reconstruct([others[c - 1] for _, others in answers])
            for i, leaf in enumerate(leaves[len(y) :]):
                inside = leaves[: len(y)] == leaf
                share = int(mass[inside & (y == c)].sum()), int(mass[inside].sum())
                assert int(chances[i]) == (share[0] << 16) // share[1]


def test_squared_errors_in_secret():
    generator = np.random.default_rng(8)
    truth, guess = generator.integers(-(2**46), 2**46, 50), generator.integers(0, 2**46, 50)
    shares = split(truth.astype(np.uint64), RING64), split(guess, RING64)
    opened = RING128.decode_signed(reconstruct(ThreadParties().run(squared_errors, *shares)))
    exact = [int(g) - int(t) for t, g in zip(truth, guess, strict=True)]
    assert opened.tolist() == [sum(e * e for e in exact), int(truth.sum()), sum(int(t) ** 2 for t in truth)]
    errors = Errors.of_sums(opened.tolist(), 50, 1)
    guesses, truth = guess / 2**16, truth / 2**16
    assert errors.mean_squared_error == pytest.approx(((guesses - truth) ** 2).mean())
    assert errors.r2 == pytest.approx(1 - ((guesses - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())


def test_two_classes_are_the_special_case_of_many():
    """A tree for two classes by sums (class weights of one) equals the one by extremes."""
    for seed in range(3000, 3020):
        x, y, _, problem = problems.draw(seed, ())
        sums = Problem(problem.rows, problem.attributes, problem.height, problem.value_bits, class_weights=(1, 1))
        plain = problems.opened(problems.train_secure(x, y, None, problem))
        assert (
            plain == problems.opened(problems.train_secure(x, y, None, sums)) == train(x, y, problem.height, fast_rule)
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classes": 1}, "2 to 1000 classes"),
        ({"classes": 0}, "1 to 40 bits"),
        ({"target_bits": 3}, "1 to 40 bits"),
        ({"weight_bits": 17}, "up to 16 bits"),
        ({"categories": (2,)}, "as many numbers of categories"),
        ({"categories": (2, 1001)}, "up to 1000 categories"),
        ({"class_weights": (1,)}, "as many class weights"),
        ({"class_weights": (0, 1)}, "from 1 to 65,535"),
        ({"min_samples_split": 1}, "at least 2"),
        ({"min_samples_leaf": 0}, "at least 1"),
        ({"min_impurity_decrease": "x"}, "decimal number"),
        ({"min_impurity_decrease": "-1"}, "not negative"),
        ({"min_impurity_decrease": "1e99999999"}, "written in digits"),
    ],
)
def test_shapes_that_make_no_sense(options, message):
    with pytest.raises(InputError, match=message):
        Problem(10, 2, 2, 4, **options)


def test_what_cannot_be_exact_is_refused():
    with pytest.raises(ExactnessError, match="use smaller weights"):
        Problem(1000, 2, 2, 4, classes=3, weight_bits=16)
    with pytest.raises(ExactnessError, match="fewer decimals of the target"):
        Problem(1_000_000, 2, 2, 4, classes=0, target_bits=20)
    Problem(1_000_000, 2, 2, 4, classes=0, target_bits=15)
    with pytest.raises(InputError, match="use algorithm 'fast'"):
        check_algorithm("paper", Problem(10, 2, 2, 4, classes=3))
