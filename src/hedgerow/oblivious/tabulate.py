"""A public function of secret numbers, looked up in its table: any function, exactly.

The table's rows and the numbers are sorted together, every row before the numbers that ask for it. If a row brings
along the difference to the row before, running sums tell every number its value. As in every sort here, the order that
is opened is that of distinct keys after a fresh shuffle; the table goes through the shuffle like a secret.
"""

import numpy as np

from ..engine import Context
from ..errors import ExactnessError
from ..protocols import ShuffleJob, draw_shuffle, inverse, public, run_shuffles
from ..shares import RING32, RING64, Keys, Numbers, Words
from .ranking import reveal_ranks
from .sort import WIDEST, place_bits


def tabulate(ctx: Context, x: Numbers, table: Words) -> Numbers:
    """``table[x]`` in 2^64 for numbers of 2^64 that are below the table's length.

    Paper: our own. Cost: :func:`.ranking.reveal_ranks` of all numbers and rows, whose length is random, a shuffle of
    two columns and the undoing of one. Reveals: the order of the shuffled keys, a uniform permutation.
    """
    rows, count = len(table), len(table) + len(x)
    suffix, bits = place_bits(count), (rows - 1).bit_length()
    if bits + suffix > WIDEST:
        raise ExactnessError(f"a table of {rows:,} rows for {len(x):,} numbers: its keys would need more than 63 bits")
    # Rows of the table have the lower places, so of equal keys they come first.
    ring = RING32 if bits + suffix < RING32.bits else RING64
    keys = Numbers.concatenate([public(ctx, np.arange(rows, dtype=ring.dtype), ring), x.narrow(ring)])
    places = public(ctx, np.arange(count, dtype=ring.dtype), ring)
    steps = np.zeros(count, np.uint64)
    steps[:rows] = np.diff(table, prepend=np.uint64(0))
    shuffle = draw_shuffle(ctx.step("draw"), count)
    columns = [keys.scale(1 << suffix) + places, public(ctx, steps, RING64)]
    ((shuffled, moved),) = run_shuffles(ctx.step("shuffle"), [ShuffleJob(shuffle, columns)])
    (ranks,) = reveal_ranks(ctx.step("rank"), Keys.of([shuffled.lifted(RING64)]), bits + suffix)
    ranks = np.ascontiguousarray(ranks)
    found = moved.gather(inverse(ranks)).prefix_sum().gather(ranks)
    ((back,),) = run_shuffles(ctx.step("back"), [ShuffleJob(shuffle, [found])], undo=True)
    values: Numbers = back[rows:]
    return values
