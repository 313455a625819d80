"""The exact trainer: sort once, one secret permutation per feature, attribute-free node state.

Rows never move. For every feature j a secret permutation π_j says at which place a row stands when the rows of a node
are neighbours and sorted by x_j inside the node. docs/protocols/trainer.md has the argument and the costs, step by
step; every step of a layer is a module of its own, with its cost beside it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..engine import Context, Cost
from ..oblivious import FAN_IN
from ..shares import Bits
from .absent import set_aside_absent, set_aside_absent_cost
from .best_split import best_splits, best_splits_cost
from .candidates import candidates, candidates_cost
from .criteria.base import Criterion
from .criteria.factory import criterion_cost, criterion_for
from .entries import Entries, as_stored, as_stored_cost, at_front, at_front_cost, layers_together
from .nodes import Nodes, split_cost
from .orders import (
    Orders,
    category_cost,
    partition,
    partition_cost,
    range_cost,
    rows_passing,
    rows_passing_cost,
    views_cost,
)
from .problem import Problem
from .shared_tree import SharedLayer, SharedTree
from .split_places import child_ends, feature_one_hot, split_places_cost, thresholds, true_places, where_chosen
from .table import TrainingTable, truncate_to_declared, truncate_to_declared_cost

Progress = Callable[[int, str], None]
"""Called with the layer and the step that begins."""


def quiet(layer: int, step: str) -> None:
    """No progress shown."""


@dataclass(slots=True)
class Trainer:
    """One training run at one party, between two layers."""

    problem: Problem
    criterion: Criterion
    orders: Orders
    nodes: Nodes
    present: Bits | None
    progress: Progress
    fan_in: int

    def layer(self, ctx: Context, k: int) -> Entries:
        """Train the nodes of layer k and step on; returns what its entries are made of.

        Cost: :meth:`TrainingCost.layer`. Reveals: every feature's permutation under a shuffle drawn anew.
        """
        self.progress(k, "order")
        problem, nodes, criterion = self.problem, self.nodes, self.criterion
        views = self.orders.views(ctx.step("order"), criterion.columns)
        self.progress(k, "test selection")
        step = ctx.step("test_selection")
        criterion.enter(step.step("nodes"), nodes, views)
        valid = candidates(step.step("candidates"), problem, nodes, views, criterion)
        splits = best_splits(step, nodes, problem, criterion.choose(step, views, valid), self.fan_in)
        self.progress(k, "tests")
        true = true_places(ctx, problem, nodes, splits)
        features = feature_one_hot(ctx.step("one_hot"), problem, splits.feature)
        ends = child_ends(ctx.step("ends"), nodes, true, self.present)
        last_layer = k + 1 == problem.height
        passed_on = not last_layer or criterion.needs_last_order
        at_true_end, *passing = where_chosen(ctx.step("chosen"), features, [ends.true_end, *[true] * passed_on])
        threshold = thresholds(ctx.step("format_layer"), problem, views, at_true_end)
        criterion.leave(true)
        entries = Entries(k, ends.true_end, ends.unsplit_start, nodes.number, splits.feature, threshold)
        self.progress(k, "next layer")
        self.nodes, true_rows_before = nodes.split(
            ctx.step("nodes"), k, true, ends.false_start, splits.rows_true, splits.sums_true
        )
        if passed_on:
            step = ctx.step("next_layer")
            passes = rows_passing(step, views, passing[0], problem.widths.count_ring)
            kept = views[:1] if last_layer else views
            moved = partition(step, kept, nodes, splits.rows_true, true_rows_before, passes)
            self.orders = self.orders.moved(moved)
        return entries


def start_training(
    ctx: Context, table: TrainingTable, problem: Problem, progress: Progress, fan_in: int = FAN_IN
) -> Trainer:
    """Sort, cut everything to its declared range, and put all rows that have a weight into the root."""
    table.check(problem)
    progress(0, "sort")
    orders = Orders.of_table(ctx.step("sort"), table.x, problem)
    table = truncate_to_declared(ctx, table, problem)
    criterion = criterion_for(ctx.step("rows"), problem, table)
    nodes, present = Nodes.root(ctx, problem.rows, criterion.node_sums, problem.widths.number_ring), None
    if table.weights is not None:
        found = set_aside_absent(ctx.step("absent"), problem, orders, table.weights)
        nodes, orders, present = found.nodes, found.orders, found.places
    return Trainer(problem, criterion, orders, nodes, present, progress, fan_in)


def train_fast(
    ctx: Context, table: TrainingTable, problem: Problem, progress: Progress = quiet, fan_in: int = FAN_IN
) -> SharedTree:
    """Train on a table; the tree stays shared.

    Paper: HIKC23's layer-by-layer training; sorting once from BSCG24; the rest is our own, see
    docs/protocols/trainer.md. Cost: :class:`TrainingCost`. Reveals: permutations under fresh shuffles and the opened
    comparisons of one sort, and with entropy those of each layer's lookups, which are sorts too. Ties: highest score,
    then lowest place, then lowest feature.
    """
    trainer = start_training(ctx, table, problem, progress, fan_in)
    inner: list[SharedLayer] = []
    together = layers_together(problem)
    for start in range(0, problem.height, together):
        layers = range(start, min(problem.height, start + together))
        entries = [trainer.layer(ctx.turn("layer", k), k) for k in layers]
        inner += at_front(ctx.turn("entries", start), problem, entries)
    progress(problem.height, "leaves")
    leaves = trainer.criterion.leaves(ctx.step("leaves"), trainer.nodes, trainer.orders)
    return SharedTree(as_stored(ctx.step("stored"), inner, problem), leaves)


class TrainingCost:
    """What a training run costs, step by step, as functions of the public facts; tests compare them with the meter.

    The sort before the first layer is not here: its transcript has a random length (see
    :mod:`hedgerow.oblivious.ranking`).
    """

    def __init__(self, problem: Problem, fan_in: int = FAN_IN) -> None:
        self.problem, self.fan_in = problem, fan_in
        self.criterion = criterion_cost(problem)

    def declared(self) -> Cost:
        """Labels or targets and weights cut to their declared bits."""
        return truncate_to_declared_cost(self.problem)

    def range(self) -> Cost:
        """Attributes cut to their declared bits, before the sort."""
        return range_cost(self.problem)

    def category(self) -> Cost:
        """The bits of categories and their places."""
        return category_cost(self.problem)

    def absent(self) -> Cost:
        """Setting aside the rows of weight 0."""
        return set_aside_absent_cost(self.problem)

    def layer(self, k: int) -> Cost:
        """One inner layer; the last one needs no new permutations, or one."""
        problem, criterion, widths = self.problem, self.criterion, self.problem.widths
        last_layer = k + 1 == problem.height
        passed_on = not last_layer or criterion.needs_last_order
        cost = views_cost(problem, criterion.moved_bytes) + criterion.enter()
        cost += candidates_cost(problem, criterion) + criterion.choose(k)
        cost += best_splits_cost(problem, criterion, self.fan_in) + split_places_cost(problem, passed_on)
        cost += split_cost(problem.rows, widths.count_ring, widths.number_ring, criterion.sum_rings)
        if passed_on:
            cost += rows_passing_cost(problem) + partition_cost(problem, 1 if last_layer else None)
        return cost

    def entries(self, start: int) -> Cost:
        """One entry per node at the front, for the layers from ``start`` on that are made together."""
        return at_front_cost(self.problem, min(layers_together(self.problem), self.problem.height - start))

    def leaves(self) -> Cost:
        """The last layer."""
        return self.criterion.leaves()

    def stored(self) -> Cost:
        """Layers in the rings that trees are stored in."""
        return as_stored_cost(self.problem)
