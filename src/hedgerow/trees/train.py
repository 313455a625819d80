"""Training on shares: one entry point for every algorithm."""

from __future__ import annotations

from ..errors import InputError
from ..oblivious.replicated import ReplicatedBox, share_of
from ..oblivious.segment import FAN_IN
from ..sharing import ArithmeticShare, Context
from ..transport import Network
from .fast import Progress, quiet, train_fast
from .model import SharedTree
from .paper import decision_tree_training
from .shape import TreeShape

ALGORITHMS = ("fast", "paper")
LEVEL_ROUNDS = 16
"""Rounds a level of the segmented maximum takes, up and down."""
PAIR_BYTES = 110
"""Bytes per party that comparing one pair of blocks at the top takes, and passing its answer on."""


def choose_fan_in(network: Network | None) -> int:
    """How many blocks of the segmented maximum to finish by all pairs, from a link's delay and bandwidth.

    Doubling the fan-in saves a level of rounds and makes 6·fan_in² more comparisons of leads and trails.
    """
    if network is None:
        return FAN_IN
    fan_in = 8
    while fan_in < 512 and LEVEL_ROUNDS * network.delay > 6 * fan_in**2 * PAIR_BYTES / network.bandwidth:
        fan_in *= 2
    return fan_in


def train_tree(
    ctx: Context,
    x: ArithmeticShare,
    y: ArithmeticShare,
    shape: TreeShape,
    algorithm: str = "fast",
    network: Network | None = None,
    progress: Progress = quiet,
) -> SharedTree:
    """Train on attributes ``x`` (m·n items of 2^64, attribute by attribute) and labels ``y``; the tree stays shared.

    ``fast`` is :func:`.fast.train_fast`, ``paper`` HIKC23 as written; they differ in how ties are broken. ``network``
    describes the links where that should decide between rounds and bytes.
    """
    if algorithm not in ALGORITHMS:
        raise InputError(f"unknown algorithm '{algorithm}'; choose one of {', '.join(ALGORITHMS)}")
    n = shape.rows
    if algorithm == "fast":
        columns = [x[j * n : (j + 1) * n] for j in range(shape.attributes)]
        return train_fast(ctx.step(algorithm), columns, y, shape, progress, choose_fan_in(network))
    box = ReplicatedBox(ctx.step(algorithm))
    layers = decision_tree_training(box.load(x, (shape.attributes, n)), box.load(y, (n,)), shape)
    inner = [(share_of(layer.nid), share_of(layer.aid), share_of(layer.threshold)) for layer in layers[:-1]]
    return SharedTree(inner, (share_of(layers[-1].nid), share_of(layers[-1].label)))
