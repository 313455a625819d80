"""Statistical sanity: what a single party sees looks uniform, and shuffles reach all permutations evenly."""

import itertools
import sys
from collections import Counter

import numpy as np
import pytest

from hedgerow.engine import Context
from hedgerow.oblivious import apply, sort_permutations
from hedgerow.parties import program as programs
from hedgerow.protocols import (
    SelectByRow,
    Selection,
    ShuffleJob,
    draw_shuffle,
    evaluate_and_select,
    multiply,
    product_sign,
    public,
    refresh,
    reveal,
    reveal_bits,
    run_shuffles,
    sign_of,
    top_bit,
)
from hedgerow.shares import RING16, RING32, RING64, Bits, Columns, reconstruct, split, split_bits, unpack_bits
from hedgerow.trees.problem import Problem
from support import problems
from support.operations import OPERATIONS, dealers, fixed_inputs, gated_circuit, in_reverse, share_inputs
from support.statistics import histogram_is_uniform
from support.threads import ThreadParties, run_parties
from support.transcript import RecordingTransport


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
        recorders = [RecordingTransport(transport) for transport in ThreadParties().transports]
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
    """All messages one party receives from another in a long program: no 8-byte word occurs twice.

    The two answers to a dealer share a mask, and their difference is what the dealer is to learn: in few items it may
    well be zero, so each neighbour is looked at alone.
    """
    x = split(list(range(100)), RING64)

    def program(ctx, a):
        for k in range(3):
            order = sort_permutations(ctx.step(f"sort{k}"), [a], 30)[0]
            a = apply(ctx.step(f"apply{k}"), order, [a])[0]
            a = multiply(ctx.step(f"multiply{k}"), a, a)

    recorders = [RecordingTransport(transport) for transport in ThreadParties().transports]
    run_parties(recorders, program, [(x[p],) for p in range(3)])
    for recorder in recorders:
        opened = ("open", "pairs")
        heard = [e for e in recorder.entries if not e.sent and e.length >= 64 and not e.step.endswith(opened)]
        for peer in {0, 1, 2} - {recorder.party}:
            kept = [e.content[: len(e.content) // 8 * 8] for e in heard if e.peer == peer]
            words = np.frombuffer(b"".join(kept), np.uint64)
            # The last word of opened bits is cut to its items, so it may be small; a whole one hardly ever is.
            words = words[words >= 1 << 32]
            assert len(words) > 400
            assert len(set(words.tolist())) == len(words)


LANES = 1 << 13
"""Items with the same secret and sharings of their own: samples of what a party sees."""


def compare(ctx, b, x, y):
    return top_bit(ctx, x - y, 9)


def compare_products(ctx, b, x, y):
    return product_sign(ctx, [x], [y], 7)


def compare_and_choose(ctx, b, x, y):
    """A sign of few bits, gated, that selects a number; the stage after it multiplies the result again."""
    sign = sign_of(ctx, x - y, 7)
    circuit, found = gated_circuit(sign.chunks)
    evaluation = sign.evaluation(ctx.step("sign"), circuit, b)
    selection = Selection(ctx.step("choose"), Columns.of([x]))
    evaluate_and_select(ctx, [evaluation], [SelectByRow([found], selection)], after=1)


def go_on_in_reverse(ctx, b, x, y):
    return in_reverse(ctx, b, b)


def seen_rows(array):
    """Every lane's bits in an array that has one or several rows of bits, or numbers, of all lanes."""
    if array.dtype == np.uint64 and array.ndim == 2:
        return unpack_bits(array, LANES)
    numbers = array.view(np.uint16).reshape(-1, LANES)
    return np.concatenate([(numbers >> k & 1).astype(np.uint8) for k in (0, 1, 15)])


@pytest.mark.parametrize("program", [compare, compare_products, compare_and_choose, go_on_in_reverse])
def test_no_three_things_a_party_sees_add_up_to_anything(program, monkeypatch):
    """Every lane has the same secret. Of all a party holds, draws and receives, row by row, no one, two or three add up
    to something that is not even: a mask that serves twice, or a value that travels with its mask, would."""
    bits = split_bits(np.ones(LANES))
    numbers = [split(np.full(LANES, value), RING16) for value in (3, 5)]
    seen = {party: [side for x in (bits, *numbers) for side in (x[party].left, x[party].right)] for party in range(3)}

    def drawing(original):
        def draw(self, problem, dtype=np.uint64):
            out = original(self, problem, dtype)
            seen[self.party].append(out.copy())
            return out

        return draw

    original = Context.exchange

    def exchange(self, to_left=None, to_right=None, from_left=None, from_right=None):
        original(self, to_left, to_right, from_left, from_right)
        for parts in (from_left, from_right):
            seen[self.party] += [array.copy() for array in ([parts] if isinstance(parts, np.ndarray) else parts or [])]

    monkeypatch.setattr(Context, "exchange", exchange)
    for side in ("with_left", "with_right"):
        monkeypatch.setattr(Context, side, drawing(getattr(Context, side)))
    ThreadParties().run(program, bits, *numbers)
    for party, arrays in seen.items():
        rows = np.concatenate([seen_rows(array) for array in arrays if array.size])
        signs = 1 - 2 * rows.astype(np.float32)
        # Some ten million sums at most; a fair one is beyond seven standard deviations with probability 3e-12.
        bound = 7 * LANES**0.5
        assert len(signs) > 10
        assert abs(signs.sum(axis=1)).max() < bound, party
        for k, row in enumerate(signs):
            later = signs[k + 1 :]
            pairs = later @ row
            assert abs(pairs).max(initial=0) < bound, (party, k)
            triples = (later * row) @ later.T
            np.fill_diagonal(triples, 0)
            assert abs(triples).max(initial=0) < bound, (party, k)


def permutation_counts(program, size, runs):
    """How often each permutation came out, all runs in one session so that the streams go on."""

    def many(ctx):
        return [tuple(int(v) for v in program(ctx)) for _ in range(runs)]

    results = ThreadParties().run(many)
    assert results[0] == results[1] == results[2]
    counter = Counter(results[0])
    return np.array([counter[p] for p in itertools.permutations(range(size))])


def shuffled_rows(ctx, size, times, undo_one):
    column = public(ctx, np.arange(size), RING32)
    for k in range(times):
        shuffle = draw_shuffle(ctx.step("draw"), size, first=k)
        ((column,),) = run_shuffles(ctx.step("move"), [ShuffleJob(shuffle, [column])])
    if undo_one:
        other = draw_shuffle(ctx.step("draw"), size, first=1)
        ((column,),) = run_shuffles(ctx.step("undo"), [ShuffleJob(other, [column])], undo=True)
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
            ((places,),) = run_shuffles(ctx.step("move"), [ShuffleJob(shuffle, [permutation], opened=(0,))])
            seen.append(tuple(int(v) for v in places))
        return seen

    results = ThreadParties().run(many, identity)
    assert results[0] == results[1] == results[2]
    counter = Counter(results[0])
    assert histogram_is_uniform(np.array([counter[p] for p in itertools.permutations(range(4))]))


@pytest.mark.parametrize("keys", [[5, 5, 5, 5], [1, 2, 3, 4], [9, 1, 9, 1]])
def test_opened_comparisons_of_a_sort_are_uniform_even_for_equal_keys(keys, monkeypatch):
    """The ranks of the shuffled keys are all a sort opens: they must not tell equal keys from different ones."""
    sort_module = sys.modules["hedgerow.oblivious.sort"]
    seen = []
    real = sort_module.reveal_ranks

    def spy(ctx, shuffled, bits):
        ranks = real(ctx, shuffled, bits)
        if ctx.party == 0:
            seen.append(tuple(int(v) for v in ranks[0]))
        return ranks

    monkeypatch.setattr(sort_module, "reveal_ranks", spy)
    share = split(keys, RING64)

    def many(ctx, x):
        for _ in range(600):
            sort_permutations(ctx, [x], 4)

    ThreadParties().run(many, share)
    counter = Counter(seen)
    assert histogram_is_uniform(np.array([counter[p] for p in itertools.permutations(range(4))]))


def test_refreshed_shares_are_uniform_but_for_their_sum():
    """Shares as bare as public numbers have them, all in one summand: what leaves tells the sum alone."""
    lanes = 1 << 13

    def program(ctx):
        return refresh(ctx, [public(ctx, np.full(lanes, 77), RING64)])[0]

    results = ThreadParties().run(program)
    assert (reconstruct(results) == 77).all()
    summands = [results[party].left for party in range(3)]
    for a, b in itertools.combinations(summands, 2):
        for seen in (a, b, a ^ b, a - b, a + b):
            assert histogram_is_uniform(np.bincount(seen.view(np.uint8), minlength=256))


@pytest.mark.parametrize("kind", ["labels", "probabilities", "matrix", "errors", "tree"])
def test_everything_that_leaves_the_parties_is_refreshed(kind, monkeypatch):
    """Each share a program gives back is one that :func:`refresh` has made."""
    made = {0: [], 1: [], 2: []}
    real = programs.refresh  # type: ignore[attr-defined]

    def spy(ctx, columns):
        found = real(ctx, columns)
        made[ctx.party] += found
        return found

    monkeypatch.setattr(programs, "refresh", spy)
    generator = np.random.default_rng(1)
    x, y = generator.integers(0, 16, (2, 30)), generator.integers(0, 2, 30)
    regression = {"classes": 0, "target_bits": 1} if kind == "errors" else {}
    problem = Problem(30, 2, 2, 4, **regression)
    trees = problems.train_secure(x, y, None, problem)
    flat = split(2 * x.reshape(-1).astype(np.uint64), problem.widths.value_ring)
    rows, truth = [part.pieces(30) for part in flat], split(y.astype(np.uint64), RING64)
    shapes, parties = [problem] * 3, ThreadParties()
    if kind == "tree":
        results = parties.run(programs.run_training, problems.tables_of(x, y), shapes, ["fast"] * 3)
        left = [tree.columns for tree in results]
        assert problems.opened(results) == problems.twin(x, y, None, problem)
    elif kind == "probabilities":
        left = parties.run(programs.run_probabilities, trees, rows, shapes)
    elif kind == "labels":
        left = [[share] for share in parties.run(programs.run_labels, trees, rows, shapes)]
    else:
        left = [[share] for share in parties.run(programs.run_evaluation, trees, rows, truth, shapes)]
    for party, columns in enumerate(left):
        assert columns
        assert all(any(column is share for share in made[party]) for column in columns)


def test_opened_bits_show_no_padding():
    """Bits past the last item are no items: what is told of them is 0, whatever stands there."""
    bits = split_bits([1, 0, 1])
    recorders = [RecordingTransport(transport) for transport in ThreadParties().transports]

    def program(ctx, b):
        return reveal_bits(ctx.step("open"), Bits(b.left | ~np.uint64(7), b.right, 3))

    opened = run_parties(recorders, program, [(bits[p],) for p in range(3)])
    assert [rows.tolist() for rows in opened] == [[[5]]] * 3
    for recorder in recorders:
        told = [entry.content for entry in recorder.entries if entry.step.endswith("open") and not entry.sent]
        assert all(np.frombuffer(content, np.uint64)[0] < 8 for content in told)
        assert told


def test_shares_of_an_owner_are_uniform():
    for party in range(3):
        share = split(np.zeros(4000, np.uint64), RING64)[party]
        for side in (share.left, share.right):
            assert histogram_is_uniform(np.bincount(side.view(np.uint8), minlength=256))
