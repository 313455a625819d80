"""Stable sorting: the secret permutation that would sort one or many columns, and columns moved by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..primitives import ring_to_bits, widen
from ..sharing import RING32, RING64, RING128, ArithmeticShare, BinaryShare, Context, public
from .permutation import apply
from .radix import radix_permutation
from .rank import reveal_ranks
from .shuffle import Column, Load, draw_shuffle, shuffle_loads

NARROW = 8
"""Keys of at most this many bits are sorted by radix passes; docs/adr/0002-sorting.md has the measurement."""

WIDEST = 63


def place_bits(count: int) -> int:
    """Bits of a row number."""
    return max(1, (count - 1).bit_length())


def sort_permutations(
    ctx: Context,
    columns: Sequence[ArithmeticShare],
    bits: int,
    places: ArithmeticShare | None = None,
) -> list[ArithmeticShare]:
    """For every column of 2^64, the stable sort permutation of its keys of ``bits`` bits; all columns in one go.

    The row number (or the secret ``places``) is appended to every key *before* the shuffle. That makes keys distinct,
    which the opened comparisons need, and the sort stable. Appending the place after the shuffle would break ties by a
    public number and so show which keys are equal.

    Paper: HKI+12's idea, see :mod:`.rank`. Cost: :func:`.rank.reveal_ranks`, a shuffle of one 64-bit column and the
    undoing of one 32-bit column per key column. Reveals: the order of the shuffled keys, a uniform permutation.
    """
    count = len(columns[0])
    suffix = place_bits(count)
    if bits + suffix > WIDEST:
        raise ValueError(f"keys of {bits} bits and {count} rows exceed {WIDEST} bits; use sort_permutation()")
    if count < 2:
        return [public(ctx, np.zeros(count, np.uint32), RING32) for _ in columns]
    rows = places if places is not None else public(ctx, np.arange(count, dtype=np.uint64), RING64)
    loads = []
    for j, column in enumerate(columns):
        shuffle = draw_shuffle(ctx.step("draw"), count, j)
        loads.append(Load(shuffle, [column.scale(1 << suffix) + rows]))
    moved = [out[0] for out in shuffle_loads(ctx.step("shuffle"), loads)]
    left, right = np.stack([m.left for m in moved]), np.stack([m.right for m in moved])
    del moved
    ranks = reveal_ranks(ctx.step("rank"), left, right, bits + suffix)
    known = [Load(load.shuffle, [public(ctx, ranks[j], RING32)]) for j, load in enumerate(loads)]
    return [out[0] for out in shuffle_loads(ctx.step("back"), known, undo=True)]


def sort_permutation(ctx: Context, keys: Sequence[ArithmeticShare], bits: Sequence[int]) -> ArithmeticShare:
    """The permutation that sorts rows stably and lexicographically by several keys, the first key weighing most.

    Keys may live in any ring; ``bits[k]`` bounds key k (at most one less than its ring has). Keys are taken from the
    last to the first, as many at a time as fit into one comparison, each group sorting on from the places before it.

    Cost and reveals: those of :func:`sort_permutations`, or of :func:`.radix.radix_permutation` where keys are very
    narrow or very wide.
    """
    count = len(keys[0])
    suffix = place_bits(count)
    if sum(bits) <= NARROW or any(width + suffix > WIDEST for width in bits):
        rows = [ring_to_bits(ctx.step(f"bits{k}"), key, bits[k]) for k, key in enumerate(keys)]
        return radix_permutation(ctx.step("radix"), BinaryShare.stack(rows[::-1]))
    places: ArithmeticShare | None = None
    result: ArithmeticShare | None = None
    remaining = list(zip(keys, bits, strict=True))
    while remaining:
        composite, width = _last_group(ctx, remaining, suffix)
        if result is not None:
            places = widen(ctx.step("widen"), result, RING64)
        (result,) = sort_permutations(ctx.step("sort"), [composite], width, places)
    assert result is not None
    return result


def _last_group(ctx: Context, remaining: list[tuple[ArithmeticShare, int]], suffix: int) -> tuple[ArithmeticShare, int]:
    """Take keys off the end as long as they fit into one number together."""
    composite: ArithmeticShare | None = None
    width = 0
    while remaining and (composite is None or width + remaining[-1][1] + suffix <= WIDEST):
        key, bits = remaining.pop()
        if key.ring == RING128:
            key = key.narrow(RING64)
        wide = widen(ctx.step("widen"), key, RING64).scale(1 << width)
        composite = wide if composite is None else composite + wide
        width += bits
    assert composite is not None
    return composite, width


def sort(ctx: Context, keys: Sequence[ArithmeticShare], bits: Sequence[int], columns: Sequence[Column]) -> list[Any]:
    """Columns in the order that sorts the keys. Cost and reveals: :func:`sort_permutation` and one apply."""
    return apply(ctx.step("apply"), sort_permutation(ctx.step("order"), keys, bits), columns)
