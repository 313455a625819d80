"""The fast exact trainer: sort once, one secret permutation per attribute, attribute-free node state.

Rows never move. For every attribute j a secret permutation π_j says at which place a row stands when the rows of a node
are neighbours and sorted by x_j inside the node. docs/fast-trainer.md has the argument and the costs, step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..oblivious import Load, Shuffle, bit_destinations, draw_shuffle, shuffle_loads, sort_permutations
from ..oblivious.packed import cut, end_to_end, following, pack_rows, pad, rows_of
from ..oblivious.permutation import gather
from ..oblivious.score import Items
from ..oblivious.segment import FAN_IN, segment_best
from ..oblivious.shuffle import inverse
from ..primitives import (
    bit_and,
    bit_not,
    bit_to_ring,
    is_zero,
    less_than,
    multiply,
    multiply_bit,
    multiply_many,
    select_sum,
    widen,
)
from ..sharing import RING32, RING64, ArithmeticShare, BinaryShare, ByteShare, Context, public, unpack_bits
from ..sharing.ring import Words
from .model import SharedTree
from .nodes import Nodes, masked, packed_mask
from .shape import TreeShape
from .tournament import Contender, attribute_tag, choose_extreme, cut_contender, tournament

Progress = Callable[[int, str], None]
EQUALITY_BLOCK = 1 << 21
"""Items compared in one batch when looking for equal neighbours, which bounds the memory."""


@dataclass(frozen=True, slots=True)
class View:
    """One attribute in one layer: its shuffle, the opened places and their inverse, values and labels in node order."""

    shuffle: Shuffle
    places: Words
    order: Words
    values: ArithmeticShare
    labels: ArithmeticShare


@dataclass(frozen=True, slots=True)
class Choice:
    """The tests of a layer as every place sees its node's: rows and ones of the true child, the attribute's number."""

    rows_true: ArithmeticShare
    ones_true: ArithmeticShare
    code: ArithmeticShare


class FastTrainer:
    """One training run at one party."""

    def __init__(
        self,
        ctx: Context,
        x: Sequence[ArithmeticShare],
        y: ArithmeticShare,
        shape: TreeShape,
        progress: Progress,
        fan_in: int,
    ) -> None:
        self.fan_in = fan_in
        self.shape = shape
        self.progress = progress
        self.ring, self.number_ring = shape.value_ring, shape.number_ring
        self.tag_rows = shape.attributes.bit_length()
        self.labels = y.narrow(RING32)
        self.nodes = Nodes.root(ctx, shape, y)
        progress(0, "sort")
        self.permutations = sort_permutations(ctx.step("sort"), x, shape.value_bits)
        self.values = [column.narrow(self.ring) for column in x]

    def layer(self, ctx: Context, k: int) -> tuple[ArithmeticShare, ArithmeticShare, ArithmeticShare]:
        """Train the nodes of layer k and step on; returns node numbers, attributes, thresholds."""
        self.progress(k, "order")
        views = self._views(ctx.step("order"))
        self.progress(k, "test selection")
        choice = self._choose(ctx.step("test_selection"), views)
        self.progress(k, "tests")
        nodes = self.nodes
        offset = nodes.upto(ctx).narrow(RING32) - public(ctx, np.ones(nodes.length, np.uint32), RING32)
        true = less_than(ctx.step("true"), offset, choice.rows_true, self.shape.count_bits)
        true = masked(true, nodes.real)
        attributes = self._one_hot(ctx.step("one_hot"), choice.code)
        output = self._format(ctx.step("format_layer"), k, views, choice, true, attributes)
        self.progress(k, "next layer")
        both = widen(ctx.step("widen"), ArithmeticShare.concatenate([choice.rows_true, choice.ones_true]), RING64)
        rows_true, ones_true = both[: nodes.length], both[nodes.length :]
        self.nodes, earlier = nodes.split(ctx.step("nodes"), k, true, rows_true, ones_true)
        if k + 1 < self.shape.height:
            step = ctx.step("next_layer")
            self.permutations = self._partition(step, views, nodes, choice.rows_true, earlier, true, attributes)
        return output

    def _views(self, ctx: Context) -> list[View]:
        """Open every permutation under a fresh shuffle and put values and labels into node order."""
        loads = []
        for j, permutation in enumerate(self.permutations):
            shuffle = draw_shuffle(ctx.step("draw"), self.shape.rows, j)
            loads.append(Load(shuffle, [permutation, self.values[j], self.labels], opened=(0,)))
        views = []
        for load, (places, values, labels) in zip(loads, shuffle_loads(ctx.step("shuffle"), loads), strict=True):
            order = inverse(places)
            views.append(View(load.shuffle, places, order, gather(values, order), gather(labels, order)))
        return views

    def _choose(self, ctx: Context, views: Sequence[View]) -> Choice:
        """The best test of every node, told to all its places."""
        nodes, shape = self.nodes, self.shape
        n, length, bits = shape.rows, nodes.length, shape.count_bits
        valid = self._candidates(ctx.step("candidates"), views)
        before = nodes.before.narrow(RING32)
        total = public(ctx, np.full(length, n, np.uint32), RING32)
        contenders = []
        for j, view in enumerate(views):
            ones = pad(view.labels.prefix_sum(), length) - before
            tag = attribute_tag(ctx, j + 1, self.tag_rows, 2 * length)
            row = valid.row(j)
            contenders.append(Contender(ArithmeticShare.concatenate([ones, total - ones]), tag, end_to_end([row, row])))
        best = tournament(ctx.step("tournament"), contenders, bits)
        highest, lowest = cut_contender(best, 2)
        lowest = Contender(total - lowest.key, lowest.tag, lowest.valid)

        upto = nodes.upto(ctx)
        share, q = multiply_many(ctx.step("shares"), [(upto, nodes.ones), (upto, nodes.size - upto)])
        extremes = widen(ctx.step("widen"), highest.key + lowest.key, RING64)
        pulled, mean = multiply_many(ctx.step("pull"), [(nodes.size, extremes), (share, nodes.ones)])
        ones, tag = choose_extreme(ctx.step("extreme"), highest, lowest, pulled - share.scale(2), 2 * bits + 1)
        wide = widen(ctx.step("widen"), ones, RING64)
        slope = multiply(ctx.step("slope"), nodes.size, wide) - share.scale(2)
        p = multiply(ctx.step("score"), wide, slope) + mean

        candidate = highest.valid
        tag = bit_and(ctx.step("tag"), tag, BinaryShare.stack([candidate] * self.tag_rows))
        one = public(ctx, np.ones(length, np.uint64), RING64)
        p, q, rows_true, ones_true = multiply_bit(
            ctx.step("candidate"), candidate, [p, q - one, upto.narrow(RING32), ones]
        )
        code = _codes(ctx.step("code"), tag)
        items = Items(p, q + one, [rows_true, ones_true, code])
        return Choice(*segment_best(ctx.step("best"), items, nodes.flags, shape.cross_bits, self.fan_in))

    def _candidates(self, ctx: Context, views: Sequence[View]) -> BinaryShare:
        """Per attribute the places after which a node can be split: not its last, both classes in it, and the next
        value differs."""
        nodes, n = self.nodes, self.shape.rows
        block = max(1, EQUALITY_BLOCK // nodes.length)
        bits = max(self.shape.value_bits, self.shape.count_bits)
        columns = [pad(view.values[1:] - view.values[:-1], nodes.length) for view in views]
        columns += [nodes.ones.narrow(self.ring), (nodes.size - nodes.ones).narrow(self.ring)]
        rows = []
        for start in range(0, len(columns), block):
            part = columns[start : start + block]
            zero = is_zero(ctx.step("equal"), ArithmeticShare.concatenate(part), bits)
            rows.append(cut(zero, len(part)))
        differs = bit_not(ctx, BinaryShare.stack(rows))
        m = len(views)
        inside = bit_and(ctx.step("mixed"), differs.row(m), differs.row(m + 1))
        inside = bit_and(ctx.step("inside"), inside, bit_not(ctx, following(nodes.flags)))
        not_last = packed_mask(np.arange(nodes.length) < n - 1)
        valid = bit_and(ctx.step("valid"), rows_of(differs, 0, m), BinaryShare.stack([inside] * m))
        return masked(valid, not_last)

    def _one_hot(self, ctx: Context, code: ArithmeticShare) -> BinaryShare:
        """A row for every attribute that says whether it is the node's."""
        m = self.shape.attributes
        codes = np.repeat(np.arange(1, m + 1, dtype=np.uint32), len(code))
        repeated = ArithmeticShare.concatenate([code] * m) - public(ctx, codes, RING32)
        return cut(is_zero(ctx, repeated, self.tag_rows), m)

    def _format(
        self,
        ctx: Context,
        k: int,
        views: Sequence[View],
        choice: Choice,
        true: BinaryShare,
        attributes: BinaryShare,
    ) -> tuple[ArithmeticShare, ArithmeticShare, ArithmeticShare]:
        """One entry a node: its number, attribute and threshold, at the front, padded with NULL."""
        nodes, n = self.nodes, self.shape.rows
        goes_on = bit_and(ctx.step("goes_on"), following(true), bit_not(ctx, following(nodes.flags)))
        ends = bit_and(
            ctx.step("ends"),
            BinaryShare.stack([true, nodes.flags]),
            BinaryShare.stack([bit_not(ctx, goes_on), bit_not(ctx, true)]),
        )
        last, whole = masked(ends.row(0), nodes.real), masked(ends.row(1), nodes.real)
        kept = last ^ whole
        at_last = bit_and(ctx.step("at_last"), attributes, BinaryShare.stack([last] * len(views)))
        sums = [pad(view.values[1:] + view.values[:-1], nodes.length) for view in views]
        (threshold,) = select_sum(
            ctx.step("threshold"), [at_last.row(j) for j in range(len(views))], [[column] for column in sums]
        )
        # A node that does not split has code 0; attribute 1 with threshold 0 is the paper's always-false test.
        one = public(ctx, np.ones(nodes.length, np.uint32), RING32)
        number, code = select_sum(
            ctx.step("number"),
            [last, whole],
            [[nodes.number.narrow(self.number_ring), choice.code], [nodes.number.narrow(self.number_ring), one]],
        )
        length = self.shape.layer_length(k)
        number, code, threshold = _to_front(ctx.step("front"), kept, n, [number[:n], code[:n], threshold[:n]], length)
        return number, code, threshold

    def _partition(
        self,
        ctx: Context,
        views: Sequence[View],
        nodes: Nodes,
        rows_true: ArithmeticShare,
        earlier: ArithmeticShare,
        true: BinaryShare,
        attributes: BinaryShare,
    ) -> list[ArithmeticShare]:
        """New permutations: in every node the true rows first, each side in its old order.

        In the order of a node's own attribute the true rows are the first ones, so the row's bit is fetched from there
        and from nowhere else: the exclusive or over all attributes of (is it this one) and (is the place true).
        """
        n = self.shape.rows
        results = bit_and(ctx.step("result"), attributes, BinaryShare.stack([true] * len(views)))
        back = [Load(view.shuffle, [gather(_bytes(results.row(j), n), view.places)]) for j, view in enumerate(views)]
        parts = [column for (column,) in shuffle_loads(ctx.step("to_rows"), back, undo=True)]
        passes = parts[0]
        for part in parts[1:]:
            passes = ByteShare(passes.left ^ part.left, passes.right ^ part.right)
        numbers = bit_to_ring(ctx.step("bit"), _packed(passes), RING32)
        loads = [Load(view.shuffle, [numbers]) for view in views]
        moved = shuffle_loads(ctx.step("to_order"), loads)
        ordered = [gather(column, view.order) for (column,), view in zip(moved, views, strict=True)]

        here = public(ctx, np.arange(n, dtype=np.uint32), RING32)
        start, first, before = nodes.start.narrow(RING32)[:n], rows_true[:n], earlier.narrow(RING32)[:n]
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

    def leaves(self, ctx: Context) -> tuple[ArithmeticShare, ArithmeticShare, list[ArithmeticShare]]:
        """Node numbers, labels and class counts of the last layer; equal counts give label 0."""
        self.progress(self.shape.height, "leaves")
        nodes, n = self.nodes, self.shape.rows
        kept = masked(nodes.flags, nodes.real)
        payload = [nodes.number.narrow(self.number_ring), nodes.size.narrow(RING32), nodes.ones.narrow(RING32)]
        number, size, ones = (x[:n] for x in multiply_bit(ctx.step("kept"), kept, payload))
        length = self.shape.layer_length(self.shape.height)
        number, size, ones = _to_front(ctx.step("front"), kept, n, [number, size, ones], length)
        label = less_than(ctx.step("label"), size - ones, ones, self.shape.count_bits)
        return number, bit_to_ring(ctx.step("bit"), label, RING32), [size - ones, ones]


def _bytes(row: BinaryShare, count: int) -> ByteShare:
    """A row of bits as one byte an item."""
    return ByteShare(unpack_bits(row.left, count)[0], unpack_bits(row.right, count)[0])


def _packed(column: ByteShare) -> BinaryShare:
    """The lowest bit of every byte, packed."""
    left, right = (pack_rows(side[None] & np.uint8(1)) for side in (column.left, column.right))
    return BinaryShare(left, right, len(column))


def _codes(ctx: Context, tag: BinaryShare) -> ArithmeticShare:
    """Rows of bits as numbers of 2^32, lowest first."""
    flat = bit_to_ring(ctx, end_to_end([tag]), RING32)
    count = tag.count
    total = flat[:count]
    for row in range(1, tag.rows):
        total = total + flat[row * count : (row + 1) * count].scale(1 << row)
    return total


def _to_front(
    ctx: Context,
    kept: BinaryShare,
    count: int,
    columns: Sequence[ArithmeticShare],
    length: int,
) -> list[ArithmeticShare]:
    """The flagged items of every column at the front, in order, cut to ``length``."""
    flag = bit_to_ring(ctx.step("flag"), kept, RING32)[:count]
    others = public(ctx, np.ones(count, np.uint32), RING32) - flag
    permutation = bit_destinations(ctx.step("order"), others)
    shuffle = draw_shuffle(ctx.step("draw"), count)
    ((places, *moved),) = shuffle_loads(ctx.step("move"), [Load(shuffle, [permutation, *columns], opened=(0,))])
    order = inverse(places)[:length]
    return [gather(column, order) for column in moved]


def quiet(layer: int, step: str) -> None:
    """No progress shown."""


def train_fast(
    ctx: Context,
    x: Sequence[ArithmeticShare],
    y: ArithmeticShare,
    shape: TreeShape,
    progress: Progress = quiet,
    fan_in: int = FAN_IN,
) -> SharedTree:
    """Train on attributes ``x`` and labels ``y`` (0 or 1), all in 2^64; the tree stays shared.

    Paper: HIKC23's layer-by-layer training; sorting once from BSCG24; the rest is our own, see docs/fast-trainer.md.
    Cost: docs/fast-trainer.md. Reveals: permutations under fresh shuffles and the opened comparisons of one sort.
    Ties: highest score, then lowest place, then lowest attribute.
    """
    trainer = FastTrainer(ctx, x, y, shape, progress, fan_in)
    inner = [trainer.layer(ctx.step(f"layer{k}"), k) for k in range(shape.height)]
    number, label, counts = trainer.leaves(ctx.step("leaves"))
    return SharedTree(inner, (number, label), counts)
