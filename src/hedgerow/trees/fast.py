"""The fast exact trainer: sort once, one secret permutation per feature, attribute-free node state.

Rows never move. For every feature j a secret permutation π_j says at which place a row stands when the rows of a node
are neighbours and sorted by x_j inside the node. docs/fast-trainer.md has the argument and the costs, step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..oblivious.packed import cut, following, pad, padded, preceding, rows_of
from ..oblivious.segment import FAN_IN
from ..primitives import (
    bit_and,
    bit_not,
    bit_to_ring,
    is_zero,
    less_than,
    select_sum,
    truncate,
)
from ..sharing import RING32, RING64, ArithmeticShare, BinaryShare, Context, public
from .choice import Choice, Criterion, Leaves, best_tests
from .entries import Entries, Layer, as_stored, at_front, layers_together
from .extremes import Extremes
from .model import SharedTree
from .nodes import Nodes, masked, packed_mask
from .order import Orders, View, partition, rows_passing
from .shape import TreeShape
from .sums import Sums

Progress = Callable[[int, str], None]
EQUALITY_BLOCK = 1 << 21
"""Items compared in one batch when looking for equal neighbours, which bounds the memory."""


@dataclass(frozen=True, slots=True)
class _Ends:
    """Per place: the last of a true child, the first of a node that has none, the first of a false child inside."""

    last: BinaryShare
    whole: BinaryShare
    openings: BinaryShare


class FastTrainer:
    """One training run at one party."""

    def __init__(
        self,
        ctx: Context,
        x: Sequence[ArithmeticShare],
        y: ArithmeticShare,
        weights: ArithmeticShare | None,
        shape: TreeShape,
        progress: Progress,
        fan_in: int,
    ) -> None:
        self.fan_in = fan_in
        self.shape = shape
        self.progress = progress
        self.ring, self.number_ring, self.count_ring = shape.sorted_ring, shape.number_ring, shape.count_ring
        self.tag_rows = len(shape.features).bit_length()
        progress(0, "sort")
        self.orders = Orders.of_table(ctx.step("sort"), x, shape)
        # Sums of what exceeds its declared bits would overflow, and with them the places that are opened.
        if weights is not None:
            weights = truncate(ctx.step("weights"), weights, shape.weight_bits, RING64)
        y = y if shape.classes > 2 else truncate(ctx.step("labels"), y, shape.target_bits or 1, RING64)
        self.criterion: Criterion
        if shape.by_sums:
            self.criterion = Sums(ctx.step("rows"), shape, y, weights)
            self.nodes = Nodes.root(ctx, shape.rows, [], shape.number_ring)
        else:
            self.criterion = Extremes(shape, y)
            self.nodes = Nodes.root(ctx, shape.rows, [y], shape.number_ring)
        self.present: BinaryShare | None = None
        if weights is not None:
            self._set_aside(ctx.step("absent"), weights)

    def _set_aside(self, ctx: Context, weights: ArithmeticShare) -> None:
        """Move the rows of weight 0 behind all others, into a node without a number, which never splits."""
        n, ring = self.shape.rows, self.count_ring
        absent = bit_to_ring(ctx.step("bit"), is_zero(ctx.step("zero"), weights, self.shape.weight_bits), ring)
        passes = public(ctx, np.ones(n, ring.dtype), ring) - absent
        length = padded(n)
        present = passes.prefix_sum()[n - 1 :][np.zeros(length, np.int64)]
        here = public(ctx, np.arange(length, dtype=ring.dtype), ring)
        whole = Nodes.root(ctx, n, [], self.number_ring, number=0)
        true = masked(less_than(ctx.step("true"), here, present, self.shape.count_bits), whole.real)
        self.present = true
        openings = whole.openings(ctx.step("openings"), true)
        self.nodes, earlier = whole.split(ctx.step("nodes"), 0, true, openings, present, [])
        views = self.orders.views(ctx.step("order"), [])
        self.orders = self.orders.moved(partition(ctx.step("partition"), views, whole, present, earlier, passes))

    def layer(self, ctx: Context, k: int) -> Entries:
        """Train the nodes of layer k and step on; returns what its entries are made of."""
        self.progress(k, "order")
        nodes, criterion = self.nodes, self.criterion
        views = self.orders.views(ctx.step("order"), criterion.columns)
        self.progress(k, "test selection")
        step = ctx.step("test_selection")
        criterion.enter(step.step("nodes"), nodes, views)
        valid = self._candidates(step.step("candidates"), views)
        found = criterion.choose(step, views, valid)
        choice = best_tests(step, nodes, self.shape, found, self.fan_in)
        self.progress(k, "tests")
        one = public(ctx, np.ones(nodes.length, self.count_ring.dtype), self.count_ring)
        offset = nodes.upto(ctx).narrow(self.count_ring) - one
        true = less_than(ctx.step("true"), offset, choice.rows_true, self.shape.count_bits)
        true = masked(true, nodes.real)
        features = self._one_hot(ctx.step("one_hot"), choice.code)
        ends = self._ends(ctx.step("ends"), true)
        last_layer = k + 1 == self.shape.height
        moves_on = not last_layer or criterion.needs_last_order
        wanted = [ends.last, true] if moves_on else [ends.last]
        at_last, *results = _for_every(ctx.step("chosen"), features, wanted)
        output = self._format(ctx.step("format_layer"), k, views, choice, ends, at_last)
        self.progress(k, "next layer")
        self.nodes, earlier = nodes.split(ctx.step("nodes"), k, true, ends.openings, choice.rows_true, choice.sums_true)
        if results:
            step = ctx.step("next_layer")
            passes = rows_passing(step, views, results[0], self.count_ring)
            kept = views[:1] if last_layer else views
            self.orders = self.orders.moved(partition(step, kept, nodes, choice.rows_true, earlier, passes))
        return output

    def _ends(self, ctx: Context, true: BinaryShare) -> _Ends:
        """Where true children end, where nodes without one begin, and where false children begin inside their node."""
        nodes = self.nodes
        before = bit_and(
            ctx.step("neighbours"),
            BinaryShare.stack([following(true), preceding(true)]),
            BinaryShare.stack([bit_not(ctx, following(nodes.flags)), bit_not(ctx, true)]),
        )
        goes_on, after = before.row(0), before.row(1)
        found = bit_and(
            ctx.step("found"),
            BinaryShare.stack([true, nodes.flags, after]),
            BinaryShare.stack([bit_not(ctx, goes_on), bit_not(ctx, true), bit_not(ctx, nodes.flags)]),
        )
        ends = rows_of(found, 0, 2)
        if self.present is not None:
            # Rows without weight leave no entry, so an opened tree does not show whether there are any.
            ends = bit_and(ctx.step("present"), ends, BinaryShare.stack([self.present] * 2))
        return _Ends(masked(ends.row(0), nodes.real), masked(ends.row(1), nodes.real), found.row(2))

    def _candidates(self, ctx: Context, views: Sequence[View]) -> BinaryShare:
        """Per feature the places after which a node can be split: not its last, the node neither pure nor too small,
        both sides large enough, and the next value differs."""
        nodes, n = self.nodes, self.shape.rows
        block = max(1, EQUALITY_BLOCK // nodes.length)
        bits = max(self.shape.value_bits, self.shape.count_bits)
        numeric = [view.values for view in views if isinstance(view.values, ArithmeticShare)]
        columns = [pad(values[1:] - values[:-1], nodes.length) for values in numeric]
        columns += [column.narrow(self.ring) for column in self.criterion.purity_columns()]
        rows = []
        for start in range(0, len(columns), block):
            part = columns[start : start + block]
            zero = is_zero(ctx.step("equal"), ArithmeticShare.concatenate(part), bits)
            rows += [bit_not(ctx, cut(zero, len(part)))]
        parts = iter([row.row(k) for row in rows for k in range(row.rows)])
        differs = [
            next(parts) if isinstance(values, ArithmeticShare) else values ^ following(values)
            for values in (view.values for view in views)
        ]
        inside = bit_not(ctx, following(nodes.flags))
        for other in (*parts, self.criterion.mixed(ctx.step("mixed")), self._large_enough(ctx.step("large"))):
            if other is not None:
                inside = bit_and(ctx.step("inside"), inside, other)
        not_last = packed_mask(np.arange(nodes.length) < n - 1)
        valid = bit_and(ctx.step("valid"), BinaryShare.stack(differs), BinaryShare.stack([inside] * len(views)))
        return masked(valid, not_last)

    def _large_enough(self, ctx: Context) -> BinaryShare | None:
        """Whether a place leaves enough rows on both sides, and its node has enough; None where all are."""
        shape, nodes = self.shape, self.nodes
        columns, least = [], []
        upto = nodes.upto(ctx)
        if shape.min_samples_leaf > 1:
            columns += [upto, nodes.size - upto]
            least += [shape.min_samples_leaf] * 2
        if shape.min_samples_split > 2 * shape.min_samples_leaf:
            columns.append(nodes.size)
            least.append(shape.min_samples_split)
        if not columns:
            return None
        # More rows than there are is as good as one more.
        wanted = np.repeat(np.array([min(k, shape.rows + 1) for k in least], np.uint32), nodes.length)
        having = ArithmeticShare.concatenate([column.narrow(RING32) for column in columns])
        small = less_than(ctx.step("small"), having, public(ctx, wanted, RING32), shape.count_bits + 1)
        enough = bit_not(ctx, cut(small, len(columns)))
        found = enough.row(0)
        for k in range(1, len(columns)):
            found = bit_and(ctx.step("both"), found, enough.row(k))
        return found

    def _one_hot(self, ctx: Context, code: ArithmeticShare) -> BinaryShare:
        """A row for every feature that says whether it is the node's."""
        count = len(self.shape.features)
        codes = np.repeat(np.arange(1, count + 1, dtype=code.ring.dtype), len(code))
        repeated = ArithmeticShare.concatenate([code] * count) - public(ctx, codes, code.ring)
        return cut(is_zero(ctx, repeated, self.tag_rows), count)

    def _format(
        self,
        ctx: Context,
        k: int,
        views: Sequence[View],
        choice: Choice,
        ends: _Ends,
        at_last: BinaryShare,
    ) -> Entries:
        """What the layer's entries are made of."""
        bits, sums = self._threshold_terms(ctx, views, at_last)
        (threshold,) = select_sum(ctx.step("threshold"), bits, [[column] for column in sums])
        return Entries(k, ends.last, ends.whole, self.nodes.number, choice.code, threshold)

    def _threshold_terms(
        self, ctx: Context, views: Sequence[View], at_last: BinaryShare
    ) -> tuple[list[BinaryShare], list[ArithmeticShare]]:
        """Where a feature's threshold applies, and what it is: the sum of neighbouring values, 1 for any category."""
        length = self.nodes.length
        bits, sums = [], []
        category: BinaryShare | None = None
        for j, view in enumerate(views):
            here = at_last.row(j)
            if isinstance(view.values, ArithmeticShare):
                bits.append(here)
                sums.append(pad(view.values[1:] + view.values[:-1], length))
            else:
                # A place has one feature at most, so the bits of all categories join without a gate.
                category = here if category is None else category ^ here
        if category is not None:
            bits.append(category)
            sums.append(public(ctx, np.ones(length, self.ring.dtype), self.ring))
        return bits, sums

    def leaves(self, ctx: Context) -> Leaves:
        """The last layer."""
        self.progress(self.shape.height, "leaves")
        return self.criterion.leaves(ctx, self.nodes, self.orders)


def _for_every(ctx: Context, features: BinaryShare, bits: Sequence[BinaryShare]) -> list[BinaryShare]:
    """For every bit the rows of features where it is set; one round."""
    count = features.rows
    rows = [row for bit in bits for row in [bit] * count]
    found = bit_and(ctx, BinaryShare.stack([features] * len(bits)), BinaryShare.stack(rows))
    return [rows_of(found, k * count, (k + 1) * count) for k in range(len(bits))]


def quiet(layer: int, step: str) -> None:
    """No progress shown."""


def train_fast(
    ctx: Context,
    x: Sequence[ArithmeticShare],
    y: ArithmeticShare,
    shape: TreeShape,
    weights: ArithmeticShare | None = None,
    progress: Progress = quiet,
    fan_in: int = FAN_IN,
) -> SharedTree:
    """Train on attributes ``x``, labels or targets ``y`` and maybe ``weights``, all in 2^64; the tree stays shared.

    Paper: HIKC23's layer-by-layer training; sorting once from BSCG24; the rest is our own, see docs/fast-trainer.md.
    Cost: docs/fast-trainer.md. Reveals: permutations under fresh shuffles and the opened comparisons of one sort.
    Ties: highest score, then lowest place, then lowest feature.
    """
    trainer = FastTrainer(ctx, x, y, weights, shape, progress, fan_in)
    inner: list[Layer] = []
    together = layers_together(shape)
    for start in range(0, shape.height, together):
        layers = range(start, min(shape.height, start + together))
        entries = [trainer.layer(ctx.turn("layer", k), k) for k in layers]
        inner += at_front(ctx.turn("entries", start), shape, entries)
    last = trainer.leaves(ctx.step("leaves"))
    stored = ctx.step("stored")
    codes = as_stored(stored.step("codes"), [code for _, code, _ in inner], RING32)
    thresholds = as_stored(stored.step("thresholds"), [threshold for _, _, threshold in inner], shape.value_ring)
    numbers = [number for number, _, _ in inner]
    return SharedTree(list(zip(numbers, codes, thresholds, strict=True)), (last.number, last.label), last.counts)
