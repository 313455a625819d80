"""Kernels against plain NumPy or Python."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.kernels import bits, order, permute
from hedgerow.shares import RING128


@given(st.lists(st.integers(0, 2**64 - 1), max_size=200), st.integers(1, 64))
def test_slicing_round_trip(values, width):
    items = np.array(values, np.uint64)
    rows = np.empty((width, (len(values) + 63) // 64), np.uint64)
    bits.slice_items(items, rows)
    unpacked = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")[:, : len(values)]
    assert unpacked.T.tolist() == [[v >> k & 1 for k in range(width)] for v in values]
    back = np.empty_like(items)
    bits.gather_items(rows, back)
    assert back.tolist() == [v % 2**width for v in values]


@given(st.lists(st.tuples(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1)), min_size=1, max_size=20))
def test_two_limb_arithmetic(pairs):
    a, b = (RING128.encode(np.array(column, dtype=object)) for column in zip(*pairs, strict=True))
    assert RING128.decode(RING128.add(a, b)).tolist() == [(x + y) % 2**128 for x, y in pairs]
    assert RING128.decode(RING128.subtract(a, b)).tolist() == [(x - y) % 2**128 for x, y in pairs]
    assert RING128.decode(RING128.multiply(a, b)).tolist() == [x * y % 2**128 for x, y in pairs]
    running = RING128.decode(RING128.prefix_sum(a))
    assert running.tolist() == [sum(x for x, _ in pairs[: k + 1]) % 2**128 for k in range(len(pairs))]
    assert RING128.decode_signed(RING128.encode([-5])).tolist() == [-5]


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_drawn_permutations_are_permutations(count):
    random = np.random.default_rng(1).integers(0, 2**64, count + 4, dtype=np.uint64)
    drawn, inverse = np.empty(count, np.uint32), np.empty(count, np.uint32)
    assert permute.draw_permutation(random, drawn)
    assert sorted(drawn.tolist()) == list(range(count))
    assert permute.invert_permutation(drawn, inverse)
    assert drawn[inverse].tolist() == list(range(count))


@pytest.mark.parametrize("places", [[0, 0], [0, 5], [2**32 - 1, 0]])
def test_what_is_no_permutation_is_not_inverted(places):
    assert not permute.invert_permutation(np.array(places, np.uint32), np.empty(2, np.uint32))


@given(st.lists(st.integers(0, 7), min_size=1, max_size=60))
def test_counting_order_is_stable(buckets):
    ends, places = np.empty(8, np.int64), np.empty(len(buckets), np.uint32)
    order.counting_order(np.array(buckets, np.uint32), ends, places)
    assert places.tolist() == np.argsort(buckets, kind="stable").tolist()
    assert ends.tolist() == [sum(b <= k for b in buckets) for k in range(8)]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=9), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_opened_bits_that_contradict_each_other_move_nothing_out_of_its_bucket(sizes, low, high):
    bounds = np.cumsum([0, *sizes])
    bits = np.array([low, high, low ^ high], np.uint64)
    places = np.arange(bounds[-1], dtype=np.uint32)
    order.pair_sort(places, bounds[:-1], bounds[1:], bits)
    for first, end in pairwise(bounds):
        assert all(first <= place < end for place in places[first:end])


@given(st.lists(st.integers(2, 9), min_size=1, max_size=9), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_parting_keeps_every_item_in_its_bucket_whatever_the_bits(sizes, low, high):
    bounds = np.cumsum([0, *sizes])
    count = int(bounds[-1])
    places, keys = np.arange(count, dtype=np.uint32), np.arange(count, dtype=np.uint64)
    new_first, new_end = np.empty(count // 2, np.int64), np.empty(count // 2, np.int64)
    others = keys.copy()
    left = order.pivot_partition(
        keys, others, places, bounds[:-1], bounds[1:], np.array([low, high], np.uint64), new_first, new_end
    )
    assert keys.tolist() == others.tolist() == places.tolist()
    assert all(new_end[:left] - new_first[:left] > 1)
    for first, end in pairwise(bounds):
        assert sorted(places[first:end].tolist()) == list(range(first, end))


@pytest.mark.slow
def test_first_run_compiles_once_with_a_word_and_the_next_is_silent(tmp_path, monkeypatch):
    """Three processes start on an empty cache at the same time: one compiles, the others wait and load."""
    monkeypatch.setenv("HEDGEROW_CACHE_DIR", str(tmp_path))
    command = [sys.executable, "-c", "from hedgerow import kernels; kernels.load()"]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    words = [process.communicate(timeout=200)[1] for process in started]
    assert all(process.returncode == 0 for process in started)
    assert sum("compiling kernels (first run only)" in said for said in words) == 1
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert again.stderr == ""


@pytest.mark.slow
def test_no_kernel_leaves_its_arrays(tmp_path):
    environment = dict(os.environ, HEDGEROW_CACHE_DIR=str(tmp_path), NUMBA_BOUNDSCHECK="1")
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    script = Path(__file__).parents[1] / "support" / "bounds_checked.py"
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=280)
    assert done.stdout.strip() == "all in bounds", done.stderr
