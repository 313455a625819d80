"""Training on shares: one entry point for every algorithm."""

from ..engine import Context
from ..errors import InputError
from ..paper.replicated import ReplicatedBox
from ..paper.shamir import ShamirBox, check_fits_field
from ..paper.shared import SharedBox
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

BOXES: dict[str, type[SharedBox]] = {"replicated": ReplicatedBox, "shamir": ShamirBox}


def train_tree(
    ctx: Context,
    table: TrainingTable,
    problem: Problem,
    algorithm: str = "fast",
    network: Network | None = None,
    progress: Progress = quiet,
    sharing: str = "replicated",
) -> SharedTree:
    """Train on a table; the tree stays shared.

    ``fast`` is :func:`hedgerow.trees.trainer.train_fast`, ``paper`` HIKC23 as written, which knows two classes and
    numbers only; they differ in how ties are broken. ``network`` describes the links where that should decide between
    rounds and bytes. The paper's algorithm runs on two sharings, ``replicated`` and ``shamir``, its own.
    """
    check_algorithm(algorithm, problem)
    check_sharing(sharing, algorithm, problem)
    step = ctx.step(algorithm)
    if algorithm == "fast":
        return train_fast(step, table, problem, progress, choose_fan_in(network, problem))
    table.check(problem)
    x = truncate(step.step("range"), Numbers.concatenate(table.x), problem.value_bits, RING64)
    y = truncate(step.step("labels"), table.y, 1, RING64)
    box = BOXES[sharing](step)
    shape = (problem.attributes, problem.rows)
    *layers, last = decision_tree_training(box.load(x, shape), box.load(y, shape[1:]), problem)
    inner = [SharedLayer(box.stored(layer.nid), box.stored(layer.aid), box.stored(layer.threshold)) for layer in layers]
    return SharedTree(inner, SharedLeaves(box.stored(last.nid), box.stored(last.label), []))


def check_sharing(sharing: str, algorithm: str, problem: Problem) -> None:
    """Refuse a sharing that is unknown, that the algorithm does not know, or that cannot hold the numbers."""
    if sharing not in BOXES:
        raise InputError(f"no such sharing: '{sharing}'; there are {' and '.join(BOXES)}")
    if sharing == "shamir":
        if algorithm != "paper":
            raise InputError(f"the {algorithm} algorithm works on replicated shares; Shamir's are for the paper's own")
        check_fits_field(problem)
