"""What party processes run for the product: training, prediction, evaluation.

What these return leaves the party, to somebody who is given all three parties' shares; so all of it is refreshed.
"""

from __future__ import annotations

from collections.abc import Callable

from ..sharing import RING32, ArithmeticShare, Context, refresh
from ..trees.fast import quiet
from ..trees.model import SharedTree
from ..trees.predict import confusion, predict_labels, predict_probabilities, squared_errors
from ..trees.shape import TreeShape
from ..trees.train import train_tree
from ..trees.withhold import withhold_small_leaves

Report = Callable[[int, str], None]


def run_training(
    ctx: Context,
    x: ArithmeticShare,
    y: ArithmeticShare,
    weights: ArithmeticShare | None,
    shape: TreeShape,
    algorithm: str,
    report: Report = quiet,
) -> SharedTree:
    """Train a tree; every party keeps its own shares of it."""
    tree = train_tree(ctx, x, y, shape, algorithm, progress=report, weights=weights)
    return tree.of_columns(refresh(ctx.step("refresh"), tree.columns))


def run_withholding(ctx: Context, tree: SharedTree, shape: TreeShape, least: int) -> SharedTree:
    """The tree as it may be opened: without the numbers of leaves of fewer than ``least`` rows."""
    shown = withhold_small_leaves(ctx, tree, shape, least)
    return shown.of_columns(refresh(ctx.step("refresh"), shown.columns))


def _columns(x: ArithmeticShare, shape: TreeShape) -> list[ArithmeticShare]:
    count = len(x) // shape.attributes
    return [x[j * count : (j + 1) * count] for j in range(shape.attributes)]


def run_labels(ctx: Context, tree: SharedTree, x: ArithmeticShare, shape: TreeShape) -> ArithmeticShare:
    """Shares of every row's class number or estimate."""
    (labels,) = refresh(ctx.step("refresh"), [predict_labels(ctx.step("predict"), tree, _columns(x, shape), shape)])
    return labels


def run_probabilities(ctx: Context, tree: SharedTree, x: ArithmeticShare, shape: TreeShape) -> list[ArithmeticShare]:
    """Shares of every row's probabilities of the classes but the first, times 2^16."""
    found = predict_probabilities(ctx.step("predict"), tree, _columns(x, shape), shape)
    return refresh(ctx.step("refresh"), found)


def run_evaluation(
    ctx: Context, tree: SharedTree, x: ArithmeticShare, y: ArithmeticShare, shape: TreeShape
) -> ArithmeticShare:
    """Shares of the confusion matrix alone, or of the three sums that squared errors need."""
    predicted = predict_labels(ctx.step("predict"), tree, _columns(x, shape), shape)
    if shape.regression:
        found = squared_errors(ctx.step("errors"), y, predicted)
    else:
        found = confusion(ctx.step("confusion"), y.narrow(RING32), predicted, shape.classes)
    return refresh(ctx.step("refresh"), [found])[0]
