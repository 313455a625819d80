"""The fast trainer: equality with its twin node for node, cost formulas, obliviousness, sizes."""

from fractions import Fraction

import numpy as np
import pytest

from hedgerow import errors
from hedgerow.bench.programs import run_train
from hedgerow.oblivious.segmented_max import segment_best, segment_best_cost
from hedgerow.parties.training import train_tree
from hedgerow.protocols import Scores
from hedgerow.reference.node import predict
from hedgerow.reference.tree import fast_rule, train
from hedgerow.shares import RING32, RING64, Bits, Columns, padded, reconstruct, split, split_bits
from hedgerow.transport import NETWORKS, Network
from hedgerow.trees import entries, tournament
from hedgerow.trees.best_split import choose_fan_in
from hedgerow.trees.compact import compact
from hedgerow.trees.entries import layers_together
from hedgerow.trees.opened import decode, reconstruct_root
from hedgerow.trees.problem import Problem, check_table
from hedgerow.trees.table import TrainingTable
from hedgerow.trees.trainer import TrainingCost, train_fast
from support import tables
from support.operations import dealers
from support.problems import train_parties
from support.threads import ThreadParties, run_parties
from support.transcript import RecordingTransport


def train_fast_parties(parties, x, y, h):
    return decode(train_parties(parties, x, y, h, "fast"))


@pytest.mark.parametrize("block", [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 10))])
def test_fifty_random_tables(block):
    """Ten times fifty: ties, constant columns, a single class, one row, n < 2^h."""
    for seed in range(5000 + 50 * block, 5050 + 50 * block):
        large = seed % 10 == 0
        x, y, h = tables.random_table(seed, 100 if large else 30, 9 if large else 5, 8 if large else 3)
        assert train_fast_parties(ThreadParties(), x, y, h) == train(x, y, h, fast_rule), seed


def test_random_tables_when_all_parties_deal():
    """As for many items, whatever their number."""
    with dealers(3):
        for seed in range(7000, 7060):
            x, y, h = tables.random_table(seed)
            assert train_fast_parties(ThreadParties(), x, y, h) == train(x, y, h, fast_rule), seed


def test_random_tables_on_three_processes(processes):
    for seed in range(6000, 6020):
        x, y, h = tables.random_table(seed, most_rows=300)
        assert train_fast_parties(processes, x, y, h) == train(x, y, h, fast_rule), seed


def test_ties_between_the_two_extremes_go_to_the_lower_attribute():
    """Attribute 0 sorts the ones last, attribute 1 first: equal scores at every place, opposite extremes."""
    y = np.array([0, 0, 1, 1])
    rising = np.array([1, 2, 3, 4])
    for x in (np.array([rising, 5 - rising]), np.array([5 - rising, rising])):
        tree = train_fast_parties(ThreadParties(), x, y, 2)
        assert tree == train(x, y, 2, fast_rule)
        assert tree.feature == 0


@pytest.mark.parametrize(("bits", "rows"), [(1, 40), (31, 40), (32, 40), (50, 40), (8, 64), (8, 65), (8, 1)])
def test_value_widths_and_padding_edges(bits, rows, processes):
    generator = np.random.default_rng(bits)
    x = generator.integers(0, 2**bits, (3, rows), dtype=np.uint64)
    x[:, 0] = 2**bits - 1
    y = generator.integers(0, 2, rows)
    assert train_fast_parties(processes, x, y, 3) == train(x, y, 3, fast_rule)


def test_height_fifty(processes):
    x, y = np.array([[0, 1, 2, 3, 4, 5]]), np.array([0, 1, 0, 1, 0, 1])
    assert train_fast_parties(processes, x, y, 50) == train(x, y, 50, fast_rule)


def test_breast_cancer_equals_the_twin_and_scikit_learns_accuracy(processes):
    from sklearn.tree import DecisionTreeClassifier

    x, y = tables.breast_cancer()
    tree = train_fast_parties(processes, x, y, 4)
    assert tree == train(x, y, 4, fast_rule)
    theirs = DecisionTreeClassifier(criterion="gini", max_depth=4, random_state=0).fit(x.T, y)
    assert abs((predict(tree, x) == y).mean() - theirs.score(x.T, y)) <= 0.004


def test_exact_at_a_hundred_thousand_rows(processes):
    """Fixed-point scores go wrong from some 40,000 rows on; exact ones do not."""
    generator = np.random.default_rng(3)
    n = 100_000
    x = generator.integers(0, 2**20, (2, n))
    y = ((x[0] > 2**19) ^ (generator.random(n) < 0.28)).astype(int)
    tree = train_fast_parties(processes, x, y, 1)
    assert tree == train(x, y, 1, fast_rule)
    assert 0.71 < (predict(tree, x) == y).mean() < 0.73


def test_adult_numeric(processes):
    x, y = tables.adult_numeric()
    assert x.shape == (6, 32_561)
    assert train_fast_parties(processes, x, y, 4) == train(x, y, 4, fast_rule)


@pytest.mark.slow
def test_skin(processes):
    x, y = tables.skin()
    assert x.shape == (3, 245_057)
    assert train_fast_parties(processes, x, y, 6) == train(x, y, 6, fast_rule)


@pytest.mark.slow
def test_credit_default(processes):
    x, y = tables.credit_default()
    assert x.shape == (23, 30_000)
    assert train_fast_parties(processes, x, y, 4) == train(x, y, 4, fast_rule)


@pytest.mark.parametrize(
    ("rows", "attributes", "height", "bits"), [(1, 1, 1, 4), (70, 3, 3, 9), (200, 10, 2, 40), (300, 5, 33, 12)]
)
@pytest.mark.parametrize("number", [1, 3])
def test_every_layer_costs_what_the_formulas_say(rows, attributes, height, bits, number):
    generator = np.random.default_rng(1)
    x, y, problem = check_table(
        generator.integers(0, 2**bits, (attributes, rows)), generator.integers(0, 2, rows), height, bits
    )
    with dealers(number):
        check_costs(x, y, problem)


def check_costs(x, y, problem):
    """Train, and compare what was sent with what is declared."""
    parties = ThreadParties()
    parties.run(run_train, TrainingTable.split(x, y), [problem] * 3, ["fast"] * 3)
    cost = TrainingCost(problem)
    steps = {f"layer{k}": cost.layer(k) for k in range(problem.height)}
    steps |= {f"entries{k}": cost.entries(k) for k in range(0, problem.height, layers_together(problem))}
    steps |= {"leaves": cost.leaves(), "stored": cost.stored()}
    for party, transport in enumerate(parties.transports):
        for name, declared in steps.items():
            spent = transport.meter.below(f"main/fast/{name}/")
            assert (spent.rounds, spent.sent) == (declared.rounds, declared.sent[party]), name


@pytest.mark.parametrize("block", [1, 128, 64 * 5])
def test_entries_of_layers_in_several_batches(monkeypatch, block):
    monkeypatch.setattr(entries, "ENTRY_BLOCK", block)
    generator = np.random.default_rng(block)
    x, y = generator.integers(0, 50, (3, 60)), generator.integers(0, 2, 60)
    assert train_fast_parties(ThreadParties(), x, y, 6) == train(x, y, 6, fast_rule)


@pytest.mark.parametrize(("pairs", "attributes"), [(1, 5), (64 * 5, 5), (64, 2), (200, 3)])
def test_tournaments_in_several_batches(monkeypatch, pairs, attributes):
    monkeypatch.setattr(tournament, "PAIRS", pairs)
    generator = np.random.default_rng(pairs)
    x, y = generator.integers(0, 50, (attributes, 150)), generator.integers(0, 2, 150)
    assert train_fast_parties(ThreadParties(), x, y, 3) == train(x, y, 3, fast_rule)
    check_costs(*check_table(x, y, 3, 10))


@pytest.mark.parametrize("rows", [16_383, 16_384])
def test_either_side_of_the_widest_16_bit_table(processes, rows):
    generator = np.random.default_rng(rows)
    x, y = generator.integers(0, 300, (2, rows)), generator.integers(0, 2, rows)
    assert train_fast_parties(processes, x, y, 2) == train(x, y, 2, fast_rule)


@pytest.mark.parametrize("count", [65_536, 65_537])
def test_places_at_the_edge_of_their_ring(count):
    flags = np.zeros(count, np.uint8)
    flags[[0, 5, count - 1]] = 1

    def program(ctx, kept, column):
        return compact(ctx, Bits(kept.left, kept.right, padded(count)), count, [column], 4)[0]

    front = reconstruct(ThreadParties().run(program, split_bits(flags), split(np.arange(count), RING32)))
    assert front[:3].tolist() == [0, 5, count - 1]


def test_equal_shapes_give_equal_transcripts_after_the_sort():
    shapes = []
    for seed in (1, 2):
        generator = np.random.default_rng(seed)
        x, y, problem = check_table(generator.integers(0, 4**seed, (3, 50)), np.arange(50) % 2, 3, 10)
        recorders = [RecordingTransport(t) for t in ThreadParties().transports]
        arguments = [(table, problem, "fast") for table in TrainingTable.split(x, y)]
        run_parties(recorders, run_train, arguments)
        shapes.append([[entry for entry in r.shape() if "/sort/" not in entry[0]] for r in recorders])
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("fan_in", [1, 3, 8, 50, 200, 5000])
@pytest.mark.parametrize("cross_bits", [40, 90])
@pytest.mark.parametrize("number", [1, 3])
def test_segment_best(fan_in, cross_bits, number):
    generator = np.random.default_rng(fan_in)

    def program(ctx, p, q, place, starts):
        return segment_best(ctx.step("best"), Columns.of([p, q, place]), starts, Scores(cross_bits), fan_in).column(0)

    for count in (64, 192, 320):
        for density in (0.02, 0.3, 0.9):
            p, q = generator.integers(0, 30, count), generator.integers(1, 6, count)
            starts = (generator.random(count) < density).astype(int)
            starts[0] = 1
            parties = ThreadParties()
            shares = [split(v, ring) for v, ring in ((p, RING64), (q, RING64), (np.arange(count), RING32))]
            with dealers(number):
                results = reconstruct(parties.run(program, *shares, split_bits(starts)))
                declared = segment_best_cost(count, [RING32], Scores(cross_bits), fan_in)
            for group in range(1, starts.sum() + 1):
                rows = np.nonzero(np.cumsum(starts) == group)[0]
                winner = max(rows, key=lambda i: (Fraction(int(p[i]), int(q[i])), -i))
                assert (results[rows] == winner).all()
            for party, transport in enumerate(parties.transports):
                spent = transport.meter.below("main/best")
                assert (spent.rounds, spent.sent) == (declared.rounds, declared.sent[party])


def test_progress_names_layers_and_steps():
    seen = []
    x, y, problem = check_table([[1, 2, 3, 4]], [0, 1, 1, 0], 2)

    def program(ctx, table):
        report = seen.append if ctx.party == 0 else (lambda step: None)
        return train_fast(ctx, table, problem, progress=lambda layer, step: report((layer, step)))

    results = ThreadParties().run(program, TrainingTable.split(x, y))
    assert reconstruct_root(results) == train(x, y, 2, fast_rule)
    assert seen[0] == (0, "sort")
    assert seen[-1] == (2, "leaves")
    assert {layer for layer, _ in seen} == {0, 1, 2}


def test_the_fan_in_follows_the_network():
    problem = Problem(rows=100_000, attributes=3, height=2, value_bits=10)
    assert choose_fan_in(None, problem) == choose_fan_in(NETWORKS["loopback"], problem)
    slow, wide = Network(delay=0.02, bandwidth=5e6), Network(delay=0.02, bandwidth=1e9)
    near = Network(delay=0.000001, bandwidth=1e9)
    assert choose_fan_in(near, problem) < choose_fan_in(slow, problem) < choose_fan_in(wide, problem)


def test_what_cannot_be_exact_or_is_unknown_is_refused():
    with pytest.raises(errors.ExactnessError, match="must fit 63 bits"):
        Problem(100_000, 1, 1, 50)
    x, y, problem = check_table([[1, 2]], [0, 1], 1)
    with pytest.raises(errors.InputError, match="choose one of fast, paper"):
        ThreadParties().run(lambda ctx, table: train_tree(ctx, table, problem, "magic"), TrainingTable.split(x, y))
