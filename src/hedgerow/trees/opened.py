"""Opening a shared tree: what its owner does with the three parties' shares, straight to the nodes that are shown."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from ..reference.node import Counts, Leaf, Node, Split
from ..shares import reconstruct
from .shared_tree import SharedTree

Opened = Mapping[str, npt.NDArray[Any]]
"""Vectors of a normalised tree by their names; see :meth:`.shared_tree.SharedTree.named_columns`."""


def opened_columns(trees: Sequence[SharedTree], counts: bool = False) -> Opened:
    """The vectors behind the three parties' shares; the leaves' counts only where asked for."""
    columns = zip(*(tree.named_columns() for tree in trees), strict=True)
    return {
        parts[0][0]: reconstruct([share for _, share in parts])
        for parts in columns
        if counts or not parts[0][0].startswith("leaf.count")
    }


def decode(opened: Opened, withheld: bool = False) -> Node:
    """The ordinary tree: always-false tests (threshold 0) are dropped, NULL padding is ignored.

    The false child of node d in layer k has number d, the true child d + 2^k. With ``withheld`` the parties blanked the
    counts of small leaves: these are unknown, and so are those of the nodes above.
    """
    height = sum(name.endswith(".threshold") for name in opened)
    tests = [_layer(opened, k) for k in range(height)]
    leaves = _leaves(opened, withheld)
    if not leaves:
        # All rows had weight 0, so there was nothing to learn from.
        return Leaf(0, (0,) * _count_columns(opened) or None)

    def node(layer: int, number: int) -> Node:
        while layer < height and tests[layer][number][1] == 0:
            layer += 1
        if layer == height:
            return leaves[number]
        feature, threshold = tests[layer][number]
        true, false = node(layer + 1, number + (1 << layer)), node(layer + 1, number)
        return Split(feature - 1, threshold, true, false, _sum(true.counts, false.counts))

    return node(0, 1)


def reconstruct_root(trees: Sequence[SharedTree], counts: bool = False, withheld: bool = False) -> Node:
    """:func:`decode` of the three parties' shares."""
    return decode(opened_columns(trees, counts), withheld)


def _layer(opened: Opened, k: int) -> dict[int, tuple[int, int]]:
    """Feature and threshold by node number."""
    columns = (opened[f"layer{k}.{name}"] for name in ("number", "attribute", "threshold"))
    return {int(number): (int(feature), int(t)) for number, feature, t in zip(*columns, strict=True) if int(number)}


def _count_columns(opened: Opened) -> int:
    return sum(name.startswith("leaf.count") for name in opened)


def _leaves(opened: Opened, withheld: bool) -> dict[int, Leaf]:
    """Leaves by node number, with their counts where they were opened and not withheld."""
    columns = [opened[f"leaf.count{c}"] for c in range(_count_columns(opened))]
    found = {}
    for i, (number, label) in enumerate(zip(opened["leaf.number"], opened["leaf.label"], strict=True)):
        if int(number):
            counts = tuple(int(column[i]) for column in columns)
            found[int(number)] = Leaf(int(label), counts if counts and (any(counts) or not withheld) else None)
    return found


def _sum(true: Counts | None, false: Counts | None) -> Counts | None:
    if true is None or false is None:
        return None
    return tuple(a + b for a, b in zip(true, false, strict=True))
