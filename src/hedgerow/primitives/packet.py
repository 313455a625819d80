"""One message made of several arrays: kernels write straight into it, nothing is copied together afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..sharing.ring import Ring, Words


def packet(sizes: Sequence[tuple[Ring, int]]) -> tuple[Words, list[Words]]:
    """A byte buffer and, in the given order, a view of ``count`` items of each ring. Wide rings are laid out first."""
    total = sum(ring.nbytes * count for ring, count in sizes)
    buffer: Words = np.empty(total, np.uint8)
    views: list[Any] = [None] * len(sizes)
    start = 0
    for index in sorted(range(len(sizes)), key=lambda i: -sizes[i][0].dtype.itemsize):
        ring, count = sizes[index]
        stop = start + ring.nbytes * count
        views[index] = buffer[start:stop].view(ring.dtype).reshape(ring.shape(count))
        start = stop
    return buffer, views
