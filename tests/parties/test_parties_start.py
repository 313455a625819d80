"""Three local parties: ready fast, and with keys of their own though one process forks into all of them."""

import subprocess
import sys
import time

import pytest

from hedgerow.engine.randomness import fresh_seed
from hedgerow.parties import PartyProcesses


def draw(ctx):
    """What a party would put into a key, and what it draws from the keys it has."""
    return bytes(fresh_seed()), ctx.with_left(4).tolist(), ctx.with_right(4).tolist()


def test_keys_are_drawn_after_the_fork():
    seen = []
    for _ in range(2):
        with PartyProcesses() as parties:
            seen.append([report.result for report in parties.run(draw)])
    seeds = [seed for run in seen for seed, _, _ in run]
    assert len(set(seeds)) == 6
    for run in seen:
        for party in range(3):
            assert run[party][2] == run[(party + 1) % 3][1]
    assert len({tuple(left) for run in seen for _, left, _ in run}) == 6


@pytest.mark.slow
def test_three_parties_are_ready_within_1_2_seconds():
    def once():
        started = time.perf_counter()
        with PartyProcesses():
            return time.perf_counter() - started

    assert min(once() for _ in range(4)) <= 1.2


@pytest.mark.slow
def test_fit_on_iris_in_a_cold_process_takes_2_5_seconds():
    code = (
        "import time; started = time.perf_counter(); import warnings; warnings.simplefilter('ignore'); "
        "from sklearn.datasets import load_iris; import hedgerow; "
        "hedgerow.DecisionTreeClassifier(max_depth=3).fit(*load_iris(return_X_y=True)); "
        "print(time.perf_counter() - started)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(4)]
    assert min(float(run.stdout) for run in runs) <= 2.5
