"""What a criterion is: what rows carry along, the state of nodes, the choice of splits, the leaves, the cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...engine import FREE, Context, Cost
from ...protocols import Column
from ...shares import Bits, Numbers, Ring
from ..nodes import Nodes
from ..orders import Orders, View
from ..shared_tree import SharedLeaves

if TYPE_CHECKING:
    from ..problem import Problem


@dataclass(frozen=True, slots=True)
class PlaceWinners:
    """The best feature at every place: its score p/q, or p where there is no q, its number as rows of bits, whether it
    is a candidate, and the sums that nodes keep, up to the place."""

    p: Numbers
    q: Numbers | None
    feature: Bits
    candidate: Bits
    sums: list[Numbers]


class Criterion(ABC):
    """What makes a split good. It is made by a function that may run protocols; its own constructor does not."""

    needs_last_order: bool
    """Whether the leaves need the rows in order once more."""
    columns: Sequence[Column]
    """Row columns that move into every feature's order."""
    node_sums: Sequence[Numbers] = ()
    """Row columns in 2^64 whose sums the nodes keep from layer to layer."""
    true: Bits | None = None
    """Which places the layer before gave to true children; None in the root."""

    @abstractmethod
    def enter(self, ctx: Context, nodes: Nodes, views: Sequence[View]) -> None:
        """Get to know the nodes of a layer."""

    def purity_columns(self) -> list[Numbers]:
        """Numbers of at most as many bits as a number of rows that are zero where a node must not be split."""
        return []

    def may_split(self, ctx: Context) -> Bits | None:
        """Whether a node may be split, where :meth:`purity_columns` do not tell it."""
        return None

    @abstractmethod
    def choose(self, ctx: Context, views: Sequence[View], valid: Bits) -> PlaceWinners:
        """The best feature at every place among the valid ones."""

    def leave(self, true: Bits) -> None:
        """The layer's nodes are split."""
        self.true = true

    @abstractmethod
    def leaves(self, ctx: Context, nodes: Nodes, orders: Orders) -> SharedLeaves:
        """The last layer."""


class CriterionCost(ABC):
    """What the steps of a criterion cost; every one is the step's twin."""

    needs_last_order: bool
    moved_bytes: list[int]
    """Bytes per row of what moves into every feature's order."""
    sum_rings: Sequence[Ring] = ()
    """The rings of sums that nodes keep."""
    purity_columns: int = 0

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def rows(self) -> Cost:
        """What rows carry along, once before the first layer."""
        return FREE

    def enter(self) -> Cost:
        """Getting to know a layer's nodes."""
        return FREE

    def may_split(self) -> Cost:
        """Which nodes may be split."""
        return FREE

    @abstractmethod
    def choose(self, layer: int) -> Cost:
        """The best feature at every place."""

    @abstractmethod
    def leaves(self) -> Cost:
        """The last layer."""
