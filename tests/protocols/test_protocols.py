"""Every protocol against its plaintext twin, its declared cost and its promise of equal transcripts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.engine import Context
from hedgerow.protocols import (
    Evaluation,
    LaterInputs,
    SelectByRow,
    Selection,
    SharedInputs,
    dealer_blocks,
    evaluate_and_select,
    public,
)
from hedgerow.shares import RING32, Bits, Columns, split_bits
from support.operations import (
    BOTH,
    FIVE,
    OPERATIONS,
    PAIR,
    SORTS,
    dealers,
    fixed_inputs,
    open_results,
    same,
    share_inputs,
)
from support.strategies import LENGTHS, numbers
from support.threads import ThreadParties, run_parties
from support.transcript import RecordingTransport


def draw_inputs(data, operation):
    length = data.draw(LENGTHS)
    palette = data.draw(st.lists(numbers(operation.bits), min_size=1, max_size=9))
    values = []
    for kind in operation.inputs:
        if kind == "p":
            seed = data.draw(st.integers(0, 2**32 - 1))
            values.append(np.random.default_rng(seed).permutation(length).astype(np.uint32))
        else:
            picks = data.draw(st.lists(st.integers(0, len(palette) - 1), min_size=length, max_size=length))
            values.append(np.array([palette[i] for i in picks], dtype=object))
    return values


@pytest.mark.parametrize("operation", OPERATIONS + SORTS, ids=str)
@pytest.mark.parametrize("number", [1, 3])
@given(data=st.data())
def test_equals_the_twin_and_costs_what_it_declares(operation, number, data):
    values = draw_inputs(data, operation)
    parties = ThreadParties()
    with dealers(number):
        results = parties.run(operation.program, *share_inputs(operation, values))
        declared = operation.cost(len(values[0])) if operation.cost else None
    assert same(open_results(results), operation.expected(*values))
    if declared is not None:
        spent = [transport.meter.total() for transport in parties.transports]
        keys = [transport.meter.steps["keys"] for transport in parties.transports]
        assert [s.rounds - k.rounds for s, k in zip(spent, keys, strict=True)] == [declared.rounds] * 3
        assert tuple(s.sent - k.sent for s, k in zip(spent, keys, strict=True)) == declared.sent


@pytest.mark.parametrize("operation", OPERATIONS + SORTS, ids=str)
def test_equals_the_twin_on_three_real_processes(operation, processes):
    for length in (0, 1, 65, 200):
        values = fixed_inputs(operation, length, seed=length)
        reports = processes.run(operation.program, *share_inputs(operation, values))
        assert same(open_results([report.result for report in reports]), operation.expected(*values))
        if operation.cost is not None:
            assert tuple(report.meter.total().sent for report in reports) == operation.cost(length).sent
            assert {report.meter.total().rounds for report in reports} == {operation.cost(length).rounds}


def test_many_keys_are_sorted_in_small_buckets(monkeypatch):
    """A lower bound for "many" takes the path of a million keys, which has more rounds."""
    operation = next(sort for sort in SORTS if sort.name == "sort_columns")
    parties, counts = ThreadParties(), []
    values = [v % 500 for v in fixed_inputs(operation, 3000, seed=1)]
    for many in (5000, 10**9):
        monkeypatch.setattr("hedgerow.oblivious.ranking.MANY_KEYS", many)
        results = parties.run(operation.program, *share_inputs(operation, values))
        assert same(open_results(results), operation.expected(*values))
        counts.append(parties.transports[0].meter.total().rounds)
    assert counts[0] > counts[1] - counts[0]


def transcript_shapes(operation, values):
    parties = ThreadParties()
    recorders = [RecordingTransport(transport) for transport in parties.transports]
    shared = share_inputs(operation, values)
    run_parties(recorders, operation.program, [tuple(argument[p] for argument in shared) for p in range(3)])
    return [recorder.shape() for recorder in recorders]


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_equal_shapes_give_equal_transcripts(operation):
    zeros = [
        v if kind == "p" else v * 0 for kind, v in zip(operation.inputs, fixed_inputs(operation, 70, 1), strict=True)
    ]
    assert transcript_shapes(operation, zeros) == transcript_shapes(operation, fixed_inputs(operation, 70, 2))


def test_protocols_refuse_what_they_cannot_do():
    from hedgerow.oblivious import sort_permutations
    from hedgerow.protocols import Circuit, less_than, multiply, select_sum, widen
    from hedgerow.shares import RING32, RING64, split, split_bits

    x32, x64 = split([1, 2], RING32)[0], split([1, 2], RING64)[0]
    ctx = Context.__new__(Context)
    with pytest.raises(ValueError, match="use a wider ring"):
        less_than(ctx, x32, x32, 32)
    with pytest.raises(ValueError, match="use narrow"):
        widen(ctx, x64, RING32)
    with pytest.raises(ValueError, match="use widen"):
        x32.narrow(RING64)
    with pytest.raises(ValueError, match="exceed 63 bits"):
        sort_permutations(ctx, [x64], 63)
    parties = ThreadParties()
    bit = split_bits([0, 1])[0]
    with pytest.raises(ValueError, match="one row of bits per term"):
        select_sum(ctx, [bit], [[x32], [x32]])
    with pytest.raises(ValueError, match="columns of 2 items"):
        select_sum(ctx, [bit, bit], [[x32], [x64]])
    with pytest.raises(ValueError, match="cannot multiply the rows"):
        Circuit(2, [[((0, 2),)]])
    with pytest.raises(ValueError, match="cannot multiply the rows"):
        Circuit(6, [[((0, 1, 2, 3, 4, 5),)]])
    with pytest.raises(ValueError, match="all factors need 2 items"):
        parties.run(multiply, split([1, 2], RING32), split([1, 2], RING64))


def test_bits_move_between_circuits_only_in_the_hands_of_one_dealer():
    def program(ctx, b, c):
        rows = Bits.stack([b, c])
        first, second = (Evaluation(ctx.step(name), PAIR, SharedInputs(rows), dealer_blocks(2)) for name in "ab")
        longer = Evaluation(ctx.step("c"), FIVE, SharedInputs(Bits.stack([b] * 5)), dealer_blocks(2))
        with pytest.raises(ValueError, match="single dealer"):
            Evaluation(ctx.step("d"), PAIR, LaterInputs(first, BOTH * 2, lambda x: x, b), dealer_blocks(2))
        selection = Selection(ctx.step("e"), Columns.of([public(ctx, [1, 2], RING32)]))
        with pytest.raises(ValueError, match="single dealer"):
            evaluate_and_select(ctx, [second], [SelectByRow(BOTH, selection, lambda x: x)])
        with pytest.raises(ValueError, match="must not be longer"):
            evaluate_and_select(ctx, [second], [], [longer])

    bits = [split_bits([0, 1]) for _ in range(2)]
    with dealers(3):
        ThreadParties().run(program, *bits)


@pytest.mark.parametrize("values", [[[1, 2]], [1.5], [2**64], ["a"], [float("nan")]])
def test_owners_cannot_share_what_would_be_lost_or_masked_badly(values):
    from hedgerow.errors import InputError
    from hedgerow.shares import RING64, split

    with pytest.raises((InputError, ValueError, TypeError)):
        split(values, RING64)
    with pytest.raises(InputError):
        split(np.array([[1, 2], [3, 4]]), RING64)


def test_nothing_secret_in_a_repr():
    from hedgerow.shares import RING64, split, split_bits

    share = split([123456789], RING64)[0]
    assert repr(share) == "Numbers(1 items, Ring(2^64))"
    assert repr(split_bits([1])[0]) == "Bits(1 rows of 1 bits)"
    contexts = ThreadParties().run(lambda ctx: (repr(ctx), repr(ctx.left_key)))
    assert contexts[2] == ("Context(party 2, step 'main')", "PairKey(hidden)")
