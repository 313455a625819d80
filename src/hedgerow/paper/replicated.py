"""The black box on replicated shares: F_ABB over the ring 2^64, cross products in 2^128."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import protocols as mpc
from ..shares import RING64, RING128, Bits, Numbers
from .box import Private, Public
from .shared import Share, SharedBox, SharedVector, share_of


class ReplicatedBox(SharedBox):
    """F_ABB with :class:`hedgerow.shares.Numbers`."""

    ring = RING64

    def load(self, share: Numbers, shape: tuple[int, ...]) -> Private:
        """As it is."""
        return SharedVector(self, share, shape)

    def stored(self, x: Private | None) -> Numbers:
        """As it is."""
        found: Numbers = share_of(x)
        return found

    def _public(self, flat: npt.NDArray[Any]) -> Share:
        return mpc.public(self.ctx, flat.astype(np.uint64), RING64)

    def _keys(self, keys: Sequence[Share]) -> list[Numbers]:
        return [key for key in keys if isinstance(key, Numbers)]

    def _number(self, bit: Bits, shape: tuple[int, ...]) -> Private:
        return SharedVector(self, mpc.bit_to_ring(self.ctx.step("bit"), bit, RING64), shape)

    def dec(self, x: Private) -> npt.NDArray[Any]:
        """Open to all parties; see docs/reference/threat-model.md for where the paper's algorithms do (never)."""
        return mpc.reveal(self.ctx.step("dec"), share_of(x)).reshape(x.shape)

    def scale(self, x: Private, factor: Public) -> Private:
        """Free."""
        known = np.asarray(factor).astype(np.int64).astype(np.uint64)
        return self._mapped(lambda side: side * known, x)

    def mul(self, x: Private, y: Private) -> Private:
        """One element per item and party, one round."""
        a, b, shape = self._paired(x, y)
        return SharedVector(self, mpc.multiply(self.ctx.step("mul"), a, b), shape)

    def dot(self, x: Private, y: Private) -> Private:
        """One element per item and party for the whole sum."""
        terms = x.shape[0]
        xs, ys = ([share_of(v[k]) for k in range(terms)] for v in (x, y))
        return SharedVector(self, mpc.dot(self.ctx.step("dot"), xs, ys), x.shape[1:])

    def eq(self, x: Private, y: Private | Public, bits: int) -> Private:
        """Equality of ``bits`` bits, then the bit as a number."""
        a, b, shape = self._paired(x, self._operand(y))
        return self._number(mpc.equal(self.ctx.step("eq"), a, b, bits), shape)

    def lt(self, x: Private, y: Private | Public, bits: int) -> Private:
        """Comparison of ``bits`` bits, then the bit as a number."""
        a, b, shape = self._paired(x, self._operand(y))
        return self._number(mpc.less_than(self.ctx.step("lt"), a, b, bits), shape)

    def lt_fraction(self, x: tuple[Private, Private], y: tuple[Private, Private], bits: int) -> Private:
        """The sign of p·q' - p'·q: one inner product, in 2^64 where it fits and in 2^128 otherwise."""
        shape = np.broadcast_shapes(x[0].shape, y[0].shape)
        p, q, p2, q2 = (self._spread(v, shape) for v in (*x, *y))
        width = bits + 1
        if width > RING64.bits:
            p, q, p2, q2 = mpc.widen_many(self.ctx.step("widen"), [p, q, p2, q2], RING128)
        difference = mpc.dot(self.ctx.step("cross"), [p, -p2], [q2, q])
        return self._number(mpc.top_bit(self.ctx.step("lt"), difference, width), shape)
