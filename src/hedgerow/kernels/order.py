"""Local parts of sorting by revealed comparisons: which items meet, and where the opened bits send them.

Keys are shared as two ``uint64`` summands per item. Opened bits are packed 64 to a word; a 1 says "the first is less".
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


@kernel("void(u8[:,:],u8[:,::1],u4[:,::1],u8[:,::1])")
def search_differences(keys: Any, pivots: Any, prefix: Any, out: Any) -> None:
    """Subtract from every key the pivot that its binary search meets next, one of those of its level."""
    for segment in range(keys.shape[0]):
        for i in range(keys.shape[1]):
            out[segment, i] = keys[segment, i] - pivots[segment, prefix[segment, i]]


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


@kernel("void(u8[::1],i8[::1],i8[::1],u8[::1])")
def pivot_differences(keys: Any, first: Any, end: Any, out: Any) -> None:
    """Subtract the first key of every bucket from the bucket's others; buckets have at least two."""
    count = 0
    for b in range(first.shape[0]):
        pivot = keys[first[b]]
        for i in range(first[b] + 1, end[b]):
            out[count] = keys[i] - pivot
            count += 1


@njit(inline="always")
def largest_bucket(first: Any, end: Any) -> Any:
    """How many items the largest bucket has."""
    largest = 0
    for b in range(first.shape[0]):
        largest = max(largest, end[b] - first[b])
    return largest


@kernel("i8(u8[::1],u8[::1],u4[::1],i8[::1],i8[::1],u8[::1],i8[::1],i8[::1])")
def pivot_partition(
    left: Any, right: Any, order: Any, first: Any, end: Any, bits: Any, new_first: Any, new_end: Any
) -> int:
    """Split every bucket in place into less, pivot, rest by the opened bits; returns how many buckets are left to sort.

    Buckets have at least two items, before and after; others need no sorting. Room for half as many buckets as there
    are items is enough.
    """
    largest = largest_bucket(first, end)
    rest_left, rest_right = np.empty(largest, np.uint64), np.empty(largest, np.uint64)
    rest_order = np.empty(largest, np.uint32)
    count = 0
    buckets = 0
    for b in range(first.shape[0]):
        low = first[b]
        pivot_left, pivot_right, pivot_order = left[low], right[low], order[low]
        rest = 0
        for i in range(first[b] + 1, end[b]):
            if read_bit(bits, count):
                left[low], right[low], order[low] = left[i], right[i], order[i]
                low += 1
            else:
                rest_left[rest], rest_right[rest], rest_order[rest] = left[i], right[i], order[i]
                rest += 1
            count += 1
        left[low], right[low], order[low] = pivot_left, pivot_right, pivot_order
        for k in range(rest):
            i = low + 1 + k
            left[i], right[i], order[i] = rest_left[k], rest_right[k], rest_order[k]
        if low > first[b] + 1:
            new_first[buckets], new_end[buckets] = first[b], low
            buckets += 1
        if rest > 1:
            new_first[buckets], new_end[buckets] = low + 1, end[b]
            buckets += 1
    return buckets


@kernel("void(u8[::1],i8[::1],i8[::1],u8[::1])")
def pair_differences(keys: Any, first: Any, end: Any, out: Any) -> None:
    """Differences of all pairs inside every bucket."""
    count = 0
    for b in range(first.shape[0]):
        for i in range(first[b], end[b]):
            for j in range(i + 1, end[b]):
                out[count] = keys[i] - keys[j]
                count += 1


@kernel("void(u4[::1],i8[::1],i8[::1],u8[::1])")
def pair_sort(order: Any, first: Any, end: Any, bits: Any) -> None:
    """Put every bucket in order, in place, by the opened bits of all its pairs.

    Bits that contradict each other put two items in one place, but none outside its bucket.
    """
    largest = largest_bucket(first, end)
    place, moved = np.empty(largest, np.int64), np.empty(largest, np.uint32)
    count = 0
    for b in range(first.shape[0]):
        size = end[b] - first[b]
        for i in range(size):
            place[i] = 0
            moved[i] = order[first[b] + i]
        for i in range(size):
            for j in range(i + 1, size):
                less = np.int64(read_bit(bits, count))
                place[j] += less
                place[i] += 1 - less
                count += 1
        for i in range(size):
            order[first[b] + place[i]] = moved[i]
