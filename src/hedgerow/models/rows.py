"""Plain rows through a revealed tree: which leaf each reaches, and by which way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from .facts import ModelFacts

if TYPE_CHECKING:
    from .revealed import RevealedNode, RevealedTree

Values = npt.NDArray[Any]


def plain_columns(facts: ModelFacts, x: Any) -> list[Values]:
    """The attributes of rows ``x[row, attribute]``, by name where a data frame has them, else by place."""
    names = facts.attribute_names
    if hasattr(x, "to_pandas"):
        x = x.to_pandas()
    if hasattr(x, "columns") and set(names) <= set(x.columns):
        return [np.asarray(x[name]) for name in names]
    table = np.asarray(x)
    if table.ndim != 2:
        raise InputError(f"rows must be a table, not an array with {table.ndim} dimensions")
    return list(table.T)


def reached(tree: RevealedTree, x: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], list[RevealedNode]]:
    """Per row the number of its leaf, and which nodes it passes; nodes are numbered depth first, the true side first,
    as scikit-learn numbers them."""
    values = tree.facts.doubled(plain_columns(tree.facts, x))
    nodes = [node for node, _ in tree._walk()]
    numbers = {id(node): k for k, node in enumerate(nodes)}
    rows = len(values[0])
    leaves, passed = np.zeros(rows, np.int64), np.zeros((rows, len(nodes)), np.bool_)

    def fill(node: RevealedNode, here: npt.NDArray[Any]) -> None:
        passed[here, numbers[id(node)]] = True
        if node.children is None:
            leaves[here] = numbers[id(node)]
            return
        mine = values[node.attribute][here]
        passes = mine < node.threshold if node.category is None else mine == node.category
        fill(node.children[0], here[passes])
        fill(node.children[1], here[~passes])

    fill(tree.root, np.arange(rows))
    return leaves, passed, nodes
