"""Stable sorting: the secret permutation that would sort one or many columns, and columns moved by it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine import Context
from ..protocols import Column, ShuffleJob, draw_shuffle, public, ring_to_bits, run_shuffles, widen
from ..shares import RING32, RING64, RING128, Bits, Keys, Numbers
from .permutation import apply
from .radix import radix_permutation
from .ranking import reveal_ranks

NARROW = 8
"""Keys of at most this many bits are sorted by radix passes; docs/decisions/0002-sorting.md has the measurement."""

WIDEST = 63


def place_bits(count: int) -> int:
    """Bits of a row number."""
    return max(1, (count - 1).bit_length())


def sort_permutations(
    ctx: Context, columns: Sequence[Numbers], bits: int, places: Sequence[Numbers] | None = None
) -> list[Numbers]:
    """For every column, the stable sort permutation of its keys of ``bits`` bits; all columns in one go.

    Keys must really be below ``2**bits``, modulo the size of their ring, which has more bits: comparisons look at one
    bit above the key and at no other. Where keys come from outside, :func:`hedgerow.protocols.truncate` makes
    it true.

    The row number (or the secret ``places``) is appended to every key *before* the shuffle. That makes keys distinct,
    which the opened comparisons need, and the sort stable. Appending the place after the shuffle would break ties by a
    public number and so show which keys are equal.

    Paper: HKI+12's idea, see :mod:`.ranking`. Cost: :func:`.ranking.reveal_ranks`, a shuffle of one 64-bit column and
    the undoing of one 32-bit column per key column. Reveals: the order of the shuffled keys, a uniform permutation.
    """
    count = len(columns[0])
    suffix = place_bits(count)
    if bits + suffix > WIDEST:
        raise ValueError(f"keys of {bits} bits and {count} rows exceed {WIDEST} bits; use sort_permutation()")
    if any(column.ring.bits <= bits for column in columns):
        raise ValueError(f"keys of {bits} bits need a ring with at least one bit more")
    if count < 2:
        return [public(ctx, np.zeros(count, np.uint32), RING32) for _ in columns]
    numbers = public(ctx, np.arange(count, dtype=np.uint64), RING64)
    jobs = []
    for j, column in enumerate(columns):
        shuffle = draw_shuffle(ctx.step("draw"), count, j)
        suffixes = numbers if places is None else places[j]
        jobs.append(ShuffleJob(shuffle, [column.lifted(RING64).scale(1 << suffix) + suffixes]))
    moved = [out[0] for out in run_shuffles(ctx.step("shuffle"), jobs)]
    keys = Keys.of(moved)
    del moved
    ranks = reveal_ranks(ctx.step("rank"), keys, bits + suffix)
    known = [ShuffleJob(job.shuffle, [public(ctx, ranks[j], RING32)]) for j, job in enumerate(jobs)]
    return [out[0] for out in run_shuffles(ctx.step("back"), known, undo=True)]


def sort_permutation(ctx: Context, keys: Sequence[Numbers], bits: Sequence[int]) -> Numbers:
    """The permutation that sorts rows stably and lexicographically by several keys; see :func:`sort_tables`."""
    return sort_tables(ctx, [keys], bits)[0]


def sort_tables(ctx: Context, tables: Sequence[Sequence[Numbers]], bits: Sequence[int]) -> list[Numbers]:
    """For every table, the permutation that sorts its rows stably by its keys, the first key weighing most.

    Tables have equally many rows and keys; all are sorted at the same time. Keys may live in any ring; ``bits[k]``
    bounds key k (at most one less than its ring has). Keys are taken from the last to the first, as many at a time as
    fit into one comparison, each group starting from the order that the groups before it gave.

    Cost and reveals: those of :func:`sort_permutations`, or of :func:`.radix.radix_permutation` where keys are very
    narrow or very wide.
    """
    count = len(tables[0][0])
    suffix = place_bits(count)
    if any(bits[k] >= key.ring.bits for table in tables for k, key in enumerate(table)):
        raise ValueError(f"keys of {list(bits)} bits need rings with at least one bit more; widen them first")
    if sum(bits) <= NARROW or any(width + suffix > WIDEST for width in bits):
        return [_by_radix(ctx, table, bits, first) for first, table in enumerate(tables)]
    places: list[Numbers] | None = None
    result: list[Numbers] = []
    remaining = list(range(len(bits)))
    while remaining:
        group: list[int] = []
        while remaining and (not group or sum(bits[k] for k in [remaining[-1], *group]) + suffix <= WIDEST):
            group.insert(0, remaining.pop())
        composites = _composites(ctx.step("widen"), [[table[k] for k in group] for table in tables], group, bits)
        if result:
            joined = widen(ctx.step("places"), Numbers.concatenate(result), RING64)
            places = joined.cut_like(result)
        result = sort_permutations(ctx.step("sort"), composites, sum(bits[k] for k in group), places)
    return result


def _by_radix(ctx: Context, table: Sequence[Numbers], bits: Sequence[int], first: int) -> Numbers:
    rows = [ring_to_bits(ctx.step(f"bits{k}"), key, bits[k]) for k, key in enumerate(table)]
    return radix_permutation(ctx.step("radix"), Bits.stack(rows[::-1]), first=first)


def _composites(
    ctx: Context, tables: Sequence[Sequence[Numbers]], group: Sequence[int], bits: Sequence[int]
) -> list[Numbers]:
    """Every table's keys of a group as one number per row."""
    results = []
    for table in tables:
        total: Numbers | None = None
        for key, k in zip(table, group, strict=True):
            wide = widen(ctx, key if key.ring != RING128 else key.narrow(RING64), RING64)
            total = wide if total is None else total.scale(1 << bits[k]) + wide
        assert total is not None
        results.append(total)
    return results


def sort(ctx: Context, keys: Sequence[Numbers], bits: Sequence[int], columns: Sequence[Column]) -> list[Any]:
    """Columns in the order that sorts the keys. Cost and reveals: :func:`sort_permutation` and one apply."""
    return apply(ctx.step("apply"), sort_permutation(ctx.step("order"), keys, bits), columns)
