"""What every place knows of its node: attribute-free, because all attributes split every node into the same sizes.

Rows of a node occupy the same range of places in every attribute's order. So the range, the class totals and the
offsets of prefix sums are kept once, and updated from layer to layer by arithmetic on one bit per place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..oblivious.packed import pack_rows, padded, preceding
from ..primitives import bit_and, bit_not, multiply_bit
from ..sharing import RING64, ArithmeticShare, BinaryShare, Context, public, public_bits
from ..sharing.ring import Words
from .shape import TreeShape


def packed_mask(bits: Words) -> Words:
    """Public bits as one packed row."""
    return pack_rows(bits[None].astype(np.uint8))


def masked(x: BinaryShare, mask: Words) -> BinaryShare:
    """Rows restricted to the places of a public mask; local."""
    return BinaryShare(x.left & mask, x.right & mask, x.count)


@dataclass(frozen=True, slots=True)
class Nodes:
    """Per place, in 2^64: first place and size of its node, ones in it, ones in earlier nodes, the node's number.

    ``flags`` marks the first place of every node. Places from n on are padding, a node of its own that never splits.
    """

    start: ArithmeticShare
    size: ArithmeticShare
    ones: ArithmeticShare
    before: ArithmeticShare
    number: ArithmeticShare
    flags: BinaryShare
    rows: int

    @staticmethod
    def root(ctx: Context, shape: TreeShape, y: ArithmeticShare) -> Nodes:
        """All rows in one node. ``y`` are the labels in 2^64."""
        n, length = shape.rows, padded(shape.rows)
        real = np.arange(length) < n
        total = y.prefix_sum()[n - 1 :][np.zeros(length, np.int64)]
        return Nodes(
            start=public(ctx, np.where(real, 0, n).astype(np.uint64), RING64),
            size=public(ctx, np.where(real, n, length - n).astype(np.uint64), RING64),
            ones=total.scale(real.astype(np.uint64)),
            before=total.scale((~real).astype(np.uint64)),
            number=public(ctx, real.astype(np.uint64), RING64),
            flags=public_bits(ctx, packed_mask(np.isin(np.arange(length), (0, n))), length),
            rows=n,
        )

    @property
    def length(self) -> int:
        """Places, padding included."""
        return len(self.start)

    @property
    def real(self) -> Words:
        """The packed public mask of the places that are no padding."""
        return packed_mask(np.arange(self.length) < self.rows)

    def upto(self, ctx: Context) -> ArithmeticShare:
        """u: the number of rows of the node up to and including the place."""
        return public(ctx, np.arange(1, self.length + 1, dtype=np.uint64), RING64) - self.start

    def split(
        self, ctx: Context, layer: int, true: BinaryShare, rows_true: ArithmeticShare, ones_true: ArithmeticShare
    ) -> tuple[Nodes, ArithmeticShare]:
        """The next layer's nodes, and per place the number of true rows in earlier nodes.

        ``true`` says whether the place belongs to its node's true child, which comes first; ``rows_true`` and
        ``ones_true`` are that child's rows and ones.
        """
        offset = self.upto(ctx) - public(ctx, np.ones(self.length, np.uint64), RING64)
        one = public(ctx, np.ones(self.length, np.uint64), RING64)
        payload = [rows_true, self.size, ones_true, self.ones, offset, one]
        t_rows, t_size, t_ones_true, t_ones, t_offset, t = multiply_bit(ctx.step("true"), true, payload)
        flags = bit_and(ctx.step("after"), preceding(true), bit_not(ctx, true))
        flags = bit_and(ctx.step("inside"), flags, bit_not(ctx, self.flags))
        following = Nodes(
            start=self.start + rows_true - t_rows,
            size=self.size - rows_true + t_rows.scale(2) - t_size,
            ones=self.ones - ones_true + t_ones_true.scale(2) - t_ones,
            before=self.before + ones_true - t_ones_true,
            number=self.number + t.scale(1 << layer),
            flags=self.flags ^ flags,
            rows=self.rows,
        )
        earlier = t.prefix_sum() - t - (rows_true + t_offset - t_rows)
        return following, earlier
