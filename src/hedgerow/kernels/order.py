"""Local parts of sorting by revealed comparisons: which items meet, and where the opened bits send them.

Keys are shared as two ``uint64`` summands an item. Opened bits are packed 64 to a word; a 1 says "the first is less".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .compile import kernel


@njit(inline="always")
def read_bit(bits: Any, i: Any) -> Any:
    """Bit ``i`` of packed words."""
    return (bits[i >> 6] >> np.uint64(i & 63)) & np.uint64(1)


@kernel("void(u8[:,:],u8[:,::1],u4[:,::1],i8,u8[:,::1])")
def search_differences(keys: Any, sample: Any, prefix: Any, levels_left: Any, out: Any) -> None:
    """Subtract from every key the element of the sorted sample that its binary search meets next."""
    for segment in range(keys.shape[0]):
        for i in range(keys.shape[1]):
            middle = ((2 * np.int64(prefix[segment, i]) + 1) << levels_left) - 1
            out[segment, i] = keys[segment, i] - sample[segment, middle]


@kernel("void(u8[::1],u4[::1])")
def advance_search(bits: Any, prefix: Any) -> None:
    """Append the opened answers to the search prefixes: 1 where the key is not less."""
    for i in range(prefix.shape[0]):
        prefix[i] = 2 * prefix[i] + np.uint32(1 - read_bit(bits, i))


@kernel("void(u4[::1],i8[::1],u4[::1])")
def counting_order(bucket: Any, ends: Any, order: Any) -> None:
    """Stable order of items by bucket; on return ``ends[b]`` is where bucket b ends."""
    for b in range(ends.shape[0]):
        ends[b] = 0
    for i in range(bucket.shape[0]):
        ends[bucket[i]] += 1
    total = 0
    for b in range(ends.shape[0]):
        size = ends[b]
        ends[b] = total
        total += size
    for i in range(bucket.shape[0]):
        b = bucket[i]
        order[ends[b]] = i
        ends[b] += 1


@kernel("i8(u8[::1],i8[::1],u8[::1])")
def pivot_differences(keys: Any, starts: Any, out: Any) -> int:
    """Subtract the first key of every bucket from the bucket's others; returns how many were written."""
    count = 0
    for b in range(starts.shape[0] - 1):
        for i in range(starts[b] + 1, starts[b + 1]):
            out[count] = keys[i] - keys[starts[b]]
            count += 1
    return count


@kernel("i8(u4[::1],i8[::1],u8[::1],u4[::1],i8[::1])")
def pivot_partition(order: Any, starts: Any, bits: Any, new_order: Any, new_starts: Any) -> int:
    """Split every bucket into less, pivot, rest by the opened bits; returns how many bounds were written.

    ``new_order[i]`` is the old place of the item that is now at place i.
    """
    count = 0
    bounds = 0
    for b in range(starts.shape[0] - 1):
        first, end = starts[b], starts[b + 1]
        low = first
        high = end - 1
        base = count
        for i in range(first + 1, end):
            if read_bit(bits, count):
                new_order[low] = i
                low += 1
            count += 1
        new_order[low] = first
        place = low + 1
        for i in range(first + 1, end):
            if not read_bit(bits, base + i - first - 1):
                new_order[place] = i
                place += 1
        new_starts[bounds] = first
        bounds += 1
        if low > first:
            new_starts[bounds] = low
            bounds += 1
        if low < high:
            new_starts[bounds] = low + 1
            bounds += 1
    new_starts[bounds] = starts[starts.shape[0] - 1]
    return bounds + 1


@kernel("void(u8[::1],i8[::1],u8[::1])")
def pair_differences(keys: Any, starts: Any, out: Any) -> None:
    """Differences of all pairs inside every bucket."""
    count = 0
    for b in range(starts.shape[0] - 1):
        for i in range(starts[b], starts[b + 1]):
            for j in range(i + 1, starts[b + 1]):
                out[count] = keys[i] - keys[j]
                count += 1


@kernel("void(i8[::1],u8[::1],u4[::1])")
def pair_places(starts: Any, bits: Any, place: Any) -> None:
    """Where every item of a bucket belongs, from the opened bits of all its pairs."""
    count = 0
    for b in range(starts.shape[0] - 1):
        for i in range(starts[b], starts[b + 1]):
            place[i] = starts[b]
        for i in range(starts[b], starts[b + 1]):
            for j in range(i + 1, starts[b + 1]):
                less = np.uint32(read_bit(bits, count))
                place[j] += less
                place[i] += np.uint32(1) - less
                count += 1
