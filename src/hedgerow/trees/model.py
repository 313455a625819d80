"""The normalised tree of HIKC23 in the clear, and its decoding into an ordinary tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from ..reference.node import Leaf, Node, Split
from ..sharing import ArithmeticShare, reconstruct


@dataclass(frozen=True, slots=True)
class NormalisedTree:
    """Opened layer vectors: (node numbers, attributes, thresholds) per inner layer, (node numbers, labels) last."""

    inner: list[tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]]
    leaves: tuple[npt.NDArray[Any], npt.NDArray[Any]]

    @property
    def height(self) -> int:
        """Number of inner layers."""
        return len(self.inner)


@dataclass(frozen=True, slots=True)
class SharedTree:
    """One party's shares of a normalised tree's vectors, in the layout of :class:`NormalisedTree`.

    ``counts`` has, per class, the training rows of every leaf; HIKC23 as written does not keep them.
    """

    inner: list[tuple[ArithmeticShare, ArithmeticShare, ArithmeticShare]]
    leaves: tuple[ArithmeticShare, ArithmeticShare]
    counts: list[ArithmeticShare] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"SharedTree(height {len(self.inner)})"

    @property
    def columns(self) -> list[ArithmeticShare]:
        """All vectors, one after the other."""
        return [*(column for layer in self.inner for column in layer), *self.leaves, *self.counts]

    def of_columns(self, columns: Sequence[ArithmeticShare]) -> SharedTree:
        """A tree of the same layout with other vectors; the inverse of :attr:`columns`."""
        taken = iter(columns)
        inner = [(next(taken), next(taken), next(taken)) for _ in self.inner]
        return SharedTree(inner, (next(taken), next(taken)), list(taken))


def reconstruct_tree(parts: Sequence[SharedTree]) -> NormalisedTree:
    """What the tree's owner does with the three parties' shares."""

    def joined(pick: Callable[[SharedTree], ArithmeticShare]) -> npt.NDArray[Any]:
        return reconstruct([pick(part) for part in parts])

    inner = []
    for k in range(len(parts[0].inner)):
        nid, aid, threshold = (joined(lambda part, k=k, c=c: part.inner[k][c]) for c in range(3))  # type: ignore[misc]
        inner.append((nid, aid, threshold))
    return NormalisedTree(inner, (joined(lambda part: part.leaves[0]), joined(lambda part: part.leaves[1])))


def decode(tree: NormalisedTree) -> Node:
    """The ordinary tree: always-false tests (threshold 0) are dropped, NULL padding is ignored.

    The false child of node d in layer k has number d, the true child d + 2^k.
    """
    tests = [
        {int(nid): (int(aid), int(t)) for nid, aid, t in zip(*layer, strict=True) if int(nid)} for layer in tree.inner
    ]
    labels = {int(nid): int(label) for nid, label in zip(*tree.leaves, strict=True) if int(nid)}
    if not labels:
        # All rows had weight 0, so there was nothing to learn from.
        return Leaf(0)

    def node(layer: int, number: int) -> Node:
        while layer < tree.height and tests[layer][number][1] == 0:
            layer += 1
        if layer == tree.height:
            return Leaf(labels[number])
        attribute, threshold = tests[layer][number]
        true, false = node(layer + 1, number + (1 << layer)), node(layer + 1, number)
        return Split(attribute - 1, threshold, true, false)

    return node(0, 1)
