"""Training on shares: one entry point for every algorithm."""

from __future__ import annotations

from ..oblivious.replicated import ReplicatedBox, share_of
from ..sharing import ArithmeticShare, Context
from .fast import train_fast
from .model import SharedTree
from .paper import decision_tree_training
from .shape import TreeShape

ALGORITHMS = ("fast", "paper")


def train_tree(
    ctx: Context, x: ArithmeticShare, y: ArithmeticShare, shape: TreeShape, algorithm: str = "fast"
) -> SharedTree:
    """Train on attributes ``x`` (m·n items of 2^64, attribute by attribute) and labels ``y``; the tree stays shared."""
    n = shape.rows
    if algorithm == "fast":
        columns = [x[j * n : (j + 1) * n] for j in range(shape.attributes)]
        return train_fast(ctx.step(algorithm), columns, y, shape)
    box = ReplicatedBox(ctx.step(algorithm))
    layers = decision_tree_training(box.load(x, (shape.attributes, shape.rows)), box.load(y, (shape.rows,)), shape)
    inner = [(share_of(layer.nid), share_of(layer.aid), share_of(layer.threshold)) for layer in layers[:-1]]
    return SharedTree(inner, (share_of(layers[-1].nid), share_of(layers[-1].label)))
