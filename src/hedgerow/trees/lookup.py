"""Fetching a node's columns for every row that stands at it, when both are secret.

Two ways, chosen by the public sizes: compare every row with every node (few rounds, rows times nodes), or sort nodes
and rows together and let prefix sums carry a node's columns to the rows behind it (rows plus nodes, more rounds).
"""

from collections.abc import Sequence

from ..engine import Context
from ..oblivious import apply, sort_permutation, unapply
from ..protocols import is_zero, select_sum, truncate
from ..shares import RING64, Numbers, padded

ONE_HOT_NODES = 64
"""Up to this many nodes every row is compared with each; docs/decisions/0004-prediction.md has the measurement."""


def lookup(
    ctx: Context, numbers: Numbers, columns: Sequence[Numbers], rows: Numbers, bits: int, one_hot: bool | None = None
) -> list[Numbers]:
    """For every row the columns of the node with the row's number.

    ``numbers`` are distinct but for the padding 0, which no row has; every row's number is among them. All have at most
    ``bits`` bits. Reveals: nothing beyond shapes; where sorted, a permutation under a fresh shuffle.
    """
    if one_hot is None:
        one_hot = len(numbers) <= ONE_HOT_NODES
    return (_compared if one_hot else _sorted)(ctx, numbers, columns, rows, bits)


def _compared(ctx: Context, numbers: Numbers, columns: Sequence[Numbers], rows: Numbers, bits: int) -> list[Numbers]:
    """A bit for every pair of a node and a row, then the sum of bits times columns."""
    nodes, count, length = len(numbers), len(rows), padded(len(rows))
    wanted = Numbers.concatenate([rows.pad(length)] * nodes)
    here = is_zero(ctx.step("equal"), wanted - numbers.repeat_each(length), bits).cut(nodes)
    table = [[column[i : i + 1].repeat_each(length) for column in columns] for i in range(nodes)]
    found = select_sum(ctx.step("fetch"), [here.row(i) for i in range(nodes)], table)
    return [column[:count] for column in found]


def _sorted(ctx: Context, numbers: Numbers, columns: Sequence[Numbers], rows: Numbers, bits: int) -> list[Numbers]:
    """Nodes in order hold differences to the node before; sorted among the rows, prefix sums give every row its node's.

    Sorting is stable and nodes come first in the joint vector, so every node stands before the rows at it.
    """
    nodes = len(numbers)
    if bits >= numbers.ring.bits:
        # A sort needs one bit above its keys, and node numbers of height 31 fill their ring.
        joint = truncate(ctx.step("lift"), Numbers.concatenate([numbers, rows]), bits, RING64)
        numbers, rows = joint[:nodes], joint[nodes:]
    order = sort_permutation(ctx.step("nodes"), [numbers], [bits])
    numbers, *ordered = apply(ctx.step("order"), order, [numbers, *columns])
    joint = Numbers.concatenate([numbers, rows])
    among = sort_permutation(ctx.step("rows"), [joint], [bits])
    steps = [(column - column.later()).pad(len(joint)) for column in ordered]
    told = [column.prefix_sum() for column in apply(ctx.step("meet"), among, steps)]
    return [column[nodes:] for column in unapply(ctx.step("back"), among, told)]
