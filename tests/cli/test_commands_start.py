"""Commands start fast, because they import what they need when they run."""

import os
import resource
import subprocess
import sys

import pytest

ENTRY = "from hedgerow.cli.entry import main; main()"


def processor_seconds(*arguments, code=ENTRY, **environment):
    """What a cold process takes, the best of three, and what it prints."""
    best = None
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env=dict(os.environ, **environment),
            capture_output=True,
            text=True,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = spent if best is None else min(best, spent)
    return best, done.stdout


def test_help_takes_less_than_four_tenths_of_a_second():
    seconds, printed = processor_seconds("--help")
    assert "Share a table among three local parties" in printed
    assert seconds <= 0.4


@pytest.mark.parametrize(
    ("words", "expected"),
    [("hedgerow tr", "train"), ("hedgerow ", "consortium"), ("hedgerow train --max", "--max-depth")],
)
def test_a_completion_takes_less_than_three_tenths(words, expected):
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1), "_HEDGEROW_COMPLETE": "complete_bash"}
    code = "import sys; sys.argv[0] = 'hedgerow'; " + ENTRY
    seconds, printed = processor_seconds(code=code, **asked)
    assert expected in printed.split()
    assert seconds <= 0.3


def test_the_package_is_imported_in_a_tenth():
    seconds, printed = processor_seconds(code="import sys, hedgerow; print('numpy' in sys.modules)")
    assert printed.strip() == "False"
    assert seconds <= 0.1


def test_splitting_and_joining_shares_loads_no_kernel():
    code = (
        "import sys; from hedgerow.shares import RING64, split, reconstruct; "
        "assert reconstruct(split([5, 7], RING64)).tolist() == [5, 7]; print('numba' in sys.modules)"
    )
    assert processor_seconds(code=code)[1].strip() == "False"
