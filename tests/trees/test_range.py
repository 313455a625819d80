"""Owners who lie about their range change nothing that is opened, so nobody else's data shows."""

import itertools
import sys
from collections import Counter

import numpy as np
import pytest

from hedgerow.parties.program import run_labels
from hedgerow.parties.training import train_tree
from hedgerow.reference.tree import paper_rule, train
from hedgerow.shares import RING64, RING128, reconstruct, split
from hedgerow.trees.opened import reconstruct_root
from hedgerow.trees.orders import Orders
from hedgerow.trees.predict import squared_errors
from hedgerow.trees.problem import Problem
from hedgerow.trees.trainer import TrainingCost
from support import problems
from support.statistics import histogram_is_uniform
from support.threads import ThreadParties

OTHERS = [17, 200, 90]
"""What other owners hold, in 8 bits; the liar adds one row."""


def opened_comparisons(monkeypatch, run):
    """Every result of a comparison that party 0 sees opened while ``run`` runs, call by call."""
    rank_module = sys.modules["hedgerow.oblivious.ranking"]
    real, seen = rank_module.reveal_top_bit, []

    def spy(ctx, x, bits):
        opened = real(ctx, x, bits)
        if ctx.party == 0:
            seen.append([int(word) for word in opened[0]])
        return opened

    monkeypatch.setattr(rank_module, "reveal_top_bit", spy)
    run()
    return seen


def sorts(values, times, problem):
    """Sort one column many times, in one session so that the streams go on."""

    def program(ctx, x):
        for _ in range(times):
            Orders.of_table(ctx, [x], problem)

    ThreadParties().run(program, split(values, RING64))


@pytest.mark.parametrize("own", [40, 256 + 40, 256 + 180, 2**40 + 1, 2**64 - 3])
def test_opened_comparisons_have_one_distribution_whether_an_owner_lies_or_not(own, monkeypatch):
    """Four rows, six pairs: 24 orders, all equally frequent. A row of value 256 + c used to open a cycle, which told
    how many of the other rows lie below c."""
    problem = Problem(4, 1, 1, 8)
    seen = opened_comparisons(monkeypatch, lambda: sorts([*OTHERS, own], 1200, problem))
    counter = Counter(call[0] for call in seen)
    orders = [
        sum(int(ranks[j] < ranks[i]) << k for k, (i, j) in enumerate(itertools.combinations(range(4), 2)))
        for ranks in itertools.permutations(range(4))
    ]
    flipped = [63 - order for order in orders]
    known = orders if set(counter) <= set(orders) else flipped
    assert set(counter) <= set(known)
    assert histogram_is_uniform(np.array([counter[order] for order in known]))


def test_the_attack_of_old_tells_nothing(monkeypatch):
    """Forty rows, one of value 256 + c: there is no vertex to remove that would show how many others lie below c."""
    generator = np.random.default_rng(1)
    others, c = generator.integers(0, 256, 39), 100
    problem = Problem(40, 1, 1, 8)
    ranks_seen = []
    sort_module = sys.modules["hedgerow.oblivious.sort"]
    real = sort_module.reveal_ranks

    def spy(ctx, shuffled, bits):
        ranks = real(ctx, shuffled, bits)
        if ctx.party == 0:
            ranks_seen.append(ranks[0].astype(int))
        return ranks

    monkeypatch.setattr(sort_module, "reveal_ranks", spy)
    sorts([*others, 256 + c], 400, problem)
    seen = np.stack(ranks_seen)
    assert (np.sort(seen, axis=1) == np.arange(40)).all()
    # Every shuffled place has every rank equally often, so nothing marks a place as the liar's.
    for place in (0, 20, 39):
        assert histogram_is_uniform(np.bincount(seen[:, place] // 4, minlength=10))


def lying(x, rows, seed):
    """Values with anything above 2^20 added in some rows."""
    high = np.zeros(x.shape, np.uint64)
    high[:, rows] = np.random.default_rng(seed).integers(0, 2**40, (len(x), len(rows)), dtype=np.uint64) << np.uint64(
        20
    )
    return x.astype(np.uint64) + high


@pytest.mark.parametrize("bits", [1, 8, 14, 20])
def test_values_beyond_their_bits_are_cut_to_them(bits):
    generator = np.random.default_rng(bits)
    x, y = generator.integers(0, 1 << bits, (3, 50)), generator.integers(0, 2, 50)
    problem = Problem(50, 3, 3, bits)
    parts = problems.train_secure(lying(x, [0, 7, 30], bits), y, None, problem)
    assert problems.opened(parts) == problems.twin(x, y, None, problem)


def test_in_hikc23_as_written_too():
    generator = np.random.default_rng(2)
    x, y = generator.integers(0, 1 << 9, (2, 30)), generator.integers(0, 2, 30)
    problem = Problem(30, 2, 2, 9)
    shares = problems.tables_of(lying(x, [3, 4], 2), y + 6)
    results = ThreadParties().run(lambda ctx, table: train_tree(ctx, table, problem, "paper"), shares)
    assert reconstruct_root(results) == train(x, y, 2, paper_rule)


@pytest.mark.parametrize("value", [1, 100, 255, 256 + 4, 512 + 40])
def test_numbers_between_a_gap_and_the_column_change_no_opened_distribution(value, monkeypatch):
    """A column with gaps holds 0 or at least 2^8, in 9 bits; a liar puts a value in between, or beyond."""
    problem = Problem(4, 1, 1, 9)
    seen = opened_comparisons(monkeypatch, lambda: sorts([0, 256 + 17, 256 + 200, value], 1200, problem))
    counter = Counter(call[0] for call in seen)
    assert len(counter) == 24
    assert histogram_is_uniform(np.array(list(counter.values())))


@pytest.mark.parametrize("number", [3, 7, 2**33])
def test_numbers_of_no_category_train_as_one_that_is_none_of_the_listed(number):
    generator = np.random.default_rng(number)
    x, y = np.stack([generator.integers(0, 3, 40), generator.integers(0, 50, 40)]), generator.integers(0, 2, 40)
    problem = Problem(40, 2, 3, 6, categories=(3, 0))
    honest, lie = x.copy(), x.astype(np.uint64)
    honest[0, :4] = number % 4
    lie[0, :4] = number
    trees = [problems.opened(problems.train_secure(table, y, None, problem)) for table in (honest, lie)]
    assert trees[0] == trees[1]


@pytest.mark.parametrize("height", [3, 8])
def test_rows_to_be_predicted_are_cut_too(height):
    """Both lookups: few nodes by comparing, many by sorting."""
    generator = np.random.default_rng(height)
    x, y = generator.integers(0, 256, (2, 300)), generator.integers(0, 2, 300)
    problem = Problem(300, 2, height, 8)
    parts = problems.train_secure(x, y, None, problem)
    rows = 2 * generator.integers(0, 256, (2, 60))
    answers = []
    for table in (rows, rows + 512 * generator.integers(0, 3, rows.shape)):
        flat = split(table.astype(np.uint64).reshape(-1), problem.widths.value_ring)
        shared = [part.pieces(60) for part in flat]
        answers.append(reconstruct(ThreadParties().run(run_labels, parts, shared, [problem] * 3)).tolist())
    assert answers[0] == answers[1]


def test_true_targets_beyond_their_size_give_one_answer_and_not_many():
    """Widening takes no number of that size: what an evaluation opens would depend on how the numbers are shared."""
    truth = np.array([2**62 + 2**61, 2**63 + 5, 7 << 16], np.uint64)

    def program(ctx, truth, predicted):
        return squared_errors(ctx, truth, predicted)

    answers = {
        tuple(
            RING128.decode_signed(
                reconstruct(ThreadParties().run(program, split(truth, RING64), split([1 << 16] * 3, RING64)))
            ).tolist()
        )
        for _ in range(12)
    }
    assert len(answers) == 1


@pytest.mark.parametrize(
    ("rows", "attributes", "bits"), [(100, 10, 30), (569, 30, 20), (3000, 10, 30), (10_000, 3, 30)]
)
def test_the_cut_costs_at_most_a_tenth_of_the_sort(rows, attributes, bits):
    problem = Problem(rows, attributes, 1, bits)
    generator = np.random.default_rng(rows)
    columns = [split(generator.integers(0, 1 << bits, rows), RING64) for _ in range(attributes)]
    parties = ThreadParties()

    def program(ctx, *x):
        Orders.of_table(ctx.step("sort"), x, problem)

    parties.run(program, *columns)
    both = sum(transport.meter.below("main/sort/").sent for transport in parties.transports)
    cut = sum(transport.meter.below("main/sort/range").sent for transport in parties.transports)
    assert cut == sum(TrainingCost(problem).range().sent)
    assert cut <= 0.1 * (both - cut)
