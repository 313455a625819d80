"""Training on shares: one entry point for every algorithm."""

from ..engine import Context
from ..paper.replicated import ReplicatedBox, share_of
from ..paper.training import decision_tree_training
from ..protocols import truncate
from ..shares import RING64, Numbers
from ..transport import Network
from ..trees.best_split import choose_fan_in
from ..trees.problem import Problem
from ..trees.rules import check_algorithm
from ..trees.shared_tree import SharedLayer, SharedLeaves, SharedTree
from ..trees.table import TrainingTable
from ..trees.trainer import Progress, quiet, train_fast


def train_tree(
    ctx: Context,
    table: TrainingTable,
    problem: Problem,
    algorithm: str = "fast",
    network: Network | None = None,
    progress: Progress = quiet,
) -> SharedTree:
    """Train on a table; the tree stays shared.

    ``fast`` is :func:`hedgerow.trees.trainer.train_fast`, ``paper`` HIKC23 as written, which knows two classes and
    numbers only; they differ in how ties are broken. ``network`` describes the links where that should decide between
    rounds and bytes.
    """
    check_algorithm(algorithm, problem)
    step = ctx.step(algorithm)
    if algorithm == "fast":
        return train_fast(step, table, problem, progress, choose_fan_in(network, problem))
    table.check(problem)
    x = truncate(step.step("range"), Numbers.concatenate(table.x), problem.value_bits, RING64)
    y = truncate(step.step("labels"), table.y, 1, RING64)
    box = ReplicatedBox(step)
    shape = (problem.attributes, problem.rows)
    *layers, last = decision_tree_training(box.load(x, shape), box.load(y, shape[1:]), problem)
    inner = [SharedLayer(share_of(layer.nid), share_of(layer.aid), share_of(layer.threshold)) for layer in layers]
    return SharedTree(inner, SharedLeaves(share_of(last.nid), share_of(last.label), []))
