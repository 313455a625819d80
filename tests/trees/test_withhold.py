"""Small leaves keep their numbers to themselves, and trainings on too few rows do not happen; decided on shares."""

import numpy as np
import pytest

from hedgerow.parties.training import train_tree
from hedgerow.shares import RING64, reconstruct, split
from hedgerow.trees.opened import opened_columns
from hedgerow.trees.problem import Problem
from hedgerow.trees.table import TrainingTable
from hedgerow.trees.withhold import WITHHELD, enough_rows, withhold_small_leaves
from support import problems
from support.statistics import histogram_is_uniform
from support.threads import ThreadParties, run_parties
from support.transcript import RecordingTransport


def enough(ctx, y, weights, problem, least, of_a_class):
    return enough_rows(ctx, TrainingTable([], y, weights), problem, least, of_a_class)


@pytest.mark.parametrize("seed", range(24))
def test_enough_rows_equals_its_twin(seed):
    generator = np.random.default_rng(seed)
    rows, classes = int(generator.integers(1, 60)), int(generator.choice([2, 3, 5]))
    labels = generator.integers(0, classes, rows) * (generator.random(rows) < generator.random())
    weighted = bool(generator.integers(0, 2))
    weights = generator.integers(0, 4, rows) if weighted else np.ones(rows, int)
    least, of_a_class = int(generator.integers(1, rows + 3)), int(generator.integers(1, 8))
    problem = Problem(rows, 1, 1, 4, classes, weight_bits=2 if weighted else 0)
    # An owner who lies about the range of its weights changes nothing: only the declared bits count.
    lie = 4 * generator.integers(0, 9, rows)
    shared = split(labels, RING64), split(weights + lie, RING64) if weighted else [None] * 3
    found = ThreadParties().run(enough, *shared, [problem] * 3, [least] * 3, [of_a_class] * 3)
    present = labels[weights > 0]
    counts = np.bincount(present, minlength=classes)
    expected = len(present) >= least and bool(((counts == 0) | (counts >= of_a_class)).all())
    assert found == [expected] * 3


def trained(ctx, table, problem, least):
    tree = train_tree(ctx.step("train"), table, problem)
    return tree, withhold_small_leaves(ctx.step("withhold"), tree, problem, least)


def both_trees(seed, kinds, least, **options):
    x, y, weights, problem = problems.draw(seed, kinds, **options)
    shared = problems.shares(x, y, weights, problem)
    results = ThreadParties().run(trained, *shared, [least] * 3)
    whole, shown = [result[0] for result in results], [result[1] for result in results]
    return whole, shown, problem


def numbers_of(parts):
    """Leaf numbers, labels and counts ``[leaf, class]``, opened."""
    tree = opened_columns(parts, counts=True)
    counts = [column for name, column in tree.items() if name.startswith("leaf.count")]
    return tree["leaf.number"].astype(int), tree["leaf.label"], np.array(counts).T


def kept_by_twin(paths, rows, height, least):
    """Per leaf whether every split above it has enough rows on both sides."""
    total = sum(rows)
    kept = []
    for path in paths:
        fine = total >= least
        for k in range(height):
            below = sum(r for p, r in zip(paths, rows, strict=True) if p % 2 ** (k + 1) == path % 2 ** (k + 1))
            above = sum(r for p, r in zip(paths, rows, strict=True) if p % 2**k == path % 2**k)
            fine &= above == below or (below >= least and above - below >= least)
        kept.append(bool(fine))
    return kept


@pytest.mark.parametrize("kinds", [(), ("classes",), ("regression",), ("categories", "rules")])
@pytest.mark.parametrize("seed", range(5))
def test_small_leaves_are_withheld_as_the_twin_does(kinds, seed):
    least = 4
    whole, shown, problem = both_trees(seed, kinds, least, most_rows=60, most_height=4)
    numbers, labels, counts = numbers_of(whole)
    shown_numbers, shown_labels, shown_counts = numbers_of(shown)
    assert (numbers == shown_numbers).all()
    rows = counts[:, 0] if problem.regression else counts.sum(axis=1)
    real = numbers > 0
    kept = np.zeros(len(numbers), bool)
    kept[real] = kept_by_twin((numbers[real] - 1).tolist(), rows[real].tolist(), problem.height, least)
    assert (shown_counts[real & kept] == counts[real & kept]).all()
    assert not shown_counts[real & ~kept].any()
    expected = np.where(kept, labels, np.uint64(WITHHELD)) if problem.regression else labels
    assert (shown_labels[real] == expected[real]).all()
    # What is withheld of it in one piece, by what is shown and the number of all rows, is never less than the limit.
    hidden = int(rows[real & ~kept].sum())
    assert hidden == 0 or hidden >= min(least, problem.rows)


def test_no_difference_of_shown_numbers_gives_less_than_the_limit():
    """Every subtree: what is withheld in it is nothing, or all of it, or at least as many rows as the limit."""
    least, met = 5, 0
    for seed in range(12):
        whole, shown, problem = both_trees(100 + seed, (), least, most_rows=60, most_height=4)
        numbers, _, counts = numbers_of(whole)
        shown_counts = numbers_of(shown)[2]
        real = numbers > 0
        paths, rows = numbers[real] - 1, counts[real].sum(axis=1)
        hidden = rows * (shown_counts[real].sum(axis=1) == 0)
        for k in range(problem.height + 1):
            for prefix in set((paths % 2**k).tolist()):
                inside = paths % 2**k == prefix
                total = int(hidden[inside].sum())
                if total and total < rows[inside].sum():
                    met += 1
                    assert total >= least
    assert met > 0


@pytest.mark.parametrize("kinds", [("weights",), ("class weights",)])
def test_of_weighted_rows_all_numbers_are_withheld(kinds):
    whole, shown, _ = both_trees(3, kinds, 5)
    assert numbers_of(whole)[2].any()
    assert not numbers_of(shown)[2].any()


def test_a_tree_of_one_leaf_keeps_its_numbers_if_they_are_enough():
    y = np.array([0, 1] * 10)
    for rows, least, kept in ((20, 20, True), (20, 21, False)):
        problem = Problem(rows, 1, 0, 3)
        shared = problems.tables_of((np.arange(rows) % 8)[None], y)
        results = ThreadParties().run(_one_leaf, shared, [problem] * 3, [least] * 3)
        counts = [int(reconstruct([part.counts[c] for part in results])[0]) for c in (0, 1)]
        assert counts == ([10, 10] if kept else [0, 0])


def _one_leaf(ctx, table, problem, least):
    return withhold_small_leaves(ctx.step("withhold"), train_tree(ctx.step("train"), table, problem), problem, least)


@pytest.mark.parametrize("kinds", [("weights", "classes"), ("regression",), ()])
def test_messages_are_uniform(kinds):
    counts = {}
    for _ in range(30):
        x, y, weights, problem = problems.draw(7, kinds, most_rows=60)
        shared = problems.shares(x, y, weights, problem)
        recorders = [RecordingTransport(transport) for transport in ThreadParties().transports]
        run_parties(recorders, _both, [tuple(part[p] for part in shared) for p in range(3)])
        for recorder in recorders:
            for entry in recorder.entries:
                ours = "/enough" in entry.step or "/withhold" in entry.step
                if ours and not entry.sent and not entry.step.endswith("open"):
                    key = (recorder.party, entry.peer)
                    seen = np.bincount(np.frombuffer(entry.content, np.uint8), minlength=256)
                    counts[key] = counts.get(key, 0) + seen
    assert counts
    for key, seen in counts.items():
        assert seen.sum() > 500
        assert histogram_is_uniform(seen), key


def _both(ctx, table, problem):
    if not problem.regression:
        enough_rows(ctx.step("enough"), table, problem, 10, 3)
    tree = train_tree(ctx.step("train"), table, problem)
    withhold_small_leaves(ctx.step("withhold"), tree, problem, 4)
