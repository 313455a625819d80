"""One message made of several arrays: kernels write straight into it, nothing is copied together afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..sharing.ring import Ring, Words

Layout = Sequence[tuple[Ring, int]]


def packet_bytes(layout: Layout) -> int:
    """Bytes of a packet."""
    return sum(ring.nbytes * count for ring, count in layout)


def views(buffer: Words, layout: Layout) -> list[Words]:
    """Of a byte buffer, in the given order, a view of ``count`` items of each ring. Wide rings are laid out first."""
    found: list[Any] = [None] * len(layout)
    start = 0
    for index in sorted(range(len(layout)), key=lambda i: -layout[i][0].dtype.itemsize):
        ring, count = layout[index]
        stop = start + ring.nbytes * count
        found[index] = buffer[start:stop].view(ring.dtype).reshape(ring.shape(count))
        start = stop
    return found


def packet(layout: Layout) -> tuple[Words, list[Words]]:
    """A fresh byte buffer and its views."""
    buffer: Words = np.empty(packet_bytes(layout), np.uint8)
    return buffer, views(buffer, layout)
