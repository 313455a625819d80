"""The normalised tree of HIKC23 as shares: the one form in which trees are trained, stored and walked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..shares import Numbers


@dataclass(frozen=True, slots=True)
class SharedLayer:
    """One entry per node of an inner layer, padded with NULL: node numbers, features (from 1 on), thresholds."""

    number: Numbers
    feature: Numbers
    threshold: Numbers


@dataclass(frozen=True, slots=True)
class SharedLeaves:
    """One entry per leaf, padded with NULL: node numbers, labels or means, and the weight of every class (in regression
    weight and sum); HIKC23 as written keeps no weights."""

    number: Numbers
    label: Numbers
    counts: list[Numbers]


@dataclass(frozen=True, slots=True)
class SharedTree:
    """One party's shares of a tree: its inner layers from the root on, and its leaves."""

    layers: list[SharedLayer]
    leaves: SharedLeaves

    def __repr__(self) -> str:
        return f"SharedTree(height {len(self.layers)})"

    @property
    def counts(self) -> list[Numbers]:
        """The leaves' weights."""
        return self.leaves.counts

    def without_counts(self) -> SharedTree:
        """The tree without the leaves' weights."""
        return SharedTree(self.layers, replace(self.leaves, counts=[]))

    def named_columns(self) -> Iterator[tuple[str, Numbers]]:
        """All vectors, one after the other, with the names that share files give them."""
        for k, layer in enumerate(self.layers):
            yield f"layer{k}.number", layer.number
            yield f"layer{k}.attribute", layer.feature
            yield f"layer{k}.threshold", layer.threshold
        yield "leaf.number", self.leaves.number
        yield "leaf.label", self.leaves.label
        for c, count in enumerate(self.leaves.counts):
            yield f"leaf.count{c}", count

    @property
    def columns(self) -> list[Numbers]:
        """All vectors, one after the other."""
        return [column for _, column in self.named_columns()]

    @staticmethod
    def of_columns(height: int, columns: Sequence[Numbers]) -> SharedTree:
        """The inverse of :attr:`columns`."""
        taken = iter(columns)
        layers = [SharedLayer(next(taken), next(taken), next(taken)) for _ in range(height)]
        return SharedTree(layers, SharedLeaves(next(taken), next(taken), list(taken)))
