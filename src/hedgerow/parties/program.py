"""What party processes run for the product: training, prediction, evaluation.

What these return leaves the party, to somebody who is given all three parties' shares; so all of it is refreshed.
"""

from collections.abc import Sequence

from ..engine import Context
from ..protocols import refresh
from ..shares import RING32, Numbers
from ..trees.predict import confusion, predict_labels, predict_probabilities, squared_errors
from ..trees.problem import Problem
from ..trees.shared_tree import SharedTree
from ..trees.table import TrainingTable
from ..trees.trainer import Progress, quiet
from ..trees.withhold import withhold_small_leaves
from .training import train_tree


def run_training(
    ctx: Context, table: TrainingTable, problem: Problem, algorithm: str, report: Progress = quiet
) -> SharedTree:
    """Train a tree; every party keeps its own shares of it."""
    return _refreshed(ctx, train_tree(ctx, table, problem, algorithm, progress=report))


def _refreshed(ctx: Context, tree: SharedTree) -> SharedTree:
    return SharedTree.of_columns(len(tree.layers), refresh(ctx.step("refresh"), tree.columns))


def run_withholding(ctx: Context, tree: SharedTree, problem: Problem, least: int) -> SharedTree:
    """The tree as it may be opened: without the numbers of leaves of fewer than ``least`` rows."""
    return _refreshed(ctx, withhold_small_leaves(ctx, tree, problem, least))


def run_labels(ctx: Context, tree: SharedTree, x: Sequence[Numbers], problem: Problem) -> Numbers:
    """Shares of every row's class number or estimate."""
    (labels,) = refresh(ctx.step("refresh"), [predict_labels(ctx.step("predict"), tree, x, problem)])
    return labels


def run_probabilities(ctx: Context, tree: SharedTree, x: Sequence[Numbers], problem: Problem) -> list[Numbers]:
    """Shares of every row's probabilities of the classes but the first, times 2^16."""
    found = predict_probabilities(ctx.step("predict"), tree, x, problem)
    return refresh(ctx.step("refresh"), found)


def run_evaluation(ctx: Context, tree: SharedTree, x: Sequence[Numbers], y: Numbers, problem: Problem) -> Numbers:
    """Shares of the confusion matrix alone, or of the three sums that squared errors need."""
    predicted = predict_labels(ctx.step("predict"), tree, x, problem)
    if problem.regression:
        found = squared_errors(ctx.step("errors"), y, predicted)
    else:
        found = confusion(ctx.step("confusion"), y.narrow(RING32), predicted, problem.classes)
    return refresh(ctx.step("refresh"), [found])[0]
