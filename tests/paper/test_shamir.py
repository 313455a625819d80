"""HIKC23 on its own sharing, Shamir's over 2^61 - 1: the field, the protocols, their costs and messages, the trees."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow import errors
from hedgerow.kernels import field as kernels
from hedgerow.oblivious.permutation import apply, unapply
from hedgerow.parties.training import check_sharing, train_tree
from hedgerow.protocols import shamir, top_bit
from hedgerow.reference.tree import train
from hedgerow.schemes.shamir.arithmetic import replicated
from hedgerow.shares import FIELD61, RING32, RING64, Points, reconstruct, split
from hedgerow.shares.field import PRIME
from hedgerow.trees.opened import decode
from hedgerow.trees.problem import Problem, check_table
from hedgerow.trees.table import TrainingTable
from support import tables
from support.commands import command
from support.problems import train_parties
from support.statistics import histogram_is_uniform
from support.threads import ThreadParties, run_parties
from support.transcript import RecordingTransport

items = st.one_of(
    st.integers(0, PRIME - 1), st.sampled_from([0, 1, 2, PRIME - 1, PRIME - 2, PRIME // 2, PRIME // 2 + 1, 1 << 60])
)
EDGES = np.array([0, 1, 2, 3, (1 << 59) - 1, 1 << 58, 12345, 1 << 31], np.uint64)


@given(st.lists(st.tuples(items, items), min_size=1, max_size=20))
def test_the_field(pairs):
    a, b = (np.array(side, np.uint64) for side in zip(*pairs, strict=True))
    for found, wanted in [
        (FIELD61.add(a, b), [(x + y) % PRIME for x, y in pairs]),
        (FIELD61.subtract(a, b), [(x - y) % PRIME for x, y in pairs]),
        (FIELD61.multiply(a, b), [x * y % PRIME for x, y in pairs]),
        (FIELD61.prefix_sum(a), np.cumsum(a.astype(object)) % PRIME),
    ]:
        assert found.tolist() == list(wanted)
    words = np.array([0, PRIME, PRIME + 1, 2 * PRIME, (1 << 64) - 1], np.uint64)
    assert kernels.reduced(words).tolist() == [int(word) % PRIME for word in words]
    assert FIELD61.uniform(words[:1]).tolist() == [0]
    with pytest.raises(RuntimeError, match="run again"):
        FIELD61.uniform(words)
    assert FIELD61.decode_signed(FIELD61.encode(np.array([-1, 0, 5]))).tolist() == [-1, 0, 5]


def share_on_lines(values):
    """What an owner would do: a line through every value, of any slope."""
    slopes = np.random.default_rng(3).integers(0, PRIME, len(values), dtype=np.uint64)
    rises = [FIELD61.multiply(slopes, np.uint64(point)) for point in (1, 2, 3)]
    return [Points(FIELD61.add(FIELD61.encode(values), rise)) for rise in rises]


def opened(program, *inputs):
    """What all parties open of a program's result."""
    found = ThreadParties().run(lambda ctx, *shares: shamir.reveal(ctx.step("open"), program(ctx, *shares)), *inputs)
    assert all(np.array_equal(found[0], other) for other in found)
    return found[0].tolist()


def test_products_and_opening():
    generator = np.random.default_rng(1)
    a, b = (generator.integers(0, PRIME, 100, dtype=np.uint64) for _ in range(2))
    x, y = share_on_lines(a), share_on_lines(b)
    assert opened(lambda ctx, x: x, x) == a.tolist()
    assert opened(shamir.multiply, x, y) == [int(p) * int(q) % PRIME for p, q in zip(a, b, strict=True)]
    total = [2 * int(p) * int(q) % PRIME for p, q in zip(a, b, strict=True)]
    assert opened(lambda ctx, x, y: shamir.dot(ctx, [x, y], [y, x]), x, y) == total
    assert opened(lambda ctx, x: shamir.on_line(ctx, replicated(ctx, x)), x) == a.tolist()


@pytest.mark.parametrize("count", [1, 8, 70, 40_000])
def test_conversions_keep_every_number_of_sixty_bits(count):
    """Forty thousand are dealt by all three parties."""
    values = np.random.default_rng(count).integers(0, 1 << 60, count, dtype=np.uint64)
    values[: min(count, 3)] = [0, (1 << 60) - 1, 1][: min(count, 3)]
    assert opened(shamir.from_ring, split(values, RING64)) == values.tolist()
    rings = ThreadParties().run(shamir.to_ring, share_on_lines(values))
    assert reconstruct(rings).tolist() == values.tolist()


@pytest.mark.parametrize("count", [8, 40_000])
def test_comparison_and_equality(count):
    generator = np.random.default_rng(count)
    a, b = (generator.integers(0, 1 << int(generator.integers(1, 60)), count, dtype=np.uint64) for _ in range(2))
    a[:8], b[:8] = EDGES, np.roll(EDGES, 1)
    b[::3] = a[::3]
    x, y = share_on_lines(a), share_on_lines(b)
    less = opened(lambda ctx, x, y: shamir.from_bits(ctx, shamir.is_negative(ctx, x - y)), x, y)
    assert less == (a < b).astype(int).tolist()
    equal = opened(lambda ctx, x, y: shamir.from_bits(ctx, shamir.is_zero(ctx, x - y)), x, y)
    assert equal == (a == b).astype(int).tolist()


def test_replicated_numbers_of_the_field_are_moved_by_secret_permutations():
    values = np.array([5, PRIME - 1, 0, 7], np.uint64)
    places = split([2, 0, 3, 1], RING32)
    moved = {apply: [PRIME - 1, 7, 5, 0], unapply: [0, 5, 7, PRIME - 1]}
    for move, wanted in moved.items():

        def program(ctx, x, p, move=move):
            return shamir.on_line(ctx, move(ctx.step("move"), p, [replicated(ctx, x)])[0])

        assert opened(program, share_on_lines(values), places) == wanted


PROTOCOLS = {
    "multiply": (lambda ctx, x, y: shamir.multiply(ctx, x, y), shamir.replicate_cost),
    "dot": (lambda ctx, x, y: shamir.dot(ctx, [x, y], [x, y]), shamir.replicate_cost),
    "replicated": (lambda ctx, x, y: shamir.replicated(ctx, x), shamir.replicate_cost),
    "reveal": (lambda ctx, x, y: shamir.reveal(ctx, x), shamir.replicate_cost),
    "to_ring": (lambda ctx, x, y: shamir.to_ring(ctx, x), shamir.to_ring_cost),
    "is_negative": (lambda ctx, x, y: shamir.is_negative(ctx, x - y), shamir.is_negative_cost),
    "is_zero": (lambda ctx, x, y: shamir.is_zero(ctx, x - y), shamir.is_zero_cost),
}
"""On two vectors of points."""
CONVERSIONS = {
    "from_ring": (lambda ctx, x: shamir.from_ring(ctx, x), shamir.from_ring_cost),
    "from_bits": (lambda ctx, x: shamir.from_bits(ctx, bits_of(ctx, x)), None),
}
"""On a vector of replicated numbers."""


def bits_of(ctx, x):
    return top_bit(ctx.step("bits"), x, 64)


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("count", [1, 100, 40_001])
def test_costs_are_as_declared(name, count):
    program, cost = PROTOCOLS[name]
    parties = ThreadParties()
    shares = share_on_lines(np.arange(count))
    parties.run(lambda ctx, x, y: program(ctx.step("it"), x, y) is None, shares, shares)
    declared = cost(count)
    for party, transport in enumerate(parties.transports):
        spent = transport.meter.below("main/it")
        assert (spent.rounds, spent.sent) == (declared.rounds, declared.sent[party]), party


@pytest.mark.parametrize("count", [1, 100, 40_001])
def test_costs_of_conversions_are_as_declared(count):
    parties = ThreadParties()

    def program(ctx, x):
        shamir.from_ring(ctx.step("numbers"), x)
        shamir.from_bits(ctx.step("flags"), bits_of(ctx, x))

    parties.run(program, split(np.arange(count), RING64))
    declared = shamir.from_ring_cost(count)
    for party, transport in enumerate(parties.transports):
        for step in ("main/numbers", "main/flags"):
            spent = transport.meter.below(step)
            assert (spent.rounds, spent.sent) == (declared.rounds, declared.sent[party]), (party, step)


@pytest.mark.parametrize("name", [*PROTOCOLS, *CONVERSIONS])
def test_every_message_a_party_sees_is_uniform(name):
    """Fixed inputs, fresh keys: in every word the low seven bytes are spread evenly, and so are the five bits above
    them, which are the highest of an item of the field."""
    ones = np.ones(192, np.uint64)
    counts: dict[tuple[int, int, str], np.ndarray] = {}
    highest: dict[tuple[int, int, str], np.ndarray] = {}
    for _ in range(40):
        if name in PROTOCOLS:
            # The slopes come from an owner, here from fresh randomness of the ring's split.
            lines = ThreadParties().run(shamir.from_ring, split(ones, RING64))
            arguments: list[tuple] = [(point, point) for point in lines]
        else:
            arguments = [(share,) for share in split(ones, RING64)]
        program = (PROTOCOLS | CONVERSIONS)[name][0]
        recorders = [RecordingTransport(transport) for transport in ThreadParties().transports]
        run_parties(recorders, program, arguments)
        for recorder in recorders:
            for entry in recorder.entries:
                if entry.sent or entry.step == "keys":
                    continue
                words = np.frombuffer(entry.content, np.uint64)
                key = (recorder.party, entry.peer, entry.step)
                low = np.bincount(words.view(np.uint8).reshape(-1, 8)[:, :7].reshape(-1), minlength=256)
                counts[key] = counts.get(key, 0) + low
                top = np.bincount((words >> np.uint64(56)).astype(int) & 31, minlength=32)
                highest[key] = highest.get(key, 0) + top
    assert counts
    for key, seen in counts.items():
        assert histogram_is_uniform(seen), key
        assert histogram_is_uniform(highest[key]), key


def shamir_tree(parties, x, y, h):
    return decode(train_parties(parties, x, y, h, sharing="shamir"))


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 200), marks=pytest.mark.slow)])
def test_two_hundred_random_tables(seeds):
    for seed in seeds:
        small = seed % 10 != 0
        x, y, h = tables.random_table(seed, most_rows=20 if small else 64, most_height=3 if small else 8)
        assert shamir_tree(ThreadParties(), x, y, h) == train(x, y, h), seed


def test_the_highest_tree():
    x, y = np.arange(64)[None], np.arange(64) % 2
    assert shamir_tree(ThreadParties(), x, y, 59) == train(x, y, 59)


def test_real_tables_on_three_processes(processes):
    for (x, y), h in ((tables.iris_two_classes(), 4), (tables.breast_cancer(), 3)):
        assert shamir_tree(processes, x, y, h) == train(x, y, h)


def test_cross_products_beyond_the_field(processes):
    """From 6,209 rows on, fractions are compared in the rings."""
    generator = np.random.default_rng(4)
    x = generator.integers(0, 1000, (1, 7_500))
    y = (x[0] + generator.integers(0, 400, 7_500) > 700).astype(int)
    assert Problem(6_208, 1, 1, 10).bounds.cross_bits == 59
    assert Problem(7_500, 1, 1, 10).bounds.cross_bits > 60
    assert shamir_tree(processes, x, y, 1) == train(x, y, 1)


@pytest.mark.slow
def test_adult_numeric_on_three_processes(processes):
    x, y = tables.adult_numeric()
    assert shamir_tree(processes, x, y, 3) == train(x, y, 3)


def test_equal_shapes_give_equal_transcripts_apart_from_the_sorts():
    """What a run sends does not depend on the table; sorts by revealed comparisons have a random length."""
    shapes = []
    for seed in range(3):
        generator = np.random.default_rng(seed)
        x, y, problem = check_table(generator.integers(0, 2, (2, 40)), generator.integers(0, 2, 40), 2, 1)
        recorders = [RecordingTransport(transport) for transport in ThreadParties().transports]
        arguments = [(table, problem) for table in TrainingTable.split(x, y)]
        run_parties(recorders, lambda ctx, t, p: train_tree(ctx, t, p, "paper", sharing="shamir"), arguments)
        shapes.append([[entry for entry in recorder.shape() if "/sort" not in entry[0]] for recorder in recorders])
    assert shapes[0] == shapes[1] == shapes[2]
    assert len(shapes[0][0]) > 600


def test_what_it_cannot_do_is_refused():
    _, _, problem = check_table([[1, 2]], [0, 1], 1)
    table = TrainingTable.split(np.array([[1, 2]]), np.array([0, 1]))
    for algorithm, sharing, message in [
        ("fast", "shamir", "works on replicated shares"),
        ("paper", "additive", "no such sharing: 'additive'; there are replicated and shamir"),
    ]:
        with pytest.raises(errors.InputError, match=message):
            ThreadParties().run(lambda ctx, t, a=algorithm, s=sharing: train_tree(ctx, t, problem, a, sharing=s), table)
    for wide in (Problem(3, 1, 1, 59), Problem(3, 1, 60, 8), Problem(1_400_000, 1, 1, 8)):
        with pytest.raises(errors.ExactnessError, match="use the replicated sharing"):
            check_sharing("shamir", "paper", wide)
    assert "Points(2 items)" in repr(Points(np.zeros(2, np.uint64)))


def test_the_benchmark_command():
    done = command("bench", "train", "--rows", "40", "--attrs", "2", "--depth", "2", "--algorithm", "paper",
                   "--sharing", "shamir", "--json")  # fmt: skip
    facts = json.loads(done.out)
    assert facts["sharing"] == "shamir"
    assert facts["matches_reference"]
    refused = command("bench", "train", "--rows", "40", "--sharing", "shamir")
    assert "works on replicated shares" in refused.words
    assert refused.code == 3
