"""Many classes, or rows with secret weights: several sums per node decide.

A split that leaves the weight u with sums u_c (per class, or of targets) on the true side and w with w_c on the other
has the score p/q with p = w·Σu_c² + u·Σw_c² and q = u·w. With s = u + w and s_c = u_c + w_c

    p = s·Σu_c² + u·(Σs_c² - 2·Σu_c·s_c),

so the class sums are two inner products, whatever the number of classes, and a third product finishes p. Where every
row weighs one, u and q are the same for all features at a place, and features are compared by p alone; with weights
they are compared as fractions. Sums of nodes are taken from the rows in the first feature's order, once a layer.

Where every row weighs one, a row's class moves into a feature's order as bits, eight classes to a byte, and becomes
numbers there, block by block: that is fewer bytes than moving a number for every class, and bounds the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..oblivious import Load, shuffle_loads
from ..oblivious.packed import cut, end_to_end, pack_rows, pad, padded
from ..oblivious.permutation import gather
from ..oblivious.score import score_sign
from ..oblivious.shuffle import Column, inverse
from ..primitives import (
    bit_not,
    bit_to_ring,
    dot,
    is_zero,
    less_than,
    multiply,
    multiply_bit,
    multiply_many,
    select,
    widen_many,
)
from ..primitives.columns import Columns
from ..primitives.compare import Sign, sign_of
from ..sharing import RING32, RING64, ArithmeticShare, BinaryShare, ByteShare, Context, public, unpack_bits
from ..sharing.ring import Words
from .choice import Found, Leaves, worth_splitting
from .extremes import mean
from .front import moved_to_front, to_front
from .nodes import Nodes, masked
from .order import Orders, View
from .shape import TreeShape
from .tournament import Contender, attribute_tag, tournament

FEATURE_BLOCK = 1 << 22
"""Sums (features times places times classes) held in one batch of inner products, which bounds the memory."""


@dataclass(frozen=True, slots=True)
class _State:
    """The nodes of a layer; per place the sums of row columns in earlier nodes, and of the node itself the sums that
    are squared, the weight and the sum of squares."""

    nodes: Nodes
    before: list[ArithmeticShare]
    sums: list[ArithmeticShare]
    mass: ArithmeticShare
    squares: ArithmeticShare


class Sums:
    """The criterion of several sums. ``y`` are class numbers or targets in 2^64, ``weights`` the rows' or None."""

    needs_last_order = True

    def __init__(self, ctx: Context, shape: TreeShape, y: ArithmeticShare, weights: ArithmeticShare | None) -> None:
        self.shape = shape
        self.ring = shape.score_ring
        self.tag_rows = len(shape.features).bit_length()
        self.count = 2 if shape.regression else shape.classes - (not shape.weighted)
        self.columns = self._row_columns(ctx, y, weights)
        self._state: _State | None = None

    def _row_columns(self, ctx: Context, y: ArithmeticShare, weights: ArithmeticShare | None) -> Sequence[Column]:
        """What a row adds to the sums: weight times target and weight; or its weight in its class's column; or, where
        every row weighs one, a bit for its class, of all classes but the last."""
        shape, n = self.shape, self.shape.rows
        if shape.regression:
            assert weights is not None
            product = multiply(ctx.step("weigh"), y, weights)
            return widen_many(ctx.step("widen"), [product, weights], self.ring)
        length, others = padded(n), shape.classes - 1
        codes = public(ctx, np.repeat(np.arange(others, dtype=np.uint64), length), RING64)
        labels = ArithmeticShare.concatenate([pad(y, length)] * others) - codes
        rows = cut(is_zero(ctx.step("class"), labels, others.bit_length()), others)
        if not shape.weighted:
            return _bytes_of(rows, n)
        # The last class is none of the others, so that whatever a label says, a row has one class.
        hits = end_to_end([rows, bit_not(ctx, _any_row(rows))])
        if weights is None:
            flat = bit_to_ring(ctx.step("bit"), hits, RING64)
        else:
            heavy = ArithmeticShare.concatenate([pad(weights, length)] * self.count)
            (flat,) = multiply_bit(ctx.step("weigh"), hits, [heavy])
        factors = shape.class_weights or (1,) * self.count
        return [flat[c * length : c * length + n].scale(factors[c]) for c in range(self.count)]

    def _sums_columns(self, ctx: Context, views: Sequence[View]) -> list[list[ArithmeticShare]]:
        """For every view what the rows add to the sums, in its order."""
        if self.shape.weighted:
            return [[column for column in view.columns if isinstance(column, ArithmeticShare)] for view in views]
        n, length = self.shape.rows, padded(self.shape.rows)
        rows = [_bits_of([c for c in view.columns if isinstance(c, ByteShare)], self.count) for view in views]
        flat = bit_to_ring(ctx.step("bit"), end_to_end(rows), RING64)
        starts = range(0, len(flat), length)
        columns = [flat[start : start + n] for start in starts]
        return [columns[k * self.count : (k + 1) * self.count] for k in range(len(views))]

    @property
    def state(self) -> _State:
        """What is known of the layer's nodes."""
        assert self._state is not None
        return self._state

    def _parts(
        self, sums: Sequence[ArithmeticShare], rows: ArithmeticShare
    ) -> tuple[list[ArithmeticShare], ArithmeticShare]:
        """The sums that are squared, and the weight, from sums of the row columns and the number of rows."""
        if self.shape.regression:
            return [sums[0]], sums[1]
        if self.shape.weighted:
            return list(sums), ArithmeticShare.total(sums)
        return [*sums, rows - ArithmeticShare.total(sums)], rows

    def enter(self, ctx: Context, nodes: Nodes, views: Sequence[View]) -> None:
        """The nodes' sums, and their squares."""
        length = nodes.length
        (columns,) = self._sums_columns(ctx.step("first"), views[:1])
        before, totals = node_sums(ctx.step("totals"), nodes, columns)
        before, totals = ([pad(column, length) for column in side] for side in (before, totals))
        sums, mass = self._parts(totals, nodes.size)
        self._state = _State(nodes, before, sums, mass, dot(ctx.step("squares"), sums, sums))

    def purity_columns(self) -> list[ArithmeticShare]:
        """Squares do not fit the number of rows."""
        return []

    def mixed(self, ctx: Context) -> BinaryShare | None:
        """Whether Σs_c² differs from s²; in regression purity shows in the gain, but rows without weight do not."""
        state = self.state
        if self.shape.regression:
            return bit_not(ctx, is_zero(ctx.step("empty"), state.mass, self.shape.mass_bits))
        whole = multiply(ctx.step("whole"), state.mass, state.mass)
        return bit_not(ctx, is_zero(ctx.step("pure"), whole - state.squares, 2 * self.shape.mass_bits))

    def choose(self, ctx: Context, views: Sequence[View], valid: BinaryShare) -> Found:
        """Scores of all features at all places, then a tournament."""
        nodes, shape = self.state.nodes, self.shape
        upto, length = nodes.upto(ctx), nodes.length
        keys: list[list[ArithmeticShare]] = []
        for start, stop in feature_blocks(shape, length):
            keys += self._scores(ctx.step("scores"), views[start:stop], upto)
        contenders = []
        for j, key in enumerate(keys):
            tag = attribute_tag(ctx, j + 1, self.tag_rows, length)
            contenders.append(Contender(key, tag, valid.row(j)))
        best = tournament(ctx.step("tournament"), contenders, self._less)
        if shape.weighted:
            p, q = best.keys
        else:
            (p,), q = best.keys, multiply(ctx.step("q"), upto, nodes.size - upto)
        found = Found(p, q, best.tag, best.valid, [])
        if not shape.checks_gain:
            return found
        if shape.weighted:
            heavy = [column for column in self.columns if isinstance(column, ArithmeticShare)]
            _, mass = self._parts([column.prefix_sum()[shape.rows - 1 :] for column in heavy], upto)
            whole = mass.narrow(RING64)[np.zeros(length, np.int64)]
        else:
            whole = public(ctx, np.full(length, shape.rows, np.uint64), RING64)
        return worth_splitting(
            ctx.step("worth"), shape, found, self.state.mass.narrow(RING64), self.state.squares, whole
        )

    def _less(
        self, ctx: Context, a: list[ArithmeticShare], b: list[ArithmeticShare], differences: list[ArithmeticShare]
    ) -> Sign:
        if self.shape.weighted:
            return score_sign(ctx, Columns.of(a[:2]), Columns.of(b[:2]), self.shape.cross_bits)
        return sign_of(ctx, differences[0], self.shape.score_bits)

    def _scores(self, ctx: Context, views: Sequence[View], upto: ArithmeticShare) -> list[list[ArithmeticShare]]:
        """For every view its p, and with weights also its q."""
        length, count = len(upto), len(views)
        lefts, masses = [], []
        for columns in self._sums_columns(ctx.step("columns"), views):
            sums = [
                pad(column.prefix_sum(), length) - before
                for column, before in zip(columns, self.state.before, strict=True)
            ]
            left, mass = self._parts(sums, upto)
            lefts.append(left)
            masses.append(mass)
        terms = [ArithmeticShare.concatenate(column) for column in zip(*lefts, strict=True)]
        totals = [ArithmeticShare.concatenate([column] * count) for column in self.state.sums]
        both = dot(
            ctx.step("sums"),
            [ArithmeticShare.concatenate([term, term]) for term in terms],
            [ArithmeticShare.concatenate(pair) for pair in zip(terms, totals, strict=True)],
        )
        squares, mixed = both[: count * length], both[count * length :]
        mass, whole = ArithmeticShare.concatenate(masses), ArithmeticShare.concatenate([self.state.mass] * count)
        rest = ArithmeticShare.concatenate([self.state.squares] * count) - mixed.scale(2)
        p = dot(ctx.step("p"), [whole, mass], [squares, rest])
        columns = [p]
        if self.shape.weighted:
            mass = mass.narrow(RING64)
            columns.append(multiply(ctx.step("q"), mass, whole.narrow(RING64) - mass))
        return [[column[j * length : (j + 1) * length] for column in columns] for j in range(count)]

    def leaves(self, ctx: Context, nodes: Nodes, orders: Orders) -> Leaves:
        """Labels of the heaviest class (of equal ones the lowest), or means; and the weights."""
        shape, n = self.shape, self.shape.rows
        (view,) = Orders(orders.permutations[:1], orders.values[:1]).views(ctx.step("order"), self.columns)
        kept = masked(nodes.flags, nodes.real)
        (columns,) = self._sums_columns(ctx.step("columns"), [view])
        ends = [pad(column, nodes.length) for column in suffix_sums(columns)]
        payload = [nodes.number, nodes.size, *ends]
        number, size, *rest = (x[:n] for x in multiply_bit(ctx.step("kept"), kept, payload))
        length = shape.layer_length(shape.height)
        number, size, *rest = to_front(ctx.step("front"), kept, n, [number, size, *rest], min(n, length + 1))
        sums, mass = self._parts([_steps(column)[:length] for column in rest], size[:length])
        number = number[:length]
        if shape.regression:
            target = [column.narrow(RING64) for column in (mass, sums[0])]
            return Leaves(number, mean(ctx.step("mean"), target[0], target[1], shape), target)
        label = heaviest(ctx.step("label"), sums, shape.mass_bits)
        return Leaves(number, label, [column.narrow(RING32) for column in sums])


def _any_row(rows: BinaryShare) -> BinaryShare:
    """Whether one of several rows, of which at most one is set, is; local."""
    left, right = (np.bitwise_xor.reduce(side, axis=0)[None] for side in (rows.left, rows.right))
    return BinaryShare(left, right, rows.count)


def _bytes_of(rows: BinaryShare, count: int) -> list[ByteShare]:
    """Rows of bits as bytes, eight rows to a byte."""
    sides = [unpack_bits(side, count) for side in (rows.left, rows.right)]
    found = []
    for start in range(0, rows.rows, 8):
        left, right = (np.packbits(side[start : start + 8], axis=0, bitorder="little")[0] for side in sides)
        found.append(ByteShare(left, right))
    return found


def _bits_of(columns: Sequence[ByteShare], rows: int) -> BinaryShare:
    """The inverse of :func:`_bytes_of`, padded to a multiple of 64 places."""

    def side(parts: list[Words]) -> Words:
        return pack_rows(np.unpackbits(np.stack(parts), axis=0, bitorder="little")[:rows])

    left, right = side([c.left for c in columns]), side([c.right for c in columns])
    return BinaryShare(left, right, padded(len(columns[0])))


def feature_blocks(shape: TreeShape, length: int) -> list[tuple[int, int]]:
    """The features in pieces whose sums are worked on at a time."""
    count = len(shape.features)
    size = max(1, FEATURE_BLOCK // (length * max(1, shape.classes)))
    return [(start, min(count, start + size)) for start in range(0, count, size)]


def suffix_sums(columns: Sequence[ArithmeticShare]) -> list[ArithmeticShare]:
    """For every place the sum from it to the end."""
    results = []
    for column in columns:
        running = column.prefix_sum()
        results.append(running[len(column) - 1 :][np.zeros(len(column), np.int64)] - running + column)
    return results


def _steps(column: ArithmeticShare) -> ArithmeticShare:
    """Every item minus the next one, the last minus 0."""
    return column - pad(column[1:], len(column))


def node_sums(
    ctx: Context, nodes: Nodes, columns: Sequence[ArithmeticShare]
) -> tuple[list[ArithmeticShare], list[ArithmeticShare]]:
    """Per place, for every column in node order: its sum over earlier nodes and over the place's own node.

    At the first place of a node stands the sum from there to the end; brought to the front, the difference to the next
    node's is the node's own sum. What changes from node to node goes back to the first places, and prefix sums tell it
    to the others. Cost: in :meth:`.sums_cost.SumsCost.enter`. Reveals: a permutation under a fresh shuffle.
    """
    n, flags = nodes.rows, masked(nodes.flags, nodes.real)
    ring = columns[0].ring
    ends = suffix_sums(columns)
    one = public(ctx, [1], ring)[np.zeros(nodes.length, np.int64)]
    *heads, flag = (x[:n] for x in multiply_bit(ctx.step("head"), flags, [*(pad(e, nodes.length) for e in ends), one]))
    shuffle, places, moved = moved_to_front(ctx.step("front"), flags, n, [*heads, flag])
    order = inverse(places)
    *fronts, real = (gather(column, order) for column in moved)
    totals = [_steps(column) for column in fronts]
    changes = [column - _later(column) for column in (*fronts, *totals)]
    marked = multiply_many(ctx.step("real"), [(column, real) for column in changes])
    back = [gather(column, places) for column in marked]
    (spread,) = shuffle_loads(ctx.step("back"), [Load(shuffle, back)], undo=True)
    told = [column.prefix_sum() for column in spread]
    first = [column[np.zeros(n, np.int64)] for column in ends]
    before = [whole - after for whole, after in zip(first, told[: len(ends)], strict=True)]
    return before, told[len(ends) :]


def _later(column: ArithmeticShare) -> ArithmeticShare:
    """Every item one place later, 0 first."""
    zero = column.ring.zeros(1)
    left, right = (np.concatenate([zero, side[:-1]]) for side in (column.left, column.right))
    return ArithmeticShare(left, right, column.ring)


def heaviest(ctx: Context, columns: Sequence[ArithmeticShare], bits: int) -> ArithmeticShare:
    """The number of the first of the largest columns, item by item, in 2^32; ⌈log C⌉ levels of one comparison each."""
    count = len(columns[0])
    length = -(-count // 64) * 64
    field = [
        (pad(column, length), public(ctx, np.full(length, c, np.uint32), RING32)) for c, column in enumerate(columns)
    ]
    while len(field) > 1:
        pairs = len(field) // 2
        a, b = (
            [ArithmeticShare.concatenate(k) for k in zip(*field[side : 2 * pairs : 2], strict=True)] for side in (0, 1)
        )
        lower = less_than(ctx.step("less"), a[0], b[0], bits)
        key, number = select(ctx.step("choose"), lower, b, a)
        joined = [(key[k * length : (k + 1) * length], number[k * length : (k + 1) * length]) for k in range(pairs)]
        field = joined + field[2 * pairs :]
    return field[0][1][:count]
