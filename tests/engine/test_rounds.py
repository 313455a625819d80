"""Protocols as generators of rounds: run alone or side by side, the results are the same and the rounds are shared."""

import numpy as np

from hedgerow.engine import Round, once, run, together
from hedgerow.protocols import dot, reveal, reveal_bits
from hedgerow.schemes.replicated.gate import layer
from hedgerow.shares import RING32, RING64, Bits, split, split_bits, unpack_bits
from support.threads import ThreadParties


def test_several_protocols_share_their_rounds():
    def program(ctx, x, y, a, b):
        rows = np.arange(1)
        gates = layer.rounds(ctx.step("and"), Bits.stack([a, b]), np.full(1, -1), rows, rows + 1)
        product, both = run(ctx.step("both"), together(dot.rounds(ctx.step("dot"), [x], [y]), gates))
        return reveal(ctx.step("open"), product), unpack_bits(reveal_bits(ctx.step("bits"), both), len(a))

    parties = ThreadParties()
    inputs = split([3, 5], RING64), split([7, 11], RING64), split_bits([1, 1, 0]), split_bits([1, 0, 1])
    for product, both in parties.run(program, *inputs):
        assert product.tolist() == [21, 55]
        assert both.tolist() == [[1, 0, 0]]
    for transport in parties.transports:
        assert transport.meter.below("main/both").rounds == 1
        assert transport.meter.below("main/both").sent == 16 + 8


def test_the_longer_one_goes_on_alone():
    def program(ctx, x):
        def two_rounds():
            yield Round()
            yield Round()
            return "two"

        results = run(ctx.step("joint"), together(two_rounds(), once(Round())))
        return results, reveal(ctx.step("open"), x).tolist()

    parties = ThreadParties()
    assert parties.run(program, split([9], RING32)) == [(["two", None], [9])] * 3
    assert all(transport.meter.below("main/joint").rounds == 2 for transport in parties.transports)
