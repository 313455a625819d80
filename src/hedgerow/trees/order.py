"""Where the rows stand: one secret permutation per feature, opened under a fresh shuffle in every layer.

Rows of a node are neighbours, and inside a node they are sorted by the feature. Rows never move; columns are carried
into a feature's order and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..oblivious import Load, Shuffle, draw_shuffle, shuffle_loads, sort_permutations
from ..oblivious.packed import pack_rows, padded
from ..oblivious.permutation import gather
from ..oblivious.shuffle import Column, inverse
from ..primitives import bit_to_ring, multiply
from ..sharing import RING32, ArithmeticShare, BinaryShare, ByteShare, Context, public, unpack_bits
from ..sharing.ring import Ring, Words
from .feature import category_rows, in_declared_range
from .nodes import Nodes
from .shape import TreeShape


@dataclass(frozen=True, slots=True)
class View:
    """One feature in one layer: its shuffle, the opened places and their inverse, values and columns in node order.

    Values are numbers, or for a category's feature one row of bits.
    """

    shuffle: Shuffle
    places: Words
    order: Words
    values: ArithmeticShare | BinaryShare
    columns: list[Column]


@dataclass(frozen=True, slots=True)
class Orders:
    """Permutations and values of some features."""

    permutations: list[ArithmeticShare]
    values: list[Column]

    @staticmethod
    def of_table(ctx: Context, x: Sequence[ArithmeticShare], shape: TreeShape) -> Orders:
        """Cut numbers to their declared range, sort them by comparisons, and every category's bit by counting."""
        features, n = shape.features, shape.rows
        x = in_declared_range(ctx.step("range"), x, shape, shape.value_bits, shape.sorted_ring)
        numeric = [f.attribute for f in features if f.category is None]
        sorted_numbers = sort_permutations(ctx, [x[j] for j in numeric], shape.value_bits) if numeric else []
        permutations: list[ArithmeticShare] = []
        values: list[Column] = []
        bits: list[ByteShare] = []
        sorted_bits: list[ArithmeticShare] = []
        if len(numeric) < len(features):
            rows = category_rows(ctx.step("category"), x, shape)
            sorted_bits = bit_orders(ctx.step("bits"), rows, n, RING32)
            bits = [as_bytes(rows.row(j), n) for j in range(rows.rows)]
        numbers, places, ones = iter(sorted_numbers), iter(sorted_bits), iter(bits)
        for feature in features:
            if feature.category is None:
                permutations.append(next(numbers))
                values.append(x[feature.attribute])
            else:
                permutations.append(next(places))
                values.append(next(ones))
        return Orders([permutation.narrow(shape.count_ring) for permutation in permutations], values)

    def views(self, ctx: Context, columns: Sequence[Column]) -> list[View]:
        """Open every permutation under a fresh shuffle and put values and columns into node order."""
        loads = []
        for j, (permutation, values) in enumerate(zip(self.permutations, self.values, strict=True)):
            shuffle = draw_shuffle(ctx.step("draw"), len(permutation), j)
            loads.append(Load(shuffle, [permutation, values, *columns], opened=(0,)))
        views = []
        for load, (places, values, *moved) in zip(loads, shuffle_loads(ctx.step("shuffle"), loads), strict=True):
            places = places.astype(np.uint32)
            order = inverse(places)
            ordered = gather(values, order)
            if isinstance(ordered, ByteShare):
                ordered = as_row(ordered)
            views.append(View(load.shuffle, places, order, ordered, [gather(column, order) for column in moved]))
        return views

    def moved(self, permutations: list[ArithmeticShare]) -> Orders:
        """The same values under new permutations."""
        return Orders(permutations, self.values[: len(permutations)])


def bit_orders(ctx: Context, rows: BinaryShare, count: int, ring: Ring) -> list[ArithmeticShare]:
    """The stable sort permutations of rows of bits, zeros first; one product in all. Reveals: nothing beyond shapes."""
    length = padded(count)
    flat = BinaryShare(rows.left.reshape(1, -1), rows.right.reshape(1, -1), rows.rows * length)
    numbers = bit_to_ring(ctx.step("bit"), flat, ring)
    bits = [numbers[j * length : j * length + count] for j in range(rows.rows)]
    one = public(ctx, np.ones(count, ring.dtype), ring)
    zeros = [(one - bit).prefix_sum() for bit in bits]
    jumps = [zero[count - 1 :] + bit.prefix_sum() - zero for zero, bit in zip(zeros, bits, strict=True)]
    moved = multiply(ctx.step("place"), ArithmeticShare.concatenate(bits), ArithmeticShare.concatenate(jumps))
    return [zero + moved[j * count : (j + 1) * count] - one for j, zero in enumerate(zeros)]


def rows_passing(ctx: Context, views: Sequence[View], results: BinaryShare, ring: Ring) -> ArithmeticShare:
    """Per row whether it passes its node's test, as a number of the ring.

    ``results`` has a row for every view that says at which places of it a row passes. In the order of a node's own
    feature the true rows are the first ones, so the bit is fetched from there and from nowhere else: the exclusive or
    over all features of (is it this one) and (is the place true).
    """
    n = len(views[0].places)
    back = [Load(view.shuffle, [gather(as_bytes(results.row(j), n), view.places)]) for j, view in enumerate(views)]
    parts = [column for (column,) in shuffle_loads(ctx.step("to_rows"), back, undo=True)]
    passes = parts[0]
    for part in parts[1:]:
        passes = ByteShare(passes.left ^ part.left, passes.right ^ part.right)
    left, right = (pack_rows(side[None] & np.uint8(1)) for side in (passes.left, passes.right))
    return bit_to_ring(ctx.step("bit"), BinaryShare(left, right, n), ring)


def partition(
    ctx: Context,
    views: Sequence[View],
    nodes: Nodes,
    rows_true: ArithmeticShare,
    earlier: ArithmeticShare,
    passes: ArithmeticShare,
) -> list[ArithmeticShare]:
    """New permutations: in every node the rows that pass come first, each side in its old order.

    ``rows_true`` and ``earlier`` say per place how many rows pass in its node and in earlier ones; ``rows_true`` and
    ``passes`` are of the ring of the permutations.
    """
    n, ring = len(passes), passes.ring
    loads = [Load(view.shuffle, [passes]) for view in views]
    moved = shuffle_loads(ctx.step("to_order"), loads)
    ordered = [gather(column, view.order) for (column,), view in zip(moved, views, strict=True)]
    here = public(ctx, np.arange(n, dtype=ring.dtype), ring)
    start, first, before = nodes.start.narrow(ring)[:n], rows_true[:n], earlier[:n]
    seen = [bit.prefix_sum() - bit - before for bit in ordered]
    jumps = multiply(
        ctx.step("jump"),
        ArithmeticShare.concatenate(ordered),
        ArithmeticShare.concatenate([start + s.scale(2) - here - first for s in seen]),
    )
    loads = []
    for j, view in enumerate(views):
        destination = here + first - seen[j] + jumps[j * n : (j + 1) * n]
        loads.append(Load(view.shuffle, [gather(destination, view.places)]))
    return [column for (column,) in shuffle_loads(ctx.step("back"), loads, undo=True)]


def as_bytes(row: BinaryShare, count: int) -> ByteShare:
    """A row of bits as one byte an item."""
    return ByteShare(unpack_bits(row.left, count)[0], unpack_bits(row.right, count)[0])


def as_row(column: ByteShare) -> BinaryShare:
    """The lowest bit of every byte as one row, padded to a multiple of 64 places."""
    left, right = (pack_rows(side[None] & np.uint8(1)) for side in (column.left, column.right))
    return BinaryShare(left, right, padded(len(column)))
