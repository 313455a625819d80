"""One message made of several columns: kernels write straight into it, nothing is copied together afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..sharing.ring import Ring, Words


def packet_bytes(rings: Sequence[Ring], count: int) -> int:
    """Bytes of a packet with ``count`` items of every ring."""
    return count * sum(ring.nbytes for ring in rings)


@lru_cache(maxsize=1024)
def _widest_first(widths: tuple[int, ...]) -> list[int]:
    """In which order columns are laid out, so that all are aligned."""
    return sorted(range(len(widths)), key=lambda index: -widths[index])


def views(buffer: Words, rings: Sequence[Ring], count: int) -> list[Words]:
    """Of a byte buffer a view of ``count`` items for every ring, in their order. Wide rings are laid out first."""
    found = [buffer] * len(rings)
    start = 0
    for index in _widest_first(tuple([ring.bits for ring in rings])):
        ring = rings[index]
        stop = start + ring.nbytes * count
        column = buffer[start:stop].view(ring.dtype)
        found[index] = column.reshape(-1, 2) if ring.bits == 128 else column
        start = stop
    return found


def packet(rings: Sequence[Ring], count: int) -> tuple[Words, list[Words]]:
    """A fresh byte buffer and its views."""
    buffer: Words = np.empty(packet_bytes(rings, count), np.uint8)
    return buffer, views(buffer, rings, count)
