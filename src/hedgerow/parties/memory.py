"""A party process's memory: kept between runs if it is small, given back if it is large."""

import contextlib
import ctypes
import gc
import resource
from pathlib import Path

from .. import kernels

KEPT_BETWEEN_RUNS = 1 << 30
"""Bytes above which a party does not hold on to memory between runs."""


def peak_memory_mb() -> float:
    """The largest resident size this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def keep_freed_memory() -> None:
    """Ask glibc to reuse freed blocks instead of returning them to the system.

    Protocols allocate and free the same large arrays again and again; fresh pages for each cost a third of a sort, and
    of every layer of a large table. Blocks above 32 MB are reused only if none is mapped on its own. To be called
    before there are other threads.
    """
    trim_threshold, top_pad, most_mapped = -1, -2, -4
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(most_mapped, 0)
        libc.mallopt(trim_threshold, -1)
        libc.mallopt(top_pad, 64 << 20)


def prepare_to_fork() -> None:
    """Load the kernels, and let processes forked from this one share what is loaded instead of copying it."""
    keep_freed_memory()
    kernels.load(hide_scipy=True)
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def return_memory() -> None:
    """Give freed memory back after a run that took much of it; a small run's is kept for the next one."""
    with contextlib.suppress(OSError, AttributeError):
        if resident_memory() > KEPT_BETWEEN_RUNS:
            gc.collect()
            ctypes.CDLL("libc.so.6").malloc_trim(0)


def resident_memory() -> int:
    """Bytes of memory this process has now, as Linux counts them."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
