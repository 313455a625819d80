"""Public ranks of freshly shuffled, distinct, secret keys, by opening the results of comparisons.

Safe only on keys that are distinct and have just been shuffled: then the order of the shuffled keys is a uniform
permutation whatever the data, and so is everything computed from it here: which items meet, how many rounds it takes,
how many bytes. The transcript's length is random, but independent of the data.

A sorted sample of 2^t - 1 keys splits the others by binary search into buckets of a few dozen keys, or of a few where
there are many keys; those are finished by quicksort steps, all buckets at once, and by comparing all pairs as soon as
that is cheap.
"""

import numpy as np

from ..engine import Context
from ..kernels import order as order_kernels
from ..protocols import inverse, reveal_top_bit
from ..shares import Keys, Numbers, Words, words_for

BUCKET, SMALL_BUCKET = 24, 4
"""The mean bucket the sample aims at: smaller buckets need a larger sample, larger ones more quicksort steps. For many
keys buckets are small, which takes fewer comparisons and more rounds."""

MANY_KEYS = 1 << 19
"""From this many keys on, a comparison saved is worth more than a round."""

ALL_PAIRS = 1 << 16
"""As soon as all remaining pairs are at most this many (or one for every two items), they are compared in one go."""

BLOCK = 1 << 19
"""Comparisons made in one batch, which bounds the memory."""


def _reveal_negative(ctx: Context, differences: Numbers, bits: int) -> Words:
    """Open for every difference whether it is negative; packed."""
    count = len(differences)
    out = np.empty(words_for(count), np.uint64)
    for start in range(0, count, BLOCK):
        stop = min(count, start + BLOCK)
        out[start // 64 : words_for(stop)] = reveal_top_bit(ctx.step("less"), differences[start:stop], bits + 1)[0]
    return out


def reveal_ranks(ctx: Context, keys: Keys, bits: int) -> Words:
    """Ranks ``uint32[segments, n]`` of keys inside every segment.

    Keys are below ``2**bits`` with ``bits`` at most 63, distinct inside a segment and freshly shuffled.

    Paper: HKI+12's idea (shuffle, then any comparison sort) with a sample sort that keeps the rounds down.
    Cost: random; every comparison costs :func:`hedgerow.protocols.less_than_cost` and one opened bit.
    Reveals: the ranks, that is, a uniform permutation per segment.
    """
    segments, count = keys.shape
    if segments * count >= 1 << 32:
        raise ValueError(f"{segments} segments of {count} keys are too many at once; sort fewer columns together")
    bucket = SMALL_BUCKET if segments * count >= MANY_KEYS else BUCKET
    levels = ((count + 1) // bucket).bit_length() - 1 if count >= 4 * BUCKET else 0
    if levels == 0:
        starts = np.arange(segments + 1, dtype=np.int64) * count
        order = np.arange(segments * count, dtype=np.uint32)
        _finish_buckets(ctx, keys.flat(), order, starts, bits)
        local: Words = inverse(order).reshape(segments, count) - starts[:-1, None].astype(np.uint32)
        return local
    size = (1 << levels) - 1
    sample = keys.first(size)
    sample_ranks = reveal_ranks(ctx.step("sample"), sample, bits)
    sample = sample.ordered([inverse(ranks) for ranks in sample_ranks])
    prefix = np.zeros((segments, count - size), np.uint32)
    for level in range(levels):
        middles = slice((1 << (levels - level - 1)) - 1, None, 1 << (levels - level))
        differences = keys.against(sample, middles, size, prefix)
        order_kernels.advance_search(_reveal_negative(ctx.step("search"), differences, bits), prefix.reshape(-1))
    return _join_sample(ctx, keys, sample_ranks, prefix, bits)


def _join_sample(ctx: Context, keys: Keys, sample_ranks: Words, prefix: Words, bits: int) -> Words:
    """Finish the buckets between the sample's elements and put everything in one order."""
    segments, count = keys.shape
    size = sample_ranks.shape[1]
    rest = count - size
    buckets = size + 1
    bucket = (prefix + np.arange(segments, dtype=np.uint32)[:, None] * np.uint32(buckets)).reshape(-1)
    ends = np.empty(segments * buckets, np.int64)
    order = np.empty(segments * rest, np.uint32)
    order_kernels.counting_order(bucket, ends, order)
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    _finish_buckets(ctx.step("bucket"), keys.flat(skip=size, order=order), order, starts, bits)
    ranks = np.empty((segments, count), np.uint32)
    offset = np.arange(segments, dtype=np.uint32)[:, None] * np.uint32(rest)
    ranks[:, size:] = inverse(order).reshape(segments, rest) - offset + prefix
    below = (ends.reshape(segments, buckets)[:, :-1] - offset).astype(np.uint32)
    ranks[:, :size] = sample_ranks + np.take_along_axis(below, sample_ranks.astype(np.int64), axis=1)
    return ranks


def _finish_buckets(ctx: Context, keys: Keys, order: Words, starts: Words, bits: int) -> None:
    """Sort each bucket ``starts[b]…starts[b+1]``, in place: ``order`` goes along with the keys."""
    first, end = starts[:-1], starts[1:]
    several = end - first > 1
    first, end = first[several], end[several]
    while True:
        sizes = end - first
        pairs = int((sizes * (sizes - 1) // 2).sum())
        if pairs <= max(ALL_PAIRS, len(order) // 2):
            break
        # One quicksort step in every bucket: compare with its first key, then partition.
        opened = _reveal_negative(ctx.step("pivot"), keys.against_first(first, end), bits)
        first, end = keys.part(order, first, end, opened)
    if pairs:
        opened = _reveal_negative(ctx.step("pairs"), keys.in_pairs(first, end, pairs), bits)
        order_kernels.pair_sort(order, first, end, opened)
