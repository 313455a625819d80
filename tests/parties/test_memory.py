"""The memory of a party's process."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from hedgerow.parties import memory

def take():
    arrays = [np.ones(40 << 20, np.uint8) for _ in range(5)]
    return memory.resident_memory()

memory.keep_freed_memory()
before, during = memory.resident_memory(), take()
kept = memory.resident_memory()
memory.return_memory()
small = memory.resident_memory()
memory.KEPT_BETWEEN_RUNS = 0
memory.return_memory()
print(*(size >> 20 for size in (during - before, kept - before, small - before, memory.resident_memory() - before)))
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
