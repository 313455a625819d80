"""Training on shares: one entry point for every algorithm."""

from __future__ import annotations

from ..errors import InputError
from ..oblivious.replicated import ReplicatedBox, share_of
from ..oblivious.segment import FAN_IN
from ..primitives import truncate
from ..sharing import RING64, ArithmeticShare, Context
from ..transport import Network
from .fast import Progress, quiet, train_fast
from .fast_cost import FastCost
from .model import SharedTree
from .paper import decision_tree_training
from .shape import TreeShape

ALGORITHMS = ("fast", "paper")
FAN_INS = (8, 20, 160, 1280, 10_240, 81_920)
"""What a network can choose from: blocks joined in groups rather than two by two."""


def choose_fan_in(network: Network | None, shape: TreeShape) -> int:
    """How many blocks of the segmented maximum to join in groups, from a link's delay and bandwidth: the quickest by
    the declared rounds and bytes."""
    if network is None:
        return FAN_IN

    def seconds(fan_in: int) -> float:
        cost = FastCost(shape, fan_in).best()
        return cost.rounds * network.delay + max(cost.sent) / 2 / network.bandwidth

    return min(FAN_INS, key=seconds)


def check_algorithm(algorithm: str, shape: TreeShape) -> None:
    """Refuse unknown algorithms, and what HIKC23 as written does not learn."""
    if algorithm not in ALGORITHMS:
        raise InputError(f"unknown algorithm '{algorithm}'; choose one of {', '.join(ALGORITHMS)}")
    if algorithm == "paper" and shape != TreeShape(shape.rows, shape.attributes, shape.height, shape.value_bits):
        raise InputError(
            "algorithm 'paper' learns two classes from numbers, without weights or rules; use algorithm 'fast'"
        )


def train_tree(
    ctx: Context,
    x: ArithmeticShare,
    y: ArithmeticShare,
    shape: TreeShape,
    algorithm: str = "fast",
    network: Network | None = None,
    progress: Progress = quiet,
    weights: ArithmeticShare | None = None,
) -> SharedTree:
    """Train on attributes ``x`` (m·n items of 2^64, attribute by attribute) and labels ``y``; the tree stays shared.

    ``fast`` is :func:`.fast.train_fast`, ``paper`` HIKC23 as written, which knows two classes and numbers only; they
    differ in how ties are broken. ``network``
    describes the links where that should decide between rounds and bytes.
    """
    check_algorithm(algorithm, shape)
    if (weights is None) is shape.row_weights:
        raise InputError("weights must be given exactly if the shape declares their bits")
    n = shape.rows
    if algorithm == "fast":
        columns = [x[j * n : (j + 1) * n] for j in range(shape.attributes)]
        return train_fast(ctx.step(algorithm), columns, y, shape, weights, progress, choose_fan_in(network, shape))
    step = ctx.step(algorithm)
    x = truncate(step.step("range"), x, shape.value_bits, RING64)
    y = truncate(step.step("labels"), y, 1, RING64)
    box = ReplicatedBox(step)
    layers = decision_tree_training(box.load(x, (shape.attributes, n)), box.load(y, (n,)), shape)
    inner = [(share_of(layer.nid), share_of(layer.aid), share_of(layer.threshold)) for layer in layers[:-1]]
    return SharedTree(inner, (share_of(layers[-1].nid), share_of(layers[-1].label)))
