"""Gates on packed bits: AND, OR and whole layers of AND gates; XOR and NOT are local."""

import numpy as np

from ...engine import Context, Cost, Protocol, Round, Steps
from ...kernels import bits as bit_kernels
from ...shares import Bits, Index, Words, words_for
from .input import public_bits


def gates_cost(gates: int, count: int) -> Cost:
    """Cost of a layer of ``gates`` AND gates on ``count`` items: one bit per gate, item and party."""
    return Cost.even(1, 8 * gates * words_for(count))


@Protocol
def layer(ctx: Context, state: Bits, base: Index, x: Index, y: Index) -> Steps[Bits]:
    """Rows ``state[base] ^ state[x] & state[y]`` (no XOR term where ``base`` is negative), one round.

    Paper: AFLNO16. Cost: :func:`gates_cost`. Reveals: nothing beyond shapes; every sent word is masked by a share of
    zero of which the receiver does not know one half.
    """
    shape = (len(x), state.width)
    mask_left, mask_right = ctx.with_left(shape), ctx.with_right(shape)
    out: Words = np.empty(shape, np.uint64)
    left, right = np.ascontiguousarray(state.left), np.ascontiguousarray(state.right)
    bit_kernels.and_gates(left, right, base, x, y, mask_left, mask_right, out)
    incoming = np.empty_like(out)
    yield Round(to_left=[out], from_right=[incoming])
    return Bits(out, incoming, state.count)


def bit_and(ctx: Context, x: Bits, y: Bits) -> Bits:
    """Row-wise AND. Cost: :func:`gates_cost`. Reveals: nothing beyond shapes."""
    if (x.rows, x.count) != (y.rows, y.count):
        raise ValueError(f"{x!r} and {y!r} do not go together")
    rows = np.arange(x.rows)
    return layer(ctx, Bits.stack([x, y]), np.full(x.rows, -1), rows, rows + x.rows)


def bit_or(ctx: Context, x: Bits, y: Bits) -> Bits:
    """Row-wise OR as ``x ^ y ^ (x & y)``. Cost: :func:`gates_cost`. Reveals: nothing beyond shapes."""
    return x ^ y ^ bit_and(ctx, x, y)


def bit_not(ctx: Context, x: Bits) -> Bits:
    """Row-wise NOT, local."""
    return x ^ public_bits(ctx, np.full((x.rows, x.width), ~np.uint64(0)), x.count)
