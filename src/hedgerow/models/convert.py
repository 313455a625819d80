"""A revealed tree as scikit-learn's own fitted tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .facts import ModelFacts

if TYPE_CHECKING:
    from .revealed import RevealedNode


def to_sklearn(nodes: Sequence[RevealedNode], limits: Sequence[float], facts: ModelFacts) -> Any:
    """``nodes`` in depth-first order, true side first, with the limit of each test ``value <= limit``."""
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.tree._tree import Tree

    classes, attributes = len(facts.classes), len(facts.attribute_names)
    inner = Tree(attributes, np.array([classes], dtype=np.intp), 1)
    state = inner.__getstate__()
    table = np.zeros(len(nodes), dtype=state["nodes"].dtype)
    values = np.zeros((len(nodes), 1, classes))
    index = {id(node): k for k, node in enumerate(nodes)}
    depth = dict.fromkeys(range(len(nodes)), 0)
    for k, node in enumerate(nodes):
        counts = np.array(node.counts if node.counts is not None else _vote(node, classes), float)
        fractions = counts / counts.sum()
        values[k, 0] = fractions
        row = table[k]
        row["impurity"] = 1 - (fractions**2).sum()
        row["n_node_samples"], row["weighted_n_node_samples"] = int(counts.sum()), counts.sum()
        row["feature"], row["threshold"] = (node.attribute, limits[k]) if node.children else (-2, -2.0)
        row["left_child"] = row["right_child"] = -1
        if node.children:
            row["left_child"], row["right_child"] = (index[id(child)] for child in node.children)
            for child in node.children:
                depth[index[id(child)]] = depth[k] + 1
    deepest = max(depth.values())
    inner.__setstate__({"max_depth": deepest, "node_count": len(nodes), "nodes": table, "values": values})
    model = DecisionTreeClassifier(max_depth=max(1, facts.shape.height))
    model.tree_, model.classes_, model.n_classes_ = inner, np.asarray(facts.classes), classes
    model.n_features_in_, model.n_outputs_, model.max_features_ = attributes, 1, attributes
    model.feature_names_in_ = np.asarray(facts.attribute_names, dtype=object)
    return model


def _vote(node: RevealedNode, classes: int) -> list[int]:
    """Leaves below a node by class, where rows were not opened."""
    if node.children is None:
        return [int(c == node.label) for c in range(classes)]
    true, false = (_vote(child, classes) for child in node.children)
    return [a + b for a, b in zip(true, false, strict=True)]
