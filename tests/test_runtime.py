"""The memory of a party's process."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from hedgerow.parties import main as worker

def take():
    arrays = [np.ones(40 << 20, np.uint8) for _ in range(5)]
    return worker.resident_memory()

worker.keep_freed_memory()
before, during = worker.resident_memory(), take()
kept = worker.resident_memory()
worker.return_memory()
small = worker.resident_memory()
worker.KEPT_BETWEEN_RUNS = 0
worker.return_memory()
print(*(size >> 20 for size in (during - before, kept - before, small - before, worker.resident_memory() - before)))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="asks glibc")
def test_freed_memory_is_kept_for_the_next_run_unless_it_is_much():
    """Arrays above 32 MB, which the system's allocator would not keep by itself."""
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=100
    ).stdout
    during, kept, after_small, after_large = map(int, said.split())
    assert during >= 190
    assert kept >= 190
    assert after_small >= 190
    assert after_large < 20
