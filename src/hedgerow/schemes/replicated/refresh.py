"""Shares that leave the parties: the same numbers behind summands that say nothing else."""

from collections.abc import Sequence

from ...engine import Context, Protocol, Round, Steps
from ...shares import Numbers


@Protocol
def refresh(ctx: Context, columns: Sequence[Numbers]) -> Steps[list[Numbers]]:
    """The same numbers in fresh shares; all columns in one round.

    The rule for everything that is handed to somebody outside: a party's own summand plus its summand of a sharing of
    zero, drawn here and used for nothing else; the other summand is the neighbour's, made in the same way. So the three
    summands of an item are uniform but for their sum, whatever local steps the shares have come through, and whoever
    receives all of them learns the number and nothing else.

    Cost: 1 round, one element per item and party. Reveals: nothing: what the left neighbour receives is masked by this
    party's key with its right one.
    """
    fresh, incoming = [], []
    for x in columns:
        plus, minus = ctx.zero_masks(x.ring, len(x))
        fresh.append(x.ring.subtract(x.ring.add(x.left, plus), minus))
        incoming.append(x.ring.empty(len(x)))
    yield Round(to_left=list(fresh), from_right=list(incoming))
    return [Numbers(left, right, x.ring) for x, left, right in zip(columns, fresh, incoming, strict=True)]
