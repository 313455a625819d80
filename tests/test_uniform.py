"""Statistical sanity: what a single party sees looks uniform, and shuffles reach all permutations evenly."""

import itertools
import sys
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

from hedgerow.oblivious import Load, apply, draw_shuffle, shuffle_loads, sort_permutations
from hedgerow.primitives import and_summands, multiply, multiply_unshared
from hedgerow.primitives.cost import thirds_of
from hedgerow.sharing import RING32, RING64, public, reveal, split, split_bits
from hedgerow.testing import LocalParties, RecordingTransport, run_parties
from operations import OPERATIONS, dealers, share_inputs
from test_protocols import fixed_inputs

UNLIKELY = 1e-7
"""A right implementation fails a check with about this probability."""


def histogram_is_uniform(counts: np.ndarray) -> bool:
    expected = counts.sum() / counts.size
    statistic = ((counts - expected) ** 2 / expected).sum()
    return chi2.sf(statistic, counts.size - 1) > UNLIKELY


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
@pytest.mark.parametrize("number", [1, 3])
def test_every_message_a_party_sees_is_uniform(operation, number):
    """Fixed inputs, fresh keys: the bytes a party receives from another one in a step are spread evenly."""
    values = [
        v if kind == "p" else v * 0 + 1
        for kind, v in zip(operation.inputs, fixed_inputs(operation, 192, 1), strict=True)
    ]
    counts: dict[tuple[int, int, str], np.ndarray] = {}
    for _ in range(30):
        shared = share_inputs(operation, values)
        recorders = [RecordingTransport(transport) for transport in LocalParties().transports]
        with dealers(number):
            run_parties(recorders, operation.program, [tuple(argument[p] for argument in shared) for p in range(3)])
        for recorder in recorders:
            for entry in recorder.entries:
                if not entry.sent:
                    seen = np.bincount(np.frombuffer(entry.content, np.uint8), minlength=256)
                    key = (recorder.party, entry.peer, entry.step)
                    counts[key] = counts.get(key, 0) + seen
    assert counts
    for key, seen in counts.items():
        assert histogram_is_uniform(seen), key


def test_no_two_messages_are_related_by_a_reused_mask():
    """All messages one party receives in a long program: no 8-byte word occurs twice."""
    x = split(list(range(100)), RING64)

    def program(ctx, a):
        for k in range(3):
            order = sort_permutations(ctx.step(f"sort{k}"), [a], 30)[0]
            a = apply(ctx.step(f"apply{k}"), order, [a])[0]
            a = multiply(ctx.step(f"multiply{k}"), a, a)

    recorders = [RecordingTransport(transport) for transport in LocalParties().transports]
    run_parties(recorders, program, [(x[p],) for p in range(3)])
    for recorder in recorders:
        opened = ("open", "pairs")
        kept = [e for e in recorder.entries if not e.sent and e.length >= 64 and not e.step.endswith(opened)]
        words = np.concatenate([np.frombuffer(e.content[: len(e.content) // 8 * 8], np.uint64) for e in kept])
        assert len(words) > 1000
        assert len(set(words.tolist())) == len(words)


def test_summands_that_are_told_and_passed_on_do_not_add_up_to_the_bit():
    """A gate's summands are told to one party and, for later use, passed on to it under another mask. What it holds,
    what it is told and what is passed to it, of the block its right neighbour deals, must not add up to the gate."""

    def program(ctx, x, y, number):
        own, again = (and_summands(ctx.step(name), x, y) for name in ("own", "again"))
        multiply_unshared(ctx.step("choose"), own[0], [number], again)
        return own[0]

    inputs = split_bits(np.ones(192)), split_bits(np.ones(192)), split(np.arange(192), RING64)
    sums = []
    for _ in range(60):
        recorders = [RecordingTransport(transport) for transport in LocalParties().transports]
        with dealers(3):
            owns = run_parties(recorders, program, [tuple(side[p] for side in inputs) for p in range(3)])
            blocks = [thirds_of(192).words(party) for party in range(3)]
        found = []
        for party, recorder in enumerate(recorders):
            block = blocks[(party + 1) % 3]
            taken = [entry for entry in recorder.entries if entry.step.endswith("/choose") and not entry.sent]
            told, passed = (
                np.frombuffer(next(entry.content for entry in taken if entry.peer == peer), np.uint64)
                for peer in ((party - 1) % 3, (party + 1) % 3)
            )
            found.append(owns[party][block] ^ told ^ passed[block])
        sums.append(np.unpackbits(np.concatenate(found).view(np.uint8)))
    share_of_ones = np.mean(sums, axis=0)
    assert share_of_ones.min() > 0
    assert share_of_ones.max() < 1


def permutation_counts(program, size, runs):
    """How often each permutation came out, all runs in one session so that the streams go on."""

    def many(ctx):
        return [tuple(int(v) for v in program(ctx)) for _ in range(runs)]

    results = LocalParties().run(many)
    assert results[0] == results[1] == results[2]
    counter = Counter(results[0])
    return np.array([counter[p] for p in itertools.permutations(range(size))])


def shuffled_rows(ctx, size, times, undo_one):
    column = public(ctx, np.arange(size), RING32)
    for k in range(times):
        shuffle = draw_shuffle(ctx.step("draw"), size, first=k)
        ((column,),) = shuffle_loads(ctx.step("move"), [Load(shuffle, [column])])
    if undo_one:
        other = draw_shuffle(ctx.step("draw"), size, first=1)
        ((column,),) = shuffle_loads(ctx.step("undo"), [Load(other, [column])], undo=True)
    return reveal(ctx.step("open"), column)


@pytest.mark.parametrize(("times", "undo_one"), [(1, False), (2, False), (0, True), (1, True)])
def test_shuffles_hit_all_permutations_evenly(times, undo_one):
    counts = permutation_counts(lambda ctx: shuffled_rows(ctx, 4, times, undo_one), 4, 2400)
    assert histogram_is_uniform(counts)


def test_opened_places_are_uniform_whatever_the_permutation():
    identity = split(np.arange(4), RING32)

    def many(ctx, permutation):
        seen = []
        for k in range(2400):
            shuffle = draw_shuffle(ctx.step("draw"), 4, first=k)
            ((places,),) = shuffle_loads(ctx.step("move"), [Load(shuffle, [permutation], opened=(0,))])
            seen.append(tuple(int(v) for v in places))
        return seen

    results = LocalParties().run(many, identity)
    assert results[0] == results[1] == results[2]
    counter = Counter(results[0])
    assert histogram_is_uniform(np.array([counter[p] for p in itertools.permutations(range(4))]))


@pytest.mark.parametrize("keys", [[5, 5, 5, 5], [1, 2, 3, 4], [9, 1, 9, 1]])
def test_opened_comparisons_of_a_sort_are_uniform_even_for_equal_keys(keys, monkeypatch):
    """The ranks of the shuffled keys are all a sort opens: they must not tell equal keys from different ones."""
    sort_module = sys.modules["hedgerow.oblivious.sort"]
    seen = []
    real = sort_module.reveal_ranks

    def spy(ctx, left, right, bits):
        ranks = real(ctx, left, right, bits)
        if ctx.party == 0:
            seen.append(tuple(int(v) for v in ranks[0]))
        return ranks

    monkeypatch.setattr(sort_module, "reveal_ranks", spy)
    share = split(keys, RING64)

    def many(ctx, x):
        for _ in range(600):
            sort_permutations(ctx, [x], 4)

    LocalParties().run(many, share)
    counter = Counter(seen)
    assert histogram_is_uniform(np.array([counter[p] for p in itertools.permutations(range(4))]))


def test_shares_of_an_owner_are_uniform():
    for party in range(3):
        share = split(np.zeros(4000, np.uint64), RING64)[party]
        for side in (share.left, share.right):
            assert histogram_is_uniform(np.bincount(side.view(np.uint8), minlength=256))
