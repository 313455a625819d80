"""The black box on Shamir's shares over the field of 2^61 - 1 elements: the instance that HIKC23 measured.

Products are native. Comparisons and sorting go by way of replicated bits and of the ring 2^64, whose cheap protocols
they keep; docs/decisions/0013-shamir.md has what that costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import protocols as mpc
from ..errors import ExactnessError
from ..protocols import shamir
from ..shares import FIELD61, Bits, Columns, Numbers, Points
from ..trees.problem import Problem
from .box import Private, Public
from .shared import Share, SharedBox, SharedVector, share_of

MOST_BITS = shamir.MOST_BITS - 1
"""Bits of a number that can be compared and converted, whatever its sign."""


def check_fits_field(problem: Problem) -> None:
    """Refuse a problem with numbers that the field cannot hold exactly."""
    widest = max(problem.value_bits + 1, problem.bounds.score_bits, problem.height)
    if widest > MOST_BITS:
        raise ExactnessError(
            f"{problem.rows} rows, {problem.value_bits} bits of a value and height {problem.height}: the field of "
            f"2^61 - 1 elements holds numbers of {MOST_BITS} bits, so a tree may have height {MOST_BITS}, a value "
            f"{MOST_BITS - 1} bits and a table about 1.3 million rows; use the replicated sharing"
        )


class ShamirBox(SharedBox):
    """F_ABB with :class:`hedgerow.shares.Points`."""

    ring = FIELD61

    def load(self, share: Numbers, shape: tuple[int, ...]) -> Private:
        """Brought into the field."""
        return SharedVector(self, shamir.from_ring(self.ctx.step("load"), share), shape)

    def stored(self, x: Private | None) -> Numbers:
        """Brought into the ring."""
        found: Numbers = shamir.to_ring(self.ctx.step("stored"), share_of(x))
        return found

    def _public(self, flat: npt.NDArray[Any]) -> Share:
        return shamir.public(self.ctx, flat)

    def _number(self, bit: Bits, shape: tuple[int, ...]) -> Private:
        return SharedVector(self, shamir.from_bits(self.ctx.step("bit"), bit), shape)

    def _in_ring(self, name: str, vectors: Sequence[Any]) -> list[Numbers]:
        """Vectors of one length in 2^64, in one go."""
        joined = shamir.to_ring(self.ctx.step(name), Points.concatenate(vectors))
        return joined.pieces(len(vectors[0]))

    def _keys(self, keys: Sequence[Share]) -> list[Numbers]:
        return self._in_ring("keys", keys)

    def _movable(self, columns: Sequence[Private]) -> list[Numbers]:
        """In replicated shares of the field."""
        shares = [share_of(column) for column in columns]
        moved = shamir.replicated(self.ctx.step("move"), Points.concatenate(shares))
        ends = np.cumsum([len(share) for share in shares]).tolist()
        return [moved[end - len(share) : end] for share, end in zip(shares, ends, strict=True)]

    def _settled(self, moved: Numbers) -> Share:
        return shamir.on_line(self.ctx, moved)

    def dec(self, x: Private) -> npt.NDArray[Any]:
        """Open to all parties; the paper's algorithms never do."""
        return shamir.reveal(self.ctx.step("dec"), share_of(x)).reshape(x.shape)

    def scale(self, x: Private, factor: Public) -> Private:
        """Free."""
        known = FIELD61.encode(factor)
        return self._mapped(lambda side: FIELD61.multiply(side, known), x)

    def mul(self, x: Private, y: Private) -> Private:
        """One element per item and party, one round."""
        a, b, shape = self._paired(x, y)
        return SharedVector(self, shamir.multiply(self.ctx.step("mul"), a, b), shape)

    def dot(self, x: Private, y: Private) -> Private:
        """One element per item and party for the whole sum."""
        terms = x.shape[0]
        xs, ys = ([share_of(v[k]) for k in range(terms)] for v in (x, y))
        return SharedVector(self, shamir.dot(self.ctx.step("dot"), xs, ys), x.shape[1:])

    def eq(self, x: Private, y: Private | Public, bits: int) -> Private:
        """Equality in the field, whatever ``bits`` says, then the bit as a number."""
        a, b, shape = self._paired(x, self._operand(y))
        return self._number(shamir.is_zero(self.ctx.step("eq"), a - b), shape)

    def lt(self, x: Private, y: Private | Public, bits: int) -> Private:
        """Comparison in the field, whatever ``bits`` says, then the bit as a number."""
        a, b, shape = self._paired(x, self._operand(y))
        return self._number(shamir.is_negative(self.ctx.step("lt"), a - b), shape)

    def lt_fraction(self, x: tuple[Private, Private], y: tuple[Private, Private], bits: int) -> Private:
        """The sign of p·q' - p'·q, in the field where the products fit, otherwise in the rings 2^64 and 2^128."""
        shape = np.broadcast_shapes(x[0].shape, y[0].shape)
        p, q, p2, q2 = (self._spread(v, shape) for v in (*x, *y))
        if bits <= MOST_BITS:
            difference = shamir.dot(self.ctx.step("cross"), [p, p2.scale(-1)], [q2, q])
            return self._number(shamir.is_negative(self.ctx.step("lt"), difference), shape)
        a, b, a2, b2 = self._in_ring("ring", [p, q, p2, q2])
        sign = mpc.score_sign(self.ctx.step("cross"), Columns.of([a, b]), Columns.of([a2, b2]), mpc.Scores(bits))
        return self._number(sign.found(self.ctx.step("lt")), shape)
