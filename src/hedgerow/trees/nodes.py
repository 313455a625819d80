"""What every place knows of its node: attribute-free, because all attributes split every node into the same sizes.

Rows of a node occupy the same range of places in every attribute's order. So the range, the class totals and the
offsets of prefix sums are kept once, and updated from layer to layer by arithmetic on one bit per place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import protocols as mpc
from ..engine import Context, Cost
from ..shares import RING64, Bits, Numbers, Ring, Words, pack_row, padded


@dataclass(frozen=True, slots=True)
class Nodes:
    """Per place: first place and size of its node in 2^64, the node's number; and of every row column that is kept
    along, its sum in the node, in 2^64, and in earlier nodes.

    ``flags`` marks the first place of every node. Places from n on are padding, a node of its own that never splits.
    """

    start: Numbers
    size: Numbers
    number: Numbers
    flags: Bits
    rows: int
    sums: list[Numbers]
    before: list[Numbers]

    @staticmethod
    def root(ctx: Context, rows: int, columns: Sequence[Numbers], numbers: Ring, number: int = 1) -> Nodes:
        """All rows in one node. ``columns`` are row columns in 2^64 whose sums are to be kept; node numbers are of the
        ring ``numbers``."""
        length = padded(rows)
        real = np.arange(length) < rows
        totals = [column.sum().spread(length) for column in columns]
        return Nodes(
            start=mpc.public(ctx, np.where(real, 0, rows).astype(np.uint64), RING64),
            size=mpc.public(ctx, np.where(real, rows, length - rows).astype(np.uint64), RING64),
            number=mpc.public(ctx, number * real.astype(numbers.dtype), numbers),
            flags=mpc.public_bits(ctx, pack_row(np.isin(np.arange(length), (0, rows))), length),
            rows=rows,
            sums=[total.scale(real.astype(np.uint64)) for total in totals],
            before=[total.scale((~real).astype(np.uint64)) for total in totals],
        )

    @property
    def length(self) -> int:
        """Places, padding included."""
        return len(self.start)

    @property
    def real(self) -> Words:
        """The packed public mask of the places that are not padding."""
        return pack_row(np.arange(self.length) < self.rows)

    def rows_so_far(self, ctx: Context) -> Numbers:
        """u: the number of rows of the node up to and including the place."""
        return mpc.public(ctx, np.arange(1, self.length + 1, dtype=np.uint64), RING64) - self.start

    def false_starts(self, ctx: Context, true: Bits) -> Bits:
        """The first places of false children that are not their node's first: false, after a true one, in one node."""
        after = mpc.bit_and(ctx.step("after"), true.preceding(), mpc.bit_not(ctx, true))
        return mpc.bit_and(ctx.step("inside"), after, mpc.bit_not(ctx, self.flags))

    def split(
        self, ctx: Context, layer: int, true: Bits, false_start: Bits, rows_true: Numbers, sums_true: Sequence[Numbers]
    ) -> tuple[Nodes, Numbers]:
        """The next layer's nodes, and per place the number of true rows in earlier nodes.

        ``true`` says whether the place belongs to its node's true child, which comes first; ``false_start`` is
        :meth:`false_starts`; ``rows_true`` and ``sums_true`` are that child's rows and sums, in rings that may be
        narrower than 2^64: only what comes out is widened. Cost: :func:`split_cost`. Reveals: nothing beyond shapes.
        """
        ring, numbers = rows_true.ring, self.number.ring
        start, size = self.start.narrow(ring), self.size.narrow(ring)
        sums = [own.narrow(part.ring) for own, part in zip(self.sums, sums_true, strict=True)]
        offset = mpc.public(ctx, np.arange(self.length, dtype=ring.dtype), ring) - start
        one = mpc.constant(ctx, 1, self.length, numbers)
        payload = [rows_true, size, offset, one, *sums_true, *sums]
        t_rows, t_size, t_offset, t, *rest = mpc.multiply_bit(ctx.step("true"), true, payload)
        t_sums_true, t_sums = rest[: len(sums)], rest[len(sums) :]
        changes = list(zip(sums, sums_true, t_sums_true, t_sums, strict=True))
        narrow = [start + rows_true - t_rows, size - rows_true + t_rows.scale(2) - t_size]
        narrow += [own - part + t_part.scale(2) - t_own for own, part, t_part, t_own in changes]
        wide = mpc.widen_many(ctx.step("widen"), narrow, RING64)
        following = Nodes(
            start=wide[0],
            size=wide[1],
            number=self.number + t.scale(1 << layer),
            flags=self.flags ^ false_start,
            rows=self.rows,
            sums=wide[2:],
            before=[
                before.narrow(part.ring) + part - t_part
                for before, (_, part, t_part, _) in zip(self.before, changes, strict=True)
            ],
        )
        passed = t.narrow(ring)
        return following, passed.prefix_sum() - passed - (rows_true + t_offset - t_rows)


def split_cost(count: int, ring: Ring, numbers: Ring, sums: Sequence[Ring]) -> Cost:
    """Cost of :meth:`Nodes.split` of so many rows with ``rows_true`` in ``ring``, node numbers in ``numbers`` and kept
    sums in ``sums``: products with a bit, then columns brought to 2^64, those of one ring together."""
    length = padded(count)
    cost = mpc.multiply_bit_cost(length, [ring] * 3 + [numbers] + [*sums] * 2)
    widened = [ring] * 2 + [*sums]
    for own in dict.fromkeys(widened):
        cost += mpc.widen_cost(widened.count(own) * length, own, RING64)
    return cost
