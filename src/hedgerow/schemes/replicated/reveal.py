"""Opening values. Only functions named ``reveal…`` do; docs/reference/threat-model.md argues for every use."""

import numpy as np

from ...engine import Context, Protocol, Round, Steps
from ...shares import Bits, Numbers, Words, clear_padding


@Protocol
def reveal(ctx: Context, x: Numbers) -> Steps[Words]:
    """Open a vector to all three parties.

    Cost: 1 round, one element per item and party.
    Reveals: exactly x: each party receives the one summand it lacks, which x and its own summands determine.
    """
    told = np.ascontiguousarray(x.left)
    missing = np.empty_like(told)
    yield Round(to_right=[told], from_left=[missing])
    return x.ring.add(x.ring.add(x.left, x.right), missing)


@Protocol
def reveal_bits(ctx: Context, x: Bits) -> Steps[Words]:
    """Open packed bit rows to all three parties; see :func:`reveal`. Cost: 1 round, one word per 64 items and row."""
    told = x.left.copy()
    # Bits past the last item have no meaning, and nobody is to see them.
    clear_padding(told, x.count)
    missing = np.empty_like(told)
    yield Round(to_right=[told], from_left=[missing])
    opened: Words = x.left ^ x.right ^ missing
    clear_padding(opened, x.count)
    return opened
